package main

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/internal/testutil/clitest"
)

// shownCommand is a command that a page shows, with what it shows of its output.
type shownCommand struct {
	line       int
	command    string
	background bool
	code       int
	output     []string
}

var exitSaid = regexp.MustCompile(`# .*exit code (\d+)`)

func (c *shownCommand) said() {
	if m := exitSaid.FindStringSubmatch(c.command); m != nil {
		c.code, _ = strconv.Atoi(m[1])
	}
}

func docsPage(t *testing.T, name string) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(raw), "\n")
}

// consoleOf are the commands in the blocks of a page that are marked as console.
func consoleOf(lines []string) (out []shownCommand) {
	inside, background := false, false
	for i, line := range lines {
		command, is := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			inside, background = strings.HasPrefix(line, "```console"), line == "```console background"
		case inside && is:
			c := shownCommand{line: i + 1, command: command, background: background}
			c.said()
			out = append(out, c)
		case inside && len(out) > 0:
			last := &out[len(out)-1]
			last.output = append(last.output, line)
		}
	}
	return out
}

// readmeCommands are the indented lines of README.md that call the program where make puts
// it, but for serve, which is what the test begins with, and the demonstration, which has a
// script of its own.
func readmeCommands(lines []string) (out []shownCommand) {
	for i, line := range lines {
		command, indented := strings.CutPrefix(line, "    ")
		calls := strings.HasPrefix(command, "bin/emberd ") || strings.HasPrefix(command, "curl ")
		if !indented || !calls || strings.HasPrefix(command, "bin/emberd serve ") || strings.HasPrefix(command, "bin/emberd tour ") {
			continue
		}
		c := shownCommand{line: i + 1, command: command, output: []string{"…"}}
		c.said()
		out = append(out, c)
	}
	return out
}

// reader is somebody who types what a page shows, with a home of their own.
type reader struct {
	t    *testing.T
	page string
	dir  string
	env  []string
	ids  map[string]string // of the page, to those that came out
}

func newReader(t *testing.T, page string) *reader {
	t.Helper()
	dir := clitest.ShortDir(t)
	for name, text := range map[string]string{"Notes/Deploys.md": "# Deploys\n\nStaging is deployed on Tuesdays, after the migration job.\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(programOf(t), filepath.Join(bin, "emberd")); err != nil {
		t.Fatal(err)
	}
	return &reader{t: t, page: page, dir: dir, ids: map[string]string{},
		env: []string{"HOME=" + dir, "TZ=UTC", "LANG=C.UTF-8", "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "EMBERD_HOME=" + filepath.Join(dir, ".run"),
			"GOCOVERDIR=" + dir}} // without one, a program that is built for coverage warns on every screen
}

// programOf is the program that make built, if make docs-check says so, or else the one that
// is compiled into this test.
func programOf(t *testing.T) string {
	t.Helper()
	if built := os.Getenv("EMBERD_TEST_BUILT"); built != "" {
		return built
	}
	exe, err := exec.LookPath("emberd")
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// starts has a command run beside the others, until it answers.
func (r *reader) starts(words ...string) {
	r.t.Helper()
	cmd := exec.Command(filepath.Join(r.dir, "bin", words[0]), words[1:]...)
	var said bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr, cmd.Stdout = r.dir, r.env, &said, &said
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		if err := cmd.Wait(); err != nil {
			r.t.Errorf("%q ended: %v\n%s", words, err, said.String())
		}
	})
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		out, code := r.sh("emberd status")
		if code == 0 && strings.Contains(out, "1 note;") && strings.Contains(out, "watching") {
			return
		}
		if time.Since(start) > time.Minute {
			r.t.Fatalf("the daemon does not answer, or does not know the note:\n%s\n%s", out, said.String())
		}
	}
}

// sh runs a line as a shell does and returns all that it printed.
func (r *reader) sh(line string) (output string, code int) {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir, cmd.Env = r.dir, r.env
	out, err := cmd.CombinedOutput()
	if exited, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), exited.ExitCode()
	}
	if err != nil {
		r.t.Error(err)
	}
	return string(out), 0
}

var shownID = regexp.MustCompile(`\b[0-9a-f]{8}\b`)

