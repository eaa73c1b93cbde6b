package engine

import (
	"encoding/json"
	"testing"

	"emberd/memory"
	"emberd/op"
)

// foreign is a record that another system made.
func foreign(t testing.TB, content string) op.Record {
	t.Helper()
	text, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	return op.Record{ID: memory.DeriveID(text), Fields: map[string]json.RawMessage{
		"content": text, "created_at": json.RawMessage(`"2026-01-02T03:04:05Z"`), "review_count": json.RawMessage("3")}}
}

// TestOneUndoTakesAForeignStoreBack imports memories and relations in batches of one
// entry, a relation of a memory that was there before among them.
func TestOneUndoTakesAForeignStoreBack(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	here := save(t, e, "was here before")
	first := do(t, e, op.Import, &op.ImportRequest{Foreign: true, Records: []op.Record{foreign(t, "one")}})
	second := do(t, e, op.Import, &op.ImportRequest{Foreign: true, Tx: first.Tx, Records: []op.Record{foreign(t, "two")}})
	one, two := string(foreign(t, "one").ID), string(foreign(t, "two").ID)
	third := do(t, e, op.RelateBatch, &op.RelateBatchRequest{Tx: first.Tx, Items: []op.RelateRequest{
		{From: one, To: two, Type: memory.Supports, CreatedAt: clock.daysAgo(9)}, {From: string(here.ID), To: one, Type: memory.Related}}})
	if second.Tx != first.Tx || third.Tx != first.Tx {
		t.Fatalf("the entries are %q, %q and %q, want one", first.Tx, second.Tx, third.Tx)
	}
	wantLinks(t, e, here, "was here before related one")
	opened := do(t, e, op.OpenMany, &op.OpenManyRequest{IDs: []string{one}, Track: new(false)}).Memories[0]
	if got := opened.Relations.Outgoing[0].CreatedAt; !got.Equal(clock.daysAgo(9)) || opened.ReviewCount != 3 {
		t.Errorf("related at %v and reviewed %d times, want %v and 3", got, opened.ReviewCount, clock.daysAgo(9))
	}
	again := do(t, e, op.Import, &op.ImportRequest{Foreign: true, Records: []op.Record{foreign(t, "one"), foreign(t, "two")}})
	for _, a := range again.Results {
		if a.Fate != op.ImportPresent {
			t.Errorf("imported again: %q, want present", a.Fate)
		}
	}
	would := do(t, e, op.Undo, &op.UndoRequest{Tx: first.Tx, DryRun: true})
	undone := do(t, e, op.Undo, &op.UndoRequest{Tx: first.Tx})
	for _, u := range []*op.UndoResult{would, undone} {
		if u.Entry.IDs != 3 || len(u.Items) != 3 {
			t.Errorf("undo tells of %d memories and does %v, want each of three once", u.Entry.IDs, u.Items)
		}
	}
	for _, id := range []string{one, two} {
		if _, err := op.Show.Call(t.Context(), e, &op.ShowRequest{ID: id}); memory.CodeOf(err) != memory.NotFound {
			t.Errorf("%s is still there: %v", id, err)
		}
	}
	wantLinks(t, e, here)
	if got := look(t, e, here.ID).Content; got != here.Content {
		t.Errorf("what was there before is %q", got)
	}
}

// TestForeignCredentialsStayOut scans what others wrote, and not what emberd did.
func TestForeignCredentialsStayOut(t *testing.T) {
	t.Parallel()
	const text = "password = hunter2Xy9!kLmQ"
	for _, c := range []struct {
		name string
		req  op.ImportRequest
		want string
	}{
		{"foreign", op.ImportRequest{Foreign: true}, op.ImportFailed},
		{"foreign and allowed", op.ImportRequest{Foreign: true, AllowSecret: true}, op.ImportAdded},
		{"ours", op.ImportRequest{}, op.ImportAdded},
	} {
		e, _ := newEngine(t)
		c.req.Records = []op.Record{foreign(t, text)}
		got := do(t, e, op.Import, &c.req).Results[0]
		if got.Fate != c.want || got.Fate == op.ImportFailed && got.Error.Code != memory.Secret {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
}

// TestForeignContentThatDiffersIsLeft keeps what is here.
func TestForeignContentThatDiffersIsLeft(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	rec := foreign(t, "one")
	do(t, e, op.Save, &op.SaveRequest{ID: rec.ID, Content: "one, edited"})
	if got := do(t, e, op.Import, &op.ImportRequest{Foreign: true, Records: []op.Record{rec}}).Results[0]; got.Fate != op.ImportChanged {
		t.Errorf("fate %q, want changed", got.Fate)
	}
	if got := look(t, e, rec.ID).Content; got != "one, edited" {
		t.Errorf("content is %q now", got)
	}
}

func TestRelationsOfTheFutureAreRefused(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	req := relating(save(t, e, "anchor"), save(t, e, "boat"), memory.Related)
	req.CreatedAt = clock.Now().AddDate(1, 0, 0)
	wantCode(t, refused(t, e, op.Relate, req), memory.Invalid, "lies in the future")
}
