package engine_test

import (
	"math/rand/v2"
	"testing"

	"emberd/internal/testutil/crashdisk"
	"emberd/memory"
	"emberd/op"
)

// Whenever the power goes, a merge was done wholly or not at all, and no text is lost.
func TestPowerCutsWhileMemoriesAreMerged(t *testing.T) {
	t.Parallel()
	run := func(disk *crashdisk.Disk, n int) (d *desk, one, other memory.ID, done bool) {
		d = diskShelf(t, disk)
		one, other = save(t, d.Engine, leaks).ID, save(t, d.Engine, leaking).ID
		c := d.clustered(one, other)
		if n >= 0 {
			disk.StopAfter(disk.Ops() + n)
		}
		res, err := op.Consolidate.Call(t.Context(), d.Engine, &op.ConsolidateRequest{ClusterID: c.ID, Mode: op.ModeApply})
		if err == nil {
			_, err = op.Undo.Call(t.Context(), d.Engine, &op.UndoRequest{Tx: res.Tx})
		}
		return d, one, other, err == nil
	}
	halves := map[bool]int{} // how often it was merged after the power cut, and how often not
	for n := 0; ; n++ {
		disk := crashdisk.New()
		d, one, other, done := run(disk, n)
		_ = d.Close() // fails where the power did
		if done {
			break
		}
		d.FS = disk.Crash(rand.New(rand.NewPCG(1, uint64(n))))
		d.start()
		d.wantKept(n, one, leaks)
		d.wantKept(n, other, leaking)
		into := look(t, d.Engine, one).ConsolidatedInto
		halves[into != ""]++
		if twin := look(t, d.Engine, other); twin.ConsolidatedInto != into || twin.Stage.Cold() != (into != "") {
			t.Errorf("power cut after %d operations: one was merged into %q, the other is %+v", n, into, twin.Memory)
		}
		if into != "" {
			if m := look(t, d.Engine, into); m.Content != leaking+"\n\n"+leaks {
				t.Errorf("power cut after %d operations: the merged memory is %+v", n, m.Memory)
			}
		} else if d.merged(one, other); len(d.files(t)) != 2 {
			t.Errorf("power cut after %d operations: the next attempt left %q", n, d.files(t))
		}
		ok(t, d.Close())
	}
	if halves[true] == 0 || halves[false] == 0 {
		t.Errorf("merged and not merged were found %v times, want either", halves)
	}
}
