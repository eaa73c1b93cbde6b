package engine_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"emberd/engine"
	"emberd/internal/testutil/crashdisk"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// onDisk is a house whose log stands on d and whose lock on the real disk.
func onDisk(t testing.TB, d *crashdisk.Disk) *house {
	h := newHouse(t)
	h.FS, h.Durability = d, stm.Full
	return h
}

// work saves, edits and forgets until the disk fails, and returns what was
// answered: contents by id, "" for a forgotten one.
func work(t *testing.T, e *engine.Engine) map[memory.ID]string {
	answered := make(map[memory.ID]string)
	for i := range 6 {
		saved, err := op.Save.Call(t.Context(), e, &op.SaveRequest{Content: fmt.Sprint("fact ", i)})
		if err != nil {
			return answered
		}
		id := saved.Memory.ID
		answered[id] = saved.Memory.Content
		next := fmt.Sprint("corrected fact ", i)
		if _, err := op.Edit.Call(t.Context(), e, &op.EditRequest{ID: string(id), Content: &next}); err != nil {
			delete(answered, id) // either content may be there
			return answered
		}
		answered[id] = next
		if i%3 != 0 {
			continue
		}
		delete(answered, id)
		if _, err := op.Forget.Call(t.Context(), e, &op.ForgetRequest{ID: string(id)}); err != nil {
			return answered
		}
		answered[id] = ""
	}
	return answered
}

func TestWhatWasAnsweredSurvivesAPowerCut(t *testing.T) {
	t.Parallel()
	whole := crashdisk.New()
	h := onDisk(t, whole)
	e := h.open(t)
	work(t, e)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for n := range whole.Ops() {
		disk := crashdisk.New()
		disk.StopAfter(n)
		h := onDisk(t, disk)
		answered := make(map[memory.ID]string)
		if e, err := engine.Open(h.Options); err == nil {
			answered = work(t, e)
			_ = e.Close() // fails where the power did
		}
		h.FS = disk.Crash(rand.New(rand.NewPCG(1, uint64(n))))
		e := h.open(t)
		for id, want := range answered {
			row, ok := e.Stm.Get(id)
			switch {
			case want == "" && ok:
				t.Errorf("power cut after %d operations: %s is back after it was forgotten", n, id)
			case want != "" && (!ok || row.Content() != want):
				t.Errorf("power cut after %d operations: %q is not there", n, want)
			}
		}
	}
}

func TestARefusedDiskIsTold(t *testing.T) {
	t.Parallel()
	disk := crashdisk.New()
	h := onDisk(t, disk)
	h.TrackAccess = false // or the end would tell that the search cannot be counted
	e := h.open(t)
	kept := save(t, e, "before the failure")
	disk.Fail(crashdisk.Fault{Op: crashdisk.OpSync, Path: ".jsonl", Forever: true})
	err := refused(t, e, op.Save, &op.SaveRequest{Content: "after the failure"})
	if err.Code != memory.ReadOnly && err.Code != memory.Unknown {
		t.Errorf("a failing disk is told as %s %q", err.Code, err)
	}
	if got := hitContents(searchFor(t, e, "failure")); len(got) != 1 || got[0] != kept.Content {
		t.Errorf("found %q, want only what was answered", got)
	}
	if s := do(t, e, op.Status, &op.StatusRequest{}); s.Health != "read-only" || s.Log.ReadOnly == "" {
		t.Errorf("health is %q with %q, want read-only with a reason", s.Health, s.Log.ReadOnly)
	}
}
