package engine_test

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"emberd/engine"
	"emberd/engine/notes"
	"emberd/memory"
	"emberd/op"
	"emberd/vault"
)

// promotedHouse has one promoted memory whose note has been left alone for long.
func promotedHouse(t *testing.T, content string, tags ...string) (*house, *engine.Engine, op.Memory) {
	t.Helper()
	h := promotingHouse(t, nil)
	e := h.following(t)
	return h, e, promoteByID(t, e, save(t, e, content, tags...).ID).Memory
}

func wantNote(t testing.TB, h *house, path string, has ...string) {
	t.Helper()
	text := h.note(t, path)
	for _, part := range has {
		without := strings.HasPrefix(part, "!")
		if strings.Contains(text, strings.TrimPrefix(part, "!")) == without {
			t.Errorf("the note does not fit %q:\n%s", part, text)
		}
	}
}

// wantSettled says that note and memory agree, and that the log knows it, which it does a moment after the note was
// written.
func wantSettled(t testing.TB, e *engine.Engine, id memory.ID) {
	t.Helper()
	var m memory.Memory
	var agreed map[string]string
	until(t, "note and memory agree on all fields", func() bool {
		m = look(t, e, id).Memory
		note, err := e.Notes.Vault.Root.Load().Read(t.Context(), m.PromotedTo)
		if err != nil {
			t.Fatal(err)
		}
		agreed = notes.Agreed(&m, note.Carried)
		return maps.Equal(m.NoteSeen, agreed)
	})
	if len(agreed) != 5 {
		t.Errorf("note and memory agree on %v, want all fields", agreed)
	}
}

func TestAnEditReachesTheNote(t *testing.T) {
	t.Parallel()
	h, e, m := promotedHouse(t, "old text", "a")
	h.write(t, m.PromotedTo, h.note(t, m.PromotedTo)+"\n<!-- emberd:links -->\nours\n<!-- /emberd:links -->\n")
	h.advance(time.Minute)
	got := do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), AddTags: []string{"b"}, Category: new("habit"), Strength: new(2.0), Content: new("new text")})
	if got.Pending != nil || strings.Join(got.Changed, " ") != "category content strength tags" {
		t.Errorf("the edit answered %+v", got)
	}
	wantNote(t, h, m.PromotedTo, "tags:\n  - \"a\"\n  - \"b\"\n", "category: \"habit\"\n", "strength: 2\n", "updated: ", "---\nnew text\n\n<!-- emberd:links -->\n", "!old text")
	wantSettled(t, e, m.ID)
	h.rest(t, e)
	do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Category: new(""), Tags: new([]string{})})
	wantNote(t, h, m.PromotedTo, "!category", "!tags", "new text")
	wantSettled(t, e, m.ID)
	if rev := do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Importance: new(0.9)}).Memory.Rev; rev == "" {
		t.Error("an edit that the note does not tell was lost")
	}
}

// What the note cannot get yet is in the log at once, and in the note when it can.
func TestAnEditThatTheNoteGetsLater(t *testing.T) {
	t.Parallel()
	h, e, m := promotedHouse(t, "text")
	done := busy(t, h)
	before := h.note(t, m.PromotedTo)
	got := do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Category: new("habit")})
	if got.Pending == nil || got.Pending.Reason != string(vault.GitBusy) || got.Memory.Category != "habit" || got.Memory.NoteSeen["category"] != m.NoteSeen["category"] {
		t.Errorf("the edit answered %+v", got)
	}
	do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), AddTags: []string{"later"}})
	if got := e.Promote.Pending.Fields(m.ID); strings.Join(got, " ") != "category tags" {
		t.Errorf("waiting %q", got)
	}
	if h.note(t, m.PromotedTo) != before {
		t.Error("the note changed while git was at work")
	}
	for _, text := range []string{"other", "another"} {
		got := do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: &text})
		if got.Pending == nil || got.Pending.Reason != string(vault.GitBusy) || got.Memory.Content != text {
			t.Errorf("the edit answered %+v", got)
		}
	}
	done()
	h.rest(t, e)
	wantNote(t, h, m.PromotedTo, "category: \"habit\"", "- \"later\"", "---\nanother\n")
	wantSettled(t, e, m.ID)
	if len(e.Promote.Pending.List()) > 0 {
		t.Errorf("the queue is %+v", e.Promote.Pending.List())
	}
}

