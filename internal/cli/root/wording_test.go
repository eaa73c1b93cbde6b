package root

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"emberd/internal/cli"
	"emberd/internal/testutil/racescale"
	"emberd/op"
)

// wordingExempt are the files, or folders that end in a slash, whose literals are not texts of emberd.
var wordingExempt = map[string]string{
	"embedding/server.go":                  "a sentence to embed, which tells whether a server's model has changed",
	"internal/capture/":                    "prompts, whose words were measured with models",
	"internal/cleanup/quality/answer.go":   "a prompt, whose words were measured with models",
	"internal/cli/model/athand.go":         "texts to embed",
	"internal/cli/setup/demo":              "texts of the memories that the tour saves",
	"internal/eval/":                       "questions and texts of an evaluation",
	"internal/evalcmd/gate.go":             "prompts of an evaluation",
	"internal/intent/":                     "phrases that people type",
	"internal/notegen/reviewnote/merge.go": "headings that earlier versions wrote into notes",
	"internal/secret/oracle/":              "texts of other scanners",
	"internal/testutil/":                   "for tests",
	"internal/transcript/":                 "sentences of other programs",
	"stm/":                                 "faults of the log, which the engine words for users",
	"tools/":                               "for those who build emberd",
	"bench/":                               "for those who measure emberd",
}

// A wording is one that texts for users do not have.
type wording struct {
	pattern *regexp.Regexp
	instead string
}

// wordings reads testdata/wording.txt.
func wordings(t *testing.T) (all []wording) {
	t.Helper()
	text, err := os.ReadFile("testdata/wording.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		pattern, instead, found := strings.Cut(strings.TrimSpace(line), "  ")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}
		all = append(all, wording{regexp.MustCompile(`(?i)(^|[^\pL\d_])(` + pattern + `)($|[^\pL\d_])`), strings.TrimSpace(instead)})
	}
	if len(all) < 20 {
		t.Fatalf("testdata/wording.txt has %d wordings only", len(all))
	}
	return all
}

// checkWording reports the wordings of a text that texts for users do not have.
func checkWording(t *testing.T, all []wording, where, text string) {
	t.Helper()
	flat := strings.Join(strings.Fields(text), " ")
	for _, w := range all {
		if m := w.pattern.FindStringSubmatch(flat); m != nil {
			t.Errorf("%s has %q; write: %s\n\t%s", where, m[2], w.instead, flat)
		}
	}
}

// shortVerbs are the words that a short help text begins with.
var shortVerbs = strings.Fields(`Accept Add Archive Check Claim Classify Clean Close Confirm Connect Continue Convert
	Count Create Delete Drop Edit Explain Export Find Handle Import Install Keep Leave Limit List Make Measure Merge Open
	Plot Print Raise Record Release Remove Reopen Report Restart Restore Review Revoke Rewrite Roll Run Save Search Select
	Set Show Start Stop Test Try Turn Undo Verify Write`)

// flagVerbs are the words that the help of a flag begins with.
var flagVerbs = strings.Fields(`accept add allow apply archive change check claim compare compose confirm
	connect continue copy count delete describe do download draw edit embed end explain file fix follow import
	include leave limit list load mark measure merge move multiply name plot print promote propose raise read
	rebuild record refresh reinforce relate remove rename replace report require reset revert run save search select
	separate serve set show skip sort start stop store supersede undo use verify wait write`)

// sharedFlags are flags that have the same help everywhere. One that filters memories differs from one
// that sets a field, and --project of the commands about clients takes no value.
var sharedFlags = map[string][]string{
	"allow-secret": {"save even if the text looks like a credential"},
	"collection":   {"use only memories of `COLLECTION`", "save to `COLLECTION`"},
	"cursor":       {"continue after `CURSOR`, the next_cursor of the previous result"},
	"dry-run":      {"show what would change, without changing anything"},
	"limit":        {"limit the results to `N`"},
	"project": {"use only memories of `PROJECT`; a dot means the enclosing git repository",
		"set the `PROJECT` of the memory; '' means no project",
		"change the client's file in the enclosing git repository only"},
}

// TestHelpIsPlain checks the wording and the form of every help text.
func TestHelpIsPlain(t *testing.T) {
	t.Parallel()
	all := wordings(t)
	each(RootCommand(cli.New()), func(c *cobra.Command) {
		path := c.CommandPath()
		checkWording(t, all, path, c.Short+"\n"+c.Long+"\n"+c.Example+"\n"+c.Annotations["exit"])
		if verb, _, _ := strings.Cut(c.Short, " "); c.HasParent() && !slices.Contains(shortVerbs, strings.TrimRight(verb, ",:")) {
			t.Errorf("the short help of %s begins with %q", path, verb)
		}
		if strings.HasSuffix(c.Short, ".") {
			t.Errorf("the short help of %s ends in a period", path)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { checkFlag(t, all, path, f) })
	})
}

