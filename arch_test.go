package emberd_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
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

// graph is the whole import graph. A new edge is a line here, to be argued for
// in review: stm knows the disk but not decay, the engine brings them together,
// and the two ends of the socket know the operations but not the engine.
func graph() map[string]edges {
	return map[string]edges{
		"memory":             {others: []string{"github.com/google/uuid"}},
		"decay":              {},
		"internal/backup":    {ours: []string{"internal/durable"}},
		"internal/cleanup":   {ours: []string{"memory", "op", "internal/cluster", "internal/conflict", "internal/overview", "internal/quality", "internal/text"}, others: []string{"gopkg.in/yaml.v3"}}, // its tests read the properties of a report
		"internal/cleanrun":  {ours: []string{"memory", "op", "internal/cleanup", "internal/durable"}},
		"internal/clients":   {ours: []string{"memory", "internal/durable", "internal/jsonedit"}},
		"internal/admission": {others: []string{"golang.org/x/sys/unix"}},
		"internal/agents":    {ours: []string{"memory", "internal/cluster", "internal/entities", "internal/similarity"}},
		"internal/cluster":   {ours: []string{"memory", "internal/conflict", "internal/dot", "internal/similarity", "internal/text"}},
		"internal/conflict":  {ours: []string{"internal/text"}},
		"internal/beads":     {},
		"internal/bert": {
			ours:   []string{"internal/dot", "internal/gguf"},
			others: []string{"golang.org/x/text/unicode/norm"},
			tests:  []string{"internal/tinybert"},
		},
		"internal/chunk":     {},
		"internal/dot":       {others: []string{"golang.org/x/sys/cpu"}},
		"internal/gguf":      {ours: []string{"internal/dot"}, tests: []string{"internal/tinybert"}},
		"internal/tinybert":  {},
		"internal/llamatest": {others: []string{"golang.org/x/sys/unix"}},
		"internal/llamawire": {},
		"internal/llama": {
			ours:   []string{"internal/gguf", "internal/llamawire"},
			others: []string{"github.com/ebitengine/purego"},
			tests:  []string{"internal/tinybert", "internal/bert", "internal/dot"},
		},
		"internal/foreign": {ours: []string{"memory", "internal/cleanup", "internal/overview", "internal/unpack", "vault"}},
		"internal/fetch":   {ours: []string{"internal/durable"}},
		"internal/unpack":  {},
		"internal/engines": {ours: []string{"internal/durable", "internal/fetch", "internal/unpack", "internal/llamawire", "internal/spelling"}, others: []string{"golang.org/x/sys/unix"}},
		"internal/models":  {ours: []string{"internal/durable", "internal/fetch", "internal/gguf", "internal/spelling"}, tests: []string{"internal/bert", "internal/tinybert"}}, // which engine runs a model
		"internal/when":    {},
		"embedding": {
			ours:   []string{"internal/bert", "internal/durable", "internal/gguf", "internal/llamawire", "internal/similarity"},
			others: []string{"golang.org/x/text/unicode/norm", "golang.org/x/sys/unix"},
			tests:  []string{"internal/tinybert"},
		},
		"vectors":                    {ours: []string{"internal/dot", "internal/durable"}},
		"internal/config":            {ours: []string{"internal/spelling"}, others: []string{"gopkg.in/yaml.v3"}},
		"internal/doctor":            {ours: []string{"internal/durable", "ltm", "stm", "vault"}, others: []string{"golang.org/x/sys/unix", "golang.org/x/text/unicode/norm"}},
		"internal/drawing":           {ours: []string{"memory", "op"}},
		"internal/durable":           {others: []string{"golang.org/x/sys/unix"}},
		"internal/durable/crashdisk": {ours: []string{"internal/durable"}},
		"internal/echo":              {ours: []string{"memory"}, others: []string{"golang.org/x/text/cases", "golang.org/x/text/unicode/norm"}},
		"internal/entities":          {ours: []string{"memory"}, others: []string{"golang.org/x/text/unicode/norm"}},
		"internal/eval":              {},
		"internal/intent": {
			ours:   []string{"memory", "decay", "internal/spelling"},
			others: []string{"gopkg.in/yaml.v3", "golang.org/x/text/unicode/norm"},
			tests:  []string{"internal/entities"}, // what is in a message counts towards what is made of it
		},
		"internal/jsonedit":   {},
		"internal/knowledge":  {ours: []string{"memory", "internal/entities"}},
		"internal/ledger":     {ours: []string{"memory", "internal/durable"}},
		"internal/llm":        {},
		"internal/llmtest":    {},
		"internal/secrettest": {},
		"internal/mcpserver": {
			ours:   []string{"memory", "op", "internal/plainly", "internal/wire", "internal/refgraph", "internal/similarity"},
			others: []string{"github.com/modelcontextprotocol/go-sdk", "github.com/google/jsonschema-go/jsonschema"},
			tests:  []string{"engine", "stm", "api", "embedding", "internal/access"}, // a real store, over a real socket
		},
		"internal/mcphttp": {
			ours:   []string{"internal/access", "internal/mcpserver", "op"},
			others: []string{"github.com/modelcontextprotocol/go-sdk/mcp"},
			tests:  []string{"memory", "engine", "stm", "api"}, // the real handlers around it
		},
		"internal/inbox":      {ours: []string{"memory", "op", "internal/overview"}, others: []string{"github.com/yuin/goldmark"}}, // as overview
		"internal/manual":     {others: []string{"github.com/yuin/goldmark"}},
		"internal/metrics":    {others: []string{"golang.org/x/sys/unix"}},
		"internal/mutants":    {},
		"internal/notefolder": {ours: []string{"memory", "internal/durable"}, others: []string{"golang.org/x/text/cases", "golang.org/x/text/unicode/norm"}},
		"internal/notify":     {ours: []string{"memory"}},
		"internal/obsidian":   {},
		"internal/service":    {ours: []string{"memory", "internal/durable"}},
		"internal/plainly":    {},
		"internal/overview":   {ours: []string{"memory", "internal/plainly"}, others: []string{"github.com/yuin/goldmark"}}, // its tests look at it as Obsidian does
		"internal/quality":    {ours: []string{"memory", "internal/entities"}},                                              // its tests ask a server that lies
		"internal/query":      {ours: []string{"internal/when"}},
		"internal/refgraph":   {ours: []string{"memory", "op"}},
		"internal/sandbox":    {others: []string{"github.com/landlock-lsm/go-landlock/landlock", "golang.org/x/sys/unix"}},
		"internal/secret":     {tests: []string{"internal/secrettest"}},
		"internal/similarity": {ours: []string{"internal/text"}},
		"internal/spelling":   {},
		"internal/text":       {others: []string{"github.com/blevesearch/bleve/v2/analysis"}},
		"internal/fewer":      {others: []string{"pgregory.net/rapid"}},
		"internal/untouched":  {others: []string{"golang.org/x/sys/unix"}},
		"internal/wire": {
			ours:   []string{"memory", "internal/spelling"},
			others: []string{"github.com/google/jsonschema-go/jsonschema"},
			tests:  []string{"op"},
		},
		"internal/words":  {ours: []string{"internal/spelling"}},
		"internal/access": {ours: []string{"memory", "internal/durable"}},
		"op":              {ours: []string{"memory", "internal/access"}},
		"stm": {
			ours:   []string{"memory", "internal/durable", "internal/metrics", "internal/spelling", "internal/text", "internal/words"},
			others: []string{"golang.org/x/text/cases", "golang.org/x/text/unicode/norm"},
			tests:  []string{"internal/backup"}, // restoring one is an operation like any other
		},
		"compaction": {ours: []string{"stm"}},
		"rekindle":   {ours: []string{"memory", "internal/text"}},
		"vault": {
			ours: []string{"internal/durable"},
			others: []string{"github.com/yuin/goldmark", "gopkg.in/yaml.v3", "golang.org/x/text/cases", "golang.org/x/text/unicode/norm",
				"golang.org/x/sys/unix"},
		},
		"watcher": {others: []string{"github.com/fsnotify/fsnotify", "golang.org/x/sys/unix"}},
		"ltm": {
			ours:   []string{"internal/durable", "internal/spelling", "internal/text"},
			others: []string{"github.com/blevesearch", "github.com/RoaringBitmap/roaring/v2", "golang.org/x/text/cases", "golang.org/x/text/unicode/norm"},
		},
		"engine": {
			// Not internal/config: the command turns settings into engine options.
			ours: []string{"memory", "op", "stm", "compaction", "decay", "vault", "watcher", "ltm", "embedding", "vectors", "internal/access", "internal/backup", "internal/beads", "internal/chunk", "internal/durable", "internal/query", "internal/when",
				"internal/agents", "internal/cleanrun", "internal/cleanup", "internal/cluster", "internal/conflict", "internal/echo", "internal/entities", "internal/inbox", "internal/intent", "internal/knowledge", "internal/ledger", "internal/metrics", "internal/overview", "internal/plainly", "internal/quality", "internal/similarity", "internal/spelling", "internal/text", "internal/words", "internal/secret", "rekindle"},
			tests: []string{"internal/tinybert", "internal/llamawire", "internal/secrettest"}, // models that are read like any other, helpers that do not work
		},
		"api": {
			ours:   []string{"op", "memory", "internal/access", "internal/admission", "internal/metrics", "internal/wire"},
			others: []string{"golang.org/x/sys/unix", "github.com/google/jsonschema-go/jsonschema"},
			tests:  []string{"engine", "stm"}, // random requests to what really answers them
		},
		"bench": {tests: []string{all}},
		"cmd/emberd-llama": {
			// Little: whatever goes wrong here takes the process with it.
			ours:   []string{"internal/gguf", "internal/llama", "internal/llamawire"},
			others: []string{"golang.org/x/sys/unix"},
			tests:  []string{"internal/tinybert", "internal/bert"},
		},
		"cmd/emberd": {
			ours: []string{all},
			others: []string{
				"github.com/gdamore/tcell/v2",
				"github.com/modelcontextprotocol/go-sdk",
				"github.com/spf13/cobra",
				"github.com/spf13/pflag",
				"github.com/rivo/uniseg",
				"github.com/schollz/progressbar/v3",
				"golang.org/x/sys/unix",
				"golang.org/x/term",
				"golang.org/x/text/encoding/unicode", // what tcell takes to name UTF-8
			},
		},
	}
}