// synced has note sync apply the note of a memory until the memory is as is says; the watcher may be at work, too.
func synced(t testing.TB, e *engine.Engine, id memory.ID, is func(m *memory.Memory) bool) {
	t.Helper()
	until(t, "the note is applied", func() bool {
		e.Sync.Sync.Schedule([]memory.ID{id}, time.Now(), false)
		e.Sync.Sync.ProcessDue(t.Context())
		m := look(t, e, id).Memory
		return is(&m)
	})
}

// A human's newer word stays, in the text and in each property, and the memory's is in its history.
func TestAnEditOfWhatAHumanEdited(t *testing.T) {
	t.Parallel()
	h, e, m := promotedHouse(t, "text", "a")
	h.write(t, m.PromotedTo, strings.Replace(h.note(t, m.PromotedTo), "text\n", "human's text\n", 1))
	do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("other"), Category: new("habit")})
	wantNote(t, h, m.PromotedTo, "human's text", "category: \"habit\"")
	synced(t, e, m.ID, func(m *memory.Memory) bool { return m.Content == "human's text" })
	past := do(t, e, op.History, &op.HistoryRequest{ID: string(m.ID)})
	if !strings.Contains(inJSON(t, past), `"other"`) {
		t.Errorf("the history lost the memory's text: %s", inJSON(t, past))
	}
	wantSettled(t, e, m.ID)
}

// A field that a human changes in the note while it waits is the human's.
func TestAFieldThatAHumanChangedMeanwhile(t *testing.T) {
	t.Parallel()
	h, e, m := promotedHouse(t, "text", "a")
	done := busy(t, h)
	do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Category: new("habit"), AddTags: []string{"b"}})
	h.write(t, m.PromotedTo, strings.Replace(h.note(t, m.PromotedTo), "- \"a\"", "- \"human\"", 1))
	done()
	h.rest(t, e)
	wantNote(t, h, m.PromotedTo, "- \"human\"", "!- \"b\"", "category: \"habit\"")
	seen := look(t, e, m.ID).NoteSeen
	if seen["tags"] == m.NoteSeen["tags"] || seen["category"] == m.NoteSeen["category"] || len(e.Promote.Pending.List()) > 0 {
		t.Errorf("seen %v, the queue is %+v", seen, e.Promote.Pending.List())
	}
}

// An editor that had the note open and saves the old text over emberd's gets it back
// with emberd's fields in it.
func TestALateSaveGetsTheFieldsAgain(t *testing.T) {
	t.Parallel()
	h, e, m := promotedHouse(t, "text")
	saveLate(t, h, e, &m)
	until(t, "the field is written again", func() bool {
		h.rest(t, e)
		return strings.Contains(h.note(t, m.PromotedTo), "category: \"habit\"")
	})
	wantNote(t, h, m.PromotedTo, "typed late", "category: \"habit\"")
	if got := look(t, e, m.ID); got.Category != "habit" || len(e.Promote.Pending.List()) > 0 {
		t.Errorf("category %q, the queue is %+v", got.Category, e.Promote.Pending.List())
	}
}

// alerted is a handler of log records that calls fn with the message of each first.
type alerted struct {
	slog.Handler
	fn func(msg string)
}

func (a alerted) Handle(ctx context.Context, r slog.Record) error {
	a.fn(r.Message)
	return a.Handler.Handle(ctx, r)
}

