package mcp

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"emberd/internal/access"
	"emberd/internal/mcp/reference"
	"emberd/internal/refgraph"
	"emberd/op"
)

// graphText returns the text of the resource with the graph, and its type.
func (s *session) graphText() (text, kind string) {
	s.t.Helper()
	var got struct {
		Contents []struct{ Text, MIMEType string }
	}
	answer := s.ask("resources/read", json.RawMessage(`{"uri":"memory://knowledge-graph"}`))
	if err := json.Unmarshal(answer.Result, &got); err != nil || len(got.Contents) != 1 {
		s.t.Fatalf("%v, %s", err, answer.Error)
	}
	return got.Contents[0].Text, got.Contents[0].MIMEType
}

// TestKnowledgeGraphResource reads the resource, which has what read_graph has.
func TestKnowledgeGraphResource(t *testing.T) {
	s := newSession(t, newStore(t, newClock(), nil), Reference)
	if text, kind := s.graphText(); text != "{\n  \"entities\": [],\n  \"relations\": []\n}" || kind != "application/json" {
		t.Errorf("an empty graph is %s %q", kind, text)
	}
	s.must("create_entities", object{"entities": []refgraph.Entity{entity("Ada", strings.Repeat("x", 40_000)), entity("Bob", strings.Repeat("y", 40_000))}})
	s.must("create_relations", object{"relations": []refgraph.Relation{{From: "Nobody", To: "Ada", RelationType: "knows"}}})
	text, _ := s.graphText()
	var g reference.Graph
	if err := json.Unmarshal([]byte(text), &g); err != nil || len(g.Entities) != 2 || len(g.Relations) != 1 || g.Truncated {
		t.Errorf("the resource has %d entities and %d relations (%v), want all of a graph that read_graph cuts", len(g.Entities), len(g.Relations), err)
	}
	for method, want := range map[string]string{"resources/list": `"memory://knowledge-graph"`, "resources/templates/list": `"resourceTemplates":[]`,
		"prompts/list": `"prompts":[]`} {
		if got := string(s.ask(method, json.RawMessage("{}")).Result); !strings.Contains(got, want) || strings.Contains(got, "memory://recent") {
			t.Errorf("%s answers %s, want %s", method, got, want)
		}
	}
}

// TestGraphNotifications sends a subscriber one notification for each call that can change the graph.
func TestGraphNotifications(t *testing.T) {
	s := newSession(t, newStore(t, newClock(), nil), Reference)
	told := func(tool string, args any) int {
		t.Helper()
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		s.callTool(tool, raw)
		return len(slices.DeleteFunc(slices.Clone(s.told), func(n json.RawMessage) bool {
			return !strings.Contains(string(n), "memory://knowledge-graph")
		}))
	}
	people := object{"entities": []refgraph.Entity{entity("Ada")}}
	if n := told("create_entities", people); n != 0 {
		t.Errorf("%d notifications without a subscription", n)
	}
	uri := json.RawMessage(`{"uri":"memory://knowledge-graph"}`)
	s.ask("resources/subscribe", uri)
	for tool, c := range map[string]struct {
		args any
		want int
	}{
		"create_entities": {people, 1}, "delete_observations": {object{"deletions": []object{}}, 1}, "read_graph": {object{}, 0},
		"add_observations": {object{"observations": []object{{"entityName": "Nobody", "contents": []string{}}}}, 0},
	} {
		if n := told(tool, c.args); n != c.want {
			t.Errorf("%d notifications of %s, want %d", n, tool, c.want)
		}
	}
	s.ask("resources/unsubscribe", uri)
	if n := told("create_entities", people); n != 0 {
		t.Errorf("%d notifications after the subscription", n)
	}
}

// TestNoSubscriptionWithinAScope refuses a caller whose token covers a part, for notifications would show when other
// memories change.
func TestNoSubscriptionWithinAScope(t *testing.T) {
	part := op.WithGrant(t.Context(), &access.Grant{Read: []access.Scope{{Kind: "project", Value: "work"}}})
	if subscribe(part, nil) == nil {
		t.Error("a caller that sees one project can subscribe to the graph")
	}
	if err := subscribe(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// TestMentionedEntities keeps relations whose ends do not exist, and makes entities of these names later.
func TestMentionedEntities(t *testing.T) {
	s := newSession(t, newStore(t, newClock(), nil), Reference)
	knows := refgraph.Relation{From: "Ada", To: "Bob", RelationType: "knows"}
	if g := s.graph("create_relations", object{"relations": []refgraph.Relation{knows}}); len(g.Relations) != 1 {
		t.Fatalf("created %+v", g.Relations)
	}
	if g := s.graph("read_graph", object{}); len(g.Entities) != 0 || !slices.Equal(g.Relations, []refgraph.Relation{knows}) {
		t.Errorf("the graph is %+v, want the relation alone", g)
	}
	if g := s.graph("open_nodes", object{"names": []string{"Ada"}}); len(g.Entities)+len(g.Relations) != 0 {
		t.Errorf("opened %+v, want nothing", g)
	}
	both := object{"entities": []refgraph.Entity{entity("Cy"), entity("Bob", "is here"), entity("Bob", "again")}}
	if g := s.graph("create_entities", both); len(g.Entities) != 2 {
		t.Errorf("created %+v, want Cy and Bob", g.Entities)
	}
	g := s.graph("search_nodes", object{"query": ""})
	if len(g.Entities) != 2 || g.Entities[1].Name != "Bob" || !slices.Equal(g.Entities[1].Observations, []string{"is here"}) || len(g.Relations) != 1 {
		t.Errorf("the graph is %+v, want Cy, Bob and the relation", g)
	}
	s.must("delete_entities", object{"entityNames": []string{"Ada"}})
	s.must("create_relations", object{"relations": []refgraph.Relation{{From: "Ada", To: "Cy", RelationType: "meets"}}})
	if g := s.graph("read_graph", object{}); len(g.Relations) != 1 || g.Relations[0].To != "Cy" {
		t.Errorf("relations are %+v, want the new one alone", g.Relations)
	}
}
