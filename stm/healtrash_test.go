package stm_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm"
	"emberd/stm/quarantine"
	"emberd/stm/record"
	"emberd/stm/repair"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// losing deletes the first file of the log, of which a copy stays, and starts again from the snapshot.
func (ts *testStore) losing(name string) (copied string) {
	ts.t.Helper()
	ts.reopen()
	ts.save("life goes on")
	copied = ts.t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(filepath.Join(ts.root, "data"))); err != nil {
		ts.t.Fatal(err)
	}
	if err := ts.Close(); err != nil {
		ts.t.Fatal(err)
	}
	if err := os.Remove(name); err != nil {
		ts.t.Fatal(err)
	}
	ts.open()
	return copied
}

// healFrom repairs the log with a copy of the data folder.
func (ts *testStore) healFrom(data string) repair.Healed {
	ts.t.Helper()
	held, err := stm.Fold(ts.t.Context(), durable.OS{}, data, slog.New(slog.DiscardHandler))
	if err != nil {
		ts.t.Fatal(err)
	}
	got, err := ts.Heal(ts.t.Context(), held, false)
	if err != nil {
		ts.t.Fatal(err)
	}
	return got
}

func (ts *testStore) wantBare(n int, when string) {
	ts.t.Helper()
	st := ts.Status()
	told := strings.Contains(strings.Join(st.Warnings, "\n"), "log repair")
	if st.BareTrash != n || ts.BareTrash() != n || told != (n > 0) {
		ts.t.Errorf("%s: %d texts of the trash are missing, want %d; warnings %q", when, st.BareTrash, n, st.Warnings)
	}
	c, err := stm.CheckDecidedLog(ts.t.Context(), durable.OS{}, filepath.Join(ts.root, "data"),
		filepath.Join(ts.root, "state"), time.Now())
	if err != nil || c.BareSince(time.Now().Add(-24*time.Hour)) != n || c.Wrong() > 0 {
		ts.t.Errorf("%s: log check finds %v without text, want %d, and %d wrong (%v)", when, c.Bare, n, c.Wrong(), err)
	}
}

// TestTheTrashComesBackFromACopy loses the file with the texts of the trash. The start tells so until a copy
// of the log gives them back, over restarts and a compaction.
func TestTheTrashComesBackFromACopy(t *testing.T) {
	ts := openStore(t, wal.Options{})
	one, both, other := ts.save("forgotten alone").ID(), ts.save("forgotten with").ID(), ts.save("the other").ID()
	ts.save("live")
	ts.forget(one)
	ts.forget(both, other)
	copied := ts.losing(ts.segments()[0])
	ts.wantBare(3, "at once")
	ts.reopen()
	ts.wantBare(3, "from a snapshot")
	ts.withoutSnapshot()
	ts.wantBare(3, "without a snapshot")
	if st := ts.Status(); st.Trash != 0 || len(ts.Trash()) != 0 {
		t.Errorf("status counts %d in the trash, and the list has %d", st.Trash, len(ts.Trash()))
	}
	if got := ts.healFrom(copied); got.Memories == 0 {
		t.Errorf("the copy gives %+v back", got)
	}
	ts.wantTrashed(one, both, other)
	if got := ts.healFrom(copied); got.Lines != 0 {
		t.Errorf("the copy gives %+v back once more", got)
	}
	ts.withoutSnapshot()
	ts.wantTrashed(one, both, other)
	ts.save("more")
	ts.reopen()
	ts.compact()
	ts.unlink()
	ts.withoutSnapshot()
	ts.wantTrashed(one, both, other)
	ts.restore(both)
	ts.wantContent(both, "forgotten with")
}

func (ts *testStore) wantTrashed(ids ...memory.ID) {
	ts.t.Helper()
	ts.wantBare(0, "after the repair")
	found, _, err := ts.ReadTrash(ids)
	if err != nil || len(found) != len(ids) || len(ts.Trash()) != len(ids) || ts.Status().Trash != len(ids) {
		ts.t.Errorf("%d of %d texts are in the trash, %d are listed, %d counted (%v)", len(found), len(ids),
			len(ts.Trash()), ts.Status().Trash, err)
	}
	for id, m := range found {
		if m.Memory.Content == "" {
			ts.t.Errorf("%s has no text", id)
		}
	}
}

// TestATrashThatIsGivenUpIsMissedNoMore accepts the loss.
func TestATrashThatIsGivenUpIsMissedNoMore(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.forget(ts.save("forgotten").ID())
	ts.losing(ts.segments()[0])
	ts.wantBare(1, "at once")
	if _, err := ts.AcceptLoss(t.Context()); err != nil {
		t.Fatal(err)
	}
	ts.wantBare(0, "when it is given up")
	ts.withoutSnapshot()
	ts.wantBare(0, "after a start")
}

// TestWhatWasPurgedComesBackFromNoCopy purges before and after the texts came back.
func TestWhatWasPurgedComesBackFromNoCopy(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id, with := ts.save("secret words").ID(), ts.save("other words").ID()
	ts.edit(id, "content", "secret again")
	ts.forget(id, with)
	copied := ts.losing(ts.segments()[0])
	ts.purge(id)
	ts.wantBare(1, "after the purge")
	ts.healFrom(copied)
	ts.wantTrashed(with)
	ts.wantNowhere("secret")
}

// TestTheTrashOfARunningStoreIsToldAsLost deletes the file of a store that runs.
func TestTheTrashOfARunningStoreIsToldAsLost(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.forget(ts.save("forgotten").ID())
	name := ts.segments()[0]
	ts.reopen()
	ts.save("life goes on")
	os.Remove(name)
	ts.refresh()
	ts.wantBare(1, "while it runs")
	if n := ts.Status().Trash; n != 0 {
		t.Errorf("%d are in the trash", n)
	}
}