// The tests of every package may use these.
var (
	testOurs   = []string{"internal/durable/crashdisk", "internal/fewer", "internal/llamatest", "internal/llm", "internal/llmtest", "internal/untouched"}
	testOthers = []string{"pgregory.net/rapid", "github.com/anishathalye/porcupine", "github.com/rogpeppe/go-internal/testscript", "github.com/rogpeppe/go-internal/txtar"}
)

// confined are packages that the graph alone would let in, or that deserve a
// reason of their own, with the directories that may import them.
func confined() []confinement {
	return []confinement{
		{"C", nil, nil, "emberd is one static binary: native code runs in a supervised child, never in this process"},
		{"github.com/ebitengine/purego", []string{"internal/llama"}, nil, "native code is called in one place, by the helper that may crash"},
		{"emberd/internal/llama", []string{"bench", "cmd/emberd-llama"}, nil, "native code runs in the helper; emberd itself stays static and cannot be taken down by it"},
		{"net/http", []string{"api", "bench", "cmd/emberd", "embedding", "internal/fetch", "internal/llm", "internal/llmtest", "internal/mcphttp"}, []string{"engine", "internal/engines", "internal/models"},
			"only the two ends of the socket, what is mounted there for agents and the clients of a model's server speak HTTP, and who plays one to evaluate or to test; below them, use op's requests and results"},
		{"github.com/blevesearch", []string{"internal/text", "ltm"}, nil, "bleve's types and its interfaces stay behind internal/text and ltm"},
		{"log", nil, nil, "a *slog.Logger arrives through Options; the log package writes to a global"},
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
		return slices.Contains(e.ours, all) || slices.Contains(e.ours, ours)
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
