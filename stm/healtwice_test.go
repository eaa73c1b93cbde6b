package stm_test

import (
	"fmt"
	"os"
	"testing"

	"emberd/memory"
	"emberd/stm/logcheck"
	"emberd/stm/wal"
)

// TestWhatCameBackIsKeptWhenItIsDeletedAgain deletes every file of a log that runs, one after the other and several
// times over, so that the header which gave up the first numbers goes, too.
func TestWhatCameBackIsKeptWhenItIsDeletedAgain(t *testing.T) {
	ts := openStore(t, wal.Options{})
	want := map[memory.ID]string{}
	for n := range 8 {
		text := fmt.Sprint("memory ", n)
		want[ts.save(text).ID()] = text
	}
	for round := range 3 {
		for _, name := range ts.segments() {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
			ts.refresh()
		}
		when := fmt.Sprint("round ", round)
		ts.wantAll(want, when)
		ts.wantSound(when)
		if found := ts.foundBy(logcheck.CheckDecided); len(found) > 0 {
			t.Errorf("%s: a check finds %q", when, found)
		}
		k := ts.killed()
		k.wantAll(want, when+", killed")
		k.wantSound(when + ", killed")
		if round == 1 {
			ts.withoutSnapshot()
		}
	}
}