// TestUndoEmptiesNothing undoes edits whose file is lost: they are refused until a copy has given back what they
// replaced.
func TestUndoEmptiesNothing(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("first").ID()
	edit := ts.edit(id, "content", "second")
	other := ts.edit(id, "category", "of mine")
	copied := ts.losing(ts.segments()[0])
	for _, entry := range []string{edit.Entry, other.Entry} {
		_, err := ts.Undo(t.Context(), stm.Undo{Entry: entry, By: memory.Actor{Via: "test"}})
		if memory.CodeOf(err) != memory.NotFound || !strings.Contains(err.Error(), "the versions before it are older than history.keep") {
			t.Errorf("undoing %s: %v", entry, err)
		}
	}
	ts.wantContent(id, "second")
	ts.healFrom(copied)
	if u := ts.undo(edit.Entry); len(u.Items) != 1 || u.Items[0].Action != stm.Reverted {
		t.Errorf("undone %+v", u)
	}
	ts.wantContent(id, "first")
	if v := ts.history(id); len(v) != 4 {
		t.Errorf("%d versions, want 4: %+v", len(v), v)
	}
}

// TestALostTotalOfUsesIsNotMissed loses a file of which a copy has all but the last line, a total of uses.
func TestALostTotalOfUsesIsNotMissed(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("used").ID()
	copied := ts.t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(filepath.Join(ts.root, "data"))); err != nil {
		t.Fatal(err)
	}
	ts.Use(table.Use{ID: id, Uses: 3})
	name := ts.segments()[0]
	ts.reopen()
	ts.save("life goes on")
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	os.Remove(name)
	os.RemoveAll(filepath.Join(ts.root, "state", "index"))
	ts.open()
	ts.healFrom(copied)
	ts.wantContent(id, "used")
	ts.wantSound("after the repair")
}

// TestACutLineThatIsBackNeedsNoDecision cuts the last line, which the snapshot has, and deletes a file with a damaged
// line and the data folder after that.
func TestACutLineThatIsBackNeedsNoDecision(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("the last one").ID()
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	name := ts.segments()[0]
	mangleFile(name, func(b []byte) []byte { return b[:bytes.Index(b, []byte("the last one"))] })
	ts.open()
	ts.wantContent(id, "the last one")
	ts.wantUndecided(0, "after a start")
	ts.withoutSnapshot()
	ts.wantContent(id, "the last one")
	ts.wantUndecided(0, "after another start")
}

func (ts *testStore) wantUndecided(n int, when string) {
	ts.t.Helper()
	found, err := quarantine.Count(durable.OS{}, filepath.Join(ts.root, "state"))
	if err != nil || found != n {
		ts.t.Errorf("%s: %d lines wait for a decision, want %d (%v)", when, found, n, err)
	}
}

// TestAQuestionGoesWithItsFile damages a text so that a person may have meant it, and deletes its file then.
func TestAQuestionGoesWithItsFile(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("a word").ID()
	name := ts.segments()[0]
	ts.reopen()
	ts.save("more")
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	mangleFile(name, func(b []byte) []byte { return bytes.Replace(b, []byte("a word"), []byte("a verb"), 1) })
	ts.open()
	ts.wantUndecided(1, "after an edit")
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	os.Remove(name)
	ts.open()
	ts.wantContent(id, "a word")
	ts.wantUndecided(0, "without the file")
}

// TestAChangeOfSeveralComesBackAsOne loses a line that created, changed and forgot memories. It is undone whole, or
// not at all.
func TestAChangeOfSeveralComesBackAsOne(t *testing.T) {
	ts := openStore(t, wal.Options{})
	changed, gone, fresh := ts.save("before").ID(), ts.save("forgotten").ID(), idOf(7)
	content := func(text string) map[string]json.RawMessage {
		return map[string]json.RawMessage{"content": record.Encode(text)}
	}
	r := ts.commit(wal.Tx{Verb: "merge", Changes: []wal.Change{{ID: fresh, Set: content("of both")},
		{ID: changed, Set: content("after")}, {ID: gone, Delete: true}}})
	copied := ts.losing(ts.segments()[0])
	ts.wantBare(1, "at once")
	_, err := ts.Undo(t.Context(), stm.Undo{Entry: r.Entry, By: memory.Actor{Via: "test"}})
	if memory.CodeOf(err) != memory.NotFound {
		t.Errorf("undoing what came back in part: %v", err)
	}
	ts.healFrom(copied)
	ts.wantTrashed(gone)
	if u := ts.undo(r.Entry); len(u.Items) != 3 {
		t.Errorf("undone %+v", u)
	}
	ts.wantContent(changed, "before")
	ts.wantContent(gone, "forgotten")
	ts.wantGone(fresh)
}

// TestTheTrashComesBackAfterDamageWhileRunning loses the file with a text of the trash while the store runs, which
// writes the rest again from memory, and stops in order.
func TestTheTrashComesBackAfterDamageWhileRunning(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.save("live")
	one := ts.save("forgotten").ID()
	edited := ts.save("as it was").ID()
	ts.edit(edited, "content", "as it is")
	ts.forget(one)
	ts.reopen()
	ts.save("life goes on")
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(filepath.Join(ts.root, "data"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(ts.segments()[0]); err != nil {
		t.Fatal(err)
	}
	ts.refresh()
	ts.wantBare(1, "while it runs")
	ts.reopen()
	ts.wantBare(1, "after a stop in order")
	if !ts.CameBackInPart() {
		t.Error("nothing came back in part")
	}
	ts.healFrom(copied)
	ts.wantTrashed(one)
	if ts.CameBackInPart() {
		t.Error("after the repair something is there in part")
	}
	ts.withoutSnapshot()
	ts.wantTrashed(one)
}
