package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

func TestRelationsAreExportedAndImported(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	a, b, c := save(t, e, "anchor"), save(t, e, "boat"), save(t, e, "crane")
	do(t, e, op.Relate, &op.RelateRequest{From: string(a.ID), To: string(b.ID), Type: "related", Kind: "holds", Strength: new(0.25),
		Metadata: map[string]json.RawMessage{"n": json.RawMessage(`12345678901234567890`)}})
	do(t, e, op.Relate, relating(c, a, "causes"))
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(c.ID)})
	records := exported(t, e)

	other, _ := newEngine(t)
	slices.Reverse(records) // memories come after what leads to them
	for _, want := range []string{op.ImportAdded, op.ImportPresent} {
		if got := fates(t, other, &op.ImportRequest{Records: records}); got[want] != 3 {
			t.Errorf("the fates are %v, want three %s", got, want)
		}
	}
	wantLinks(t, other, a, "anchor related boat holds")
	if x, y := stateOf(t, e), stateOf(t, other); x != y {
		t.Errorf("the state is\n%s, was\n%s", y, x)
	}
	do(t, other, op.TrashRestore, &op.TrashRestoreRequest{IDs: []string{string(c.ID)}})
	wantLinks(t, other, a, "anchor related boat holds", "< crane causes anchor")
}

func TestImportRefusesWhatIsNoRelation(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	from, to := memory.DeriveID([]byte("from")), memory.DeriveID([]byte("to"))
	key := stm.RelationKey(memory.RelationID(from, to, "causes", ""))
	good := fmt.Sprintf(`{"to":%q,"type":"causes","strength":1,"created_at":"2026-01-01T00:00:00Z"}`, to)
	for _, c := range []struct{ name, key, value, want string }{
		{"good", key, good, ""},
		{"short key", "relation.abc", good, "invalid relation"},
		{"upper case", strings.ToUpper(key), good, ""}, // a field that is not known
		{"key of another", stm.RelationKey(memory.RelationID(from, to, "related", "")), good, "does not match its memories and type"},
		{"text", key, `"x"`, "invalid relation"},
		{"null", key, `null`, "invalid relation"},
		{"no target", key, `{"type":"causes","strength":1}`, "invalid relation"},
		{"target", key, strings.Replace(good, string(to), "nobody", 1), "invalid relation"},
		{"type", stm.RelationKey(memory.RelationID(from, to, "likes", "")), strings.Replace(good, "causes", "likes", 1), `invalid relation type "likes"`},
		{"strength", key, strings.Replace(good, ":1", ":2", 1), "strength 2 is out of range (0 to 1)"},
		{"time", key, strings.Replace(good, "2026", "x", 1), "invalid relation"},
		{"too many", key, strings.Replace(good, "}", `,"metadata":{"a":"`+strings.Repeat("m", 9000)+`"}}`, 1), "limit 8192"},
	} {
		in := op.Record{ID: from, Fields: map[string]json.RawMessage{"content": json.RawMessage(`"fine"`), "created_at": json.RawMessage(`"2026-01-01T00:00:00Z"`),
			c.key: json.RawMessage(c.value)}}
		got := do(t, e, op.Import, &op.ImportRequest{Records: []op.Record{in}}).Results[0]
		if failed := got.Fate == op.ImportFailed; failed != (c.want != "") || failed && !strings.Contains(got.Error.Detail, c.want) {
			t.Errorf("%s: %s %+v, want %q", c.name, got.Fate, got.Error, c.want)
		}
	}
}

// Relations are there after a restart, with and without a snapshot.
func TestRelationsAreThereAfterARestart(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	a, b := save(t, e, "anchor"), save(t, e, "boat")
	do(t, e, op.Relate, relating(a, b, "causes"))
	for range 2 {
		ok(t, e.Close())
		e = h.open(t)
		wantLinks(t, e, b, "< anchor causes boat")
		ok(t, e.Stm.WriteSnapshot(t.Context()))
	}
}

