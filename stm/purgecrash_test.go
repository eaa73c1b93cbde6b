package stm

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"emberd/internal/durable"
	"emberd/internal/durable/crashdisk"
	"emberd/memory"
)

// purges removes a memory for good. Once its line is written it is hidden,
// whatever becomes of the files.
func purges(n int) step {
	return step{name: "purge", effects: []effect{{id: idOf(n), op: opPurge}}, settles: true, do: func(s *Store) (string, error) {
		got, err := s.Purge(context.Background(), idOf(n), memory.Actor{})
		if got.Entry != "" {
			err = nil
		}
		return got.Entry, err
	}}
}

// holding lists the files on a disk that hold a word.
func holding(disk durable.FS, dir, word string) (names []string, err error) {
	entries, err := disk.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		var below []string
		if e.IsDir() {
			below, err = holding(disk, name, word)
		} else if b, failed := readWhole(disk, name); failed != nil {
			err = failed
		} else if bytes.Contains(b, []byte(word)) {
			below = []string{name}
		}
		if err != nil {
			return nil, err
		}
		names = append(names, below...)
	}
	return names, nil
}

// TestAPurgeIsFinishedAfterACrash cuts the power at the operations of a purge
// and lets the next start finish it: nothing of the memory is left.
func TestAPurgeIsFinishedAfterACrash(t *testing.T) {
	x := newExplorer(t)
	base := x.bases(true)["after a stop"]
	steps := []step{purges(2)}
	every, purged := 5, 0
	if torture() {
		every = 1
	}
	for n := 0; n <= x.operationsOf(base, "purge", steps); n += every {
		m := base.with(base.disk.Kill())
		m.disk.StopAfter(n)
		if err := m.live(steps, true); err != nil && m.disk.Ops() < n {
			x.must(m, "purge", err)
		}
		for name, disk := range map[string]*crashdisk.Disk{
			"all unsynced gone": m.disk.Crash(nil), "some": m.disk.Crash(x.rng), "killed": m.disk.Kill(),
		} {
			after := m.with(disk)
			when := fmt.Sprintf("power cut after operation %d, %s", n, name)
			x.must(after, when, after.start())
			x.must(after, when, after.world.restarted(after.Store))
			if after.table.purgedAt(idOf(2).Bytes()).IsZero() {
				after.Close()
				continue
			}
			_, err := after.CarryOutPurges(context.Background())
			x.must(after, when, err)
			x.must(after, when, after.world.check(after.Store))
			x.must(after, when, after.Close())
			purged++
			for _, dir := range []string{"/data", "/state"} {
				if names, err := holding(after.disk, dir, "banana"); err != nil || len(names) > 0 {
					t.Errorf("%s: %v still tell, %v", when, names, err)
				}
			}
		}
	}
	if purged < 10 {
		t.Errorf("only %d crashes came after the purge", purged)
	}
}
