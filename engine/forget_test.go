package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"emberd/memory"
	"emberd/op"
)

func TestForgetIsAllOrNone(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	a, b := save(t, e, "ballast"), save(t, e, "cargo")
	const unknown = "0192f3a1-b2c3-7000-8000-000000000000"
	wantCode(t, refused(t, e, op.Forget, &op.ForgetRequest{ID: string(a.ID) + "," + unknown}), memory.NotFound, unknown)
	wantCode(t, refused(t, e, op.Forget, &op.ForgetRequest{ID: string(a.ID) + "," + string(b.ID), IfMatch: a.Rev}), memory.Invalid, "If-Match requires exactly one ID, not")
	wantCode(t, refused(t, e, op.Forget, &op.ForgetRequest{ID: string(a.ID), IfMatch: b.Rev}), memory.Conflict, "has changed; read it again and repeat the edit with revision")

	both := &op.ForgetRequest{ID: string(a.ID) + ", " + b.ID.Short() + "," + string(a.ID), DryRun: true}
	if res := do(t, e, op.Forget, both); len(res.Forgotten) != 2 || res.Tx != "" || !res.DryRun {
		t.Errorf("the dry run tells %+v", res)
	}
	if n := len(searchFor(t, e, "")); n != 2 {
		t.Fatalf("%d memories are left before anything was forgotten", n)
	}
	both.DryRun = false
	res := do(t, e, op.Forget, both)
	if want := clock.Now().Add(30 * 24 * time.Hour); len(res.Forgotten) != 2 || res.Tx == "" || !res.Until.Equal(want) {
		t.Errorf("forgetting tells %+v, want two until %v", res, want)
	}
	if n := len(searchFor(t, e, "")); n != 0 {
		t.Errorf("%d memories are left", n)
	}
	wantCode(t, refused(t, e, op.Forget, both), memory.NotFound, "is in the trash")
}

func TestRestoreBringsBackWhatWas(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := do(t, e, op.Save, &op.SaveRequest{Content: "message in a bottle", Tags: []string{"sea"}, Source: "beach", UseCount: 3}).Memory
	gone := do(t, e, op.Forget, &op.ForgetRequest{ID: m.ID.Short()})
	trash := do(t, e, op.TrashList, &op.TrashListRequest{})
	if trash.Total != 1 || trash.Items[0].Memory.Content != m.Content || trash.Items[0].Tx != gone.Tx || !trash.Items[0].Until.Equal(gone.Until) {
		t.Fatalf("the trash lists %+v", trash)
	}
	res := do(t, e, op.TrashRestore, &op.TrashRestoreRequest{IDs: []string{m.ID.Short()}})
	if len(res.Restored) != 1 || res.Restored[0].Content != m.Content || res.Restored[0].Source != "beach" || res.Restored[0].UseCount != 3 || res.Tx == "" {
		t.Errorf("restored %+v, want %+v", res, m)
	}
	if hits := searchFor(t, e, "bottle"); len(hits) != 1 {
		t.Errorf("found %d after restoring", len(hits))
	}
	if n := do(t, e, op.TrashList, &op.TrashListRequest{}).Total; n != 0 {
		t.Errorf("the trash still holds %d", n)
	}
}

func TestTheTrashIsPaged(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	for i := range 7 {
		m := save(t, e, fmt.Sprint("item ", i))
		clock.advance(time.Second)
		do(t, e, op.Forget, &op.ForgetRequest{ID: string(m.ID)})
	}
	var got []string
	req := &op.TrashListRequest{Limit: 3}
	for {
		page := do(t, e, op.TrashList, req)
		for _, it := range page.Items {
			got = append(got, it.Memory.Content)
		}
		if req.Cursor = page.NextCursor; req.Cursor == "" {
			break
		}
	}
	if want := "item 6 item 5 item 4 item 3 item 2 item 1 item 0"; strings.Join(got, " ") != want {
		t.Errorf("the trash lists %q, want %q", got, want)
	}
}

func TestUndo(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, "first wording", "draft")

	do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("second wording"), Tags: new([]string{})})
	if preview := do(t, e, op.Undo, &op.UndoRequest{DryRun: true}); preview.Tx != "" || len(preview.Items) != 1 || look(t, e, m.ID).Content != "second wording" {
		t.Errorf("the preview changed something: %+v", preview)
	}
	undone := do(t, e, op.Undo, &op.UndoRequest{})
	if got := look(t, e, m.ID); undone.Entry.Verb != "edit" || got.Content != "first wording" || len(got.Tags) != 1 {
		t.Errorf("undoing an edit: %+v leaves %+v", undone, got)
	}

	forget := do(t, e, op.Forget, &op.ForgetRequest{ID: string(m.ID)})
	undone = do(t, e, op.Undo, &op.UndoRequest{Tx: forget.Tx})
	if got := look(t, e, m.ID); undone.Items[0].Action != "restored" || got.Content != "first wording" {
		t.Errorf("undoing a forget: %+v leaves %+v", undone, got)
	}

	saved := do(t, e, op.Save, &op.SaveRequest{Content: "a slip"})
	undone = do(t, e, op.Undo, &op.UndoRequest{Tx: saved.Tx})
	if undone.Items[0].Action != "removed" || len(searchFor(t, e, "slip")) != 0 {
		t.Errorf("undoing a save: %+v", undone)
	}

	saved = do(t, e, op.Save, &op.SaveRequest{Content: "another slip"})
	wantCode(t, refused(t, e, op.Undo, &op.UndoRequest{Tx: saved.Tx[:4]}), memory.Ambiguous, "several change IDs begin with")
	if undone = do(t, e, op.Undo, &op.UndoRequest{Tx: saved.Tx[:len("01a1fd06c976-0000")]}); undone.Entry.Tx != saved.Tx {
		t.Errorf("undoing a save by the beginning of its ID: %+v", undone)
	}
	wantCode(t, refused(t, e, op.Undo, &op.UndoRequest{Tx: "ffffffff"}), memory.Invalid, "invalid change ID")
}

func TestUndoLeavesWhatChangedSince(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	saved := do(t, e, op.Save, &op.SaveRequest{Content: "first"})
	id := string(saved.Memory.ID)
	edit := do(t, e, op.Edit, &op.EditRequest{ID: id, Content: new("second")})
	do(t, e, op.Edit, &op.EditRequest{ID: id, Content: new("third")})

	for what, tx := range map[string]string{"edit": edit.Tx, "save": saved.Tx} {
		left := do(t, e, op.Undo, &op.UndoRequest{Tx: tx})
		if len(left.Items) != 1 || left.Items[0].Action != "left" || left.Items[0].Reason == "" || left.Tx != "" {
			t.Errorf("undoing the %s: %+v, want it left with a reason", what, left)
		}
		if got := look(t, e, saved.Memory.ID).Content; got != "third" {
			t.Errorf("undoing the %s changed the content to %q", what, got)
		}
	}
	do(t, e, op.Undo, &op.UndoRequest{Tx: edit.Tx, Force: true})
	if got := look(t, e, saved.Memory.ID).Content; got != "first" {
		t.Errorf("the forced undo leaves %q, want what was before the edit", got)
	}
}
