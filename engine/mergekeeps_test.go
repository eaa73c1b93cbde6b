package engine_test

import (
	"encoding/json"
	"testing"
	"time"

	"emberd/engine/agents"
	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
)

// A merged memory has the keys that emberd does not know, whoever merges: what an indexer
// made stays what no cleanup takes for somebody's own, and an implementation is not lost
// to a later part that has none.
func TestAMergeKeepsUnknownKeys(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	foreign := func(content string, days float64, fields map[string]string) memory.ID {
		id, err := memory.NewID()
		ok(t, err)
		r := op.Record{ID: id, Fields: map[string]json.RawMessage{}}
		for key, value := range fields {
			r.Fields[key] = json.RawMessage(value)
		}
		r.Fields["content"], err = json.Marshal(content)
		ok(t, err)
		r.Fields["created_at"], err = json.Marshal(d.daysAgo(days))
		ok(t, err)
		do(t, d.Engine, op.Import, &op.ImportRequest{Foreign: true, Records: []op.Record{r}})
		return id
	}
	older := foreign(leaks, 3, map[string]string{"file_path": `"kettle.go"`, "has_implementation": "true"})
	later := foreign(leaking, 2, map[string]string{"file_path": `"later.go"`, "chunk_index": "4", "meta": `{"has_implementation":false,"room":"kitchen"}`})
	m, _, err := d.Engine.Review.MergeMembers(t.Context(), agents.AgentsActor(), "", []memory.ID{older, later}, nil)
	ok(t, err)
	row, _ := d.Stm.Get(m.NewMemoryID)
	for key, want := range map[string]string{"file_path": `"kettle.go"`, "chunk_index": "4", "has_implementation": "true"} {
		if got := string(row.Value(key)); got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
	if core.IsManual(row.Fields()) || string(core.MetaOf(row.Fields())["room"]) != `"kitchen"` {
		t.Errorf("merged, it counts as somebody's own, or its meta is %s", row.Value("meta"))
	}
}

// A relation of a contradiction that somebody removed is not made again with a new item.
func TestAContradictionThatWasUnrelatedStaysSo(t *testing.T) {
	t.Parallel()
	s := tend(t, nil)
	s.runsAgents(op.AgentsRunRequest{Agent: op.AgentCluster})
	s.advance(time.Minute)
	do(t, s.Engine, op.Unrelate, &op.UnrelateRequest{ID: memory.RelationID(s.old, s.new, memory.Contradicts, "")})
	item := memory.ReviewItemID(op.ReviewCluster, []memory.ID{s.old, s.new})
	_, _, err := s.Engine.Review.CloseItem(t.Context(), agents.AgentsActor(), "", item, op.DecideKeep, "two web shops")
	ok(t, err)
	s.advance(time.Minute)
	do(t, s.Engine, op.Edit, &op.EditRequest{ID: string(s.old), Tags: &[]string{"staging"}})
	s.advance(time.Minute)
	wantDid(t, s.runsAgents(op.AgentsRunRequest{Agent: op.AgentCluster}), "cluster 2/1/0/0")
	s.wantRelation(s.old, memory.Contradicts, s.new, 0)
}
