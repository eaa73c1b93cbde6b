package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"emberd/internal/cleanup"
	"emberd/internal/config"
	"emberd/memory"
	"emberd/op"
)

// specRow is a row of docs/internals/spec-coverage.md.
type specRow struct{ section, kind, says, here, proof string }

// specsPage are the rows of docs/internals/spec-coverage.md, and the headings of its decisions.
func specsPage(t *testing.T) (rows []specRow, decisions []string, text string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "internals", "spec-coverage.md"))
	if err != nil {
		t.Fatal(err)
	}
	section := ""
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "## "); ok {
			section = name
		}
		if name, ok := strings.CutPrefix(line, "### "); ok {
			decisions = append(decisions, name)
		}
		cells := strings.Split(strings.ReplaceAll(line, `\|`, "¦"), "|")
		if len(cells) == 6 && cells[1] != "---" && cells[1] != " kind " {
			rows = append(rows, specRow{section, strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2]), strings.TrimSpace(cells[3]), strings.TrimSpace(cells[4])})
		}
	}
	return rows, decisions, string(raw)
}

var backquoted = regexp.MustCompile("`([^`]+)`")

// marked are the parts of a cell that stand in backquotes.
func marked(cell string) (out []string) {
	for _, m := range backquoted.FindAllStringSubmatch(cell, -1) {
		out = append(out, m[1])
	}
	return out
}

// TestSpecs holds docs/internals/spec-coverage.md against the program: what it names exists, each row has a
// proof, a decision or says that it is open, and nothing of what is tested under the names
// of the specifications is left out.
func TestSpecs(t *testing.T) {
	t.Parallel()
	rows, decisions, text := specsPage(t)
	if len(rows) < 400 {
		t.Fatalf("there are %d rows", len(rows))
	}
	tests, named := testsOfTree(t), namesHere(t)
	cited := map[string]bool{}
	for _, r := range rows {
		proofs := marked(provenBy(r.proof))
		for _, p := range proofs {
			if why := tests.lacks(p); why != "" {
				t.Errorf("%q: %s", r.says, why)
			}
			cited[p] = true
		}
		decided := regexp.MustCompile(`decided: \[([^]]+)\]\(#([^)]+)\)`).FindAllStringSubmatch(r.proof, -1)
		for _, d := range decided {
			if !slices.Contains(decisions, d[1]) || d[2] != anchor(d[1]) {
				t.Errorf("%q: there is no decision %q", r.says, d[1])
			}
		}
		if len(proofs)+len(decided) == 0 && !strings.Contains(r.proof, "open: ") {
			t.Errorf("%q has neither a proof nor a decision, and is not said to be open", r.says)
		}
		for _, why := range named.lacks(r) {
			t.Errorf("%q: %s", r.says, why)
		}
	}
	for _, p := range tests.ofSpecs() {
		if !cited[p] {
			t.Errorf("no row has the test %q", p)
		}
	}
	wantUpstream(t, rows)
	wantSummary(t, rows, text)
}

// provenBy is what of a proof is about tests: a row that is open says in words why.
func provenBy(proof string) string {
	before, _, _ := strings.Cut(proof, "open: ")
	return before
}

// anchor is the fragment that Markdown makes of a heading.
func anchor(heading string) string {
	return strings.ReplaceAll(regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// treeTests are the tests of the module by package, and the texts in quotes of its tests,
// which names of cases are.
type treeTests struct {
	funcs map[string]map[string]*ast.FuncDecl
	texts map[string]map[string]bool

	makefile string
}

func testsOfTree(t *testing.T) *treeTests {
	t.Helper()
	top := filepath.Join("..", "..")
	makefile, err := os.ReadFile(filepath.Join(top, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	tt := &treeTests{map[string]map[string]*ast.FuncDecl{}, map[string]map[string]bool{}, string(makefile)}
	err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(top, filepath.Dir(path))
		tt.take(strings.Replace(filepath.ToSlash(dir), ".", "root", 1), file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tt
}

func (tt *treeTests) take(pkg string, file *ast.File) {
	if tt.funcs[pkg] == nil {
		tt.funcs[pkg], tt.texts[pkg] = map[string]*ast.FuncDecl{}, map[string]bool{}
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
			tt.funcs[pkg][f.Name.Name] = f
		}
	}
	for _, s := range literals(file) {
		tt.texts[pkg][s] = true
	}
}

// literals are the texts in quotes below a node.
func literals(n ast.Node) (out []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				out = append(out, s)
			}
		}
		return true
	})
	return out
}

var testRef = regexp.MustCompile(`^([a-z][a-zA-Z0-9/-]*)\.((?:Test|Benchmark)[A-Za-z0-9_]+)(?:/(.+))?$`)

// lacks says why there is no such proof, or nothing.
func (tt *treeTests) lacks(proof string) string {
	if target, ok := strings.CutPrefix(proof, "make "); ok {
		if !strings.Contains(tt.makefile, "\n"+target+":") {
			return "the Makefile has no " + proof
		}
		return ""
	}
	m := testRef.FindStringSubmatch(proof)
	if m == nil {
		return strconv.Quote(proof) + " names no test"
	}
	pkg, name, sub := m[1], m[2], m[3]
	file := map[string]string{"cmd/emberd.TestScripts": "testdata/script/", "internal/mcp.TestTranscripts": "internal/mcp/testdata/"}[pkg+"."+name]
	switch {
	case tt.funcs[pkg][name] == nil:
		return "there is no test " + proof
	case sub == "":
	case file != "":
		if _, err := os.Stat(filepath.Join("..", "..", file+sub+".txtar")); err != nil {
			return "there is no " + file + sub + ".txtar"
		}
	case !tt.texts[pkg][sub]:
		return "no case of a test is called " + strconv.Quote(sub)
	}
	return ""
}

