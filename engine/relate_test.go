package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
)

// links says in the words of their contents what a memory is related to: "a supports b".
func links(t testing.TB, e *engine.Engine, ids ...memory.ID) []string {
	t.Helper()
	req := &op.OpenManyRequest{Track: new(false)}
	for _, id := range ids {
		req.IDs = append(req.IDs, string(id))
	}
	var out []string
	say := func(r memory.Relation) string {
		return strings.TrimSpace(fmt.Sprintf("%s %s %s %s", look(t, e, r.From).Content, r.Type, look(t, e, r.To).Content, r.Kind))
	}
	for _, m := range do(t, e, op.OpenMany, req).Memories {
		for _, r := range m.Relations.Outgoing {
			out = append(out, say(r))
		}
		for _, r := range m.Relations.Incoming {
			out = append(out, "< "+say(r))
		}
	}
	return out
}

func wantLinks(t testing.TB, e *engine.Engine, m op.Memory, want ...string) {
	t.Helper()
	if got := strings.Join(links(t, e, m.ID), ", "); got != strings.Join(want, ", ") {
		t.Errorf("the relations of %q are\n%s, want\n%s", m.Content, got, strings.Join(want, ", "))
	}
}

func relating(from, to op.Memory, typ string) *op.RelateRequest {
	return &op.RelateRequest{From: string(from.ID), To: string(to.ID), Type: typ}
}

func TestRelate(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	a, b := save(t, e, "anchor"), save(t, e, "boat")
	res := do(t, e, op.Relate, &op.RelateRequest{From: a.ID.Short(), To: string(b.ID), Type: "supports", Kind: "holds",
		Strength: new(0.9), Metadata: map[string]json.RawMessage{"reason": json.RawMessage(`"chain"`)}})
	r := res.Relation
	if r.From != a.ID || r.To != b.ID || r.Strength != 0.9 || !r.CreatedAt.Equal(clock.Now()) || string(r.Metadata["reason"]) != `"chain"` ||
		r.ID != memory.RelationID(a.ID, b.ID, "supports", "holds") || res.Tx == "" {
		t.Errorf("related: %+v", res)
	}
	wantLinks(t, e, a, "anchor supports boat holds")
	wantLinks(t, e, b, "< anchor supports boat holds")
	if m := look(t, e, a.ID); !m.UpdatedAt.Equal(a.UpdatedAt) || m.UseCount != 0 {
		t.Errorf("the memory was changed at %v and used %d times", m.UpdatedAt, m.UseCount)
	}
	// Another type or kind, the other way round, and with itself: those are others.
	do(t, e, op.Relate, relating(a, b, "supports"))
	do(t, e, op.Relate, relating(b, a, "supports"))
	if got := do(t, e, op.Relate, relating(a, a, "related")).Relation; got.Strength != 1 {
		t.Errorf("by default the strength is %v", got.Strength)
	}
	journal := do(t, e, op.Journal, &op.JournalRequest{}).Entries
	if journal[0].Verb != "relate" || journal[0].IDs != 1 {
		t.Errorf("the journal has %+v", journal[0])
	}
}

// Case C77 of CortexGraph's behaviour, and what lies outside of bounds.
func TestRelationsThatAreRefused(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	a, b, gone := save(t, e, "anchor"), save(t, e, "boat"), save(t, e, "mermaid")
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(gone.ID)})
	there := do(t, e, op.Relate, relating(a, b, "related")).Relation
	again := refused(t, e, op.Relate, relating(a, b, "related"))
	wantCode(t, again, memory.Conflict, there.ID)
	if again.Current != there.ID {
		t.Errorf("the one that is there is named as %q", again.Current)
	}
	const nobody = "0192f3a1-b2c3-7000-8000-000000000000"
	changed := func(change func(*op.RelateRequest)) *op.RelateRequest {
		req := relating(a, b, "causes")
		change(req)
		return req
	}
	for _, c := range []struct {
		name  string
		req   *op.RelateRequest
		code  memory.Code
		field string
		says  string
	}{
		{"no from", changed(func(r *op.RelateRequest) { r.From = nobody }), memory.NotFound, "from", nobody},
		{"no to", changed(func(r *op.RelateRequest) { r.To = nobody }), memory.NotFound, "to", nobody},
		{"from in the trash", relating(gone, b, "causes"), memory.NotFound, "from", "is in the trash"},
		{"to in the trash", relating(b, gone, "causes"), memory.NotFound, "to", "is in the trash"},
		{"empty from", changed(func(r *op.RelateRequest) { r.From = " " }), memory.Invalid, "from", "pass a memory ID"},
		{"to that is no id", changed(func(r *op.RelateRequest) { r.To = "mem-123" }), memory.NotFound, "to", `memory "mem-123" not found`},
		{"type", changed(func(r *op.RelateRequest) { r.Type = "likes" }), memory.Invalid, "type", `invalid relation type "likes"; use one of related, `},
		{"negative", changed(func(r *op.RelateRequest) { r.Strength = new(-0.1) }), memory.Invalid, "strength", "strength -0.1 is out of range (0 to 1)"},
		{"too strong", changed(func(r *op.RelateRequest) { r.Strength = new(1.1) }), memory.Invalid, "strength", "strength 1.1 is out of range (0 to 1)"},
		{"kind", changed(func(r *op.RelateRequest) { r.Kind = strings.Repeat("k", 101) }), memory.TooLarge, "kind", "too many characters in kind: 101"},
		{"metadata", changed(func(r *op.RelateRequest) {
			r.Metadata = map[string]json.RawMessage{"a": json.RawMessage(`"` + strings.Repeat("m", 8<<10) + `"`)}
		}), memory.TooLarge, "metadata", "8 KiB"},
		{"credential", changed(func(r *op.RelateRequest) {
			r.Metadata = map[string]json.RawMessage{"password": json.RawMessage(`"Tr0ub4dor&3-zebra-Quill"`)}
		}), memory.Secret, "metadata", "remove the credential, or to save the text anyway, set allow_secret (--allow-secret)"},
	} {
		err := refused(t, e, op.Relate, c.req)
		if wantCode(t, err, c.code, c.says); err.Field != c.field {
			t.Errorf("%s: field %q, want %q", c.name, err.Field, c.field)
		}
	}
	wantLinks(t, e, a, "anchor related boat")
}

