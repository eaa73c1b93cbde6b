package emberd_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// module is the prefix of our own import paths.
const module = "emberd"

// edges are what one package may import besides the standard library.
type edges struct {
	ours   []string // packages of this module, or all of them
	others []string // third-party packages, or a path above them
	tests  []string // packages of this module that only its tests may import
}

const all = "*"

// anywhere is a package that every other one may import, as it may import strings.
const anywhere = "internal/text"

// The tests of every package may use these.
var (
	testOurs   = []string{"internal/testutil/bubble", "internal/testutil/clitest", "internal/testutil/snapfile", "internal/testutil/crashdisk", "internal/testutil/racescale", "internal/testutil/ramdisk", "internal/testutil/llamatest", "internal/testutil/trainedtest", "internal/llm", "internal/testutil/llmtest", "internal/testutil/dirsnap", "internal/testutil/oldhome", "internal/testutil/sqlitetest"}
	testOthers = []string{"pgregory.net/rapid", "github.com/anishathalye/porcupine", "github.com/rogpeppe/go-internal/testscript", "github.com/rogpeppe/go-internal/txtar"}
)

// confined are packages that the graph alone would let in, or that deserve a
// reason of their own, with the directories that may import them.
func confined() []confinement {
	return []confinement{
		{"C", nil, nil, "emberd is one static binary: native code runs in a supervised child, never in this process"},
		{"github.com/ebitengine/purego", []string{"internal/llama"}, nil, "native code is called in one place, by the helper that may crash"},
		{"emberd/internal/llama", []string{"bench", "cmd/emberd-llama"}, nil, "native code runs in the helper; emberd itself stays static and cannot be taken down by it"},
		{"net/http", []string{"api", "bench", "embedding", "internal/llm", "internal/testutil/llmtest", "internal/mcp/mcphttp", "internal/models", "internal/page"}, []string{"spec", "cmd/emberd", "internal/cli/daemon", "internal/cli/model", "engine"},
			"only the two ends of the socket, what is mounted there for agents, the page and the clients of a model's server speak HTTP, and who plays one to evaluate or to test; below them, use op's requests and results"},
		{"github.com/blevesearch", []string{"internal/text/analysis", "ltm"}, nil, "bleve's types and its interfaces stay behind internal/text/analysis and ltm"},
		{"modernc.org/sqlite", []string{"internal/sqlitefile", "internal/testutil/sqlitetest"}, nil, "emberd stores nothing in SQLite; it reads databases of other programs, from a copy"},
		{"log", []string{"internal/hookrun"}, nil, "a *slog.Logger arrives through Options; the log package writes to a global, which internal/hookrun turns off"},
		{"github.com/stretchr/testify", nil, nil, "tests compare got and want and say both"},
	}
}

type confinement struct {
	path   string // an import path and all below it; a single word stands for itself only
	in     []string
	tests  []string // folders whose tests alone may import it
	reason string
}

func (c confinement) covers(imported string) bool {
	return imported == c.path || strings.Contains(c.path, "/") && under(imported, c.path)
}

func TestImportsFollowTheGraph(t *testing.T) {
	graph := graph()
	for _, f := range sources(t) {
		if f.dir == "." {
			continue // the tests of the repository itself
		}
		allowed := graph[f.dir]
		if f.test {
			allowed.ours = slices.Concat(allowed.ours, allowed.tests, testOurs, []string{f.dir})
			allowed.others = slices.Concat(allowed.others, testOthers)
		}
		for _, imported := range f.imports(t) {
			if !allowed.permit(imported) {
				t.Errorf("%s imports %s, which is not an edge of the graph in arch_test.go", f.path, imported)
			}
		}
	}
}

// Every command pays for what is compiled before main: [text.Pattern] compiles at the first use.
func TestNoPatternIsCompiledAtTheStart(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || under(f.dir, testutil) {
			continue
		}
		for _, d := range f.syntax.Decls {
			if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.VAR && compiles(d) {
				t.Errorf("%s compiles a regular expression before main; use text.Pattern", f.path)
			}
		}
	}
}

