package engine_test

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
)

// brisk is a pace for tests that follow a real vault.
func brisk() core.SyncDelays {
	return core.SyncDelays{Settle: 150 * time.Millisecond, Others: 600 * time.Millisecond}
}

// watching opens the house's engine and runs it, at a brisk pace if the house has none.
func watching(t testing.TB, h *house) *desk {
	t.Helper()
	h.Options.Pace = cmp.Or(h.Options.Pace, brisk())
	return &desk{house: h, Engine: h.following(t), t: t}
}

// keep makes a memory with a note, as kept does, and waits for the two to be one.
func (d *desk) keep(content, path string) memory.ID {
	d.t.Helper()
	id := save(d.t, d.Engine, content).ID
	d.write(d.t, path, noteFor(id, content))
	until(d.t, "the note is the memory's", func() bool { return look(d.t, d.Engine, id).PromotedTo == path })
	return id
}

// Case 40: however a program saves, the memory gets the last text and is never without
// one, and no note is taken for deleted.
func TestCase40EverySaveReachesTheMemory(t *testing.T) {
	t.Parallel()
	d := watching(t, vaultHouse(t, garden()))
	ids := map[string]memory.ID{}
	for way := range saves() {
		ids[way] = d.keep("before "+way, way+".md")
	}
	for round := range 3 {
		for way, save := range saves() {
			save(t, d.at(way+".md"), noteFor(ids[way], fmt.Sprintf("%s, round %d", way, round)))
		}
	}
	for way, id := range ids {
		until(t, way+" is taken over", func() bool { return d.memory(id).Content == way+", round 2" })
		for _, v := range do(t, d.Engine, op.History, &op.HistoryRequest{ID: string(id)}).Versions {
			if v.Verb != "save" && v.Verb != "note" {
				t.Errorf("%s: a version by %s", way, v.Verb)
			}
		}
		if m := d.memory(id); m.PromotedTo != way+".md" {
			t.Errorf("%s: the memory's note is %q", way, m.PromotedTo)
		}
	}
}

// Case 42: deleted and made anew within the grace is an edit, deleted for good is not.
func TestCase42DeletedForGood(t *testing.T) {
	t.Parallel()
	d := watching(t, vaultHouse(t, garden()))
	again, gone, moved := d.keep("made anew", "Again.md"), d.keep("deleted for good", "Gone.md"), d.keep("moved away", "Moved.md")
	ok(t, os.Remove(d.at("Again.md")))
	ok(t, os.Remove(d.at("Gone.md")))
	ok(t, os.Rename(d.at("Moved.md"), d.at("Journal/Moved on.md")))
	until(t, "the watcher misses both", func() bool { return d.Notes.Vault.Status().Absent == 2 })
	d.write(t, "Again.md", noteFor(again, "made anew, and changed"))
	until(t, "the deletion counts", func() bool { return d.Stm.Trashed(gone) })
	until(t, "the edit counts", func() bool { return d.memory(again).Content == "made anew, and changed" })
	until(t, "the move counts", func() bool { return d.memory(moved).PromotedTo == "Journal/Moved on.md" })
	d.write(t, "Gone.md", noteFor(gone, "deleted for good"))
	until(t, "the return counts", func() bool { _, live := d.Stm.Get(gone); return live })
}

// Case 44: a vault that is not there for a while takes no memory with it.
func TestCase44UnmountedAndBack(t *testing.T) {
	t.Parallel()
	d := watching(t, vaultHouse(t, garden()))
	id := d.keep("the kettle leaks", "Kettle.md")
	away := d.Vaults[0] + " away"
	ok(t, os.Rename(d.Vaults[0], away))
	until(t, "the loss is noticed", func() bool { return d.Notes.Vault.Status().Frozen != "" })
	d.Sync.Sync.Schedule([]memory.ID{id}, time.Now(), false)
	d.Sync.Sync.ProcessDue(t.Context())
	ok(t, os.WriteFile(filepath.Join(away, "Kettle.md"), []byte(noteFor(id, "mended meanwhile")), 0o600))
	ok(t, os.Rename(away, d.Vaults[0]))
	until(t, "what was written meanwhile is taken over", func() bool { return d.memory(id).Content == "mended meanwhile" })
	if v := d.newest(id); v.Verb != "note" {
		t.Errorf("the newest version is %+v", v)
	}
}