// Requests and the task both check for late saves. What a check has found is written again even if other checks
// find the note at rest before that.
func TestALateSaveGetsTheFieldsAgainWhileOthersCheck(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	var e *engine.Engine
	var found atomic.Int32
	h.Logger = slog.New(alerted{h.Logger.Handler(), func(msg string) {
		if strings.HasPrefix(msg, "another program saved a note while emberd wrote") {
			found.Add(1)
			h.rest(t, e)
		}
	}})
	e = h.following(t)
	m := promoteByID(t, e, save(t, e, "text").ID).Memory
	saveLate(t, h, e, &m)
	until(t, "the late save is found, and its field written again", func() bool {
		h.rest(t, e)
		return found.Load() > 0 && strings.Contains(h.note(t, m.PromotedTo), "category: \"habit\"")
	})
	wantNote(t, h, m.PromotedTo, "typed late")
	if found.Load() != 1 {
		t.Errorf("%d late saves were found, want one", found.Load())
	}
}

// saveLate edits a memory whose note an editor has open, which then saves over the edit.
func saveLate(t *testing.T, h *house, e *engine.Engine, m *op.Memory) {
	t.Helper()
	old := h.note(t, m.PromotedTo)
	editor, err := os.OpenFile(filepath.Join(h.Vaults[0], m.PromotedTo), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = editor.Close() })
	do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Category: new("habit")})
	if _, err := editor.WriteString(old + "typed late\n"); err != nil {
		t.Fatal(err)
	}
}

// emberd's own note, made a moment ago, is no sign of a user at work: it is edited and taken back at once.
func TestANewNoteIsEditedAtOnce(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	h.ms.Store(time.Now().UnixMilli())
	e := h.following(t)
	edited, undone := save(t, e, "text"), save(t, e, "not for a note")
	path := promoteByID(t, e, edited.ID).Path
	got := do(t, e, op.Edit, &op.EditRequest{ID: string(edited.ID), Content: new("other")})
	if got.Pending != nil {
		t.Errorf("the note waits: %+v", got.Pending)
	}
	wantNote(t, h, path, "---\nother\n")
	wantSettled(t, e, edited.ID)
	promoteByID(t, e, undone.ID)
	do(t, e, op.Undo, &op.UndoRequest{})
	wantFiles(t, h, path)
}

// A note that a user saved a moment ago waits, and gets the edit later.
func TestANoteThatAUserJustSavedWaits(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	h.ms.Store(time.Now().UnixMilli())
	e := h.following(t)
	m := promoteByID(t, e, save(t, e, "text").ID).Memory
	h.write(t, m.PromotedTo, h.note(t, m.PromotedTo))
	got := do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("other")})
	if got.Pending == nil || got.Pending.Reason != string(vault.NotQuiet) || got.Memory.Content != "other" {
		t.Errorf("the edit answered %+v", got)
	}
	wantNote(t, h, m.PromotedTo, "---\ntext\n")
	h.rest(t, e)
	wantNote(t, h, m.PromotedTo, "---\nother\n")
	wantSettled(t, e, m.ID)
}

func TestAPromotedMemoryWithoutItsVault(t *testing.T) {
	t.Parallel()
	h, e, m := promotedHouse(t, "text")
	if err := os.Rename(h.Vaults[0], h.Vaults[0]+"-away"); err != nil {
		t.Fatal(err)
	}
	got := do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("other")})
	if got.Pending == nil || got.Pending.Reason != string(vault.VaultReplaced) || got.Memory.Content != "other" {
		t.Errorf("the edit answered %+v", got)
	}
	if got := do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Category: new("habit")}); got.Pending == nil {
		t.Errorf("the edit answered %+v, want it to wait", got)
	}
	if err := os.Rename(h.Vaults[0]+"-away", h.Vaults[0]); err != nil {
		t.Fatal(err)
	}
	h.rest(t, e)
	wantNote(t, h, m.PromotedTo, "category: \"habit\"", "---\nother\n")

	elsewhere, _ := newEngine(t)
	do(t, elsewhere, op.Import, &op.ImportRequest{Records: exported(t, e)})
	got = do(t, elsewhere, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("else")})
	if got.Memory.Content != "else" || got.Pending != nil {
		t.Errorf("the edit without the vault answered %+v", got)
	}
}

