package promote_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"emberd/engine/promote"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/vault"
)

func TestBackOffDoubles(t *testing.T) {
	t.Parallel()
	for tries, want := range map[int]time.Duration{0: 10 * time.Second, 1: 20 * time.Second, 3: 80 * time.Second,
		12: 40960 * time.Second, 14: 24 * time.Hour, 1000: 24 * time.Hour} {
		if got := promote.BackOff(promote.FirstTry, promote.LastTry, tries); got != want {
			t.Errorf("after %d tries: %v, want %v", tries, got, want)
		}
	}
}

func TestOneWriteWaitsForAMemory(t *testing.T) {
	t.Parallel()
	p, err := promote.OpenPending(durable.OS{}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a, b := memory.DeriveID([]byte("a")), memory.DeriveID([]byte("b"))
	put := func(w promote.PendingWrite) {
		t.Helper()
		if err := p.Put(w); err != nil {
			t.Fatal(err)
		}
	}
	since := time.UnixMilli(1000).UTC()
	put(promote.PendingWrite{Memory: a, What: promote.UpdateNote, Fields: []string{"tags"}, Since: since})
	put(promote.PendingWrite{Memory: b, What: promote.UpdateNote, Fields: []string{"tags"}, Since: since})
	put(promote.PendingWrite{Memory: a, What: promote.UpdateNote, Fields: []string{"category", "tags"},
		Since: since.Add(time.Hour)})
	put(promote.PendingWrite{Memory: b, What: promote.CreateNote, Since: since.Add(time.Hour)})
	put(promote.PendingWrite{Memory: b, What: promote.UpdateNote, Fields: []string{"type"},
		Since: since.Add(time.Hour)})
	want := []promote.PendingWrite{{Memory: a, What: promote.UpdateNote, Fields: []string{"category", "tags"},
		Since: since}, {Memory: b, What: promote.CreateNote, Since: since}}
	for _, from := range []*promote.PendingWrites{p, reopened(t, p)} {
		got := from.List()
		if len(got) != 2 || !slices.Equal(got[0].Fields, want[0].Fields) || got[1].What != promote.CreateNote ||
			got[1].Fields != nil || got[0].Since != since {
			t.Errorf("the queue is %+v, want %+v", got, want)
		}
	}
	if err := p.Drop(a); err != nil || promote.At(p.List(), a) >= 0 || promote.At(reopened(t, p).List(), a) >= 0 {
		t.Errorf("dropped, and still %+v, %v", p.List(), err)
	}
}

func reopened(t *testing.T, p *promote.PendingWrites) *promote.PendingWrites {
	t.Helper()
	again, err := promote.OpenPending(durable.OS{}, filepath.Dir(filepath.Dir(p.File)))
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// A note that an undo queued a moment ago waits for a reason, too.
func TestWhatWasNotTriedTellsSo(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{"": "emberd has not tried to write the note yet",
		string(vault.GitBusy): string(vault.GitBusy)} {
		w := promote.PendingWrite{Path: "Tea.md", Reason: reason}
		if got := w.Shown(); got.Reason != want || got.Path != w.Path {
			t.Errorf("%+v is shown as %+v, want the reason %q", w, got, want)
		}
	}
}