// compiles reports whether a declaration calls regexp.MustCompile, and not in a function that is called later.
func compiles(d *ast.GenDecl) (found bool) {
	ast.Inspect(d, func(n ast.Node) bool {
		found = found || isSelector(n, "regexp", "Compile", "MustCompile")
		_, later := n.(*ast.FuncLit)
		return !later
	})
	return found
}

// usesSelector reports whether a file names one of some names of a package.
func usesSelector(f *ast.File, pkg string, names ...string) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		found = found || isSelector(n, pkg, names...)
		return !found
	})
	return found
}

func isSelector(n ast.Node, pkg string, names ...string) bool {
	s, ok := n.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, isName := s.X.(*ast.Ident)
	return isName && of.Name == pkg && slices.Contains(names, s.Sel.Name)
}

// Under the race detector, [testing/synctest.Test] alone can end the process: see package bubble.
func TestBubblesAreOfPackageBubble(t *testing.T) {
	for _, f := range sources(t) {
		if f.test && usesSelector(f.syntax, "synctest", "Test") {
			t.Errorf("%s calls synctest.Test; use bubble.Test", f.path)
		}
	}
}

// testutil is the folder of the test doubles, which the product never imports.
const testutil = "internal/testutil"

func TestProductImportsNoTestDoubles(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || under(f.dir, testutil) {
			continue
		}
		for _, imported := range f.imports(t) {
			if under(imported, module+"/"+testutil) {
				t.Errorf("%s imports %s; only tests and packages below %s may", f.path, imported, testutil)
			}
		}
	}
}

// drawers are names that say nothing about what a package guarantees.
var drawers = []string{"types", "common", "util", "base", "shared", "helpers", "misc"}

func TestPackageNames(t *testing.T) {
	for _, f := range sources(t) {
		name := strings.TrimSuffix(f.syntax.Name.Name, "_test")
		if slices.Contains(drawers, name) || slices.Contains(drawers, path.Base(f.dir)) {
			t.Errorf("%s: package %s in %s is named after no subject", f.path, name, f.dir)
		}
	}
}

func TestGraphMatchesTheTree(t *testing.T) {
	graph, found := graph(), map[string]bool{}
	for _, f := range sources(t) {
		found[f.dir] = found[f.dir] || !f.test
	}
	delete(found, ".")
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		if _, ok := graph[dir]; !ok {
			t.Errorf("package %s is missing from the graph in arch_test.go", dir)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(graph)) {
		if !found[dir] {
			t.Errorf("the graph in arch_test.go names %s, which has no Go files", dir)
		}
		for _, to := range slices.Concat(graph[dir].ours, graph[dir].tests) {
			if _, ok := graph[to]; !ok && to != all {
				t.Errorf("the graph in arch_test.go lets %s import %s, which it does not name", dir, to)
			}
		}
	}
}

func TestConfinedImports(t *testing.T) {
	confined := confined()
	for _, f := range sources(t) {
		for _, imported := range f.imports(t) {
			for _, c := range confined {
				allowed := slices.Contains(c.in, f.dir) || f.test && slices.Contains(c.tests, f.dir)
				if c.covers(imported) && !allowed {
					t.Errorf("%s imports %s: %s", f.path, imported, c.reason)
				}
			}
		}
	}
}

// permit reports whether an import path is of the standard library or an edge.
func (e edges) permit(imported string) bool {
	if ours, ok := strings.CutPrefix(imported, module+"/"); ok {
		return ours == anywhere || slices.Contains(e.ours, all) || slices.Contains(e.ours, ours)
	}
	if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
		return true
	}
	return slices.ContainsFunc(e.others, func(root string) bool { return under(imported, root) })
}

func under(imported, root string) bool {
	return imported == root || strings.HasPrefix(imported, root+"/")
}

// source is one parsed Go file of the module.
type source struct {
	path   string // slash-separated, from the root of the module
	dir    string
	test   bool
	syntax *ast.File
	lines  *token.File
}

// imports returns the file's import paths.
func (f source) imports(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, spec := range f.syntax.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatalf("%s: import %s: %v", f.path, spec.Path.Value, err)
		}
		paths = append(paths, p)
	}
	return paths
}