// Case 48: a branch without the note puts the memory into the trash if it stays checked
// out, and the other branch brings it back.
func TestCase48ABranchWithoutTheNote(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing; install the package of that name")
	}
	d := watching(t, vaultHouse(t, garden()))
	id := d.keep("the kettle leaks", "Kettle.md")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", d.Vaults[0], "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "gc.auto=0"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	git("init", "-q", "-b", "with")
	git("add", ".")
	git("commit", "-q", "-m", "with")
	git("checkout", "-q", "-b", "without")
	git("rm", "-q", "Kettle.md")
	git("commit", "-q", "-m", "without")
	until(t, "the watcher misses the note", func() bool { return d.Notes.Vault.Status().Absent == 1 })
	git("checkout", "-q", "with")
	d.caughtUp(t, d.Engine, "a short absence")
	until(t, "nothing waits", func() bool { waiting, _ := d.Sync.Sync.Count(); return waiting == 0 })
	if m := d.memory(id); !m.NoteGone.IsZero() || len(do(t, d.Engine, op.TrashList, &op.TrashListRequest{}).Items) > 0 {
		t.Errorf("a short absence counted: %+v", m.Memory)
	}
	git("checkout", "-q", "without")
	until(t, "the note's absence counts", func() bool { return d.Stm.Trashed(id) })
	git("checkout", "-q", "with")
	until(t, "the memory is back", func() bool { _, live := d.Stm.Get(id); return live })
	if m := d.memory(id); m.Content != "the kettle leaks" || m.PromotedTo != "Kettle.md" {
		t.Errorf("the memory is %+v", m.Memory)
	}
}

// Two daemons on one vault and one synced data folder: what a human saves there is
// written to the log once, by the keeper, and no tool makes a second copy of a file. The
// other looks only after that here, however long the keeper takes.
func TestTwoDaemonsOnOneVault(t *testing.T) {
	t.Parallel()
	desktop := vaultHouse(t, garden())
	laptop := newHouse(t)
	laptop.Vaults, laptop.Data = desktop.Vaults, desktop.Data
	desktop.Options.Pace = core.SyncDelays{Settle: brisk().Settle, Others: time.Hour}
	laptop.Options.Pace = desktop.Options.Pace
	one, two := watching(t, desktop), watching(t, laptop)
	until(t, "one of them is the keeper", func() bool { return one.Engine.Lifecycle.IsPrimary() != two.Engine.Lifecycle.IsPrimary() })
	keeper, other := one, two
	if two.Engine.Lifecycle.IsPrimary() {
		keeper, other = two, one
	}
	notes := size(4, 20)
	var ids []memory.ID
	for i := range notes {
		ids = append(ids, one.keep(fmt.Sprintf("fact %d", i), fmt.Sprintf("Memories/%d.md", i)))
	}
	until(t, "both know all", func() bool { return agree(ids, one, two) })
	before := one.linesBy(ids, keeper)
	rounds := size(5, 50)
	for r := range rounds {
		one.saveAll(ids, r)
		until(t, "the saves are taken over", func() bool {
			for i, id := range ids {
				if one.memory(id).Content != fmt.Sprintf("fact %d, save %d", i, r) {
					return false
				}
			}
			return agree(ids, one, two)
		})
	}
	until(t, "nothing waits on the keeper", func() bool { waiting, _ := keeper.Sync.Sync.Count(); return waiting == 0 })
	until(t, "nothing waits on the other device", func() bool { // which looks again at a note that changes
		other.Sync.Sync.Schedule(ids, time.Now(), false)
		other.Sync.Sync.ProcessDue(t.Context())
		waiting, _ := other.Sync.Sync.Count()
		return waiting == 0
	})
	if lines := one.linesBy(ids, keeper) - before; lines != rounds*notes {
		t.Errorf("%d lines of the keeper for %d saves", lines, rounds*notes)
	}
	if lines := two.linesBy(ids, other); lines > 0 {
		t.Errorf("%d lines of the other device, want none", lines)
	}
	for _, dir := range []string{desktop.Data, desktop.Vaults[0]} {
		ok(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if strings.Contains(strings.ToLower(path), "conflict") {
				t.Errorf("there is %s", path)
			}
			return err
		}))
	}
}

// agree reports whether two devices have the same of each memory.
func agree(ids []memory.ID, one, two *desk) bool {
	return !slices.ContainsFunc(ids, func(id memory.ID) bool {
		a, hasA := one.Stm.Get(id)
		b, hasB := two.Stm.Get(id)
		return !hasA || !hasB || a.Rev() != b.Rev()
	})
}

// saveAll saves the note of each memory with another text, and of a third of them other
// properties.
func (d *desk) saveAll(ids []memory.ID, round int) {
	d.t.Helper()
	for i, id := range ids {
		text := fmt.Sprintf("fact %d, save %d", i, round)
		if (i+round)%3 == 0 {
			text = withProperties(id, fmt.Sprintf("tags: [round/%d]\nstrength: 1.%d\n", round, round%10), text)
		} else {
			text = noteFor(id, text)
		}
		d.write(d.t, fmt.Sprintf("Memories/%d.md", i), text)
	}
}

// linesBy counts the lines that a device wrote because of notes.
func (d *desk) linesBy(ids []memory.ID, of *desk) (n int) {
	d.t.Helper()
	device := status(d.t, of.Engine).Device
	for _, id := range ids {
		for _, v := range do(d.t, d.Engine, op.History, &op.HistoryRequest{ID: string(id), Limit: 100}).Versions {
			if v.Verb == core.NoteVerb && strings.HasSuffix(v.Rev, device) {
				n++
			}
		}
	}
	return n
}
