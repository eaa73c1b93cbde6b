package engine_test

import (
	"os"
	"path"
	"strings"
	"testing"

	"emberd/engine/promote"
	"emberd/memory"
	"emberd/op"
)

// A memory whose text lies in the archive is promoted by moving its note.
func TestPromotingWhatIsArchived(t *testing.T) {
	t.Parallel()
	for _, warm := range []bool{false, true} {
		d := shelf(t, nil)
		id := save(t, d.Engine, leaky, "kitchen").ID
		d.archived(id)
		if warm {
			d.rekindled(id)
		}
		before := look(t, d.Engine, id)
		note, to := d.note(t, before.VaultPath), "Memories/"+path.Base(before.VaultPath)
		would := do(t, d.Engine, op.Promote, &op.PromoteRequest{ID: string(id), DryRun: true})
		wantPromotion(t, would, op.PromotionAdopted, to)
		wantFiles(t, d.house, before.VaultPath)
		got := promoteByID(t, d.Engine, id)
		wantPromotion(t, got, op.PromotionAdopted, to)
		wantFiles(t, d.house, to)
		if d.note(t, to) != note {
			t.Errorf("the note is\n%s", d.note(t, to))
		}
		m := got.Memory
		if m.PromotedTo != to || m.VaultPath != to || m.Stage != before.Stage || m.Content != before.Content || m.TextDigest != before.TextDigest || len(m.NoteSeen) != 5 || m.PromotedAt.IsZero() {
			t.Errorf("the memory is %+v", m.Memory)
		}
		wantPromotion(t, promoteByID(t, d.Engine, id), op.PromotionAlready, to)
		d.seen(to)
		if after := look(t, d.Engine, id); after.Rev != m.Rev {
			t.Errorf("taken over: %+v", after.Memory)
		}
		if warm {
			continue
		}
		if m := d.rekindled(id).Memory; m.Content != leaky || m.PromotedTo != to {
			t.Errorf("rekindled %+v", m.Memory)
		}
	}
}

// Undoing that moves it back, and takes no text away.
func TestUndoingThePromotionOfWhatIsArchived(t *testing.T) {
	t.Parallel()
	for _, warm := range []bool{false, true} {
		d := shelf(t, nil)
		id := save(t, d.Engine, leaky, "kitchen").ID
		d.archived(id)
		if warm {
			d.rekindled(id)
		}
		before, files := stateOf(t, d.Engine), d.files(t)
		promoteByID(t, d.Engine, id)
		do(t, d.Engine, op.Undo, &op.UndoRequest{})
		wantFiles(t, d.house, files...)
		d.batch(d.all(), d.vanished())
		d.settle()
		if after := stateOf(t, d.Engine); after != before {
			t.Errorf("undone, it is\n%s\nwant\n%s", after, before)
		}
		if m := d.rekindled(id).Memory; m.Content != leaky || m.PromotedTo != "" {
			t.Errorf("rekindled %+v", m.Memory)
		}
	}
}

// What was edited while the note lay in the archive is written to it when it counts.
func TestPromotingAnArchiveNoteThatIsBehind(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	m, home := d.back(leaky, "kitchen")
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("It is mended."), AddTags: []string{"done"}})
	got := promoteByID(t, d.Engine, m.ID)
	d.seen(got.Path)
	d.advance(promote.LastTry)
	d.rest(t, d.Engine)
	wantNote(t, d.house, got.Path, "It is mended.", `"done"`, "!---\nThe kettle")
	d.seen(got.Path)
	if now := look(t, d.Engine, m.ID); now.Content != "It is mended." || len(now.Tags) != 2 || got.Path == home {
		t.Errorf("the memory is %+v", now.Memory)
	}
	wantSettled(t, d.Engine, m.ID)
}

func TestPromotingWhatIsArchivedAmongOthers(t *testing.T) {
	t.Parallel()
	d := shelf(t, map[string]string{"Memories/Tea.md": "a human's"})
	m := save(t, d.Engine, "Tea")
	d.archived(m.ID)
	done := busy(t, d.house)
	if got := promoteByID(t, d.Engine, m.ID); got.Outcome != op.PromotionPending || !strings.Contains(got.Reason, "a git operation in the vault is in progress or was interrupted (lock, merge or rebase)") {
		t.Errorf("got %+v", got)
	}
	wantFiles(t, d.house, ".git/index.lock", "Memories/Archive/Tea.md", "Memories/Tea.md")
	done()
	d.rest(t, d.Engine)
	to := "Memories/Tea " + m.ID.Short() + ".md"
	wantFiles(t, d.house, to, "Memories/Tea.md")
	if now := look(t, d.Engine, m.ID); now.PromotedTo != to || now.Stage != memory.Archived {
		t.Errorf("the memory is %+v", now.Memory)
	}
}

// Without the text nothing is made of the summary.
func TestPromotingWhatIsGone(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	id := save(t, d.Engine, leaky).ID
	d.archived(id)
	ok(t, os.Remove(d.at(look(t, d.Engine, id).VaultPath)))
	wantCode(t, refused(t, d.Engine, op.Promote, &op.PromoteRequest{ID: string(id)}), memory.Conflict, "and has only a summary, and emberd found no note with its text; to search for the text, run: emberd rekindle")
	wantFiles(t, d.house)
}

// A crash between moving the note and the log leaves one note, found by its id.
func TestACrashWithinThePromotionOfWhatIsArchived(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	id := save(t, d.Engine, leaky).ID
	d.archived(id)
	home := look(t, d.Engine, id).VaultPath
	ok(t, os.Rename(d.at(home), d.at("Memories/Kettle.md")))
	d = d.killed()
	got := promoteByID(t, d.Engine, id)
	wantPromotion(t, got, op.PromotionAdopted, "Memories/Kettle.md")
	wantFiles(t, d.house, "Memories/Kettle.md")
	if m := d.rekindled(id).Memory; m.Content != leaky || m.PromotedTo != "Memories/Kettle.md" {
		t.Errorf("rekindled %+v", m.Memory)
	}
}