// types runs a command of the page and compares what comes out.
func (r *reader) types(c shownCommand) {
	r.t.Helper()
	line := shownID.ReplaceAllStringFunc(c.command, func(id string) string { return r.ids[id] })
	got, code := r.sh(line)
	if code != c.code {
		r.t.Errorf("%s:%d: %s ends with %d, want %d:\n%s", r.page, c.line, c.command, code, c.code, got)
		return
	}
	if why := r.compare(c.output, strings.Split(strings.TrimSuffix(got, "\n"), "\n")); why != "" {
		r.t.Errorf("%s:%d: %s: %s; all of it is\n%s", r.page, c.line, c.command, why, got)
	}
}

// compare says in which line an output is not as shown: … stands for any text, a line of it for any
// lines, and an id for one that is the same wherever the page has the same.
func (r *reader) compare(want, got []string) string {
	for i, w := range want {
		if w == "…" {
			rest := want[i+1:]
			for skip := 0; skip <= len(got); skip++ {
				ids := maps.Clone(r.ids)
				if r.compare(rest, got[skip:]) == "" {
					return ""
				}
				r.ids = ids
			}
			return "nothing is as " + strconv.Quote(strings.Join(rest, "\n"))
		}
		if len(got) == 0 {
			return "there is no line " + strconv.Quote(w)
		}
		if !r.fits(w, got[0]) {
			return strconv.Quote(got[0]) + " is not as " + strconv.Quote(w)
		}
		got = got[1:]
	}
	if len(got) > 0 {
		return strconv.Quote(got[0]) + " is not shown"
	}
	return ""
}

// fits compares one line, and learns its ids.
func (r *reader) fits(want, got string) bool {
	shown := shownID.FindAllString(want, -1)
	pattern := shownID.ReplaceAllString(regexp.QuoteMeta(want), `([0-9a-f]{8})`)
	m := regexp.MustCompile("^" + strings.ReplaceAll(pattern, "…", ".*") + "$").FindStringSubmatch(got)
	if m == nil {
		return false
	}
	for i, id := range shown {
		if known := r.ids[id]; known != "" && known != m[i+1] {
			return false
		}
		r.ids[id] = m[i+1]
	}
	return true
}

// TestDocsGettingStarted types what docs/getting-started.md shows, line by line.
func TestDocsGettingStarted(t *testing.T) {
	t.Parallel()
	r := newReader(t, "docs/getting-started.md")
	r.env = slices.DeleteFunc(r.env, func(v string) bool { return strings.HasPrefix(v, "EMBERD_HOME=") })
	commands := consoleOf(docsPage(t, r.page))
	if len(commands) < 12 {
		t.Fatalf("the page shows %d commands", len(commands))
	}
	for _, c := range commands {
		if c.background {
			words := strings.Fields(strings.ReplaceAll(c.command, "~", r.dir))
			r.starts(words...)
			continue
		}
		r.types(c)
	}
}

// TestDocsReadme types what README.md shows.
func TestDocsReadme(t *testing.T) {
	t.Parallel()
	r := newReader(t, "README.md")
	commands := readmeCommands(docsPage(t, r.page))
	if len(commands) < 5 {
		t.Fatalf("the page shows %d commands", len(commands))
	}
	r.starts("emberd", "serve", "--home", ".run", "--vault", filepath.Join(r.dir, "Notes"))
	for _, c := range commands {
		if _, err := exec.LookPath("curl"); err != nil && strings.HasPrefix(c.command, "curl ") {
			t.Logf("curl is not there, so that line %d is not tried", c.line)
			continue
		}
		r.types(c)
	}
}

// TestDocsCompare: what is compared loosely still differs where it should.
func TestDocsCompare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		want, got string
		same      bool
	}{
		{"equal", "saved 53d13dd4  x", "saved 00000001  x", true},
		{"another text", "saved 53d13dd4  x", "saved 00000001  y", false},
		{"one id twice", "a 53d13dd4\nb 53d13dd4", "a 00000001\nb 00000001", true},
		{"one id, two come out", "a 53d13dd4\nb 53d13dd4", "a 00000001\nb 00000002", false},
		{"any text", "took …, then ended", "took 5 ms, then ended", true},
		{"any lines", "a\n…\nz", "a\nb\nc\nz", true},
		{"any lines, and none", "a\n…", "a", true},
		{"any lines, and no end", "a\n…\nz", "a\nb", false},
		{"a line more", "a", "a\nb", false},
		{"a line less", "a\nb", "a", false},
	} {
		r := &reader{t: t, ids: map[string]string{}}
		if why := r.compare(strings.Split(c.want, "\n"), strings.Split(c.got, "\n")); (why == "") != c.same {
			t.Errorf("%s: %q", c.name, why)
		}
	}
}

