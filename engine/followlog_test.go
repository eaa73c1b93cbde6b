package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"emberd/engine/promote"
	"emberd/memory"
	"emberd/op"
)

// sharing is two houses with one memory, which the second got from the first, and its note in neither.
func sharing(t *testing.T, content string) (first, second *desk, id memory.ID) {
	t.Helper()
	first, second = watching(t, promotingHouse(t, nil)), watching(t, promotingHouse(t, nil))
	id = save(t, first.Engine, content).ID
	first.carryTo(second)
	return first, second, id
}

// carryTo brings what a device wrote to its log to another one, which reads it.
func (d *desk) carryTo(other *desk) {
	d.t.Helper()
	carry(d.t, d.house, other.house, d.Stm.Status().Device)
	other.Admin.Refresh(d.t.Context())
}

// A device that edits a memory before it knows that another one made a note of it knows of no note to
// write to. A device that has both then brings the note up to date.
func TestANoteFollowsAnEditThatDidNotKnowOfIt(t *testing.T) {
	t.Parallel()
	first, second, id := sharing(t, "the tide turns at six")
	path := promoteByID(t, first.Engine, id).Path
	now := "the tide turns at seven"
	do(t, second.Engine, op.Edit, &op.EditRequest{ID: string(id), Content: &now, AddTags: []string{"harbour"}})
	second.carryTo(first)
	until(t, "the note has text and tag", func() bool {
		note := first.note(t, path)
		return strings.HasSuffix(note, now+"\n") && strings.Contains(note, "harbour")
	})
	if m := first.memory(id); m.Content != now || len(m.Tags) != 1 || m.PromotedTo != path {
		t.Errorf("the memory became %+v", m)
	}

	first.carryTo(second)
	second.write(t, path, first.note(t, path))
	until(t, "the other device knows the note", func() bool { return second.memory(id).PromotedTo == path })
	until(t, "there is one note", func() bool { return len(second.files(t)) == 1 })
	if got := second.memory(id).Content; got != now {
		t.Errorf("the other device has the text %q", got)
	}
}

// The note that another device made of an earlier text may arrive before that device's log does. A
// promotion then takes it for the memory's note and makes no second one, and the note gets what is newer.
func TestANoteOfAnEarlierTextIsAdopted(t *testing.T) {
	t.Parallel()
	d := watching(t, promotingHouse(t, nil))
	id := save(t, d.Engine, "the tide turns at six", "harbour").ID
	earlier := d.memory(id)
	now := "the tide turns at seven"
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(id), Content: &now, AddTags: []string{"sea"}})
	d.write(t, "Memories/the tide turns at six.md", string(promote.NoteBytes(&earlier.Memory)))
	d.write(t, "Memories/the tide turns at seven.md", "# A note of somebody's\n")
	until(t, "the note is known", func() bool { return len(d.Notes.Vault.Carriers.Of(id)) == 1 })

	got := promoteByID(t, d.Engine, id)
	wantPromotion(t, got, op.PromotionAdopted, "Memories/the tide turns at six.md")
	until(t, "the note has text and tag", func() bool {
		note := d.note(t, got.Path)
		return strings.HasSuffix(note, now+"\n") && strings.Contains(note, "sea")
	})
	if m := d.memory(id); m.Content != now || len(m.Tags) != 2 {
		t.Errorf("the memory became %+v", m)
	}
	until(t, "there is no second note", func() bool { return len(d.files(t)) == 2 })
}

