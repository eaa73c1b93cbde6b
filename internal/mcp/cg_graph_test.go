package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"emberd/internal/mcp/cortexgraph"
	"emberd/memory"
	"emberd/op"
)

// Case C85 of CortexGraph's behaviour, of the graph and of opened ids.
func TestPagesOfAGraph(t *testing.T) {
	store := newStore(t, newClock(), nil)
	var ids []memory.ID
	for i := range 25 {
		ids = append(ids, saved(t, store, &op.SaveRequest{Content: fmt.Sprintf("tide table %d", i)}))
	}
	list, err := json.Marshal(ids)
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t, store, CortexGraph)
	for _, c := range []struct {
		page, count int
		more        bool
	}{{1, 10, true}, {3, 5, false}, {10, 0, false}} {
		graph := ran[cortexgraph.Graph](t, s, "read_graph", fmt.Sprintf(`{"page":%d}`, c.page))
		want := op.Pagination{Page: c.page, PageSize: 10, TotalCount: 25, TotalPages: 3, HasMore: c.more}
		if len(graph.Memories) != c.count || graph.Pagination != want || graph.Truncated {
			t.Errorf("page %d of the graph has %d memories, %+v", c.page, len(graph.Memories), graph.Pagination)
		}
		opened := ran[cortexgraph.OpenedMemories](t, s, "open_memories", fmt.Sprintf(`{"memory_ids":%s,"page":%d}`, list, c.page))
		if opened.Count != c.count || len(opened.Memories) != c.count || opened.Truncated != c.more {
			t.Errorf("page %d of opened ones has %d memories, truncated %v: %s", c.page, opened.Count, opened.Truncated, opened.Message)
		}
	}
}

// Strengths that are worked out, as those of clusters are, have as many digits as scores.
func TestAGraphHasFourDigits(t *testing.T) {
	store := newStore(t, newClock(), nil)
	a, b := saved(t, store, &op.SaveRequest{Content: "anchor", Strength: new(1.23456789)}), saved(t, store, &op.SaveRequest{Content: "boat", Strength: new(1.0)})
	s := newSession(t, store, CortexGraph)
	made := ran[cortexgraph.CreatedRelation](t, s, "create_relation", fmt.Sprintf(`{"from_memory_id":%q,"to_memory_id":%q,"relation_type":"related","strength":0.987654321}`, a, b))
	graph := ran[cortexgraph.Graph](t, s, "read_graph", `{}`)
	opened := ran[cortexgraph.OpenedMemories](t, s, "open_memories", fmt.Sprintf(`{"memory_ids":[%q,%q]}`, a, b)).Memories
	got := fmt.Sprint(made.Strength, graph.Relations[0].Strength, graph.Memories[1].Strength, opened[0].Strength,
		opened[0].Relations.Outgoing[0].Strength, opened[1].Relations.Incoming[0].Strength)
	if want := "0.9877 0.9877 1.2346 1.2346 0.9877 0.9877"; got != want {
		t.Errorf("strengths are %v, want %v", got, want)
	}
}

// Only what is on the page counts as opened, and nothing as used.
func TestOpeningAPageOpensThatPage(t *testing.T) {
	store := newStore(t, newClock(), nil)
	a, b := saved(t, store, &op.SaveRequest{Content: "anchor"}), saved(t, store, &op.SaveRequest{Content: "boat"})
	s := newSession(t, store, CortexGraph)
	ran[cortexgraph.OpenedMemories](t, s, "open_memories", fmt.Sprintf(`{"memory_ids":[%q,%q],"page_size":1}`, a, b))
	for _, id := range []memory.ID{a, b} {
		if m, want := unseen(t, store, id), map[memory.ID]int64{a: 1}[id]; m.AccessCount != want || m.UseCount != 0 {
			t.Errorf("%q was opened %d times, want %d, and used %d times", m.Content, m.AccessCount, want, m.UseCount)
		}
	}
	if graph := ran[cortexgraph.Graph](t, s, "read_graph", `{}`); graph.Stats.AvgUseCount != 0 {
		t.Errorf("on average they were used %v times", graph.Stats.AvgUseCount)
	}
}

