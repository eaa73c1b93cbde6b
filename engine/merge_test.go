package engine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"emberd/engine"
	"emberd/engine/health"
	"emberd/engine/lifecycle"
	"emberd/engine/merge"
	"emberd/internal/dedupe"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// trashing merges memories into a new one, which is made without a vault: the parts go to
// the trash.
func trashing(t testing.TB, e *engine.Engine, ids ...memory.ID) *merge.MergeRun {
	t.Helper()
	var rows []*stm.Row
	for _, id := range ids {
		row, live := e.Stm.Get(id)
		if !live {
			t.Fatalf("memory %s is gone", id)
		}
		rows = append(rows, row)
	}
	m, err := e.Merge.NewMerge(rows, 0.9, memory.Actor{Via: stm.Itself, Client: "test"})
	ok(t, err)
	m.Rules.Trash = true
	return m
}

// What a part in the trash superseded, the merged memory supersedes, unless another memory
// did so since; one undo restores all of it.
func TestAMergeSupersedesWhatItsPartsDid(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	one, other := save(t, e, leaks), save(t, e, leaking)
	old, taken, later := save(t, e, "the kettle is tight"), save(t, e, "the kettle is new"),
		save(t, e, "the kettle is gone")
	replace(t, e, one.ID, old.ID)
	replace(t, e, other.ID, taken.ID)
	replace(t, e, later.ID, taken.ID)
	before := stateOf(t, e)
	m := trashing(t, e, one.ID, other.ID)
	receipt, err := m.Apply(t.Context(), health.MergeVerb, "")
	ok(t, err)
	into := m.Plan.Into
	wantReplaced(t, e, old.ID, into)
	wantReplaced(t, e, taken.ID, later.ID)
	if !e.Stm.Trashed(one.ID) || !e.Stm.Trashed(other.ID) || look(t, e, into).Content != leaking+"\n\n"+leaks ||
		len(m.Plan.Sources()) > 0 {
		t.Errorf("merged %+v", look(t, e, into).Memory)
	}
	do(t, e, op.Undo, &op.UndoRequest{Tx: receipt.Entry})
	if after := withoutLine(stateOf(t, e), into); after != before {
		t.Errorf("undone, it is\n%s\nwant\n%s", after, before)
	}
}

// A merge is planned again from the locked memories, and refused if they are others by then.
func TestAMergeOfWhatChangedIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(e *engine.Engine, one, other memory.ID)
		says   string
	}{
		"edited": {func(e *engine.Engine, one,
			_ memory.ID) {
			do(t, e, op.Edit, &op.EditRequest{ID: string(one), Tags: &[]string{"kitchen"}})
		},
			"the memory was changed in the meantime"},
		"used": {func(e *engine.Engine, _, other memory.ID) { do(t, e, op.Touch, &op.TouchRequest{ID: string(other)}) },
			"the memory was used or opened in the meantime"},
		"deleted": {func(e *engine.Engine, one, _ memory.ID) { do(t, e, op.Forget, &op.ForgetRequest{ID: string(one)}) },
			"the memory was deleted in the meantime"},
	} {
		e, clock := newEngine(t)
		one, other := save(t, e, leaks), save(t, e, leaking)
		m := trashing(t, e, one.ID, other.ID)
		clock.advance(1e9)
		c.change(e, one.ID, other.ID)
		before := stateOf(t, e)
		_, err := m.Apply(t.Context(), health.MergeVerb, "")
		wantCode(t, err, memory.Conflict, c.says)
		if stateOf(t, e) != before {
			t.Errorf("%s: something was changed", name)
		}
	}
}

// What a tool or the web said supersedes nothing by way of a merge.
func TestAMergeOfUnconfirmedWordsSupersedesNothing(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	said, old := save(t, e, leaks), save(t, e, "the kettle is tight")
	replace(t, e, said.ID, old.ID)
	web := do(t, e, op.Save, &op.SaveRequest{Content: leaks + " It drips all day.",
		Provenance: op.Provenance{Origin: memory.FromWeb}}).Memory
	_, err := trashing(t, e, said.ID, web.ID).Apply(t.Context(), health.MergeVerb, "")
	wantCode(t, err, memory.Conflict, "cannot supersede memory "+string(old.ID))
	wantReplaced(t, e, old.ID, said.ID)
}

// Relations beyond the bound of one memory are refused, whichever memory they start at.
func TestAMergeBoundsRelations(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	one, other := save(t, e, leaks), save(t, e, leaking)
	hub := save(t, e, "all about kettles")
	meta := map[string]json.RawMessage{"why": json.RawMessage(`"` +
		strings.Repeat("x", memory.MaxRelationMetaBytes-100) + `"`)}
	var items []op.RelateRequest
	for i := range memory.MaxRelationsBytes / memory.MaxRelationMetaBytes {
		to := save(t, e, "plan "+strings.Repeat("i", i+1)).ID
		items = append(items, op.RelateRequest{From: string(one.ID), To: string(to), Type: memory.Causes,
			Metadata: meta})
	}
	do(t, e, op.RelateBatch, &op.RelateBatchRequest{Items: items})
	do(t, e, op.Relate, &op.RelateRequest{From: string(other.ID), To: string(hub.ID), Type: memory.Causes,
		Metadata: meta})
	do(t, e, op.Relate, &op.RelateRequest{From: string(other.ID), To: string(hub.ID), Type: memory.Supports,
		Metadata: meta})
	before := stateOf(t, e)
	kept, _ := e.Stm.Get(one.ID)
	gone, _ := e.Stm.Get(other.ID)
	for _, m := range []*merge.MergeRun{trashing(t, e, one.ID, other.ID),
		{Archiver: lifecycle.Archiver{E: e.Lifecycle}, Rows: []*stm.Row{kept, gone}, Rules: dedupe.Rules{Into: one.ID, Trash: true}}} {
		_, err := m.Apply(t.Context(), health.MergeVerb, "")
		wantCode(t, err, memory.TooLarge, "after the merge (limit 1048576); remove some relations of the memories to merge")
	}
	if stateOf(t, e) != before {
		t.Error("something was changed")
	}
}
