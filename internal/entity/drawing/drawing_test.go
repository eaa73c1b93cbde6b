package drawing

import (
	"encoding/xml"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"emberd/op"
)

// pair is a graph of two nodes with these labels and an edge of this kind.
func pair(from, to, kind string) *op.KnowledgeResult {
	return &op.KnowledgeResult{
		Nodes: []op.KnowledgeNode{{ID: "entity:" + from, Kind: "entity", Label: from}, {ID: "note:x", Kind: "note", Label: to}, {ID: "m", Kind: "memory", Label: "plain"}},
		Edges: []op.KnowledgeEdge{{From: "entity:" + from, To: "note:x", Type: "related", Kind: kind, Weight: 0.5}, {From: "m", To: "note:x", Type: "mentioned_with", Weight: 2}},
	}
}

// awkward are labels that mean something in one of the formats.
func awkward() []string {
	return []string{
		"", " ", `"`, `\`, `\"`, `a\`, `\N\G\n`, "two\nlines", "cr\r\nlf", "tab\there", "<b>bold</b>", "&amp;", "a & b", "]]>", "-->", "n0 --> n1",
		"|", "a|b", "`code`", "```", "#35;", "#quot;", "%% comment", "%%{init: {}}%%", "style: x:#fff;", "style x:#y;", "classDef a:#b;", "end", "subgraph x", "click n0",
		"[x](y)", "{a}", "((a))", ";", "👩‍🚀", "读书", "é", "e\u0301", "\u202e", "\u2028", "\x00", "\x1b[31m", "\ufffe", "bad\xff", "\"];\n  n9 [label=\"x",
	}
}

func labels() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom(awkward()), rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune("\"\\\n#;%|`<>&[](){}-nl:=é")), 0, 12, -1))
}

func written(t testing.TB, write func(*strings.Builder) error) string {
	t.Helper()
	var b strings.Builder
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

type tester interface {
	Helper()
	Fatalf(string, ...any)
}

// A quoted string of DOT ends at the first quote that no backslash is before.
const dotString = `"((?:[^"\\\n]|\\.)*)"`

var (
	dotNode = regexp.MustCompile(`^  n(\d+) \[label=` + dotString + `, shape=(?:box|note|ellipse)\];$`)
	dotEdge = regexp.MustCompile(`^  n\d+ -> n\d+ \[label=` + dotString + `, weight=\d+(?:, dir=none)?\];$`)
)

// readDOT returns the labels of nodes and then of edges, of a graph of nothing else.
func readDOT(t tester, text string) (found []string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) < 4 || lines[0] != "digraph emberd {" || lines[len(lines)-1] != "}" {
		t.Fatalf("not a graph:\n%s", text)
	}
	for _, line := range lines[3 : len(lines)-1] {
		m := dotNode.FindStringSubmatch(line)
		if m == nil {
			m = append([]string{""}, dotEdge.FindStringSubmatch(line)...)
		}
		if len(m) < 3 {
			t.Fatalf("neither a node nor an edge: %q", line)
		}
		found = append(found, html.UnescapeString(strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(m[2])))
	}
	return found
}

// A string of Mermaid ends at the next quote; number signs begin entities.
const mermaidString = `"((?:[^"#\n]|#\d+;)+)"`

var (
	mermaidNode = regexp.MustCompile(`^  n\d+(?:\[|\[/|\(\[)` + mermaidString + `(?:\]|/\]|\]\))$`)
	mermaidEdge = regexp.MustCompile(`^  n\d+ (?:-->|---)\|` + mermaidString + `\| n\d+$`)
	mermaidCode = regexp.MustCompile(`#(\d+);`)
)

func readMermaid(t tester, text string) (found []string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if lines[0] != "flowchart LR" {
		t.Fatalf("not a flowchart:\n%s", text)
	}
	for _, line := range lines[1:] {
		m := mermaidNode.FindStringSubmatch(line)
		if m == nil {
			m = mermaidEdge.FindStringSubmatch(line)
		}
		if m == nil {
			t.Fatalf("neither a node nor an edge: %q", line)
		}
		if plain := mermaidCode.ReplaceAllString(m[1], ""); strings.ContainsAny(plain, "\"#;`%|<>&\\[](){}:-") {
			t.Fatalf("a sign that means something in %q", line)
		}
		found = append(found, strings.TrimSpace(mermaidCode.ReplaceAllStringFunc(m[1], func(s string) string {
			n, _ := strconv.Atoi(s[1 : len(s)-1])
			return string(rune(n))
		})))
	}
	return found
}

func checkLabels(t tester, format string, got []string, g *op.KnowledgeResult) {
	t.Helper()
	var want []string
	for _, n := range g.Nodes {
		want = append(want, oneLine(n.Label))
	}
	for i := range g.Edges {
		want = append(want, oneLine(caption(&g.Edges[i])))
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Fatalf("%s says %q, want %q", format, got, want)
	}
}

func TestNoLabelBreaksAFormat(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := pair(labels().Draw(rt, "from"), labels().Draw(rt, "to"), labels().Draw(rt, "kind"))
		checkLabels(rt, "DOT", readDOT(rt, written(t, func(b *strings.Builder) error { return DOT(b, g) })), g)
		checkLabels(rt, "Mermaid", readMermaid(rt, written(t, func(b *strings.Builder) error { return Mermaid(b, g) })), g)
	})
}

func TestGraphMLSaysEverything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := pair(labels().Draw(rt, "from"), labels().Draw(rt, "to"), labels().Draw(rt, "kind"))
		var doc document
		if err := xml.Unmarshal([]byte(written(t, func(b *strings.Builder) error { return GraphML(b, g) })), &doc); err != nil {
			rt.Fatalf("not XML: %v", err)
		}
		known := make(map[string]bool)
		for _, k := range doc.Keys {
			known[k.For+" "+k.ID] = true
		}
		for i, n := range doc.Graph.Nodes {
			for _, d := range n.Data {
				if !known["node "+d.Key] {
					rt.Fatalf("data of an unknown key %q", d.Key)
				}
				if d.Key == "nlabel" && d.Text != inXML(g.Nodes[i].Label) {
					rt.Fatalf("label %q, want %q", d.Text, g.Nodes[i].Label)
				}
			}
		}
		if e := doc.Graph.Edges[1]; e.Source != "n2" || e.Target != "n1" || e.Directed {
			rt.Fatalf("second edge %+v, want n2 and n1 without direction", e)
		}
	})
}

// inXML is a text without what XML 1.0 cannot hold.
func inXML(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError, r < 0x20 && r != '\t' && r != '\n' && r != '\r', r == 0xfffe || r == 0xffff:
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}
