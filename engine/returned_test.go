package engine_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"emberd/internal/access"
	"emberd/memory"
	"emberd/op"
)

// forgotten is a memory that went to the trash.
type forgotten struct {
	id     memory.ID
	tx     string      // the change
	before []op.Record // an export from before it
}

// forget moves a memory to the trash, and its note stays.
func (d *desk) forget(id memory.ID) forgotten {
	d.t.Helper()
	before := exported(d.t, d.Engine)
	return forgotten{id, do(d.t, d.Engine, op.Forget, &op.ForgetRequest{ID: string(id)}).Tx, before}
}

// ways are how a memory comes back from the trash.
func ways() map[string]func(d *desk, f forgotten) {
	return map[string]func(d *desk, f forgotten){
		"trash restore": func(d *desk, f forgotten) {
			do(d.t, d.Engine, op.TrashRestore, &op.TrashRestoreRequest{IDs: []string{string(f.id)}})
		},
		"undo": func(d *desk, f forgotten) { do(d.t, d.Engine, op.Undo, &op.UndoRequest{Tx: f.tx}) },
		"import": func(d *desk, f forgotten) {
			do(d.t, d.Engine, op.Import, &op.ImportRequest{Records: f.before, Again: true})
		},
	}
}

// A note that was written at the path of a memory's note while the memory was in the trash is not that note.
func TestAForgedNoteInPlaceOfAForgottenOneIsNotTheMemorys(t *testing.T) {
	t.Parallel()
	for way, back := range ways() {
		for what, text := range forgeries(memory.DeriveID([]byte("safe"))) {
			t.Run(way+", "+what, func(t *testing.T) {
				d := newDesk(t, nil)
				id := d.kept(safeText, "Work/A.md", "safe")
				was := d.note(t, "Work/A.md")
				gone := d.forget(id)
				ok(t, os.Remove(d.at("Work/A.md")))
				d.write(t, "Work/A.md", strings.ReplaceAll(text, string(memory.DeriveID([]byte("safe"))), string(id)))
				d.restart()
				d.settle()
				back(d, gone)
				d.settle()
				d.wantUntaken(id, "Work/A.md", "Work/A.md")
				d.edit("Work/A.md", was)
				if m := d.memory(id); !m.NoteGone.IsZero() || m.Content != safeText || len(d.claims()) != 0 {
					t.Errorf("with its note back the memory is %+v, the items %+v", m.Memory, d.claims())
				}
			})
		}
	}
}

// The same if the note is missing when the memory comes back, and the forged one is written later.
func TestAForgedNoteAfterAReturnIsNotTheMemorys(t *testing.T) {
	t.Parallel()
	for way, back := range ways() {
		t.Log(way)
		d := newDesk(t, nil)
		id := d.kept(safeText, "Work/A.md", "safe")
		gone := d.forget(id)
		d.remove("Work/A.md")
		back(d, gone)
		d.settle()
		d.edit("Work/A.md", noteFor(id, "the safe is open", "safe", "work"))
		d.wantUntaken(id, "Work/A.md", "Work/A.md")
	}
}

// A memory that comes back while its note is as it was has its note, at once and without a question.
func TestAForgottenMemoryComesBackWithItsNote(t *testing.T) {
	t.Parallel()
	for way, back := range ways() {
		d := newDesk(t, nil)
		id := d.kept(safeText, "Work/A.md", "safe")
		work := &access.Grant{Token: "job", Read: []access.Scope{{Kind: access.Folder, Value: "Work"}}}
		gone := d.forget(id)
		d.restart()
		d.settle()
		back(d, gone)
		_, err := as(work, d.Engine, op.Show, &op.ShowRequest{ID: string(id)})
		ok(t, err)
		d.settle()
		d.edit("Work/A.md", noteFor(id, "the safe opens with the new key", "safe"))
		if m := d.memory(id); m.Content != "the safe opens with the new key" || !m.NoteGone.IsZero() || len(d.claims()) != 0 {
			t.Errorf("%s: the memory is %+v, the items %+v", way, m.Memory, d.claims())
		}
		d.wantNoFindings()
	}
}

// An archived memory whose note was deleted and forged is not given the forged text by the undo of that deletion.
func TestUndoOfALostNoteTakesNoForgedText(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	path := archiveDir + "Safe.md"
	id := d.filed(safeText, path, "safe")
	d.remove(path)
	lost := d.newest(id).Tx
	d.edit(path, noteFor(id, "the safe is open", "safe", "work"))
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: lost})
	d.settle()
	m := d.memory(id)
	if m.Content != leftOver || !slices.Equal(m.Tags, []string{"safe"}) || m.NoteGone.IsZero() {
		t.Errorf("the memory is %+v", m.Memory)
	}
	err := refused(t, d.Engine, op.Rekindle, &op.RekindleRequest{Query: string(id)})
	wantCode(t, err, memory.Conflict, "emberd review ")
}

// A vault that is away when a memory comes back costs nothing: with the vault the memory has its note again.
func TestAMemoryThatComesBackWithoutTheVaultFindsItsNote(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept(safeText, "A.md", "safe")
	gone := d.forget(id)
	vaults := d.Vaults
	ok(t, d.Close())
	d.Vaults = nil
	d.Engine = d.house.open(t)
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: gone.tx})
	ok(t, d.Close())
	d.Vaults = vaults
	d.start()
	d.settle()
	if m := d.memory(id); !m.NoteGone.IsZero() || m.PromotedTo != "A.md" || len(d.claims()) != 0 {
		t.Errorf("the memory is %+v, the items %+v", m.Memory, d.claims())
	}
}

// An archived memory that comes back while its note is as it was gives its text back.
func TestAForgottenArchivedMemoryComesBackWithItsText(t *testing.T) {
	t.Parallel()
	for way, back := range ways() {
		d := newDesk(t, nil)
		id := d.filed(safeText, archiveDir+"Safe.md", "safe")
		gone := d.forget(id)
		d.restart()
		back(d, gone)
		d.settle()
		if m := d.memory(id); !m.NoteGone.IsZero() || len(d.claims()) != 0 {
			t.Errorf("%s: the memory is %+v, the items %+v", way, m.Memory, d.claims())
		}
		if got := do(t, d.Engine, op.Rekindle, &op.RekindleRequest{Query: string(id)}).Results[0].Memory; got.Content != safeText {
			t.Errorf("%s: rekindled, it is %+v", way, got.Memory)
		}
	}
}

// A vault is open when the request to open it is answered, so that a memory restored right after has its note.
func TestAMemoryRestoredRightAfterTheVaultWasOpened(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept(safeText, "A.md", "safe")
	for range 20 {
		gone := d.forget(id)
		do(t, d.Engine, op.VaultRelease, &op.VaultReleaseRequest{})
		do(t, d.Engine, op.VaultOpen, &op.VaultOpenRequest{})
		do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: gone.tx})
		if m := d.memory(id); !m.NoteGone.IsZero() {
			t.Fatalf("the memory lost its note: %+v", m.Memory)
		}
	}
}
