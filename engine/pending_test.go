package engine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
	"emberd/vault"
)

func TestBackOffDoubles(t *testing.T) {
	t.Parallel()
	for tries, want := range map[int]time.Duration{0: 10 * time.Second, 1: 20 * time.Second, 3: 80 * time.Second, 12: 40960 * time.Second, 14: 24 * time.Hour, 1000: 24 * time.Hour} {
		if got := backOff(firstTry, lastTry, tries); got != want {
			t.Errorf("after %d tries: %v, want %v", tries, got, want)
		}
	}
}

func TestOneWriteWaitsForAMemory(t *testing.T) {
	t.Parallel()
	p, err := openPending(durable.OS{}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a, b := memory.DeriveID([]byte("a")), memory.DeriveID([]byte("b"))
	put := func(w pendingWrite) {
		t.Helper()
		if err := p.put(w); err != nil {
			t.Fatal(err)
		}
	}
	since := time.UnixMilli(1000).UTC()
	put(pendingWrite{Memory: a, What: updateNote, Fields: []string{"tags"}, Since: since})
	put(pendingWrite{Memory: b, What: updateNote, Fields: []string{"tags"}, Since: since})
	put(pendingWrite{Memory: a, What: updateNote, Fields: []string{"category", "tags"}, Since: since.Add(time.Hour)})
	put(pendingWrite{Memory: b, What: createNote, Since: since.Add(time.Hour)})
	put(pendingWrite{Memory: b, What: updateNote, Fields: []string{"type"}, Since: since.Add(time.Hour)})
	want := []pendingWrite{{Memory: a, What: updateNote, Fields: []string{"category", "tags"}, Since: since}, {Memory: b, What: createNote, Since: since}}
	for _, from := range []*pendingWrites{p, reopened(t, p)} {
		got := from.list()
		if len(got) != 2 || !slices.Equal(got[0].Fields, want[0].Fields) || got[1].What != createNote || got[1].Fields != nil || got[0].Since != since {
			t.Errorf("the queue is %+v, want %+v", got, want)
		}
	}
	if err := p.drop(a); err != nil || at(p.list(), a) >= 0 || at(reopened(t, p).list(), a) >= 0 {
		t.Errorf("dropped, and still %+v, %v", p.list(), err)
	}
}

func reopened(t *testing.T, p *pendingWrites) *pendingWrites {
	t.Helper()
	again, err := openPending(durable.OS{}, filepath.Dir(filepath.Dir(p.file)))
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func TestADamagedQueueIsKeptAside(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	file := filepath.Join(h.State, "pending", "notes.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`[{"memory": 1`), 0o600); err != nil {
		t.Fatal(err)
	}
	e := h.open(t)
	warned := do(t, e, op.Status, &op.StatusRequest{}).Warnings
	if !strings.Contains(strings.Join(warned, "\n"), "cannot be understood and is kept as "+file+".damaged") {
		t.Errorf("warnings %q", warned)
	}
	if data, err := os.ReadFile(file + ".damaged"); err != nil || len(data) == 0 {
		t.Errorf("kept %q, %v", data, err)
	}
}

// busy is a vault in which git is at work until the function it returns is called.
func busy(t *testing.T, h *house) (done func()) {
	t.Helper()
	h.write(t, ".git/index.lock", "")
	return func() {
		if err := os.RemoveAll(filepath.Join(h.Vaults[0], ".git")); err != nil {
			t.Fatal(err)
		}
	}
}

// A promotion that has to wait is told, survives a restart, and is carried out.
func TestAPromotionThatWaits(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	e := h.open(t)
	m := save(t, e, "the tide turns at six")
	if got := promote(t, e, m.ID); got.Outcome != op.PromotionPending || !strings.Contains(got.Reason, "still being read for the first time") {
		t.Errorf("before the notes were read: %+v", got)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	done := busy(t, h)
	e = h.following(t)
	got := promote(t, e, m.ID)
	wantPromotion(t, got, op.PromotionPending, "Memories/the tide turns at six.md")
	if got.Tx != "" || got.Reason != string(vault.GitBusy) || got.Until.IsZero() {
		t.Errorf("got %+v", got)
	}
	status := do(t, e, op.Status, &op.StatusRequest{}).Vaults[0]
	if status.Pending != 1 || len(status.PendingFirst) != 1 || status.PendingFirst[0].Path != got.Path {
		t.Errorf("status %+v", status)
	}
	findings := do(t, e, op.VaultCheck, &op.VaultCheckRequest{}).Findings
	want := op.Finding{Kind: "pending", Path: got.Path, Text: "this note is to be made of memory " + m.ID.Short() + " and waits: " + string(vault.GitBusy)}
	if len(findings) != 1 || findings[0] != want {
		t.Errorf("findings %+v, want %+v", findings, want)
	}
	h.rest(t, e)
	if all := e.pending.list(); len(all) != 1 || all[0].Tries == 0 {
		t.Errorf("the queue is %+v, want it tried", all)
	}
	done()
	h.advance(lastTry)
	h.rest(t, e)
	if got := look(t, e, m.ID); got.PromotedTo != "Memories/the tide turns at six.md" || len(e.pending.list()) > 0 {
		t.Errorf("promoted to %q, the queue is %+v", got.PromotedTo, e.pending.list())
	}
	wantFiles(t, h, "Memories/the tide turns at six.md")
}

func TestAPromotionWhoseMemoryIsForgotten(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	done := busy(t, h)
	e := h.following(t)
	m := save(t, e, "short")
	promote(t, e, m.ID)
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(m.ID)})
	done()
	h.rest(t, e)
	if len(e.pending.list()) > 0 {
		t.Errorf("the queue is %+v", e.pending.list())
	}
	wantFiles(t, h)
}

// The timer is armed only while something is near, and status lists it.
func TestNothingTicksWithoutNotesToWrite(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	e := h.following(t)
	timer := func() string { return do(t, e, op.Status, &op.StatusRequest{}).Timers["notes to write"] }
	until(t, "nothing ticks", func() bool { return timer() == "" })
	done := busy(t, h)
	promote(t, e, save(t, e, "short").ID)
	until(t, "a timer is armed", func() bool { return timer() == "10s" })
	done()
	h.rest(t, e)
	e.writing.nudge()
	until(t, "nothing ticks again", func() bool { return timer() == "" })
}

// A note that an undo queued a moment ago waits for a reason, too.
func TestWhatWasNotTriedTellsSo(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{"": "it was not tried yet", string(vault.GitBusy): string(vault.GitBusy)} {
		w := pendingWrite{Path: "Tea.md", Reason: reason}
		if got := w.shown(); got.Reason != want || got.Path != w.Path {
			t.Errorf("%+v is shown as %+v, want the reason %q", w, got, want)
		}
	}
}
