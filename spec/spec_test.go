package spec_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// full names the variable with which the rows run in every world. Without it those that are quick run
// in the empty one.
const full = "EMBERD_SPEC"

var update = flag.Bool("update", false, "write docs/internals/spec-coverage.md from the rows and this run")

// binaries is the folder of the emberd that is under test.
var binaries string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	dir, err := os.MkdirTemp("", "spec")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	binaries = dir
	build := exec.Command("go", "build", "-buildvcs=false", "-o", dir+"/", "../cmd/emberd")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "emberd does not build: %v\n%s", err, out)
		return 1
	}
	code := m.Run()
	for _, id := range slices.Sorted(maps.Keys(outcome.figures)) {
		fmt.Printf("figure %s: %s\n", id, outcome.figures[id])
	}
	if *update && code == 0 {
		if err := writePage(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

// TestRows runs the rows of every file in the worlds that the file names.
func TestRows(t *testing.T) {
	t.Parallel()
	for _, s := range sheets(t) {
		for _, name := range s.worlds {
			if os.Getenv(full) == "" && (name != "empty" || !s.quick) {
				continue
			}
			t.Run(s.name+"@"+name, func(t *testing.T) {
				t.Parallel()
				runSheet(t, s, name)
			})
		}
	}
}

func runSheet(t *testing.T, s *sheet, name string) {
	w := worldOf(t, name)
	dir, err := os.MkdirTemp("", "e") // short, for the path of a socket has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	testscript.RunT(judge{t, s, name}, testscript.Params{
		Files:               []string{s.file},
		WorkdirRoot:         dir,
		RequireExplicitExec: true,
		ContinueOnError:     true,
		Setup:               func(e *testscript.Env) error { return w.setup(e) },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"daemon":   cmdDaemon,
			"code":     cmdCode,
			"field":    cmdField,
			"figure":   cmdFigure,
			"grab":     cmdGrab,
			"http":     cmdHTTP,
			"mcp":      cmdMCP,
			"progress": cmdProgress,
			"seed":     cmdSeed,
			"sum":      cmdSum,
			"until":    cmdUntil,
		},
	})
}

// A judge is the testing.T of a script. It takes down which rows fail.
type judge struct {
	*testing.T
	sheet *sheet
	world string
}

// Run, of the only script that there is, adds no level to the name of the test.
func (j judge) Run(_ string, f func(testscript.T)) { f(j) }

// Parallel does nothing: the test is parallel already.
func (judge) Parallel() {}

// Verbose is false, so that the log has the rows that fail alone.
func (judge) Verbose() bool { return false }

// Log finds the failures in the log of a script.
func (j judge) Log(args ...any) {
	j.Helper()
	text := fmt.Sprint(args...)
	for line := range strings.Lines(text) {
		at, ok := strings.CutPrefix(line, "FAIL: "+j.sheet.file+":")
		if !ok {
			continue
		}
		number, why, _ := strings.Cut(at, ": ")
		r := j.sheet.rowAt(number)
		took(r.id, j.world, strings.TrimSpace(why))
		j.T.Logf("row %s fails in the world %s: %s: %s", r.id, j.world, r.says, why)
	}
	j.T.Log(text)
}

// outcome is what the rows of this run showed.
var outcome struct {
	sync.Mutex
	failed  map[string][]string // by row
	figures map[string]string
}

func took(row, world, why string) {
	outcome.Lock()
	defer outcome.Unlock()
	if outcome.failed == nil {
		outcome.failed = map[string][]string{}
	}
	outcome.failed[row] = append(outcome.failed[row], world+": "+why)
}

// sheets are the files of rows, in their order.
func sheets(t *testing.T) (all []*sheet) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no rows: %v", err)
	}
	slices.Sort(files)
	for _, f := range files {
		s, err := readSheet(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}
