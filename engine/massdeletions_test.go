package engine_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"emberd/memory"
)

// tended makes n memories with notes.
func (d *desk) tended(n int) (ids []memory.ID, paths []string) {
	for i := range n {
		paths = append(paths, fmt.Sprintf("Memories/%02d.md", i))
		ids = append(ids, d.kept(fmt.Sprintf("fact %d", i), paths[i]))
	}
	return ids, paths
}

func TestHowManyDeletionsNeedConfirmation(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		deleted, of int
		held        bool
	}{
		{1, 1, false},
		{2, 2, false},
		{2, 3, false},
		{3, 3, true},
		{3, 15, false}, // a fifth
		{4, 15, true},
		{8, 9, true},
	} {
		t.Run(fmt.Sprintf("%d of %d", test.deleted, test.of), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, nil)
			_, paths := d.tended(test.of)
			d.remove(paths[:test.deleted]...)
			want := test.of - test.deleted
			if test.held {
				want = test.of
			}
			if held := status(t, d.Engine).Vaults[0].Held != ""; d.Stm.Len() != want || held != test.held {
				t.Errorf("%d memories are left, want %d; paused %v", d.Stm.Len(), want, held)
			}
		})
	}
}

// Notes that disappear one after another count together, though the first of them is due before the others.
func TestDeletionsInSeveralBatchesCountTogether(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	ids, paths := d.tended(9)
	for _, path := range paths[:8] {
		ok(t, os.Remove(d.at(path)))
	}
	d.batch(nil, paths[:2])
	d.batch(nil, paths[2:8])
	d.due(ids[:2]...)
	d.Sync.Sync.ProcessDue(t.Context())
	if held := status(t, d.Engine).Vaults[0].Held; d.Stm.Len() != 9 || held == "" {
		t.Fatalf("%d memories are left, paused: %q", d.Stm.Len(), held)
	}
	for i, id := range ids[2:8] { // these come back
		d.write(t, paths[i+2], noteFor(id, fmt.Sprintf("fact %d", i+2)))
	}
	d.batch(paths[2:8], nil)
	d.settle()
	if held := status(t, d.Engine).Vaults[0].Held; d.Stm.Len() != 7 || held != "" {
		t.Errorf("%d memories are left, want 7; paused: %q", d.Stm.Len(), held)
	}
}

// due makes the changes of some memories due.
func (d *desk) due(ids ...memory.ID) {
	d.Sync.Sync.Mu.Lock()
	defer d.Sync.Sync.Mu.Unlock()
	for _, id := range ids {
		d.Sync.Sync.All[id].Due = time.Now()
	}
}
