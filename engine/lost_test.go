package engine_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"emberd/memory"
	"emberd/op"
)

func TestADeletedNoteAndItsReturn(t *testing.T) {
	t.Parallel()
	for stage, goes := range map[memory.Stage]bool{memory.Active: true, memory.Demoted: true, memory.Archived: false, memory.Rehydratable: false} {
		t.Run(string(stage), func(t *testing.T) {
			d := newDesk(t, nil)
			id := d.kept("the kettle leaks", "Kettle.md")
			note := withProperties(id, fmt.Sprintf("stage: %s\n", stage), "the kettle leaks")
			d.edit("Kettle.md", note)
			d.remove("Kettle.md")
			if got := d.Stm.Trashed(id); got != goes {
				t.Fatalf("in the trash: %t", got)
			}
			if goes {
				trashed := do(t, d.Engine, op.TrashList, &op.TrashListRequest{}).Items[0]
				if m := trashed.Memory; m.NoteGone.IsZero() || m.PromotedTo != "Kettle.md" || m.Content != "the kettle leaks" {
					t.Errorf("in the trash is %+v", m)
				}
				d.wantNoFindings()
			} else {
				if m := d.memory(id); m.NoteGone.IsZero() || m.Content != "the kettle leaks" {
					t.Errorf("the memory is %+v", m.Memory)
				}
				d.wantFinding("memory Kettle.md", "and was deleted, so the memory has only a summary; restore the note, or to see earlier versions, run: emberd history")
			}
			d.restart()

			// From Obsidian's trash a day later, to another place.
			d.edit("Back/Kettle.md", note)
			if m := d.memory(id); m.Content != "the kettle leaks" || m.PromotedTo != "Back/Kettle.md" || !m.NoteGone.IsZero() || m.Stage != stage {
				t.Errorf("back again: %+v", m.Memory)
			}
			if v := d.newest(id); v.Verb != "note" {
				t.Errorf("the newest version is %+v", v)
			}
			d.wantNoFindings()
		})
	}
}

// Taking the deletion back gives the memory, which stays although no note is there.
func TestUndoOfADeletion(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md")
	d.remove("Kettle.md")
	entry := do(t, d.Engine, op.TrashList, &op.TrashListRequest{}).Items[0].Tx
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: entry})
	d.settle()
	d.restart()
	d.settle()
	if m := d.memory(id); m.NoteGone.IsZero() || m.Content != "the kettle leaks" {
		t.Errorf("the memory is %+v", m.Memory)
	}
}

// What a human forgot stays forgotten whatever its note does, and the note stays.
func TestForgottenWhileTheNoteStays(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md")
	do(t, d.Engine, op.Forget, &op.ForgetRequest{ID: string(id)})
	d.edit("Kettle.md", noteFor(id, "the kettle leaks, still"))
	d.move("Kettle.md", "Moved.md")
	d.settle()
	if !d.Stm.Trashed(id) {
		t.Fatal("the memory came back")
	}
	d.wantFinding("memory Moved.md", "which is in the trash; remove the property memory-id, or to restore the memory, run: emberd rekindle "+id.Short())

	// Called back, it says what the note says by then, once the user has confirmed it.
	do(t, d.Engine, op.TrashRestore, &op.TrashRestoreRequest{IDs: []string{string(id)}})
	d.settle()
	do(t, d.Engine, op.ReviewClose, d.adopting())
	d.settle()
	if m := d.memory(id); m.Content != "the kettle leaks, still" || m.PromotedTo != "Moved.md" {
		t.Errorf("the memory is %+v", m.Memory)
	}

	do(t, d.Engine, op.Purge, &op.PurgeRequest{ID: string(id)})
	d.edit("Moved.md", noteFor(id, "the kettle leaks for good"))
	d.wantFinding("memory Moved.md", "memory "+id.Short()+", which was deleted permanently")
	wantNames(t, d.Engine, "kettle", "Moved.md")
	ok(t, os.Remove(d.at("Moved.md")))
	d.batch(nil, []string{"Moved.md"})
	d.settle()
	d.edit("Moved.md", noteFor(id, "the kettle leaks for good"))
	if _, live := d.Stm.Get(id); live {
		t.Error("a note made a memory that was purged")
	}
}

