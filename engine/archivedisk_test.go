package engine_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"emberd/engine/core"
	"emberd/internal/testutil/crashdisk"
	"emberd/memory"
	"emberd/op"
	"emberd/vault/neutralize"
)

const (
	mended = "It is mended, and Ann has the bill.\n"
	tide   = "the tide turns at six in the harbour\n"
)

// diskShelf is a shelf whose log stands on a disk that forgets. The vault is a real
// one, where what a writer says is written stays.
func diskShelf(t *testing.T, disk *crashdisk.Disk) *desk {
	t.Helper()
	d := &desk{house: vaultHouse(t, nil), t: t}
	d.FS, d.Durability, d.TrackAccess = disk, "", false
	d.ms.Store(time.Now().Add(time.Hour).UnixMilli())
	d.start()
	return d
}

// agings are what is done to two memories one after the other, until the disk fails.
func agings(d *desk, one, other memory.ID) []func() error {
	ctx, e := d.t.Context(), d.Engine
	return []func() error{
		func() error {
			_, err := e.Lifecycle.Archive(ctx, d.to(memory.Archived, one, other), "unused for 30 days", keeper(), "")
			return err
		},
		func() error { _, err := e.Lifecycle.RekindleMemory(ctx, one, keeper()); return err },
		func() error {
			_, err := op.Edit.Call(ctx, e, &op.EditRequest{ID: string(one), Content: new(mended)})
			return err
		},
		func() error {
			_, err := e.Lifecycle.Archive(ctx, d.to(memory.Rehydratable, one, other), "unused for 90 days", keeper(), "")
			return err
		},
		func() error {
			d.advance(2 * time.Minute) // the note was written a moment ago
			_, err := op.Promote.Call(ctx, e, &op.PromoteRequest{ID: string(other)})
			return err
		},
		func() error { _, err := e.Lifecycle.RekindleMemory(ctx, other, keeper()); return err },
		func() error {
			_, err := op.Promote.Call(ctx, e, &op.PromoteRequest{ID: string(one)})
			return err
		},
	}
}

// Whenever the power goes, the text is in the log or in its one note, and comes back.
func TestPowerCutsWhileMemoriesFadeAndComeBack(t *testing.T) {
	t.Parallel()
	run := func(disk *crashdisk.Disk, n int) (d *desk, one, other memory.ID, steps int) {
		d = diskShelf(t, disk)
		one, other = save(t, d.Engine, leaky).ID, save(t, d.Engine, tide).ID
		if n >= 0 {
			disk.StopAfter(disk.Ops() + n)
		}
		for _, do := range agings(d, one, other) {
			if do() != nil {
				break
			}
			steps++
		}
		return d, one, other, steps
	}
	whole, _, _, all := run(crashdisk.New(), -1)
	if ok(t, whole.Close()); all != 7 {
		t.Fatalf("without a power cut %d steps were done", all)
	}
	cut := map[int]bool{} // after so many steps
	for n := 0; ; n++ {
		disk := crashdisk.New()
		d, one, other, steps := run(disk, n)
		_ = d.Close() // fails where the power did
		if steps == all {
			break
		}
		cut[steps] = true
		d.FS = disk.Crash(rand.New(rand.NewPCG(1, uint64(n))))
		d.start()
		d.wantKept(n, one, leaky, mended)
		d.wantKept(n, other, tide)
		d.advance(2 * time.Minute)
		for _, id := range []memory.ID{one, other} {
			_, err := d.Engine.Lifecycle.Archive(t.Context(), d.to(memory.Rehydratable, id), "unused for 90 days", keeper(), "")
			ok(t, err)
			d.rekindled(id)
			d.wantKept(n, id, leaky, mended, tide)
		}
		ok(t, d.Close())
	}
	if len(cut) != all {
		t.Errorf("cut after %v of %d steps, want each", cut, all)
	}
}

// wantKept finds the text of a memory in the log, or in the one note that carries its id.
func (d *desk) wantKept(n int, id memory.ID, texts ...string) {
	d.t.Helper()
	m := look(d.t, d.Engine, id)
	var notes []string
	kept := slices.Contains(texts, m.Content)
	for path, err := range d.Notes.Vault.Root.Load().Walk(d.t.Context()) {
		ok(d.t, err)
		note, err := d.Notes.Vault.Root.Load().Read(d.t.Context(), path)
		ok(d.t, err)
		if !core.CarriesID(note.Carried, id) {
			continue
		}
		notes = append(notes, path)
		kept = kept || slices.ContainsFunc(texts, func(text string) bool { return note.Carried.Body == neutralize.Body(text) })
	}
	if !kept || len(notes) > 1 || m.Stage.Cold() && len(notes) != 1 {
		d.t.Errorf("power cut after %d operations: the notes are %q, the memory is %+v", n, notes, m.Memory)
	}
}
