package stm_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"emberd/stm/history"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// send copies the files of from whose names begin with one of the letters into
// its folder at ts, as a sync tool would.
func (ts *testStore) send(from *testStore, letters string) (names []string) {
	ts.t.Helper()
	entries, err := os.ReadDir(from.Wal().OwnDir())
	if err != nil {
		ts.t.Fatal(err)
	}
	for _, e := range entries {
		if !record.IsLogFile(e) || !strings.Contains(letters, e.Name()[:1]) {
			continue
		}
		b, err := os.ReadFile(filepath.Join(from.Wal().OwnDir(), e.Name()))
		if err != nil {
			ts.t.Fatal(err)
		}
		names = append(names, ts.peerFile(filepath.Join("..", from.Wal().Device.String(), e.Name()), string(b)))
	}
	return names
}

// compactedPeer is a device that has compacted a memory which was edited, and
// the entry of the edit, which only its history tells of.
func compactedPeer(t *testing.T) (from *testStore, edited *table.Row, entry string) {
	t.Helper()
	from = openStore(t, wal.Options{})
	edited = from.save("first")
	entry = from.edit(edited.ID(), "content", "second").Entry
	from.edit(edited.ID(), "source", "later")
	from.reopen()
	return from, edited, entry
}

func TestACompactionOfAnotherDeviceArrives(t *testing.T) {
	for _, order := range [][]string{{"c", "h"}, {"h", "c"}, {"ch"}} {
		t.Run(strings.Join(order, " then "), func(t *testing.T) {
			from, edited, entry := compactedPeer(t)
			ts := openStore(t, wal.Options{})
			old := ts.send(from, "s")
			ts.refresh()
			if got := from.compact(); got.History == "" {
				t.Fatal("no history was made, so this shows nothing")
			}
			for _, letters := range order {
				ts.send(from, letters)
				ts.refresh()
				ts.wantWarning("")
			}
			if ts.Wal().InUse(old[0]) {
				t.Errorf("lines are still looked up in %s", old[0])
			}
			if err := os.Remove(old[0]); err != nil {
				t.Fatal(err)
			}
			ts.refresh()
			ts.wantWarning("")
			if got := ts.undo(entry); len(got.Items) != 1 || got.Items[0].Action != history.Reverted {
				t.Errorf("undo of what only the history tells: %+v", got.Items)
			}
			ts.wantContent(edited.ID(), "first")
			ts.reopen()
			ts.wantContent(edited.ID(), "first")
			ts.wantWarning("")
		})
	}
}

func TestWhatACompactedFileStandsForIsNotReadAgain(t *testing.T) {
	from, edited, _ := compactedPeer(t)
	from.compact()
	ts := openStore(t, wal.Options{})
	ts.send(from, "ch")
	ts.refresh()
	from.damage(func(b []byte) []byte { return bytes.Replace(b, []byte("second"), []byte("SECOND"), 1) })
	old := ts.send(from, "s")
	for range 2 {
		ts.refresh()
		ts.wantContent(edited.ID(), "second")
		ts.wantWarning("")
	}
	// It is read once it is not what was folded in.
	b, err := os.ReadFile(old[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(old[0], append(b, "no line of a log\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	ts.refresh()
	ts.wantWarning("damaged lines that emberd skips")
}

func TestAHistoryThatIsGoneIsForgotten(t *testing.T) {
	from, _, _ := compactedPeer(t)
	from.compact()
	ts := openStore(t, wal.Options{})
	name := ts.send(from, "h")[0]
	ts.refresh()
	if !ts.Wal().Journal.Histories.Knows(name) {
		t.Errorf("%s is not known", name)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	ts.refresh()
	if got := ts.Wal().Journal.Histories.Names(); len(got) > 0 {
		t.Errorf("%q are still known", got)
	}
}
