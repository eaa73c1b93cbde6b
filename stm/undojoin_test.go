package stm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"emberd/memory"
	"emberd/stm/history"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// A run that goes on while somebody undoes its entry leaves nothing that nothing could take
// back: what it wrote is undone, and what it would write is refused.
func TestAnUndoneEntryDoesNotGoOn(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ids := make([]memory.ID, 40)
	for i := range ids {
		ids[i] = ts.save(fmt.Sprint("pebble ", i)).ID()
	}
	tagged := func(i int, entry string) (wal.Receipt, error) {
		return ts.Update(context.Background(), ids[i:i+1], "", func([]*table.Row) (*wal.Tx, error) {
			return &wal.Tx{Verb: "run", Entry: entry, Changes: []wal.Change{{ID: ids[i], Set: map[string]json.RawMessage{"tags": json.RawMessage(`["wet"]`)}}}}, nil
		})
	}
	first, err := tagged(0, "")
	if err != nil {
		t.Fatal(err)
	}
	begun := make(chan struct{})
	refused := 0
	var run sync.WaitGroup
	run.Go(func() {
		for i := 1; i < len(ids); i++ {
			if _, err := tagged(i, first.Entry); memory.CodeOf(err) == memory.Conflict {
				refused++
			} else if err != nil {
				t.Error(err)
			}
			if i == 5 {
				close(begun)
			}
		}
	})
	<-begun
	if _, err := ts.Undo(context.Background(), history.Undo{Entry: first.Entry}); err != nil {
		t.Fatal(err)
	}
	run.Wait()
	if _, err := tagged(39, first.Entry); memory.CodeOf(err) != memory.Conflict {
		t.Errorf("the entry goes on: %v", err)
	}
	for i, id := range ids {
		if row, _ := ts.Get(id); len(row.Tags()) > 0 {
			t.Errorf("memory %d of %d keeps what an undone entry gave it; %d were refused", i, len(ids), refused)
		}
	}
}

// The last change came back after a loss without what it replaced. An undo that names no entry says so, with the entry
// before it, and does not take an earlier change for the last one.
func TestAnUndoAfterAHealNamesTheEntryBefore(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("first text").ID()
	before := ts.edit(id, "content", "second text")
	ts.reopen()
	ts.edit(id, "content", "third text")
	last := ts.edit(id, "content", "fourth text")
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	names := ts.segments()
	os.Remove(names[len(names)-1])
	ts.open()
	ts.wantContent(id, "fourth text")
	for range 2 {
		_, err := ts.Undo(t.Context(), history.Undo{})
		if memory.CodeOf(err) != memory.NotFound || !strings.Contains(err.Error(), last.Entry) ||
			!strings.Contains(err.Error(), "emberd undo "+before.Entry) {
			t.Errorf("the answer is %v, want %s and %s in it", err, last.Entry, before.Entry)
		}
		ts.withoutSnapshot()
	}
	third := ts.edit(id, "content", "fifth text")
	if got := ts.undo(""); got.Entry.Tx != third.Entry {
		t.Errorf("undid %s, want %s", got.Entry.Tx, third.Entry)
	}
	ts.wantContent(id, "fourth text")
}