// Two minutes of typing in the frontmatter, an emptied note, an id that was taken out:
// the file is there, so the memory stays as it is.
func TestANoteWithoutItsIDChangesNothing(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{
		"broken YAML":     "---\nmemory-id: \"%s\"\ntags: [kitchen\n---\nnew text\n",
		"not closed":      "---\nmemory-id: %s\nnew text\n",
		"key given twice": "---\nmemory-id: %s\nmemory-id: x\n---\nnew text\n",
		"emptied":         "",
		"id taken out":    "---\ntags: [kitchen]\n---\nnew text\n",
		"no id":           "---\nmemory-id: kettle\n---\nnew text\n",
	} {
		t.Run(what, func(t *testing.T) {
			d := newDesk(t, nil)
			id := d.kept("the kettle leaks", "Kettle.md", "kitchen")
			rev := d.memory(id).Rev
			if strings.Contains(text, "%s") {
				text = fmt.Sprintf(text, id)
			}
			d.edit("Kettle.md", text)
			d.restart()
			d.settle()
			if got := d.memory(id).Rev; got != rev {
				t.Errorf("the memory changed to %+v", d.memory(id).Memory)
			}
			finding := "this note no longer contains the ID of memory " + id.Short()
			if what == "broken YAML" || what == "key given twice" {
				finding = "emberd does not sync memory " + id.Short() + ", because the frontmatter of its note is invalid"
			}
			d.wantFinding("memory Kettle.md", finding)
			d.edit("Kettle.md", noteFor(id, "mended", "kitchen"))
			if m := d.memory(id); m.Content != "mended" || !slices.Equal(m.Tags, []string{"kitchen"}) {
				t.Errorf("mended, the memory is %+v", m.Memory)
			}
			// Nor does it go with a note that did not carry its id any more.
			d.edit("Kettle.md", text)
			d.remove("Kettle.md")
			if d.memory(id).Content != "mended" {
				t.Error("the memory changed with a note that was not its")
			}
			d.wantFinding("memory Kettle.md", "this note of memory "+id.Short()+" is missing")
		})
	}
}

// Back within the minute, but broken, and then renamed.
func TestBackWithoutItsIDAndRenamed(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md")
	ok(t, os.Remove(d.at("Kettle.md")))
	d.batch(nil, []string{"Kettle.md"})
	d.write(t, "Kettle.md", "---\nmemory-id: [\n---\nthe kettle leaks\n")
	d.batch([]string{"Kettle.md"}, nil)
	d.move("Kettle.md", "Pot.md")
	d.settle()
	if m := d.memory(id); !m.NoteGone.IsZero() {
		t.Errorf("the memory is %+v", m.Memory)
	}
}

// Renamed by a sync tool, deleted, and back without the id, all within the minute.
func TestBackWithoutItsIDElsewhere(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"---\nmemory-id: [\n---\n", "the kettle leaks", ""} {
		d := newDesk(t, nil)
		id := d.kept("the kettle leaks", "Kettle.md")
		ok(t, os.Remove(d.at("Kettle.md")))
		d.batch(nil, []string{"Kettle.md"})
		d.write(t, "Pot.md", noteFor(id, "the kettle leaks"))
		d.batch([]string{"Pot.md"}, nil)
		ok(t, os.Remove(d.at("Pot.md")))
		d.batch(nil, []string{"Pot.md"})
		d.edit("Pot.md", text)
		if m := d.memory(id); !m.NoteGone.IsZero() {
			t.Errorf("%q: the memory is %+v", text, m.Memory)
		}
	}
}

// Renamed by a sync tool, broken, and renamed once more within the minute.
func TestRenamedBrokenRenamed(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md")
	ok(t, os.Remove(d.at("Kettle.md")))
	d.batch(nil, []string{"Kettle.md"})
	for _, text := range []string{noteFor(id, "the kettle leaks"), "---\nmemory-id: [\n---\n"} {
		d.write(t, "Pot.md", text)
		d.batch([]string{"Pot.md"}, nil)
	}
	d.move("Pot.md", "Pan.md")
	d.settle()
	if m := d.memory(id); !m.NoteGone.IsZero() {
		t.Errorf("the memory is %+v", m.Memory)
	}
}

