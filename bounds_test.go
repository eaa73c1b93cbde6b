package emberd_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// limits are the bounds of a package, by the names that the exceptions have for them. Lines of
// code are those outside tests without comments and blank lines; cycle is the lines of files of
// one package that all need each other.
var limits = map[string]int{"code": 5200, "files": 45, "methods": 60, "cycle": 4000, "function": 80, "wide": 0}

// maxColumns is how wide a line may be, with tabs of four, unless it cannot be broken: a struct
// tag, a raw string, or an address.
const maxColumns = 120

// exceptionsFile lists what exceeds a bound today, one "package bound value" a line. A value may
// only fall, and the line goes with the excess.
var exceptionsFile = filepath.Join("testdata", "bounds.txt")

var updateBounds = flag.Bool("bounds.update", false, "write what exceeds a bound to "+exceptionsFile)

type excess struct{ pkg, bound string }

// TestBounds checks the size and shape of every package.
func TestBounds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the exceptions are those of the files that Linux builds")
	}
	found := map[excess]int{}
	for _, p := range typedPackages(t) {
		for bound, n := range p.measure() {
			if n > limits[bound] {
				found[excess{strings.TrimPrefix(p.path, module+"/"), bound}] = n
			}
		}
	}
	if *updateBounds {
		writeExceptions(t, found)
		return
	}
	allowed := readExceptions(t)
	for e, n := range found {
		if limit := max(limits[e.bound], allowed[e]); n > limit {
			t.Errorf("%s %s %d: at most %d", e.pkg, e.bound, n, limit)
		}
	}
	for e, n := range allowed {
		if found[e] == 0 {
			t.Errorf("%s no longer exceeds %s %d; remove %q from %s",
				e.pkg, e.bound, limits[e.bound], fmt.Sprint(e.pkg, " ", e.bound, " ", n), exceptionsFile)
		}
	}
}

func readExceptions(t *testing.T) map[excess]int {
	t.Helper()
	data, err := os.ReadFile(exceptionsFile)
	if err != nil {
		t.Fatal(err)
	}
	all := map[excess]int{}
	for line := range strings.Lines(string(data)) {
		var e excess
		var n int
		if _, err := fmt.Sscan(line, &e.pkg, &e.bound, &n); err != nil {
			t.Fatalf("%s: %q: %v", exceptionsFile, line, err)
		}
		all[e] = n
	}
	return all
}

func writeExceptions(t *testing.T, found map[excess]int) {
	t.Helper()
	var lines []string
	for e, n := range found {
		lines = append(lines, fmt.Sprintln(e.pkg, e.bound, n))
	}
	slices.Sort(lines)
	if err := os.WriteFile(exceptionsFile, []byte(strings.Join(lines, "")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A typedPackage is a package of this module with its types, without its tests.
type typedPackage struct {
	path  string
	names []string // of its files
	text  map[string][]byte
	files []*ast.File
	fset  *token.FileSet
	types *types.Package
	info  *types.Info
}

// typedPackages loads every package of this module. The go command names the files that this
// system builds, and the export data of what they import.
func typedPackages(t *testing.T) []*typedPackage {
	t.Helper()
	var said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,Export", "./...")
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &said)
	}
	var ours []*typedPackage
	exports, dirs := map[string]string{}, map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath], dirs[p.ImportPath] = p.Export, p.Dir
		if strings.HasPrefix(p.ImportPath, module+"/") {
			ours = append(ours, &typedPackage{path: p.ImportPath, names: p.GoFiles, text: map[string][]byte{}})
		}
	}
	fset := token.NewFileSet()
	from := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range ours {
		p.check(t, fset, from, dirs[p.path])
	}
	return ours
}

func (p *typedPackage) check(t *testing.T, fset *token.FileSet, from types.Importer, dir string) {
	t.Helper()
	p.fset, p.info = fset, &types.Info{Uses: map[*ast.Ident]types.Object{}}
	for _, name := range p.names {
		name = filepath.Join(dir, name)
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		p.files, p.text[name] = append(p.files, file), text
	}
	var err error
	if p.types, err = (&types.Config{Importer: from}).Check(p.path, fset, p.files, p.info); err != nil {
		t.Fatal(err)
	}
}