// A promotion moves the note of an archived memory out of the archive. The other device may get the log
// before the note, and does not take the note in the archive for the moved one then.
func TestANoteThatAnotherDeviceMovedMayArriveLater(t *testing.T) {
	t.Parallel()
	first, second, id := sharing(t, "the tide turns at six")
	do(t, first.Engine, op.Archive, &op.ArchiveRequest{ID: string(id)})
	archived := first.memory(id).VaultPath
	second.write(t, archived, first.note(t, archived))
	first.carryTo(second)
	until(t, "the other device knows the note", func() bool {
		return len(second.Notes.Vault.Carriers.Of(id)) == 1 && !second.Sync.Sync.Contains(id)
	})
	path := promoteByID(t, first.Engine, id).Path
	first.carryTo(second)
	second.Sync.Sync.EnqueueRestored()
	until(t, "the other device has looked at the note", func() bool { return !second.Sync.Sync.Contains(id) })
	if got := second.memory(id); path == archived || got.PromotedTo != path || got.VaultPath != path {
		t.Errorf("the note that moved from %q to %q is %q on the other device", archived, path, got.VaultPath)
	}
}

// A device that shares the log and not the vault edits the text of a memory with a note: its log has the edit at
// once, and a device that has the vault writes the note.
func TestANoteFollowsADeviceWithoutTheVault(t *testing.T) {
	t.Parallel()
	first := watching(t, promotingHouse(t, nil))
	id := save(t, first.Engine, "the tide turns at six").ID
	path := promoteByID(t, first.Engine, id).Path
	away := newHouse(t)
	away.Options.Now = first.Options.Now
	second := away.running(t)
	carry(t, first.house, away, first.Stm.Status().Device)
	second.Admin.Refresh(t.Context())
	for _, now := range []string{"the tide turns at seven", "the tide turns at eight"} {
		got := do(t, second, op.Edit, &op.EditRequest{ID: string(id), Content: &now})
		if got.Memory.Content != now || got.Pending != nil {
			t.Errorf("the edit answered %+v", got)
		}
		carry(t, away, first.house, second.Stm.Status().Device)
		first.Admin.Refresh(t.Context())
		until(t, "the note has the text", func() bool {
			first.rest(t, first.Engine) // emberd has just written it
			return strings.HasSuffix(first.note(t, path), now+"\n")
		})
		if m := first.memory(id); m.Content != now || m.PromotedTo != path {
			t.Errorf("the memory became %+v", m)
		}
	}
}

// The text is edited on one device, and the other one gets the log of that before it gets the note: its note has the
// earlier text, and was not changed. That takes nothing back on any device. The user's own return to the earlier
// text counts.
func TestANoteThatComesLaterThanTheLogTakesNothingBack(t *testing.T) {
	t.Parallel()
	earlier, later := "The boiler is serviced in March.", "The boiler is serviced in April."
	first, second, id := sharing(t, earlier)
	path := promoteByID(t, first.Engine, id).Path
	first.carryTo(second)
	second.write(t, path, first.note(t, path))
	past := time.Now().Add(-time.Hour)
	ok(t, os.Chtimes(second.at(path), past, past))
	until(t, "the other device knows the note", func() bool {
		second.rest(t, second.Engine)
		waiting, _ := second.Sync.Sync.Count()
		return second.memory(id).PromotedTo == path && waiting == 0
	})
	do(t, first.Engine, op.Edit, &op.EditRequest{ID: string(id), Content: &later})
	until(t, "the note follows", func() bool { return strings.Contains(first.note(t, path), later) })
	first.carryTo(second)
	second.Sync.Sync.Schedule([]memory.ID{id}, time.Now(), false)
	until(t, "the other note follows", func() bool {
		second.rest(t, second.Engine)
		return strings.Contains(second.note(t, path), later)
	})
	second.carryTo(first)
	first.rest(t, first.Engine)
	for name, d := range map[string]*desk{"the first": first, "the second": second} {
		if text := d.memory(id).Content; text != later {
			t.Errorf("%s device has %q", name, text)
		}
	}
	back := filepath.Join(t.TempDir(), "back.md")
	ok(t, os.WriteFile(back, []byte(strings.Replace(second.note(t, path), later, earlier, 1)), 0o600))
	after := second.Opt.Now().Add(time.Minute) // the clock of the test is not that of the disk
	ok(t, errors.Join(os.Chtimes(back, after, after), os.Rename(back, second.at(path))))
	until(t, "the user's text counts", func() bool { return second.memory(id).Content == earlier })
}