// sources parses every Go file of the module, whichever system it is built for:
// an edge taken only on macOS is an edge. Files are read in this process, not by
// the go command, so that a cached test result is dropped when one changes. They
// are read once; all tests look at the same, and change nothing.
func sources(t *testing.T) []source {
	t.Helper()
	found, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var parsed = sync.OnceValues(func() (found []source, err error) {
	err = filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && skipped(name):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		f, err := parse(filepath.ToSlash(name))
		found = append(found, f)
		return err
	})
	return found, err
})

// skipped reports a directory the go command does not look into either: hidden,
// test data, or the root of another module.
func skipped(dir string) bool {
	base := filepath.Base(dir)
	if base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func parse(name string) (source, error) {
	files := token.NewFileSet()
	syntax, err := parser.ParseFile(files, name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return source{}, err
	}
	return source{
		path:   name,
		dir:    path.Dir(name),
		test:   strings.HasSuffix(name, "_test.go"),
		syntax: syntax,
		lines:  files.File(syntax.FileStart),
	}, nil
}

// unbounded are the source files that read a whole file without a limit on its size, or open what may be no
// file, with the reason.
var unbounded = map[string]string{
	"internal/capture/words.go":           "a file in the program itself",
	"internal/cli/daemon/supervise.go":    "/dev/tty",
	"internal/cli/data/importsessions.go": "package transcript, which opens files and holds their lines to a bound",
	"internal/cli/setup/initvault.go":     "a folder, asked before",
	"internal/evalcmd/lines.go":           "a judged set of the person who measures",
	"internal/metrics/process_linux.go":   "/proc, of the kernel",
	"internal/cli/daemon/rss.go":          "/proc, of the kernel",
	"internal/doctor/others_linux.go":     "/proc, of the kernel",
	"internal/doctor/watches.go":          "/proc, of the kernel",
	"internal/power/power.go":             "/sys, of the kernel",
	"internal/cli/memories/editor.go":     "what the user wrote in an editor a moment ago",
	"internal/cli/root/tree.go":           "a file in the program itself",
	"internal/cli/setup/tour.go":          "a note that the tour has just written",
	"internal/page/owner.go":              "/proc, of the kernel",
	"internal/page/static.go":             "a file in the program itself",
	"internal/eval/set.go":                "a judged set of the person who measures",
	"internal/llama/files.go":             "asks first, and reads at most 64 KiB",
	"stm/device/identity.go":              "/etc/machine-id, of the system",
	"internal/backup/read.go":             "a member of an archive, whose header was held to a bound",
	"internal/importer/prose.go":          "a reader that ends at MaxBytes",
}

// TestFilesAreReadWithinBounds: a file may be a hole of 30 GiB, or a pipe without a writer. Those that
// durable opens are files, and its ReadAtMost, ReadGiven and ReadAll have bounds.
func TestFilesAreReadWithinBounds(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || strings.HasPrefix(f.path, "tools/") || strings.HasPrefix(f.path, "internal/testutil/") {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if ok && readsAll(call) && unbounded[f.path] == "" {
				t.Errorf("%s:%d reads a file without a bound, or may wait for a pipe; see unbounded", f.path,
					f.lines.Line(call.Pos()))
			}
			return true
		})
	}
}

// readsAll reports whether a call reads to the end of what it gets, or opens what may be a pipe.
func readsAll(call *ast.CallExpr) bool {
	switch name := types.ExprString(call.Fun); {
	case strings.HasSuffix(name, ".ReadFile"), name == "os.Open":
		return true
	case name == "io.ReadAll":
		return !strings.HasPrefix(types.ExprString(call.Args[0]), "io.LimitReader(")
	}
	return false
}

// TestArchitectureNamesFilesThatExist checks the paths that ARCHITECTURE.md names with their
// folder.
func TestArchitectureNamesFilesThatExist(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	paths := regexp.MustCompile("`((?:[a-z-]+/)+[a-z_-]+\\.(?:go|txt|md))`").FindAllSubmatch(text, -1)
	if len(paths) < 5 {
		t.Errorf("ARCHITECTURE.md names %d files, want five at least", len(paths))
	}
	for _, m := range paths {
		if _, err := os.Stat(string(m[1])); err != nil {
			t.Error(err)
		}
	}
}
