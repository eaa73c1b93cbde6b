package notebase_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"emberd/engine/promote"
	"emberd/internal/notebase"
)

// base is what the syntax of bases has (https://help.obsidian.md/bases/syntax); decoding it refuses any other key.
type base struct {
	Filters    yaml.Node
	Formulas   map[string]string
	Properties map[string]struct {
		DisplayName string `yaml:"displayName"`
	}
	Views []struct {
		Type, Name string
		Limit      int
		Filters    yaml.Node
		GroupBy    *struct{ Property, Direction string } `yaml:"groupBy"`
		Order      []string
	}
}

// What the help lists, as of 2026-08-20 (https://help.obsidian.md/bases/syntax, /bases/functions).
var (
	fileProperties = []string{"name", "path", "folder", "ext", "size", "ctime", "mtime", "tags", "links", "embeds",
		"backlinks", "properties"}
	fileFunctions   = []string{"hasProperty", "inFolder", "hasLink", "hasTag"}
	globalFunctions = []string{"if", "now", "link"}
	methods         = []string{"relative", "contains", "isEmpty"}
	// noteProperties are those that emberd writes.
	noteProperties = append(promote.LinkKeys(), "memory-id", "aliases", "created", "updated", "tags", "category",
		"type", "source", "strength", "sources")
)

func read(t *testing.T, archive string) (b base) {
	t.Helper()
	d := yaml.NewDecoder(strings.NewReader(notebase.Text(archive)))
	d.KnownFields(true)
	if err := d.Decode(&b); err != nil {
		t.Fatal(err)
	}
	return b
}

// statements returns the statements of filters: one as text, or and, or, not with lists.
func statements(t *testing.T, n *yaml.Node) (out []string) {
	t.Helper()
	switch n.Kind {
	case 0:
	case yaml.ScalarNode:
		out = append(out, n.Value)
	case yaml.MappingNode:
		if len(n.Content) != 2 || !slices.Contains([]string{"and", "or", "not"}, n.Content[0].Value) ||
			n.Content[1].Kind != yaml.SequenceNode {
			t.Errorf("line %d: filters are one of and, or and not with a list", n.Line)
		}
		for _, item := range n.Content[1].Content {
			out = append(out, statements(t, item)...)
		}
	default:
		t.Errorf("line %d: no filter", n.Line)
	}
	return out
}

var (
	quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	named  = regexp.MustCompile(`[A-Za-z_][A-Za-z_]*(?:\.[A-Za-z_]+|\["[^"]*"\])*\(?`)
)

// wrongNames returns the names in an expression that are neither a function nor a property.
func wrongNames(b *base, expression string) (wrong []string) {
	check := func(name string) {
		if !isProperty(b, name) {
			wrong = append(wrong, name)
		}
	}
	byIndex := regexp.MustCompile(`note\["([^"]*)"\]`)
	for _, m := range byIndex.FindAllStringSubmatch(expression, -1) {
		check("note." + m[1])
	}
	rest := byIndex.ReplaceAllString(expression, " ")
	rest = quoted.ReplaceAllString(rest, " ")
	rest = regexp.MustCompile(`\[\d+\]`).ReplaceAllString(rest, "")
	for _, name := range named.FindAllString(rest, -1) {
		name, call := strings.CutSuffix(name, "(")
		of, last := "", name
		if at := strings.LastIndexByte(name, '.'); at >= 0 {
			of, last = name[:at], name[at+1:]
		}
		switch {
		case call && of == "" && slices.Contains(globalFunctions, last):
		case call && of == "file" && slices.Contains(fileFunctions, last):
		case call && of != "" && slices.Contains(methods, last):
			check(of)
		case call:
			wrong = append(wrong, name+"(")
		default:
			check(name)
		}
	}
	return wrong
}

func isProperty(b *base, name string) bool {
	name = strings.TrimPrefix(name, "this.")
	of, last, dotted := strings.Cut(name, ".")
	_, formula := b.Formulas[last]
	return name == "file" || !dotted && slices.Contains(noteProperties, name) ||
		of == "file" && slices.Contains(fileProperties, last) ||
		of == "note" && slices.Contains(noteProperties, last) || of == "formula" && formula
}

// The base has no key, function or property that the syntax does not have, or that no note has.
func TestTheBaseIsInTheSyntaxOfBases(t *testing.T) {
	b := read(t, "Memories/Archive")
	expressions := slices.Concat(statements(t, &b.Filters), slices.Collect(maps.Values(b.Formulas)))
	properties := slices.Collect(maps.Keys(b.Properties))
	var views []string
	for _, v := range b.Views {
		views = append(views, v.Name)
		if !slices.Contains([]string{"table", "cards", "list"}, v.Type) {
			t.Errorf("%s is no type of view", v.Type)
		}
		expressions, properties = append(expressions, statements(t, &v.Filters)...), append(properties, v.Order...)
		if v.GroupBy != nil {
			properties = append(properties, v.GroupBy.Property)
			if !slices.Contains([]string{"ASC", "DESC"}, v.GroupBy.Direction) {
				t.Errorf("%s is no direction", v.GroupBy.Direction)
			}
		}
	}
	for _, expression := range expressions {
		if wrong := wrongNames(&b, expression); len(wrong) > 0 {
			t.Errorf("%q has %q, which the syntax does not", expression, wrong)
		}
	}
	for _, name := range properties {
		if !isProperty(&b, name) {
			t.Errorf("%s is no property", name)
		}
	}
	want := []string{"All", "Projects", "This project", "Decisions", "This week", "About this note", "Replaced"}
	if !slices.Equal(views, want) {
		t.Errorf("the views are %q, want %q", views, want)
	}
}

func TestWrongNamesAreFound(t *testing.T) {
	b := read(t, "x")
	for _, wrong := range []string{"file.hasTags()", "nope(1)", "created.ago()", "file.title == 1", "formula.none",
		`note["x-y"]`, "owner"} {
		if len(wrongNames(&b, wrong)) == 0 {
			t.Errorf("%q is taken", wrong)
		}
	}
}

func TestTheArchiveFolderIsQuoted(t *testing.T) {
	for _, folder := range []string{"Memories/Archive", "Old: #1", `a"b\c`, "it's"} {
		b := read(t, folder)
		want := `file.inFolder("` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(folder) + `")`
		if all := statements(t, &b.Filters); !slices.Contains(all, want) {
			t.Errorf("for %q the filters are %q, want %q among them", folder, all, want)
		}
	}
}

func TestABaseIsWrittenOnce(t *testing.T) {
	dir := t.TempDir()
	want := filepath.Join(dir, "Notes", "Memories", notebase.Name)
	for _, c := range []struct{ made, changed bool }{{made: true}, {}} {
		file, made, changed, err := notebase.Write(filepath.Join(dir, "Notes"), "Memories", "Memories/Archive")
		if err != nil || file != want || made != c.made || changed != c.changed {
			t.Errorf("%s, made %v, changed %v, %v", file, made, changed, err)
		}
	}
	if err := os.WriteFile(want, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, made, changed, err := notebase.Write(filepath.Join(dir, "Notes"), "Memories", "Memories/Archive")
	if err != nil || made || !changed {
		t.Errorf("made %v, changed %v, %v", made, changed, err)
	}
	if is, err := os.ReadFile(want); err != nil || string(is) != "mine" {
		t.Errorf("the file is %q, %v", is, err)
	}
}