func TestUndoOfAPromotion(t *testing.T) {
	t.Parallel()
	h, e, m := promotedHouse(t, "text")
	path := m.PromotedTo
	do(t, e, op.Undo, &op.UndoRequest{DryRun: true})
	wantFiles(t, h, path)
	got := do(t, e, op.Undo, &op.UndoRequest{})
	if got.Entry.Verb != "promote" || got.Items[0].Action != "reverted" {
		t.Errorf("undone %+v", got)
	}
	wantFiles(t, h)
	if m := look(t, e, m.ID); m.PromotedTo != "" || m.Status != "active" || len(m.NoteSeen) > 0 {
		t.Errorf("the memory is %+v", m)
	}
	if found := do(t, e, op.Search, &op.SearchRequest{Query: "text", Scope: "notes"}).Hits; len(found) > 0 {
		t.Errorf("found %q", names(found))
	}
	h.rest(t, e)
	wantPromotion(t, promoteByID(t, e, m.ID), op.PromotionWritten, path)
}

// A note that somebody changed is not taken away, and so nothing is undone.
func TestUndoOfAPromotionThatAHumanWorkedOn(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	e := h.following(t)
	older := do(t, e, op.Save, &op.SaveRequest{Content: "Basil wants six hours of sun"})
	m := promoteByID(t, e, save(t, e, "text").ID).Memory
	h.write(t, m.PromotedTo, h.note(t, m.PromotedTo)+"more\n")
	// The save of the memory is not named, because the promotion changed the memory since.
	previous := "; to undo the previous change, run: emberd undo "
	err := refused(t, e, op.Undo, &op.UndoRequest{})
	wantCode(t, err, memory.Conflict, `has changed since emberd wrote it, so emberd does not remove it; to see earlier texts of the memory, run: emberd history `+m.ID.Short()+`; to separate the note from the memory, remove the property memory-id of the note and undo again`+previous+older.Tx)
	newest := do(t, e, op.Journal, &op.JournalRequest{Limit: 1}).Entries[0].Tx
	if err := refused(t, e, op.Undo, &op.UndoRequest{Tx: newest}); strings.Contains(err.Error(), previous) {
		t.Errorf("the undo of a named change answers %v", err)
	}
	if look(t, e, m.ID).PromotedTo != m.PromotedTo {
		t.Error("the memory lost its note")
	}
	without := strings.Replace(h.note(t, m.PromotedTo), "memory-id", "once", 1)
	h.write(t, m.PromotedTo, without)
	do(t, e, op.Undo, &op.UndoRequest{})
	if look(t, e, m.ID).PromotedTo != "" || h.note(t, m.PromotedTo) != without {
		t.Error("note and memory are not parted")
	}
}

func TestUndoOfAnEditReachesTheNote(t *testing.T) {
	t.Parallel()
	h, e, m := promotedHouse(t, "old text", "a")
	do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("new text"), Category: new("habit"), AddTags: []string{"b"}})
	h.rest(t, e)
	got := do(t, e, op.Undo, &op.UndoRequest{})
	if got.Entry.Verb != "edit" || look(t, e, m.ID).Content != "old text" {
		t.Errorf("undone %+v", got)
	}
	h.rest(t, e)
	wantNote(t, h, m.PromotedTo, "old text", "!new text", "!category", "!- \"b\"", "!updated")
	wantSettled(t, e, m.ID)
	if len(e.Promote.Pending.List()) > 0 {
		t.Errorf("the queue is %+v", e.Promote.Pending.List())
	}
}

func TestUndoOfAnEditThatAHumanWentOnWith(t *testing.T) {
	t.Parallel()
	h, e, m := promotedHouse(t, "old text")
	do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Category: new("habit")})
	h.write(t, m.PromotedTo, h.note(t, m.PromotedTo)+"more\n")
	err := refused(t, e, op.Undo, &op.UndoRequest{})
	wantCode(t, err, memory.Conflict, "has edits that emberd has not synced, so emberd did not undo the change; repeat the undo in two minutes, or restore the earlier text in the note")
	if look(t, e, m.ID).Category != "habit" {
		t.Error("it was undone")
	}
}