// Two devices that make the same relation have made one; what either removes is gone,
// and what they make of different memories is there on both.
func TestTwoDevicesRelateTheSameMemories(t *testing.T) {
	t.Parallel()
	desk, lap := newHouse(t), newHouse(t)
	here, there := desk.open(t), lap.open(t)
	a, b := save(t, here, "anchor"), save(t, here, "boat")
	exchange := func() {
		t.Helper()
		carry(t, desk, lap, status(t, here).Device)
		carry(t, lap, desk, status(t, there).Device)
		for _, e := range []*engine.Engine{here, there} {
			if _, err := e.Stm.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	exchange()
	one := do(t, here, op.Relate, relating(a, b, "causes")).Relation
	lap.advance(time.Minute)
	strong := relating(a, b, "causes")
	strong.Strength = new(0.5)
	other := do(t, there, op.Relate, strong).Relation
	do(t, there, op.Relate, relating(b, a, "related"))
	do(t, here, op.Relate, relating(a, a, "related"))
	exchange()
	if one.ID != other.ID {
		t.Errorf("the relation is %s here and %s there", one.ID, other.ID)
	}
	for _, e := range []*engine.Engine{here, there} {
		m := do(t, e, op.OpenMany, &op.OpenManyRequest{IDs: []string{string(a.ID)}, Track: new(false)}).Memories[0]
		if len(m.Relations.Outgoing) != 2 || len(m.Relations.Incoming) != 2 {
			t.Errorf("the relations are %+v", m.Relations)
		}
		if got := m.Relations.Outgoing[0]; got.ID != one.ID || got.Strength != 0.5 {
			t.Errorf("the relation is %+v, want the later one", got)
		}
	}
	do(t, here, op.Unrelate, &op.UnrelateRequest{ID: one.ID})
	exchange()
	wantLinks(t, there, b, "boat related anchor")
}

// What is archived has relations like any memory, and keeps them when it comes back.
func TestColdMemoriesHaveRelations(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	cold, warm := save(t, d.Engine, leaky), save(t, d.Engine, "boat")
	do(t, d.Engine, op.Relate, relating(cold, warm, "causes"))
	d.archived(cold.ID)
	do(t, d.Engine, op.Relate, relating(warm, cold, "supports"))
	do(t, d.Engine, op.Relate, relating(cold, warm, "supports"))
	for _, stage := range []memory.Stage{memory.Archived, memory.Active} {
		m := do(t, d.Engine, op.OpenMany, &op.OpenManyRequest{IDs: []string{string(cold.ID)}}).Memories[0]
		if m.Stage != stage || len(m.Relations.Outgoing) != 2 || len(m.Relations.Incoming) != 1 {
			t.Errorf("%s, want %s: %+v", m.Stage, stage, m.Relations)
		}
		g := do(t, d.Engine, op.Graph, &op.GraphRequest{Status: "archived"})
		if got := len(g.Memories) == 1 && g.Memories[0].ID == cold.ID; got != stage.Cold() || len(g.Relations) != 0 {
			t.Errorf("%s, the archived ones are %q with %d relations", stage, contents(g.Memories), len(g.Relations))
		}
		if stage.Cold() {
			d.rekindled(cold.ID)
		}
	}
}

// What is purged leads nowhere any more.
func TestPurgedMemoriesHaveNoRelations(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	a, b, c := save(t, e, "anchor"), save(t, e, "boat"), save(t, e, "crane")
	do(t, e, op.Relate, relating(a, b, "causes"))
	do(t, e, op.Relate, relating(b, c, "causes"))
	do(t, e, op.Purge, &op.PurgeRequest{ID: string(b.ID)})
	for _, m := range []op.Memory{a, c} {
		wantLinks(t, e, m)
	}
	if got := do(t, e, op.Graph, &op.GraphRequest{}); len(got.Memories) != 2 || len(got.Relations) != 0 || got.Stats.TotalRelations != 0 {
		t.Errorf("the graph is %+v", got)
	}
}
