package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"emberd/engine/promote"
	"emberd/memory"
	"emberd/op"
)

// back is a memory that was archived and brought back.
func (d *desk) back(content string, tags ...string) (op.Memory, string) {
	d.t.Helper()
	id := save(d.t, d.Engine, content, tags...).ID
	d.archived(id)
	m := d.rekindled(id).Memory
	return m, m.VaultPath
}

// The archive note gets what its memory has by then, and keeps what is not of it.
func TestArchivingAgainWhatWasEdited(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	m, home := d.back(leaky, "kitchen")
	d.write(t, home, strings.Replace(d.note(t, home), "created:", "mood: odd\ncreated:", 1))
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("It is mended.\n"), AddTags: []string{"done"}})
	would := do(t, d.Engine, op.Archive, &op.ArchiveRequest{ID: string(m.ID), DryRun: true})
	if len(would.Archived) != 1 || would.Archived[0].VaultPath != home || would.Archived[0].Content != "It is mended." || would.Tx != "" {
		t.Errorf("a dry run tells %+v", would)
	}
	wantNote(t, d.house, home, leaky, `"done"`)
	d.rest(t, d.Engine)
	d.archived(m.ID)
	wantFiles(t, d.house, home)
	wantNote(t, d.house, home, "It is mended.\n", "mood: odd", `"done"`, "!---\nThe kettle")
	if got := d.rekindled(m.ID).Memory; got.Content != "It is mended.\n" || len(got.Tags) != 2 {
		t.Errorf("the memory is %+v", got)
	}
}

// What a human wrote into the note since is not lost to what the memory has.
func TestArchivingAgainWhatAHumanEdited(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	m, home := d.back(leaky)
	d.write(t, home, noteFor(m.ID, "mended, says the human"))
	d.skipped(m.ID, "has edits that emberd has not synced yet; emberd syncs the edits within a minute or two")
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("mended, says the agent")})
	d.skipped(m.ID, "has edits that emberd has not synced yet; emberd syncs the edits within a minute or two")
	wantNote(t, d.house, home, "says the human")
}

func TestArchivingAgainWithoutTheNote(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	m, home := d.back(leaky)
	ok(t, os.Remove(d.at(home)))
	d.skipped(m.ID, "is missing or does not contain the memory ID")
	d.write(t, home, "a human's note under that name")
	d.skipped(m.ID, "of the memory is missing or does not contain the memory ID; restore the note, or promote the memory again")
	done := busy(t, d.house)
	d.write(t, home, noteFor(m.ID, leaky))
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("It is mended.")})
	d.skipped(m.ID, "a git operation in the vault is in progress or was interrupted (lock, merge or rebase)")
	other := save(t, d.Engine, "the tide turns at six").ID
	d.skipped(other, " now: a git operation in the vault is in progress")
	done()
	d.archived(m.ID, other)
}

// A crash between note and log leaves a note that carries the id: it is taken, and there
// is no second one.
func TestArchivingTakesTheNoteOfACrash(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	m := save(t, d.Engine, leaky)
	d.write(t, "Memories/Archive/"+strings.TrimPrefix(noteNameOf(t, d, m.ID), "Memories/"), string(promote.ArchiveBytes(&m.Memory)))
	files := d.files(t)
	d.archived(m.ID)
	wantFiles(t, d.house, files...)
	other := save(t, d.Engine, "the tide turns at six")
	d.write(t, "Anywhere.md", noteFor(other.ID, "the tide turns at six"))
	d.batch([]string{"Anywhere.md"}, nil)
	d.archived(other.ID)
	if got := look(t, d.Engine, other.ID); got.VaultPath != "Anywhere.md" || len(d.files(t)) != 2 {
		t.Errorf("the memory is %+v", got.Memory)
	}
}

func noteNameOf(t *testing.T, d *desk, id memory.ID) string {
	t.Helper()
	m := look(t, d.Engine, id).Memory
	return d.Promote.NoteNames(&m)[0]
}

// The promoted note is the source; only a stage that it states is kept true.
func TestArchivingAPromotedMemory(t *testing.T) {
	t.Parallel()
	d, m := promotedShelf(t, leaky)
	before := d.contentsOfVault()
	got := d.archived(m.ID)
	if cold := look(t, d.Engine, m.ID); cold.PromotedTo != m.PromotedTo || cold.VaultPath != m.PromotedTo || cold.Status != "promoted" || cold.Content == leaky {
		t.Errorf("the memory is %+v", cold.Memory)
	}
	if after := d.contentsOfVault(); after[m.PromotedTo] != before[m.PromotedTo] || len(after) != 1 {
		t.Errorf("the vault has %v", after)
	}
	wantCode(t, refused(t, d.Engine, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("short")}), memory.Conflict, "and contains only a summary; first, run: emberd rekindle")
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(m.ID), Category: new("repairs")})
	d.rest(t, d.Engine)
	wantNote(t, d.house, m.PromotedTo, leaky, `category: "repairs"`)
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: got.Entry})
	if warm := look(t, d.Engine, m.ID); warm.Content != leaky || warm.Category != "repairs" {
		t.Errorf("undone, the memory is %+v", warm.Memory)
	}
	d.rest(t, d.Engine)
	wantNote(t, d.house, m.PromotedTo, leaky, `category: "repairs"`, "!stage")
}

