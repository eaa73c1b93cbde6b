package stm_test

import (
	"context"
	"encoding/json"
	"fmt"
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
