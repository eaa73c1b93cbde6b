package engine_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/memory"
	"emberd/op"
)

// The undo of a confirmation takes back all that it did, and the question is open again.
func TestUndoOfAConfirmedNote(t *testing.T) {
	t.Parallel()
	forged := func(id memory.ID) string {
		return withProperties(id, "tags: [safe, work]\ncategory: money\nstage: demoted\n", "the safe is open")
	}
	for what, home := range map[string]string{"no note": "", "a note": "A.md"} {
		t.Run(what, func(t *testing.T) {
			d := newDesk(t, nil)
			id := save(t, d.Engine, safeText, "safe").ID
			if home != "" {
				id = d.kept(safeText, home, "safe")
			}
			before := d.memory(id)
			d.edit("Work/B.md", forged(id))
			tx := do(t, d.Engine, op.ReviewClose, d.adopting()).Tx
			d.settle()
			if m := d.memory(id); m.Content != "the safe is open" || m.Category != "money" || m.PromotedTo != "Work/B.md" {
				t.Fatalf("confirmed, the memory is %+v", m.Memory)
			}
			note := d.note(t, "Work/B.md")
			do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: tx, DryRun: true})
			if undone := do(t, d.Engine, op.Undo, &op.UndoRequest{}); undone.Entry.Tx != tx { // the latest
				t.Fatalf("undo took %+v back", undone.Entry)
			}
			for range 2 {
				m := d.memory(id)
				if m.Content != safeText || !slices.Equal(m.Tags, []string{"safe"}) || m.Category != "" || m.PromotedTo != home ||
					m.Stage != memory.Active || m.Trust != before.Trust || !m.NoteGone.IsZero() {
					t.Errorf("undone, the memory is %+v", m.Memory)
				}
				if items := d.claims(); len(items) != 1 || !strings.Contains(items[0].Evidence, "Work/B.md") {
					t.Errorf("undone, the items are %+v", items)
				}
				if d.note(t, "Work/B.md") != note {
					t.Error("the undo changed the note")
				}
				d.Promote.WriteDue(t.Context())
				d.restart()
				d.settle()
			}
		})
	}
}

// After a confirmed note was edited and synced, an undo of the confirmation leaves what is newer.
func TestUndoOfAConfirmedNoteThatWasEdited(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	m, _ := d.private()
	d.edit("Plan.md", noteFor(m.ID, "the safe is open"))
	tx := do(t, d.Engine, op.ReviewClose, d.adopting()).Tx
	d.edit("Plan.md", noteFor(m.ID, "the safe is wide open"))
	note := d.note(t, "Plan.md")
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: tx})
	d.settle()
	if now := d.memory(m.ID); now.Content != "the safe is wide open" || d.note(t, "Plan.md") != note {
		t.Errorf("the memory is %+v", now.Memory)
	}
}

// A note that was refused stands in the way of nothing, and what helps is said.
func TestARefusedNoteStandsInNobodysWay(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	d.ms.Store(time.Now().Add(time.Hour).UnixMilli()) // notes rest before emberd writes to them
	id := d.kept(safeText, "A.md", "safe")
	edit := &op.EditRequest{ID: string(id), Content: new("the safe opens with a code")}
	d.edit("Work/B.md", noteFor(id, "the safe is open", "safe"))
	d.remove("A.md")
	item := d.claims()[0]
	d.wantPending(edit, "emberd review show "+item.Short())
	d.wantFinding("memory Work/B.md", "emberd review show "+item.Short())

	do(t, d.Engine, op.ReviewClose, &op.ReviewCloseRequest{ID: item.ID, Decision: op.DecideKeep})
	helps := "emberd promote " + id.Short()
	edit.Content = new("the safe opens with a code and a key")
	d.advance(time.Minute)
	d.wantPending(edit, helps)
	d.wantFinding("memory Work/B.md", helps)

	res := promoteByID(t, d.Engine, id)
	if res.Outcome != op.PromotionWritten {
		t.Fatalf("promoted: %+v", res)
	}
	edit.Content = new("the safe opens with a key")
	do(t, d.Engine, op.Edit, edit)
	d.batch([]string{res.Path}, nil)
	d.settle()
	if m := d.memory(id); m.Content != *edit.Content || !strings.Contains(d.note(t, res.Path), *edit.Content) {
		t.Errorf("edited, the memory is %+v", m.Memory)
	}
	if got := d.findings(); strings.Contains(got["memory Work/B.md"], "promote") {
		t.Errorf("with a note of its own there is still the finding %q", got)
	}
}

