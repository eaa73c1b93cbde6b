package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/internal/mcp/reference"
	"emberd/internal/refgraph"
)

// recorded is a call of the reference server and its answer, of version 2026.8.31, in
// the order they were made on one graph.
type recorded struct {
	What       string          `json:"what"`
	Tool       string          `json:"tool"`
	Arguments  json.RawMessage `json:"arguments"`
	Structured json.RawMessage `json:"structured"`
	Text       string          `json:"text"` // which part of Structured the text is, as JSON over many lines
	Error      string          `json:"error"`
}

func recording(t testing.TB) []recorded {
	t.Helper()
	raw, err := os.ReadFile("testdata/recorded-reference.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var out []recorded
	for in := bufio.NewScanner(bytes.NewReader(raw)); in.Scan(); {
		var r recorded
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// otherwise are the calls that emberd answers in another way, and what of the answer
// shows it.
func otherwise() map[string]string {
	return map[string]string{
		// An entity is named, or nothing could be said about it.
		"an entity without a name": `name has 0 characters`,
		// Of two equal relations there is one.
		"a relation twice at once": `[{"from":"echo","to":"東京","relationType":"twice"}]`,
		// The graph has neither of them.
		"more than there is": `"relationType":"twice"},{"from":"echo","to":"Nobody","relationType":"misses"}]}`,
	}
}

// TestSameAnswersAsTheReferenceServer repeats what the reference server was asked.
func TestSameAnswersAsTheReferenceServer(t *testing.T) {
	clock := newClock()
	s := newSession(t, newStore(t, clock, nil), Reference)
	differ := otherwise()
	for _, want := range recording(t) {
		clock.advance(1e9)
		s.sameAnswer(t, &want, differ[want.What])
		delete(differ, want.What)
	}
	for what := range differ {
		t.Errorf("%q is said to be answered otherwise and is not in the recording", what)
	}
}

func (s *session) sameAnswer(t *testing.T, want *recorded, differs string) {
	got, answer := s.callTool(want.Tool, want.Arguments)
	switch {
	case got == nil:
		t.Errorf("%s: answered with %s", want.What, answer.Error)
	case differs != "":
		if all := string(got.Structured) + got.text(); !strings.Contains(all, differs) {
			t.Errorf("%s: answered with %s, want %s in it", want.What, all, differs)
		}
	case want.Error != "":
		if !got.IsError || got.text() != want.Error {
			t.Errorf("%s: answered with %s, want the error %s", want.What, got.text(), want.Error)
		}
	case got.IsError:
		t.Errorf("%s: failed with %s", want.What, got.text())
	case !same(got.Structured, want.Structured):
		t.Errorf("%s:\n got %s\nwant %s", want.What, got.Structured, want.Structured)
	case got.text() != textOf(t, got.Structured, want.Text):
		t.Errorf("%s: the text is %s, want %s of %s", want.What, got.text(), want.Text, got.Structured)
	}
}

// textOf is the text of an answer as the reference server writes it.
func textOf(t *testing.T, structured json.RawMessage, part string) string {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(structured, &members); err != nil {
		t.Fatal(err)
	}
	switch part {
	case "message":
		var text string
		if err := json.Unmarshal(members["message"], &text); err != nil {
			t.Fatal(err)
		}
		return text
	case "member":
		for _, only := range members {
			return indented(only)
		}
	}
	return indented(structured)
}

// TestSchemasOfTheReferenceServer compares what the tools take, give and promise with
// testdata/upstream-reference.json.
func TestSchemasOfTheReferenceServer(t *testing.T) {
	var upstream struct {
		Tools []struct {
			Name   string         `json:"name"`
			Hints  []string       `json:"hints"`
			Input  map[string]any `json:"input"`
			Output map[string]any `json:"output"`
		} `json:"tools"`
	}
	raw, err := os.ReadFile("testdata/upstream-reference.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &upstream); err != nil {
		t.Fatal(err)
	}
	// An answer that was cut says so, and how to go on: all of it may be left out.
	ours := map[string][2][]string{
		"read_graph":   {{"cursor"}, {"truncated", "next_cursor", "note"}},
		"search_nodes": {{"cursor"}, {"truncated", "next_cursor", "note"}},
		"open_nodes":   {{"cursor"}, {"truncated", "next_cursor", "note"}},
	}
	tools := checkedTools(t, Reference)
	shown := 0
	for _, tool := range tools {
		if slices.Contains(tool.profiles, Reference) {
			shown++
		}
	}
	if shown != len(upstream.Tools) {
		t.Errorf("%d tools are shown, want %d", shown, len(upstream.Tools))
	}
	for _, want := range upstream.Tools {
		tool := tools[want.Name]
		if tool == nil {
			t.Errorf("there is no %s", want.Name)
			continue
		}
		if got := shape(t, tool.InputSchema, ours[want.Name][0]); !reflect.DeepEqual(got, any(want.Input)) {
			t.Errorf("%s takes %v, want %v", want.Name, got, want.Input)
		}
		if got := shape(t, tool.OutputSchema, ours[want.Name][1]); !reflect.DeepEqual(got, any(want.Output)) {
			t.Errorf("%s gives %v, want %v", want.Name, got, want.Output)
		}
		if got := hints(tool.Annotations); !slices.Equal(got, want.Hints) {
			t.Errorf("%s promises %v, want %v", want.Name, got, want.Hints)
		}
	}
}

// shape is a schema in short: objects with their members, lists with what they hold. It
// has no place for members that may be left out, except for those of the outermost object
// that are named.
func shape(t *testing.T, schema any, optional []string) any {
	t.Helper()
	raw, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
		Items      json.RawMessage            `json:"items"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	switch s.Type {
	case "object":
		out := map[string]any{}
		for name, p := range s.Properties {
			switch required := slices.Contains(s.Required, name); {
			case required:
				out[name] = shape(t, p, nil)
			case !slices.Contains(optional, name):
				t.Errorf("%s may be left out", name)
			}
		}
		return out
	case "array":
		return []any{shape(t, s.Items, nil)}
	}
	return s.Type
}

func hints(a *sdk.ToolAnnotations) []string {
	out := []string{}
	for _, h := range []struct {
		name string
		on   bool
	}{
		{"readOnlyHint", a.ReadOnlyHint}, {"destructiveHint", *a.DestructiveHint},
		{"idempotentHint", a.IdempotentHint}, {"openWorldHint", *a.OpenWorldHint},
	} {
		if h.on {
			out = append(out, h.name)
		}
	}
	return out
}

// graph reads an answer of a tool.
func (s *session) graph(tool string, args any) reference.Graph {
	s.t.Helper()
	res := s.must(tool, args)
	var out reference.Graph
	if err := json.Unmarshal(res.Structured, &out); err != nil {
		s.t.Fatal(err)
	}
	return out
}

// must calls a tool that has to succeed.
func (s *session) must(tool string, args any) *result {
	s.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		s.t.Fatal(err)
	}
	res, answer := s.callTool(tool, raw)
	if res == nil || res.IsError {
		s.t.Fatalf("%s failed: %.500s", tool, answer.Result)
	}
	return res
}

func observationsOf(g *reference.Graph, name string) []string {
	for _, e := range g.Entities {
		if e.Name == name {
			return e.Observations
		}
	}
	return nil
}

type object = map[string]any

func entity(name string, observations ...string) refgraph.Entity {
	return refgraph.Entity{Name: name, EntityType: "thing", Observations: append([]string{}, observations...)}
}
