package stm_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
	"emberd/memory"
	"emberd/stm"
	"emberd/stm/record"
)

// purges removes a memory for good. Once its line is written it is hidden,
// whatever becomes of the files.
func purges(n int) step {
	return step{name: "purge", effects: []effect{{id: idOf(n), op: record.OpPurge}}, do: func(s *stm.Store) (string, error) {
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
		} else if b, failed := durable.ReadAll(disk, name); failed != nil {
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

// TestAPurgeIsFinishedAfterACrash cuts the power at the operations of a purge, of
// this device or of another one, and lets the next start finish it: nothing of the
// memory is left.
func TestAPurgeIsFinishedAfterACrash(t *testing.T) {
	theirs := delivery{name: "s-00000001.jsonl", first: 1, lines: []effect{{id: idOf(2), op: record.OpPurge}}}
	for name, steps := range map[string][]step{"own": {purges(2)}, "another device's": {theirs.arrives(), obeys()}} {
		t.Run(name, func(t *testing.T) {
			x := newExplorer(t)
			base := x.bases(true)["after a stop"]
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
				for how, disk := range map[string]*crashdisk.Disk{
					"all unsynced gone": m.disk.Crash(nil), "some": m.disk.Crash(x.rng), "killed": m.disk.Kill(),
				} {
					if x.finishesPurge(m.with(disk), fmt.Sprintf("power cut after operation %d, %s", n, how)) {
						purged++
					}
				}
			}
			if purged < 10 {
				t.Errorf("only %d crashes came after the purge", purged)
			}
		})
	}
}

// finishesPurge starts after a crash and reports whether the second memory was
// purged by then. If so, nothing of it may be left in the end.
func (x *explorer) finishesPurge(after *machine, when string) bool {
	x.Helper()
	x.must(after, when, after.start())
	defer after.Close()
	x.must(after, when, after.world.restarted(after.Store))
	if after.Table.PurgedAt(idOf(2).Bytes()).IsZero() {
		return false
	}
	_, err := after.CarryOutPurges(context.Background())
	x.must(after, when, err)
	x.must(after, when, after.world.check(after.Store))
	x.must(after, when, after.Close())
	for _, dir := range []string{"/data", "/state"} {
		if names, err := holding(after.disk, dir, "banana"); err != nil || len(names) > 0 {
			x.Errorf("%s: %v still tell, %v", when, names, err)
		}
	}
	return true
}