// Renamed while its frontmatter is broken, a note is not deleted.
func TestRenamedWhileBroken(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md")
	d.write(t, "Kettle.md", "---\nmemory-id: [\n---\nthe kettle leaks\n")
	d.move("Kettle.md", "Pot.md")
	d.settle()
	if m := d.memory(id); m.PromotedTo != "Kettle.md" {
		t.Errorf("the memory is %+v", m.Memory)
	}
	d.edit("Pot.md", noteFor(id, "the kettle leaks"))
	if m := d.memory(id); m.PromotedTo != "Pot.md" || m.Content != "the kettle leaks" {
		t.Errorf("mended, the memory is %+v", m.Memory)
	}
}

func TestASecondNoteWithTheSameID(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md")
	rev := d.memory(id).Rev
	d.edit("A copy.md", noteFor(id, "another text"))
	d.edit("Kettle 1.md", noteFor(id, "a third text"))
	d.edit("A copy.md", noteFor(id, "another text, edited"))
	if got := d.memory(id); got.Rev != rev {
		t.Errorf("a copy changed the memory to %+v", got.Memory)
	}
	for path, advice := range map[string]string{"A copy.md": "run: emberd review show rev-", "Kettle 1.md": "if the notes do not change for two minutes"} {
		d.wantFinding("duplicate "+path, advice)
	}
	// While the note itself is broken the copies have no say either.
	d.edit("Kettle.md", "---\nmemory-id: [\n---\n")
	d.edit("A copy.md", noteFor(id, "another text, edited again"))
	if got := d.memory(id); got.Rev != rev {
		t.Errorf("a copy changed the memory to %+v", got.Memory)
	}
	d.edit("Kettle.md", noteFor(id, "the kettle leaks"))

	// Renamed, it is the note that moved and not the first by name.
	d.move("Kettle.md", "Pot.md")
	d.settle()
	if got := d.memory(id); got.PromotedTo != "Pot.md" || got.Content != "the kettle leaks" {
		t.Errorf("after the move: %+v", got.Memory)
	}
	// Deleted, no copy with another text takes its place, and the user is asked.
	d.remove("Pot.md")
	if got := d.memory(id); got.PromotedTo != "Pot.md" || got.Content != "the kettle leaks" || len(d.claims()) != 1 {
		t.Errorf("after the deletion: %+v", got.Memory)
	}
}

// A copy that is made of a note while it is renamed, within the same minute.
func TestCopiedAndRenamedAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md")
	d.write(t, "Kettle 1.md", noteFor(id, "the kettle leaks"))
	d.batch([]string{"Kettle 1.md"}, nil)
	d.move("Kettle.md", "Over.md")
	d.move("Over.md", "Pot.md")
	d.settle()
	if m := d.memory(id); m.PromotedTo != "Pot.md" {
		t.Errorf("the memory's note is %q", m.PromotedTo)
	}
}

// The property cut out of one note and pasted into another takes the memory along when the user says so.
func TestAnIDThatMovesToAnotherNote(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md")
	d.write(t, "Kettle.md", "the kettle leaks")
	d.write(t, "Pot.md", noteFor(id, "the pot leaks"))
	d.batch([]string{"Kettle.md", "Pot.md"}, nil)
	d.settle()
	do(t, d.Engine, op.ReviewClose, d.adopting())
	if m := d.memory(id); m.PromotedTo != "Pot.md" || m.Content != "the pot leaks" {
		t.Errorf("the memory is %+v", m.Memory)
	}
}

// Case 47: copies of sync tools are neither merged nor taken for the note.
func TestCase47ConflictCopies(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md")
	rev := d.memory(id).Rev
	names := []string{"Kettle.sync-conflict-20260301-120000-ABCDEFG.md", "Kettle (conflicted copy 2026-03-01).md", "Kettle (Conflicted copy laptop 202603011200).md"}
	for _, name := range names {
		d.edit(name, noteFor(id, "what the other device says"))
		d.wantFinding("conflict "+name, "if the notes do not change for two minutes, emberd resolves the conflict or creates a review item")
	}
	d.remove("Kettle.md")
	if got := d.memory(id); got.Rev != rev {
		t.Errorf("the memory changed to %+v", got.Memory)
	}
	d.move(names[0], "Kettle.md")
	d.settle()
	if got := d.memory(id); got.Content != "what the other device says" {
		t.Errorf("the copy was made the note, and the memory is %+v", got.Memory)
	}
}