// Strength, kind and metadata may be as large as the bounds.
func TestRelationsAtTheirBounds(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	a, b := save(t, e, "anchor"), save(t, e, "boat")
	for i, strength := range []float64{0, 1} {
		req := relating(a, b, memory.RelationTypes()[i])
		req.Strength, req.Kind = &strength, strings.Repeat("ü", 100)
		req.Metadata = map[string]json.RawMessage{"a": json.RawMessage(`"` + strings.Repeat("m", 8<<10-7) + `"`)}
		if got := do(t, e, op.Relate, req).Relation; got.Strength != strength {
			t.Errorf("strength %v, want %v", got.Strength, strength)
		}
	}
}

// A relation goes and comes with what was done to it and to its ends.
func TestRelationsAreUndone(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	a, b := save(t, e, "anchor"), save(t, e, "boat")
	undo := func() { t.Helper(); do(t, e, op.Undo, &op.UndoRequest{}) }
	const link = "anchor causes boat"

	made := do(t, e, op.Relate, relating(a, b, "causes")).Relation
	undo()
	wantLinks(t, e, a)
	do(t, e, op.Relate, relating(a, b, "causes"))

	removed := do(t, e, op.Unrelate, &op.UnrelateRequest{ID: made.Short()})
	if len(removed.Removed) != 1 || removed.Removed[0].ID != made.ID || removed.Tx == "" {
		t.Errorf("removed %+v", removed)
	}
	wantLinks(t, e, a)
	wantCode(t, refused(t, e, op.Unrelate, &op.UnrelateRequest{ID: made.ID}), memory.NotFound, made.ID)
	undo()
	wantLinks(t, e, a, link)

	for _, end := range []op.Memory{a, b} {
		do(t, e, op.Forget, &op.ForgetRequest{ID: string(end.ID)})
		if end.ID == b.ID {
			wantLinks(t, e, a)
		} else {
			wantLinks(t, e, b)
		}
		wantCode(t, refused(t, e, op.Unrelate, &op.UnrelateRequest{ID: made.ID}), memory.NotFound, made.ID)
		do(t, e, op.TrashRestore, &op.TrashRestoreRequest{IDs: []string{string(end.ID)}})
		wantLinks(t, e, a, link)
		do(t, e, op.Forget, &op.ForgetRequest{ID: string(end.ID)})
		undo()
		wantLinks(t, e, a, link)
	}
}

func TestUnrelateIsAllOrNone(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	a, b := save(t, e, "anchor"), save(t, e, "boat")
	one := do(t, e, op.Relate, relating(a, b, "causes")).Relation
	two := do(t, e, op.Relate, relating(b, a, "causes")).Relation
	wantCode(t, refused(t, e, op.Unrelate, &op.UnrelateRequest{ID: one.ID + ",rel-00000000"}), memory.NotFound, "rel-00000000")
	wantCode(t, refused(t, e, op.Unrelate, &op.UnrelateRequest{ID: "rel-x"}), memory.Invalid, "rel-x")
	wantCode(t, refused(t, e, op.Unrelate, &op.UnrelateRequest{ID: strings.Repeat(one.ID+",", 100) + one.ID}), memory.TooLarge, "split the request")
	wantLinks(t, e, a, "anchor causes boat", "< boat causes anchor")
	res := do(t, e, op.Unrelate, &op.UnrelateRequest{ID: one.ID + ", " + two.Short() + "," + one.ID})
	if len(res.Removed) != 2 {
		t.Errorf("removed %+v", res.Removed)
	}
	wantLinks(t, e, a)
	do(t, e, op.Undo, &op.UndoRequest{Tx: res.Tx})
	wantLinks(t, e, a, "anchor causes boat", "< boat causes anchor")
}