// backquoted finds what stands in backquotes.
var backquoted = regexp.MustCompile("`([^`]+)`")

// TestDocsTroubleshooting: each sentence in the first column of docs/troubleshooting.md that is
// quoted is one that the program says, and each command of the last one there is.
func TestDocsTroubleshooting(t *testing.T) {
	t.Parallel()
	source := sentencesOfSource(t)
	named := map[string]bool{}
	for _, c := range tree() {
		named[c.CommandPath()] = true
	}
	quotes := 0
	for i, line := range docsPage(t, "docs/troubleshooting.md") {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.HasPrefix(line, "|---") {
			continue
		}
		for _, sentence := range backquoted.FindAllStringSubmatch(cells[1], -1) {
			if strings.HasPrefix(sentence[1], "emberd ") && !strings.Contains(sentence[1], "; ") {
				continue // a command
			}
			quotes++
			if !saidBySource(source, sentence[1]) {
				t.Errorf("line %d: nothing says %q", i+1, sentence[1])
			}
		}
		for _, quoted := range backquoted.FindAllStringSubmatch(strings.Join(cells[1:], " "), -1) {
			words := strings.Fields(quoted[1])
			if words[0] == "emberd" && !named[strings.Join(words[:min(2, len(words))], " ")] && !saidBySource(source, quoted[1]) {
				t.Errorf("line %d: there is no command %q", i+1, quoted[1])
			}
		}
	}
	if quotes < 15 {
		t.Errorf("%d sentences are quoted", quotes)
	}
}

var findingCode = regexp.MustCompile(`(?:Code: |Code[^=\n]*= (?:[\w.]+, )?|\.find\(|secret\([a-z]+, )"([a-z]+(?:-[a-z]+)*)"`)

// TestDocsFindings: docs/troubleshooting.md has an entry for each code that a finding of emberd doctor can have.
func TestDocsFindings(t *testing.T) {
	t.Parallel()
	page := strings.Join(docsPage(t, "docs/troubleshooting.md"), "\n")
	codes := 0
	for _, pattern := range []string{"internal/doctor/*.go", "internal/cli/maintain/doctor*.go"} {
		files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range findingCode.FindAllSubmatch(raw, -1) {
				codes++
				if code := string(m[1]); !strings.Contains(page, "`"+code+"`") {
					t.Errorf("docs/troubleshooting.md has no entry for %s, which %s reports", code, file)
				}
			}
		}
	}
	if codes < 50 {
		t.Errorf("%d codes of findings were found in the sources", codes)
	}
}

// sentencesOfSource are the texts in quotes of the program, with … for what is filled in; texts
// that are put together with + are one.
func sentencesOfSource(t *testing.T) []string {
	t.Helper()
	top := filepath.Join("..", "..")
	var out []string
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == "testdata" || name == ".git") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if s, ok := wholeLiteral(e); ok {
					out = append(out, filledIn.ReplaceAllString(s, "…"))
					return false
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var filledIn = regexp.MustCompile(`%[-+# 0-9.\[\]]*[a-zA-Z]`)

// wholeLiteral is the text of a literal, or of several put together.
func wholeLiteral(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, e.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		x, okX := wholeLiteral(e.X)
		y, okY := wholeLiteral(e.Y)
		return x + y, e.Op == token.ADD && okX && okY
	}
	return "", false
}

// saidBySource reports whether all parts of a sentence between … stand in one text, in order.
func saidBySource(source []string, sentence string) bool {
	return slices.ContainsFunc(source, func(s string) bool {
		for part := range strings.SplitSeq(sentence, "…") {
			part = strings.TrimSpace(part)
			at := strings.Index(s, part)
			if at < 0 {
				return false
			}
			s = s[at+len(part):]
		}
		return true
	})
}
