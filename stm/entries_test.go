package stm_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/stm/record"
	"emberd/stm/wal"
)

// listed describes pages of the journal, put together.
func (ts *testStore) listed(limit int) (out []string) {
	ts.t.Helper()
	var before record.Stamp
	for {
		page, total := ts.Entries(before, limit)
		var err error
		for _, e := range page {
			text := e.Verb + strings.Repeat(" memory", len(e.IDs))
			if e.Undone {
				text += " undone"
			}
			if e.Undoes != "" {
				text += " undoes"
			}
			out = append(out, text)
			if before, err = record.ParseStamp(e.Tx); err != nil {
				ts.t.Fatal(err)
			}
		}
		if len(page) < limit {
			if len(out) != total {
				ts.t.Errorf("%d entries listed of %d", len(out), total)
			}
			return out
		}
	}
}

func TestTheJournalIsListedNewestFirst(t *testing.T) {
	ts := openStore(t, wal.Options{})
	if got := ts.listed(3); got != nil {
		t.Errorf("an empty journal lists %q", got)
	}
	pie := ts.save("apple pie").ID()
	tart := ts.save("plum tart").ID()
	entry := ts.commit(wal.Tx{Verb: "import", Changes: []wal.Change{{ID: idOf(1), Set: textOf("cake")}, {ID: idOf(2), Set: textOf("tea")}}}).Entry
	ts.commit(wal.Tx{Verb: "import", Entry: entry, Changes: []wal.Change{{ID: idOf(3), Set: textOf("milk")}}})
	edited := ts.edit(pie, "content", "cherry pie").Entry
	ts.undo(edited)
	ts.forget(pie, tart)
	want := []string{"forget memory memory", "undo memory undoes", "edit memory undone", "import memory memory memory", "save memory", "save memory"}
	for _, limit := range []int{1, 2, 3, 6, 7} {
		if got := ts.listed(limit); !slices.Equal(got, want) {
			t.Errorf("by %d: %q, want %q", limit, got, want)
		}
	}
	ts.reopen()
	ts.compact()
	ts.unlink()
	if got := ts.listed(2); !slices.Equal(got, want) {
		t.Errorf("after compaction: %q, want %q", got, want)
	}
	ts.withoutSnapshot()
	if got := ts.listed(4); !slices.Equal(got, want) {
		t.Errorf("after a restart: %q, want %q", got, want)
	}
}

// A file of another device that is gone takes nothing from the list but what its lines
// said.
func TestTheJournalIsListedWithoutAFileThatIsGone(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.save("apple pie")
	name := ts.other(lineOf(1, time.Now().Add(-time.Hour), record.OpPut, idOf(1), `{"content":"plum tart"}`))
	ts.refresh()
	want := []string{"save memory", "save memory"}
	if got := ts.listed(9); !slices.Equal(got, want) {
		t.Errorf("listed are %q, want %q", got, want)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	want[1] = ""
	if got := ts.listed(9); !slices.Equal(got, want) {
		t.Errorf("listed are %q, want %q", got, want)
	}
}