func TestRelateBatch(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	a, b := save(t, e, "anchor"), save(t, e, "boat")
	there := do(t, e, op.Relate, relating(b, a, "causes")).Relation
	items := []op.RelateRequest{*relating(a, b, "causes"), *relating(b, a, "causes"), *relating(a, b, "causes"), *relating(a, b, "likes"), *relating(b, b, "related")}
	res := do(t, e, op.RelateBatch, &op.RelateBatchRequest{Items: items})
	var got []string
	for _, r := range res.Results {
		code := memory.Code("")
		if r.Error != nil {
			code = r.Error.Code
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%v %s", r.ID != "", code)))
	}
	if want := "true, true conflict, true conflict, false invalid, true"; strings.Join(got, ", ") != want || res.Results[1].ID != there.ID {
		t.Errorf("the items are answered with %q, want %q", got, want)
	}
	wantLinks(t, e, a, "anchor causes boat", "< boat causes anchor")
	do(t, e, op.Undo, &op.UndoRequest{Tx: res.Tx})
	wantLinks(t, e, a, "< boat causes anchor")
	wantLinks(t, e, b, "boat causes anchor")
	wantCode(t, refused(t, e, op.RelateBatch, &op.RelateBatchRequest{}), memory.Invalid, "no relations")
	wantCode(t, refused(t, e, op.RelateBatch, &op.RelateBatchRequest{Items: make([]op.RelateRequest, 501)}), memory.TooLarge, "too many relations in the batch: 501")
}

// 500 relations with all the metadata they may have take several lines of the log, and
// are one journal entry.
func TestALargeBatchOfRelationsIsOneEntry(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	var all []op.Memory
	for i := range 25 {
		all = append(all, save(t, e, fmt.Sprint("memory ", i)))
	}
	req := new(op.RelateBatchRequest)
	for i := range 500 {
		it := relating(all[i%25], all[i/25], "related")
		it.Metadata = map[string]json.RawMessage{"a": json.RawMessage(`"` + strings.Repeat("m", 8000) + `"`)}
		req.Items = append(req.Items, *it)
	}
	before := do(t, e, op.Journal, &op.JournalRequest{}).Total
	for i, r := range do(t, e, op.RelateBatch, req).Results {
		if r.Error != nil {
			t.Fatalf("item %d: %s", i, r.Error.Detail)
		}
	}
	if n := do(t, e, op.Journal, &op.JournalRequest{}).Total - before; n != 1 {
		t.Errorf("%d journal entries", n)
	}
	if n := do(t, e, op.Graph, &op.GraphRequest{}).Stats.TotalRelations; n != 500 {
		t.Errorf("%d relations", n)
	}
	do(t, e, op.Undo, &op.UndoRequest{})
	if n := do(t, e, op.Graph, &op.GraphRequest{}).Stats.TotalRelations; n != 0 {
		t.Errorf("%d relations after undoing", n)
	}
}

// A memory with all the relations that it may have can be forgotten and restored.
func TestAMemoryHasRoomForSoManyRelations(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	hub := save(t, e, strings.Repeat("hub ", 10_000))
	var refused *op.Problem
	made := 0
	for i := 0; refused == nil; i++ {
		req := new(op.RelateBatchRequest)
		for j := range 400 {
			it := relating(hub, hub, "related")
			it.Kind = fmt.Sprint(i, " ", j)
			it.Metadata = map[string]json.RawMessage{"a": json.RawMessage(`"` + strings.Repeat("m", 500) + `"`)}
			req.Items = append(req.Items, *it)
		}
		for _, r := range do(t, e, op.RelateBatch, req).Results {
			if r.Error != nil {
				refused = r.Error
				break
			}
			made++
		}
	}
	wantCode(t, memory.Errorf(refused.Code, "%s", refused.Detail), memory.TooLarge, "remove relations, or create the relation from the other memory")
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(hub.ID)})
	do(t, e, op.Undo, &op.UndoRequest{})
	if n := do(t, e, op.Graph, &op.GraphRequest{}).Stats.TotalRelations; n != made || n < 1000 {
		t.Errorf("%d relations of %d are back", n, made)
	}
}
