package engine_test

import (
	"encoding/json"
	"testing"
	"time"

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
	wantCode(t, refused(t, e, op.Relate, req), memory.Invalid, "is in the future; the clock of the daemon shows")
}

// TestADryImportTellsAndLeaves compares what a dry run tells with what the run does.
func TestADryImportTellsAndLeaves(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	secret := foreign(t, "password = hunter2Xy9!kLmQ")
	do(t, e, op.Import, &op.ImportRequest{Foreign: true, Records: []op.Record{foreign(t, "there")}})
	req := op.ImportRequest{Foreign: true, Records: []op.Record{foreign(t, "new"), foreign(t, "there"), secret}}
	dry := req
	dry.DryRun = true
	would := do(t, e, op.Import, &dry)
	if _, err := op.Show.Call(t.Context(), e, &op.ShowRequest{ID: string(req.Records[0].ID)}); memory.CodeOf(err) != memory.NotFound {
		t.Errorf("after a dry run the memory is there: %v", err)
	}
	ends := op.RelateBatchRequest{DryRun: true, Items: []op.RelateRequest{{From: string(req.Records[1].ID), To: string(req.Records[0].ID), Type: memory.Related}}}
	if got := do(t, e, op.RelateBatch, &ends).Results[0].Error; got == nil || got.Field != "to" {
		t.Errorf("a relation to what is not there: %+v, want an error of to", got)
	}
	did := do(t, e, op.Import, &req)
	for i, want := range []string{op.ImportAdded, op.ImportPresent, op.ImportFailed} {
		if would.Results[i].Fate != want || did.Results[i].Fate != want {
			t.Errorf("record %d: told %q and did %q, want %q", i, would.Results[i].Fate, did.Results[i].Fate, want)
		}
	}
	if would.Tx != "" || would.Results[2].Error.Code != memory.Secret {
		t.Errorf("the dry run has the entry %q and says %v of a credential", would.Tx, would.Results[2].Error)
	}
	if res := do(t, e, op.RelateBatch, &ends); res.Tx != "" || res.Results[0].Error != nil {
		t.Errorf("a dry relation: %+v", res)
	}
	wantLinks(t, e, look(t, e, req.Records[1].ID))
}

// TestASecondImportNames gives memories that came in without aliases theirs, and an undo
// takes these alone.
func TestASecondImportNames(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	rec := foreign(t, "one")
	do(t, e, op.Import, &op.ImportRequest{Foreign: true, Records: []op.Record{rec}})
	rec.Fields["aliases"] = json.RawMessage(`["note-1"]`)
	req := &op.ImportRequest{Foreign: true, Records: []op.Record{rec}}
	named := do(t, e, op.Import, req)
	if a := named.Results[0]; a.Fate != op.ImportPresent || !a.Named || named.Tx == "" {
		t.Fatalf("imported again with an alias: %+v", named)
	}
	show := &op.ShowRequest{ID: "note-1"}
	if got := do(t, e, op.Show, show).Memory; got.ID != rec.ID {
		t.Errorf("note-1 is %s, want %s", got.ID, rec.ID)
	}
	if a := do(t, e, op.Import, req); a.Results[0].Named || a.Tx != "" {
		t.Errorf("the third import: %+v, want nothing done", a)
	}
	do(t, e, op.Undo, &op.UndoRequest{Tx: named.Tx})
	if _, err := op.Show.Call(t.Context(), e, show); memory.CodeOf(err) != memory.NotFound {
		t.Errorf("note-1 after the undo: %v, want not found", err)
	}
	look(t, e, rec.ID)
	save := op.SaveRequest{ID: rec.ID, Content: "one", Aliases: []string{"line-1"}}
	if res := do(t, e, op.SaveBatch, &op.SaveBatchRequest{Items: []op.SaveRequest{save}}); !res.Results[0].Named {
		t.Errorf("saved again with an alias: %+v", res.Results[0])
	}
	if got := do(t, e, op.Show, &op.ShowRequest{ID: "line-1"}).Memory; got.ID != rec.ID {
		t.Errorf("line-1 is %s, want %s", got.ID, rec.ID)
	}
}

// TestArchivedElsewhereStaysArchivedUntilUsed runs the lifecycle over memories that another system had archived a moment
// ago. Without a vault they keep their texts.
func TestArchivedElsewhereStaysArchivedUntilUsed(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	var records []op.Record
	for _, content := range []string{"used lately", "never used"} {
		r := foreign(t, content)
		r.Fields["created_at"] = jsonOf(t, clock.daysAgo(1))
		r.Fields["stage"], r.Fields["meta"] = jsonOf(t, memory.Demoted), json.RawMessage(`{"cortexgraph_status":"archived"}`)
		records = append(records, r)
	}
	records[0].Fields["last_used"] = jsonOf(t, clock.daysAgo(0.1))
	do(t, e, op.Import, &op.ImportRequest{Foreign: true, Records: records})
	clock.advance(time.Hour)
	wantMoves(t, runs(t, e), map[string]int{})
	for _, r := range records {
		if m := look(t, e, r.ID); m.Status != "archived" || m.Stage != memory.Demoted {
			t.Errorf("%q is %s, %s", m.Content, m.Status, m.Stage)
		}
	}
	do(t, e, op.Touch, &op.TouchRequest{ID: string(records[1].ID)})
	e.Lifecycle.ActivateUsed(t.Context())
	wantStage(t, e, records[0].ID, memory.Demoted)
	wantStage(t, e, records[1].ID, memory.Active)
}

func jsonOf(t testing.TB, v any) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
