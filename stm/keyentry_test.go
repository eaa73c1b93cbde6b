package stm_test

import (
	"testing"

	"emberd/memory"
	"emberd/stm/wal"
)

// A key names the entry that wrote it last, also one that continued another entry, and has
// another version each time, an undo included.
func TestEntryOfAKey(t *testing.T) {
	for name, again := range map[string]func(*testStore){
		"as it goes": func(*testStore) {}, "from a snapshot": (*testStore).reopen, "from the log": (*testStore).withoutSnapshot,
	} {
		t.Run(name, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			row := ts.save("apple")
			first := ts.commit(wal.Tx{Verb: "edit", By: memory.Actor{Via: "cli"}, Changes: []wal.Change{{ID: row.ID(), Set: textOf("apple pie")}}})
			second := ts.commit(wal.Tx{Verb: "edit", By: memory.Actor{Via: "cli"}, Entry: first.Entry, Changes: []wal.Change{{ID: row.ID(), Set: textOf("apple tart")}}})
			again(ts)
			now, _ := ts.Get(row.ID())
			if got := ts.EntryOf(now, "content"); got != first.Entry || second.Entry != first.Entry {
				t.Errorf("the content is of entry %q, want %q", got, first.Entry)
			}
			if got := ts.EntryOf(now, "nothing"); got != "" || now.KeyRev("nothing") != "" {
				t.Errorf("a key that never was is of entry %q, version %q", got, now.KeyRev("nothing"))
			}
			ts.undo(first.Entry)
			after, _ := ts.Get(row.ID())
			if before, is := now.KeyRev("content"), after.KeyRev("content"); is == before || is == row.KeyRev("content") || is == "" {
				t.Errorf("the versions are %q, %q and %q", row.KeyRev("content"), before, is)
			}
		})
	}
}
