package engine_test

import (
	"os"
	"testing"

	"emberd/memory"
	"emberd/op"
	"emberd/watcher"
)

func TestARenamedNoteIsFollowed(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md", "kitchen")
	before := d.lines(id)
	for i, to := range []string{"Repairs.md", "repairs.md", "Home/Kitchen/repairs.md"} {
		d.move(d.memory(id).PromotedTo, to)
		d.settle()
		m := d.memory(id)
		if m.PromotedTo != to || m.VaultPath != to || m.Content != "the kettle leaks" || !m.NoteGone.IsZero() || d.lines(id) != before+i+1 {
			t.Errorf("moved to %s: %+v, %d lines", to, m.Memory, d.lines(id)-before)
		}
	}
	// A folder, and the note is edited before the minute is over.
	ok(t, os.Rename(d.at("Home"), d.at("House")))
	d.batch([]string{"House/Kitchen/repairs.md"}, []string{"Home/Kitchen/repairs.md"},
		watcher.Move{From: "Home/Kitchen/repairs.md", To: "House/Kitchen/repairs.md"})
	d.edit("House/Kitchen/repairs.md", noteFor(id, "the kettle is mended", "kitchen"))
	if m := d.memory(id); m.PromotedTo != "House/Kitchen/repairs.md" || m.Content != "the kettle is mended" || d.lines(id) != before+4 {
		t.Errorf("moved and edited: %+v", m.Memory)
	}
	if open := do(t, d.Engine, op.Open, &op.OpenRequest{Ref: string(id)}); open.Path != "House/Kitchen/repairs.md" {
		t.Errorf("opens %s", open.Path)
	}
	d.wantNoFindings()
}

// Sync tools carry a rename as a deletion and a new file, in either order.
func TestARenameInTwoSteps(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Old.md")
	d.write(t, "New.md", noteFor(id, "the kettle leaks"))
	d.batch([]string{"New.md"}, nil)
	ok(t, os.Remove(d.at("Old.md")))
	d.batch(nil, []string{"Old.md"})
	d.settle()
	if m := d.memory(id); m.PromotedTo != "New.md" {
		t.Errorf("new first: %+v", m.Memory)
	}
	ok(t, os.Remove(d.at("New.md")))
	d.batch(nil, []string{"New.md"})
	d.edit("Newer.md", noteFor(id, "the kettle leaks"))
	if m := d.memory(id); m.PromotedTo != "Newer.md" {
		t.Errorf("old first: %+v", m.Memory)
	}
}

// Where a note is after all of it counts, even beside a copy that comes first by name.
func TestARenameBackAndForth(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md")
	d.write(t, "A copy.md", noteFor(id, "the kettle leaks"))
	d.batch([]string{"A copy.md"}, nil)
	for range 3 {
		d.move("Kettle.md", "Kitchen/Kettle.md")
		d.move("Kitchen/Kettle.md", "Kettle.md")
	}
	d.move("Kettle.md", "Kitchen/Kettle.md")
	d.settle()
	if m := d.memory(id); m.PromotedTo != "Kitchen/Kettle.md" {
		t.Errorf("the memory is at %s", m.PromotedTo)
	}
}

// A note that a sync tool renamed and the user then edited is the memory's, also beside an old copy that says what the
// memory says.
func TestARenameInTwoStepsAndAnEdit(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Old.md")
	d.edit("A copy.md", noteFor(id, "the kettle leaks"))
	for _, step := range [][2]string{{"Old.md", "New.md"}, {"New.md", "Newer.md"}} {
		ok(t, os.Remove(d.at(step[0])))
		d.batch(nil, step[:1])
		d.write(t, step[1], noteFor(id, "the kettle leaks"))
		d.batch(step[1:], nil)
	}
	d.edit("Newer.md", noteFor(id, "the kettle is mended"))
	if m := d.memory(id); m.PromotedTo != "Newer.md" || m.Content != "the kettle is mended" {
		t.Errorf("the memory is %q at %s", m.Content, m.PromotedTo)
	}
	if asked := d.claims(); len(asked) > 0 {
		t.Errorf("asked about %+v", asked)
	}
}

// A note that is renamed and deleted within the minute is deleted.
func TestARenameAndADeletion(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Old.md")
	d.move("Old.md", "New.md")
	d.remove("New.md")
	if !d.Stm.Trashed(id) {
		t.Error("the memory is not in the trash")
	}
}

// emberd writes a note to archive its memory anew, and the user renames and edits it at once.
func TestARenameAfterAnArchivedTextWasRenewed(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	path := archiveDir + "Kettle.md"
	id := d.filed(longText(0), path)
	d.rekindled(id)
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(id), Content: new(longText(1))})
	d.archived(id)
	wantNote(t, d.house, path, longText(1))
	d.move(path, "Kettle.md")
	d.edit("Kettle.md", withProperties(id, "stage: active\n", longText(2)))
	d.wantWarm(id, memory.Active, longText(2))
	d.wantHome(id, "Kettle.md", false)
}