// Case 46: what iCloud has evicted is there, and says nothing until it is back.
func TestCase46AnEvictedNote(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md")
	rev := d.memory(id).Rev
	ok(t, os.Rename(d.at("Kettle.md"), d.at(".Kettle.md.icloud")))
	d.batch([]string{"Kettle.md"}, []string{"Kettle.md"})
	d.settle()
	if got := d.memory(id); got.Rev != rev {
		t.Errorf("the memory changed to %+v", got.Memory)
	}
	d.wantFinding("evicted Kettle.md", "the content of the note is only in the cloud; download the note")
	d.write(t, "Shop.md", "to the [[Kettle]] and to [[Nothing]]\n")
	if got := d.findings(); len(got) != 2 || got["link Shop.md"] == "" || strings.Contains(got["link Shop.md"], "Kettle") {
		t.Errorf("found %q", got)
	}
}

// A note that iCloud may have named so is listed as a copy if its text is nearly that of the other note.
func TestANumberedCopyIsListed(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	text := "Tobias lives in Graz and works on the tide tables of the harbour; he prefers tea"
	for path, text := range map[string]string{"Tobias.md": text, "Tobias 2.md": text + ".", "Tobias 3.md": "Another one",
		"Lena 2.md": text, "Untitled.md": "", "Untitled 1.md": ""} {
		d.write(t, path, text)
	}
	d.wantFinding("conflict Tobias 2.md", `nearly the same text as the note "Tobias.md"`)
	if got := d.findings(); len(got) != 1 {
		t.Errorf("found %q", got)
	}
}

// Case 44 for memories: too many deletions together wait for somebody to confirm them.
func TestCase44ManyNotesDeletedTogether(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	var ids []memory.ID
	var paths []string
	for i := range 12 {
		paths = append(paths, fmt.Sprintf("Memories/%02d.md", i))
		ids = append(ids, d.kept(fmt.Sprintf("fact %d", i), paths[i]))
	}
	d.remove(paths[0], paths[1])
	if d.Stm.Len() != 10 {
		t.Fatalf("%d memories are left, want 10", d.Stm.Len())
	}
	away := d.Vaults[0] + " away"
	ok(t, os.Rename(d.at("Memories"), away))
	d.batch(nil, paths[2:])
	d.settle()
	want := "vault Notes: 10 notes of memories disappeared at once; emberd keeps the memories until the notes are back or you confirm the deletions; to confirm that you deleted notes, run: emberd vault confirm-deletions (to keep their memories, then undo the change \"note gone\")"
	if got := status(t, d.Engine); d.Stm.Len() != 10 || got.Health != "degraded" || !slices.Contains(got.Warnings, want) {
		t.Fatalf("%d memories are left, warnings %q", d.Stm.Len(), got.Warnings)
	}
	d.restart() // the doubt outlives it
	d.settle()
	if d.Stm.Len() != 10 {
		t.Fatalf("%d memories are left after a restart", d.Stm.Len())
	}

	// All but two come back.
	ok(t, os.Rename(away, d.at("Memories")))
	ok(t, os.Remove(d.at(paths[2])))
	ok(t, os.Remove(d.at(paths[3])))
	d.batch(paths[4:], nil)
	d.settle()
	if d.Stm.Len() != 8 || status(t, d.Engine).Vaults[0].Held != "" {
		t.Fatalf("%d memories are left, want 8", d.Stm.Len())
	}

	// The rest goes, and that was meant.
	other := save(t, d.Engine, "nothing to do with notes").Memory.ID
	d.removeAll(paths[4:])
	if got := do(t, d.Engine, op.VaultConfirm, &op.VaultConfirmRequest{}); got.Missing != 8 || !strings.Contains(got.Frozen, "8 notes of memories") {
		t.Errorf("confirmed %+v", got)
	}
	if err := refused(t, d.Engine, op.Undo, &op.UndoRequest{}); err.Code != memory.Busy || !strings.Contains(err.Message, "emberd is still applying the deletions that you confirmed") {
		t.Errorf("before what was confirmed is done, undo says %v", err)
	}
	d.settle()
	trash := do(t, d.Engine, op.TrashList, &op.TrashListRequest{Limit: 100})
	if d.Stm.Len() != 1 || trash.Total != 12 {
		t.Fatalf("%d memories are left, %d in the trash", d.Stm.Len(), trash.Total)
	}
	if got := do(t, d.Engine, op.VaultConfirm, &op.VaultConfirmRequest{}); *got != (op.VaultConfirmResult{}) {
		t.Errorf("confirmed again: %+v", got)
	}
	// It is one entry of who confirmed it, and the newest one.
	i := slices.IndexFunc(trash.Items, func(it op.Trashed) bool { return it.Memory.ID == ids[11] })
	undone := do(t, d.Engine, op.Undo, &op.UndoRequest{})
	if undone.Entry.Tx != trash.Items[i].Tx || d.Stm.Len() != 9 || d.memory(other).ID != other {
		t.Errorf("undid %+v, and there are %d memories, want the 8 again and the one of the save", undone.Entry, d.Stm.Len())
	}
}

