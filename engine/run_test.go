package engine_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"emberd/engine"
	"emberd/engine/storage"
	"emberd/internal/durable"
	"emberd/internal/testutil/bubble"
	"emberd/op"
	"emberd/stm"
)

// timers are those of status, but for the ones of the lifecycle, of the agents and of backups: these are
// dates, no ticks.
func timers(t testing.TB, e *engine.Engine) map[string]string {
	all := do(t, e, op.Status, &op.StatusRequest{}).Timers
	delete(all, "lifecycle")
	delete(all, "agents")
	delete(all, "backup")
	return all
}

// unwatched is a disk whose files are not followed: waiting for the kernel's
// events would keep the clock of a synctest bubble from running.
type unwatched struct{ durable.OS }

func TestNothingTicksUnlessSomethingChanged(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.FS = unwatched{}
		h.Options.Now = time.Now
		e := h.open(t)
		stop := inTheBackground(t, e)

		time.Sleep(2 * storage.SnapshotDelay) // the look after the start
		synctest.Wait()
		if got := timers(t, e); len(got) != 0 {
			t.Errorf("at rest %v tick", got)
		}
		save(t, e, "a ripple")
		synctest.Wait()
		if got := timers(t, e); got["snapshot"] != "1m0s" || got["audit"] != "30s" || len(got) != 2 {
			t.Errorf("after a change the timers are %v, want a snapshot in a minute and the counts of callers in half of one", got)
		}
		time.Sleep(2 * storage.SnapshotDelay)
		synctest.Wait()
		if got := timers(t, e); len(got) != 0 {
			t.Errorf("after the snapshot %v tick", got)
		}
		stop()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestASnapshotIsWrittenWhenOneIsDue(t *testing.T) {
	writesASnapshot(t, func(s *stm.Store) bool { due, _ := s.SnapshotDue(); return due }, 2*storage.SnapshotDelay)
}

// One that is overdue does not wait for more changes.
func TestAnOverdueSnapshotIsWrittenAtOnce(t *testing.T) {
	writesASnapshot(t, func(s *stm.Store) bool { _, now := s.SnapshotDue(); return now }, storage.SnapshotDelay/2)
}

// writesASnapshot saves memories until a snapshot is due, and checks that the engine writes one within a time.
func writesASnapshot(t *testing.T, due func(*stm.Store) bool, within time.Duration) {
	bubble.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.FS = unwatched{}
		h.unasked()
		h.Options.Now = time.Now
		e := h.open(t)
		drops := op.SaveBatchRequest{Items: slices.Repeat([]op.SaveRequest{{Content: "a drop"}}, op.MaxBatch)}
		for !due(e.Stm) {
			do(t, e, op.SaveBatch, &drops)
		}
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		if err := e.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if due, _ := e.Stm.SnapshotDue(); due {
			t.Error("a snapshot is still due after the timer")
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestCloseEndsRun(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	done := make(chan error, 1)
	go func() { done <- e.Run(context.Background()) }()
	save(t, e, "while it runs")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	// Run returns nil when Close ends it, and an error when Close came first.
	<-done
}
