package engine_test

import (
	"slices"
	"testing"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// relates makes a relation and fails the test if that cannot be.
func (d *desk) relates(from memory.ID, typ string, to memory.ID, strength float64) {
	d.t.Helper()
	do(d.t, d.Engine, op.Relate, &op.RelateRequest{From: string(from), To: string(to), Type: typ, Strength: &strength})
}

// wantRelation fails the test unless there is a relation of that strength, or none for 0.
func (d *desk) wantRelation(from memory.ID, typ string, to memory.ID, strength float64) {
	d.t.Helper()
	row, live := d.Stm.Get(from)
	if !live {
		d.t.Fatalf("memory %s is not there", from)
	}
	got := 0.0
	for _, r := range d.Stm.Relations(row) {
		if r.To == to && r.Type == typ && r.Kind == "" {
			got = r.Strength
		}
	}
	if got != strength {
		d.t.Errorf("the %s relation of %q to %q has strength %v, want %v", typ, row.Content(), look(d.t, d.Engine, to).Content, got, strength)
	}
}

// What was related to the parts is related to what was made of them, whichever way, and
// the parts keep what they had.
func TestRelationsGoOverToTheMergedMemory(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	one, other := save(t, d.Engine, leaks).ID, save(t, d.Engine, leaking).ID
	cause, plan := save(t, d.Engine, "The gasket is worn").ID, save(t, d.Engine, "Buy a gasket on Friday").ID
	d.relates(one, memory.HasDecision, plan, 0.4)
	d.relates(other, memory.HasDecision, plan, 0.9)
	d.relates(cause, memory.Causes, one, 0.7)
	d.relates(one, memory.Related, other, 0.5)
	before := stateOf(t, d.Engine)
	changed := look(t, d.Engine, cause).UpdatedAt
	m := d.merged(one, other)
	for _, w := range []struct {
		from     memory.ID
		typ      string
		to       memory.ID
		strength float64
	}{
		{m.NewMemoryID, memory.HasDecision, plan, 0.9},
		{cause, memory.Causes, m.NewMemoryID, 0.7},
		{m.NewMemoryID, memory.Related, one, 0},
		{m.NewMemoryID, memory.Related, other, 0},
		{one, memory.HasDecision, plan, 0.4},
		{cause, memory.Causes, one, 0.7},
	} {
		d.wantRelation(w.from, w.typ, w.to, w.strength)
	}
	if len(m.RelationIDs) != 2 {
		t.Errorf("the merge tells of %v, want those to its parts", m.RelationIDs)
	}
	if now := look(t, d.Engine, cause).UpdatedAt; !now.Equal(changed) {
		t.Errorf("what is related was changed at %v", now)
	}
	do(t, d.Engine, op.Undo, &op.UndoRequest{})
	if after := withoutLine(stateOf(t, d.Engine), m.NewMemoryID); after != before {
		t.Errorf("undone, it is\n%s\nwant\n%s", after, before)
	}
}

// One that was merged already is merged again with all that is known of it.
func TestRelationsGoOverTwice(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	one, other, plan := save(t, d.Engine, leaks).ID, save(t, d.Engine, leaking).ID, save(t, d.Engine, "Buy a gasket on Friday").ID
	d.relates(plan, memory.Supports, other, 0.3)
	first := d.merged(one, other).NewMemoryID
	third := save(t, d.Engine, "The kettle is leaking at its seam").ID
	second := d.merged(first, third).NewMemoryID
	d.wantRelation(plan, memory.Supports, second, 0.3)
	row, _ := d.Stm.Get(second)
	var parts []memory.ID
	for _, r := range d.Stm.Relations(row) {
		if r.Type == memory.ConsolidatedFrom {
			parts = append(parts, r.To)
		}
	}
	slices.Sort(parts)
	if want := slices.Sorted(slices.Values([]memory.ID{first, third})); !slices.Equal(parts, want) {
		t.Errorf("it was merged from %v, want %v", parts, want)
	}
}

func TestMergeMembers(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	by := memory.Actor{Via: stm.Itself, Client: "test"}
	one, other := save(t, d.Engine, leaks).ID, save(t, d.Engine, leaking).ID
	core := do(t, d.Engine, op.Save, &op.SaveRequest{Content: leaks + " It does.", Core: true}).Memory.ID
	elsewhere := do(t, d.Engine, op.Save, &op.SaveRequest{Content: leaks + " Really.", Collection: "house"}).Memory.ID
	denied := save(t, d.Engine, "The kettle never leaks at the seam.").ID
	before := stateOf(t, d.Engine)
	for _, c := range []struct {
		ids  []memory.ID
		code memory.Code
		says string
	}{
		{[]memory.ID{one}, memory.Conflict, "a merge requires 2 to 100 memories, not 1"},
		{[]memory.ID{one, core}, memory.Conflict, "it is a core memory"},
		{[]memory.ID{one, elsewhere}, memory.Conflict, "different collections or projects"},
		{[]memory.ID{one, other, denied}, memory.Conflict, "the memories differ: one denies what the other does not"},
		{[]memory.ID{one, "0192f3a1-b2c3-7000-8000-000000000000"}, memory.NotFound, "not found"},
	} {
		_, _, err := d.Engine.Review.MergeMembers(t.Context(), by, "", c.ids, nil)
		wantCode(t, err, c.code, c.says)
	}
	if stateOf(t, d.Engine) != before {
		t.Error("something was changed")
	}
	first := do(t, d.Engine, op.Save, &op.SaveRequest{Content: "The tide turns at six"})
	m, tx, err := d.Engine.Review.MergeMembers(t.Context(), by, first.Tx, []memory.ID{other, one}, nil)
	if err != nil || tx != first.Tx || look(t, d.Engine, m.NewMemoryID).Content != leaking+"\n\n"+leaks {
		t.Errorf("merged %+v under %s, %v", m, tx, err)
	}
}