// removeAll deletes notes and settles, which holds them back.
func (d *desk) removeAll(paths []string) {
	d.t.Helper()
	held := d.Stm.Len()
	d.remove(paths...)
	if d.Stm.Len() != held {
		d.t.Fatalf("%d of %d memories are left", d.Stm.Len(), held)
	}
}

// While the vault is not there, or another folder is, nothing is settled.
func TestCase44TheVaultIsAway(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md")
	ok(t, os.Remove(d.at("Kettle.md")))
	d.batch(nil, []string{"Kettle.md"})
	ok(t, os.Rename(d.Vaults[0], d.Vaults[0]+" away"))
	d.settle()
	ok(t, os.Mkdir(d.Vaults[0], 0o700)) // what is left where a disk was mounted
	d.settle()
	if m := d.memory(id); !m.NoteGone.IsZero() {
		t.Errorf("the memory is %+v", m.Memory)
	}
	ok(t, os.Remove(d.Vaults[0]))
	ok(t, os.Rename(d.Vaults[0]+" away", d.Vaults[0]))
	d.settle()
	if !d.Stm.Trashed(id) {
		t.Error("with the vault back, the deletion does not count")
	}
}

// On a device whose vault lags behind, as one that is pulled with git, a note that did
// not change has no say against what another device took over of it.
func TestAnOldNoteOnAnotherDevice(t *testing.T) {
	t.Parallel()
	here, there := newDesk(t, nil), newDesk(t, nil)
	id := here.kept("the kettle leaks", "Kettle.md")
	there.write(t, "Kettle.md", noteFor(id, "the kettle leaks"))
	there.batch([]string{"Kettle.md"}, nil)
	sync := func() {
		carry(t, here.house, there.house, status(t, here.Engine).Device)
		there.Admin.Refresh(t.Context())
		there.settle()
	}
	sync()
	here.move("Kettle.md", "Pot.md")
	here.edit("Pot.md", noteFor(id, "the pot leaks"))
	sync()
	there.restart()
	there.settle()
	if m := there.memory(id); m.Content != "the pot leaks" || m.PromotedTo != "Pot.md" {
		t.Errorf("the old note undid it: %+v", m.Memory)
	}
	here.remove("Pot.md")
	sync()
	there.restart()
	there.settle()
	if !there.Stm.Trashed(id) {
		t.Error("the old note brought the memory back")
	}
	// Somebody writes in it after all, which nobody can tell from a forgery.
	there.edit("Kettle.md", noteFor(id, "the kettle leaks again"))
	if !there.Stm.Trashed(id) {
		t.Error("the old note, edited, brought the memory back")
	}
}

// A note and its folder that went by one batch and came back by the next are no loss.
func TestCase42BackBeforeItIsSettled(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Home/Kettle.md")
	before := d.lines(id)
	ok(t, os.Rename(d.at("Home"), d.at("Elsewhere")))
	d.batch(nil, []string{"Home/Kettle.md"})
	ok(t, os.Rename(d.at("Elsewhere"), d.at("Home")))
	d.settle() // before the watcher tells
	d.batch([]string{"Home/Kettle.md"}, nil)
	d.settle()
	if got := d.lines(id); got != before {
		t.Errorf("%d lines more", got-before)
	}
}