func TestANoteThatStatesAStage(t *testing.T) {
	t.Parallel()
	d, m := promotedShelf(t, leaky)
	d.edit(m.PromotedTo, withProperties(m.ID, "stage: demoted\n", leaky))
	if got := look(t, d.Engine, m.ID).Stage; got != memory.Demoted {
		t.Fatalf("the memory is %s", got)
	}
	d.advance(promote.LastTry)
	got := d.archived(m.ID)
	d.rest(t, d.Engine)
	wantNote(t, d.house, m.PromotedTo, `stage: "archived"`)
	d.seen(m.PromotedTo)
	faded, err := d.Engine.Lifecycle.Archive(t.Context(), d.to(memory.Rehydratable, m.ID), "", keeper(), "")
	ok(t, err)
	d.advance(promote.LastTry)
	d.rest(t, d.Engine)
	wantNote(t, d.house, m.PromotedTo, `stage: "rehydratable"`, leaky)
	d.seen(m.PromotedTo)
	if cold := look(t, d.Engine, m.ID); cold.Stage != memory.Rehydratable || len(faded.Done) != 1 {
		t.Errorf("the memory is %+v", cold.Memory)
	}
	back := d.rekindled(m.ID)
	if back.Memory.Stage != memory.Active || back.Memory.Content != leaky {
		t.Errorf("rekindled %+v", back)
	}
	d.advance(promote.LastTry)
	d.rest(t, d.Engine)
	wantNote(t, d.house, m.PromotedTo, leaky, "!rehydratable")
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: back.Tx})
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: faded.Entry})
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: got.Entry})
	d.settle()
	d.advance(promote.LastTry)
	d.rest(t, d.Engine)
	wantNote(t, d.house, m.PromotedTo, leaky, "!stage")
	d.seen(m.PromotedTo)
	if m := look(t, d.Engine, m.ID); m.Stage != memory.Demoted || m.Content != leaky {
		t.Errorf("undone, the memory is %+v", m.Memory)
	}
}

// Undoing does not wait for a note that somebody edited: its text counts afterwards.
func TestUndoingAnArchivingWhoseNoteWasEdited(t *testing.T) {
	t.Parallel()
	d, m := promotedShelf(t, leaky)
	got := d.archived(m.ID)
	d.write(t, m.PromotedTo, noteFor(m.ID, "mended, says the human"))
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: got.Entry})
	if warm := look(t, d.Engine, m.ID); warm.Content != leaky {
		t.Errorf("undone, it says %q", warm.Content)
	}
	d.seen(m.PromotedTo)
	if warm := look(t, d.Engine, m.ID); warm.Content != "mended, says the human" {
		t.Errorf("a minute later it says %q", warm.Content)
	}
	d2, m2 := promotedShelf(t, leaky)
	d2.archived(m2.ID)
	back := d2.rekindled(m2.ID)
	d2.write(t, m2.PromotedTo, noteFor(m2.ID, "mended, says the human"))
	do(t, d2.Engine, op.Undo, &op.UndoRequest{Tx: back.Tx})
	if cold := look(t, d2.Engine, m2.ID); cold.Stage != memory.Archived || cold.Content == leaky {
		t.Errorf("undone, the memory is %+v", cold.Memory)
	}
	wantNote(t, d2.house, m2.PromotedTo, "says the human")
}

// The removal of the notes is queued before the undo, so that neither a restart nor a caller who is gone leaves them
// behind.
func TestNotesOfAnUndoneArchivingGoAfterARestart(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	one, other := save(t, d.Engine, leaky).ID, save(t, d.Engine, "The tide tables hang in the boathouse by the door").ID
	got := d.archived(one, other)
	lock := filepath.Join(d.Vaults[0], ".git", "index.lock")
	ok(t, os.Mkdir(filepath.Dir(lock), 0o700))
	ok(t, os.WriteFile(lock, nil, 0o600)) // git is at work, and nothing is written meanwhile
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: got.Entry})
	if st := do(t, d.Engine, op.Status, &op.StatusRequest{}); st.Vaults[0].Pending != 2 {
		t.Errorf("%d notes wait, want 2: %v", st.Vaults[0].Pending, d.files(t))
	}
	d.reopen()
	ok(t, os.RemoveAll(filepath.Dir(lock)))
	d.advance(promote.LastTry)
	d.rest(t, d.Engine)
	wantFiles(t, d.house)
	for _, id := range []memory.ID{one, other} {
		if m := look(t, d.Engine, id); m.Stage != memory.Active || m.VaultPath != "" {
			t.Errorf("the memory is %+v", m.Memory)
		}
	}
}

// A note that another device took for the memory's, and that was edited since, stays and stays the memory's.
func TestAnEditedNoteOfAnUndoneArchivingStaysTheMemorys(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	id := save(t, d.Engine, leaky).ID
	got := d.archived(id)
	path := look(t, d.Engine, id).VaultPath
	d.write(t, path, noteFor(id, "edited since"))
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: got.Entry})
	d.rewrite(id, "note", func(m *memory.Memory) { m.VaultPath = path })
	d.Promote.RemoveQueued(t.Context(), map[memory.ID]string{id: path})
	if m := look(t, d.Engine, id); m.VaultPath != path {
		t.Errorf("the memory's note is %q, want %q", m.VaultPath, path)
	}
	wantFiles(t, d.house, path)
}
