package emberd_test

import (
	"go/ast"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

const (
	maxFileLines = 500
	maxFuncLines = 80

	maxLifecycleFuncLines = 60
)

// Every package says what it is, in exactly one place.
func TestPackageDocs(t *testing.T) {
	docs := map[string][]source{}
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		if _, ok := docs[f.dir]; !ok {
			docs[f.dir] = nil
		}
		if f.syntax.Doc != nil {
			docs[f.dir] = append(docs[f.dir], f)
		}
	}
	for dir, files := range docs {
		if len(files) != 1 {
			t.Errorf("package %s is documented in %d files, want one", dir, len(files))
			continue
		}
		f := files[0]
		openings := []string{"Package " + f.syntax.Name.Name + " "}
		if f.syntax.Name.Name == "main" {
			openings = []string{"Command " + path.Base(dir) + " ", "Emberd "}
		}
		text := f.syntax.Doc.Text()
		if !slices.ContainsFunc(openings, func(o string) bool { return strings.HasPrefix(text, o) }) {
			t.Errorf("%s: the package doc must start with %q", f.path, openings[0])
		}
	}
}

func TestFilesAreShort(t *testing.T) {
	for _, f := range sources(t) {
		if n := f.lines.LineCount() - f.rows(f.syntax); n > maxFileLines {
			t.Errorf("%s has %d lines, want at most %d", f.path, n, maxFileLines)
		}
	}
}

func TestFunctionsAreShort(t *testing.T) {
	lifecycle := lifecycleParts(t)
	for _, f := range sources(t) {
		for _, decl := range f.syntax.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			most := maxFuncLines
			if slices.ContainsFunc(lifecycle, func(part string) bool { return strings.HasPrefix(f.path, part) }) {
				most = maxLifecycleFuncLines
			}
			if n := f.span(fn) + 1 - f.rows(fn); n > most {
				t.Errorf("%s: %s has %d lines, want at most %d", f.path, fn.Name.Name, n, most)
			}
		}
	}
}

// lifecycleParts are the folders and beginnings of files by which a memory fades and
// comes back, whose test coverage the Makefile looks at as well.
func lifecycleParts(t *testing.T) []string {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(makefile)) {
		if parts, ok := strings.CutPrefix(line, "LIFECYCLE = "); ok {
			return strings.Fields(parts)
		}
	}
	t.Fatal("the Makefile does not say what the lifecycle is")
	return nil
}

// rows counts the lines of the literal tables under a node of a test file. They
// are data, where longer is better, and are not held against it.
func (f source) rows(under ast.Node) int {
	if !f.test {
		return 0
	}
	n := 0
	ast.Inspect(under, func(node ast.Node) bool {
		table, ok := node.(*ast.CompositeLit)
		if ok {
			n += f.span(table)
		}
		return !ok
	})
	return n
}

// span returns how many lines a node reaches down from its first.
func (f source) span(n ast.Node) int {
	return f.lines.Line(n.End()) - f.lines.Line(n.Pos())
}