// checkFlag checks the help of a flag.
func checkFlag(t *testing.T, all []wording, path string, f *pflag.Flag) {
	t.Helper()
	if f.Name == "help" { // which cobra words
		return
	}
	where, usage := path+" --"+f.Name, f.Usage
	if after, found := strings.CutPrefix(usage, "with --"); found {
		_, usage, _ = strings.Cut(after, ": ")
	}
	checkWording(t, all, where, usage)
	if verb, _, _ := strings.Cut(usage, " "); !slices.Contains(flagVerbs, verb) {
		t.Errorf("the help of %s begins with %q", where, verb)
	}
	if strings.HasSuffix(usage, ".") {
		t.Errorf("the help of %s ends in a period", where)
	}
	if same := sharedFlags[f.Name]; same != nil && !slices.Contains(same, usage) {
		t.Errorf("the help of %s is %q, want one of %q", where, usage, same)
	}
}

// TestHelpIsNarrow checks that no line of a help passes column 80.
func TestHelpIsNarrow(t *testing.T) {
	t.Parallel()
	each(RootCommand(cli.New()), func(c *cobra.Command) {
		var b strings.Builder
		c.SetOut(&b)
		printHelp(c, nil)
		for line := range strings.Lines(b.String()) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
				t.Errorf("%s --help has a line of %d columns: %s", c.CommandPath(), n, line)
			}
		}
	})
}

// TestSettingsArePlain checks the descriptions of settings.
func TestSettingsArePlain(t *testing.T) {
	t.Parallel()
	all := wordings(t)
	text, err := os.ReadFile("../../config/help.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		name, about, _ := strings.Cut(strings.TrimSpace(line), ": ")
		checkWording(t, all, name, about)
		if about == "" || !unicode.IsUpper([]rune(about)[0]) && !strings.HasPrefix(about, "llama.cpp ") ||
			!strings.HasSuffix(about, ".") {
			t.Errorf("the description of %s is no sentence: %s", name, about)
		}
	}
}

// TestOperationsArePlain checks that the summary of an operation, which is the description of its tool,
// begins with what it does. TestLiteralsArePlain checks its wording.
func TestOperationsArePlain(t *testing.T) {
	t.Parallel()
	verb := regexp.MustCompile(`^[A-Z][a-z]+,? .*\.$`)
	for _, s := range op.Table() {
		if !verb.MatchString(s.Summary) {
			t.Errorf("the summary of %s is no sentence: %s", s.Name, s.Summary)
		}
	}
}

// TestLiteralsArePlain checks the wording of every string in the sources: errors, messages, log lines,
// and the descriptions of tools and their parameters.
func TestLiteralsArePlain(t *testing.T) {
	t.Parallel()
	if racescale.Share > 1 {
		t.Skip("it reads the source, slowly under the race detector, which finds nothing there")
	}
	all := wordings(t)
	module := filepath.Join("..", "..", "..")
	err := filepath.WalkDir(module, func(path string, d fs.DirEntry, err error) error {
		name, relErr := filepath.Rel(module, path)
		switch {
		case err != nil || relErr != nil:
			return err
		case d.IsDir() && (name != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || isExempt(name):
			return nil
		}
		return checkLiterals(t, all, path, name)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func isExempt(name string) bool {
	for prefix := range wordingExempt {
		if strings.HasPrefix(filepath.ToSlash(name), prefix) {
			return true
		}
	}
	return false
}

// checkLiterals checks the string literals of one file. Literals that are joined are one text.
func checkLiterals(t *testing.T, all []wording, path, name string) error {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if _, is := n.(*ast.ImportSpec); is {
			return false
		}
		e, is := n.(ast.Expr)
		if !is {
			return true
		}
		text, is := literal(e)
		if is && strings.Contains(text, " ") { // others are codes and names
			where := filepath.ToSlash(name) + ":" + strconv.Itoa(files.Position(n.Pos()).Line)
			checkWording(t, all, where, text)
		}
		return !is
	})
	return nil
}

// literal returns the text of a string literal, or of several that are joined.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, e.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		x, isX := literal(e.X)
		y, isY := literal(e.Y)
		return x + y, e.Op == token.ADD && isX && isY
	}
	return "", false
}