// wantPending carries out an edit whose write to the note waits for a reason.
func (d *desk) wantPending(edit *op.EditRequest, why string) {
	d.t.Helper()
	got := do(d.t, d.Engine, op.Edit, edit)
	if got.Pending == nil || !strings.Contains(got.Pending.Reason, why) || got.Memory.Content != *edit.Content {
		d.t.Errorf("the edit answered %+v, want it to wait: %s", got, why)
	}
}

// A refused note does not keep emberd from saying what is left of an archived memory.
func TestARefusedNoteHidesNoSummary(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.filed(safeText, archiveDir+"Safe.md", "safe")
	d.edit("Work/B.md", noteFor(id, "the safe is open", "safe"))
	d.remove(archiveDir + "Safe.md")
	do(t, d.Engine, op.ReviewClose, &op.ReviewCloseRequest{ID: d.claims()[0].ID, Decision: op.DecideKeep})
	got := do(t, d.Engine, op.Rekindle, &op.RekindleRequest{Query: string(id)}).Results[0]
	if got.Memory.Content != leftOver || !strings.Contains(got.Hint, "the note of the memory is missing") {
		t.Errorf("rekindled: %+v", got)
	}
}

// A note with the ID of a memory, written by another program, does not block the undo of what the memory's own note did.
func TestAPlantedNoteBlocksNoUndo(t *testing.T) {
	t.Parallel()
	for what, plant := range map[string]func(d *desk, id memory.ID){
		"readable": func(d *desk, id memory.ID) { d.edit("Work/B.md", noteFor(id, "the safe is open")) },
		"in the cloud": func(d *desk, id memory.ID) {
			d.edit("Work/B.md", noteFor(id, "the safe is open"))
			ok(d.t, os.Rename(d.at("Work/B.md"), d.at("Work/.B.md.icloud")))
		},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDesk(t, nil)
			id := d.kept(safeText, "A.md", "safe")
			d.edit("A.md", noteFor(id, "the safe opens with the new key", "safe"))
			taken := d.newest(id).Tx
			wantCode(t, refused(t, d.Engine, op.Undo, &op.UndoRequest{Tx: taken}), memory.Conflict, `"A.md"`)
			plant(d, id)
			d.remove("A.md")
			do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: taken})
			d.settle()
			if m := d.memory(id); m.Content != safeText {
				t.Errorf("undone, the memory is %+v", m.Memory)
			}
		})
	}
}

// The question about a note names the commands that answer it, also in the review note, which offers no tick for a
// confirmation that a tick cannot make.
func TestAQuestionAboutANoteNamesItsCommands(t *testing.T) {
	t.Parallel()
	d := inboxDesk(t, nil)
	m, _ := d.private()
	d.edit("Plan.md", noteFor(m.ID, "the safe is open", "work"))
	item := d.claims()[0]
	for _, says := range []string{"emberd review close " + item.Short() + " " + d.adopting().Decision, "emberd review close " + item.Short() + " keep",
		`tags: (none) → "work"`, "text of the note:\n> the safe is open"} {
		if !strings.Contains(item.Evidence, says) {
			t.Errorf("it does not say %q: %q", says, item.Evidence)
		}
	}
	d.listed()
	d.wantInbox([]string{"Does the note belong to the memory?", "emberd review close " + item.Short() + " " + d.adopting().Decision, "- [ ] Keep"}, op.AdoptNote, "- [ ] Promote", "sha256")
}