// measure returns what each bound is about.
func (p *typedPackage) measure() map[string]int {
	m := map[string]int{"files": len(p.files)}
	methods, sizes, needs := map[string]int{}, map[string]int{}, map[string]map[string]bool{}
	for _, f := range p.files {
		name := p.fset.Position(f.FileStart).Filename
		m["code"] += p.codeLines(f, p.text[name])
		m["wide"] += wideLines(p.text[name])
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				m["function"] = max(m["function"], p.line(fn.End())-p.line(fn.Pos())+1)
				if fn.Recv != nil {
					methods[receiver(fn.Recv.List[0].Type)]++
				}
			}
		}
		sizes[name], needs[name] = bytes.Count(p.text[name], []byte("\n")), p.needs(f, name)
	}
	for _, n := range methods {
		m["methods"] = max(m["methods"], n)
	}
	for _, files := range cycles(needs) {
		n := 0
		for _, name := range files {
			n += sizes[name]
		}
		if len(files) > 1 {
			m["cycle"] = max(m["cycle"], n)
		}
	}
	return m
}

func (p *typedPackage) line(at token.Pos) int { return p.fset.Position(at).Line }

// codeLines counts the lines that are neither blank nor all comment.
func (p *typedPackage) codeLines(f *ast.File, text []byte) int {
	comment := map[int]bool{}
	for _, c := range f.Comments {
		for l := p.line(c.Pos()); l <= p.line(c.End()); l++ {
			comment[l] = true
		}
	}
	n, number := 0, 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || comment[number] && (line[0] == '*' || strings.HasPrefix(line, "//") || strings.HasPrefix(line, "/*")) {
			continue
		}
		n++
	}
	return n
}

func wideLines(text []byte) (n int) {
	for line := range strings.Lines(string(text)) {
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")
		if utf8.RuneCountInString(line) > maxColumns && !strings.Contains(line, "`") && !strings.Contains(line, "://") {
			n++
		}
	}
	return n
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// needs returns the other files of the package that declare what a file uses.
func (p *typedPackage) needs(f *ast.File, name string) map[string]bool {
	others := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		obj := p.info.Uses[id]
		if obj == nil || obj.Pkg() != p.types || !obj.Pos().IsValid() {
			return true
		}
		_, isFunc := obj.(*types.Func)
		v, isVar := obj.(*types.Var)
		if isFunc || isVar && v.IsField() || obj.Parent() == p.types.Scope() {
			if at := p.fset.Position(obj.Pos()).Filename; at != name {
				others[at] = true
			}
		}
		return true
	})
	return others
}

// cycles returns the groups of nodes that all reach each other, by Tarjan's algorithm.
func cycles(edges map[string]map[string]bool) (groups [][]string) {
	index, low, open := map[string]int{}, map[string]int{}, map[string]bool{}
	var stack []string
	var visit func(v string)
	visit = func(v string) {
		index[v] = len(index) + 1
		low[v], open[v] = index[v], true
		stack = append(stack, v)
		for w := range edges[v] {
			if index[w] == 0 {
				visit(w)
			}
			if open[w] {
				low[v] = min(low[v], cmp.Or(low[w], low[v]))
			}
		}
		if low[v] == index[v] {
			at := slices.Index(stack, v)
			for _, w := range stack[at:] {
				open[w] = false
			}
			groups = append(groups, slices.Clone(stack[at:]))
			stack = stack[:at]
		}
	}
	for v := range edges {
		if index[v] == 0 {
			visit(v)
		}
	}
	return groups
}

// TestCycles checks the search for files that need each other.
func TestCycles(t *testing.T) {
	edges := map[string]map[string]bool{
		"a": {"b": true}, "b": {"c": true, "d": true}, "c": {"a": true}, "d": {"e": true}, "e": {"d": true}, "f": {"a": true},
	}
	var got []string
	for _, group := range cycles(edges) {
		slices.Sort(group)
		got = append(got, strings.Join(group, ""))
	}
	slices.Sort(got)
	if want := []string{"abc", "de", "f"}; !slices.Equal(got, want) {
		t.Errorf("groups %q, want %q", got, want)
	}
}