// Case C81: 100 ids may be opened at once.
func TestAHundredIDs(t *testing.T) {
	s := newSession(t, newStore(t, newClock(), nil), CortexGraph)
	list, err := json.Marshal(slices.Repeat([]string{nobody}, 100))
	if err != nil {
		t.Fatal(err)
	}
	if out := ran[cortexgraph.OpenedMemories](t, s, "open_memories", fmt.Sprintf(`{"memory_ids":%s,"page_size":100}`, list)); out.Count != 0 || len(out.NotFound) != 100 {
		t.Errorf("opened %d, and %d are not found", out.Count, len(out.NotFound))
	}
}

// An answer that would be too large is cut, and says how to get what is cut.
func TestLargeGraphsAreCut(t *testing.T) {
	store := newStore(t, newClock(), nil)
	text := strings.Repeat("🐟", memory.MaxContent)
	var ids []memory.ID
	for i := range 6 {
		ids = append(ids, saved(t, store, &op.SaveRequest{Content: fmt.Sprint(i) + text[:len(text)-4]}))
	}
	list, err := json.Marshal(ids)
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t, store, CortexGraph)
	graph := ran[cortexgraph.Graph](t, s, "read_graph", `{}`)
	if !graph.Truncated || !strings.Contains(graph.Message, "a smaller page_size") || len(graph.Memories[0].Content) < len(text)-4 || len(graph.Memories[5].Content) > 2000 {
		t.Errorf("the graph is truncated: %v %q", graph.Truncated, graph.Message)
	}
	opened := ran[cortexgraph.OpenedMemories](t, s, "open_memories", fmt.Sprintf(`{"memory_ids":%s}`, list))
	if !opened.Truncated || !strings.Contains(opened.Message, "open fewer memories at a time") || len(opened.Memories[5].Content) > 2000 {
		t.Errorf("opened ones are truncated: %v %q", opened.Truncated, opened.Message)
	}
	alone := ran[cortexgraph.OpenedMemories](t, s, "open_memories", fmt.Sprintf(`{"memory_ids":%q}`, ids[5]))
	if alone.Truncated || len(alone.Memories[0].Content) < len(text)-4 {
		t.Errorf("alone it is truncated: %v %q", alone.Truncated, alone.Message)
	}
}

// An id of any version is a UUID, and one in capitals too.
func TestRelationsOfIDsOfAnyVersion(t *testing.T) {
	store := newStore(t, newClock(), nil)
	from := saved(t, store, &op.SaveRequest{Content: "anchor", ID: "9b2fbd6e-21c5-4a0f-8f0e-2b9a0f6f0b1c"})
	to := saved(t, store, &op.SaveRequest{Content: "boat", ID: memory.DeriveID([]byte("boat"))})
	s := newSession(t, store, CortexGraph)
	got := ran[cortexgraph.CreatedRelation](t, s, "create_relation",
		fmt.Sprintf(`{"from_memory_id":%q,"to_memory_id":%q,"relation_type":"has_decision"}`, strings.ToUpper(string(from)), to))
	want := cortexgraph.CreatedRelation{Success: true, RelationID: memory.RelationID(from, to, "has_decision", ""), From: from, To: to, Type: "has_decision", Strength: 1,
		Message: fmt.Sprintf("Relation created: %s --[has_decision]--> %s", from, to)}
	if *got != want {
		t.Errorf("created %+v, want %+v", *got, want)
	}
}

// A relation that exists is named in a member of its own, as CortexGraph has it. Other failures do not have the member.
func TestARelationThatExistsIsNamed(t *testing.T) {
	store := newStore(t, newClock(), nil)
	a, b := saved(t, store, &op.SaveRequest{Content: "anchor"}), saved(t, store, &op.SaveRequest{Content: "boat"})
	s := newSession(t, store, CortexGraph)
	args := fmt.Sprintf(`{"from_memory_id":%q,"to_memory_id":%q,"relation_type":"related"}`, a, b)
	made := ran[cortexgraph.CreatedRelation](t, s, "create_relation", args)
	again, _ := s.callTool("create_relation", json.RawMessage(args))
	text := again.text()
	if !strings.Contains(text, `"success":false,"message":"a relation from `) || !strings.Contains(text, `"existing_relation_id":"`+made.RelationID+`"`) {
		t.Errorf("the second answer is %s", text)
	}
	args = strings.Replace(args, string(b), "9b2fbd6e-21c5-4a0f-8f0e-2b9a0f6f0b1c", 1)
	absent, _ := s.callTool("create_relation", json.RawMessage(args))
	if text = absent.text(); strings.Contains(text, "existing_relation_id") || !strings.Contains(text, "not found") {
		t.Errorf("without the memory the answer is %s", text)
	}
}