// ofSpecs are the cases of the tests that bear the names of the specifications.
func (tt *treeTests) ofSpecs() (out []string) {
	for pkg, funcs := range tt.funcs {
		for name, f := range funcs {
			if !regexp.MustCompile(`^TestSpec\d$`).MatchString(name) {
				continue
			}
			for _, s := range literals(f.Body) {
				out = append(out, pkg+"."+name+"/"+s)
			}
		}
	}
	return slices.Sorted(slices.Values(out))
}

// specNames is what rows may name: each maps to whether there is one.
type specNames struct{ tools, params, ops, keys, variables, commands, fields, values map[string]bool }

func namesHere(t *testing.T) *specNames {
	t.Helper()
	set := func() map[string]bool { return map[string]bool{} }
	n := &specNames{set(), set(), set(), set(), set(), set(), set(), set()}
	n.takeTools(t)
	for _, s := range op.Table() {
		n.ops[strings.ReplaceAll(s.Name, ".", "_")] = true
	}
	c, err := config.Load(config.Source{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Effective() {
		n.keys[s.Key] = true
		for _, v := range s.Variables {
			n.variables[v+" "+s.Key] = true
		}
	}
	for _, c := range tree() {
		path := strings.TrimPrefix(c.CommandPath(), "emberd ")
		n.commands[path] = true
		c.InitDefaultHelpFlag()
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { n.commands[path+" --"+f.Name] = true })
	}
	for _, f := range slices.Concat(cleanup.AutomationFields(), tagsOf(reflect.TypeFor[memory.Memory]()), tagsOf(reflect.TypeFor[op.HealthMergeResult]())) {
		n.fields[f] = true
	}
	for _, r := range memory.RelationTypes() {
		n.values[r] = true
	}
	return n
}

// takeTools asks a real server what it shows to a client of every profile.
func (n *specNames) takeTools(t *testing.T) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := serveOutside(t, exe)
	a := startAgent(t, home, "--tools", "all")
	var list struct {
		Tools []struct {
			Name        string
			InputSchema struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(a.ask(t, "tools/list", `{}`), &list); err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		n.tools[tool.Name] = true
		for p := range tool.InputSchema.Properties {
			n.params[tool.Name+"."+p] = true
		}
	}
}

// tagsOf are the keys that a struct has in JSON.
func tagsOf(typ reflect.Type) (out []string) {
	for _, f := range reflect.VisibleFields(typ) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out = append(out, name)
	}
	return out
}

// lacks says which names of a row there are not.
func (n *specNames) lacks(r specRow) (why []string) {
	open, names := strings.Contains(r.proof, "open: "), marked(r.here)
	var known []map[string]bool
	switch r.kind {
	case "tool":
		known = []map[string]bool{n.tools}
	case "parameter":
		known = []map[string]bool{n.params}
	case "key":
		known = []map[string]bool{n.keys}
	case "variable":
		for i, key := range names {
			names[i] = strings.Trim(marked(r.says)[0], "`") + " " + key
		}
		known = []map[string]bool{n.variables}
	case "flag", "command":
		known = []map[string]bool{n.commands}
	case "field":
		known = []map[string]bool{n.fields}
	case "value":
		known, open = []map[string]bool{n.values}, true
	case "function", "rule":
		known, open = []map[string]bool{n.tools, n.ops, n.keys}, true
	case "test", "target", "future":
		return nil
	default:
		return []string{"there is no kind " + r.kind}
	}
	if len(names) == 0 && !open {
		why = append(why, "a "+r.kind+" without a name")
	}
	for _, name := range names {
		if !slices.ContainsFunc(known, func(m map[string]bool) bool { return m[name] }) {
			why = append(why, "there is no "+r.kind+" "+name)
		}
	}
	return why
}

// wantUpstream wants a row for each tool and parameter of CortexGraph's reference.
func wantUpstream(t *testing.T, rows []specRow) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "internal", "mcp", "testdata", "upstream-cortexgraph.json"))
	if err != nil {
		t.Fatal(err)
	}
	var upstream map[string][]struct{ Name string }
	if err := json.Unmarshal(raw, &upstream); err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, r := range rows {
		for _, name := range marked(r.here) {
			has[r.kind+" "+name] = true
		}
	}
	for tool, params := range upstream {
		if !has["tool "+tool] {
			t.Errorf("no row has the tool %s", tool)
		}
		for _, p := range params {
			if !has["parameter "+tool+"."+p.Name] {
				t.Errorf("no row has the parameter %s of %s", p.Name, tool)
			}
		}
	}
}

// wantSummary wants the table at the top to count the rows below it.
func wantSummary(t *testing.T, rows []specRow, text string) {
	t.Helper()
	all, open := map[string]int{}, map[string]int{}
	for _, r := range rows {
		all[r.section]++
		if strings.Contains(r.proof, "open: ") {
			open[r.section]++
		}
	}
	for section, n := range all {
		if want := "| " + section + " | " + strconv.Itoa(n) + " | " + strconv.Itoa(open[section]) + " |\n"; !strings.Contains(text, want) {
			t.Errorf("the table at the top lacks %q", want)
		}
	}
}
