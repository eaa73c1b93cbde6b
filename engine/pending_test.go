package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"emberd/engine/promote"
	"emberd/op"
	"emberd/vault"
)

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
	if !strings.Contains(strings.Join(warned, "\n"), "has an invalid format, so emberd renamed the file to "+file+".damaged") {
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
	if got := promoteByID(t, e, m.ID); got.Outcome != op.PromotionPending || !strings.Contains(got.Reason, "still reading the notes for the first time") {
		t.Errorf("before the notes were read: %+v", got)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	done := busy(t, h)
	e = h.following(t)
	got := promoteByID(t, e, m.ID)
	wantPromotion(t, got, op.PromotionPending, "Memories/the tide turns at six.md")
	if got.Tx != "" || got.Reason != string(vault.GitBusy) || got.Until.IsZero() {
		t.Errorf("got %+v", got)
	}
	status := do(t, e, op.Status, &op.StatusRequest{}).Vaults[0]
	if status.Pending != 1 || len(status.PendingFirst) != 1 || status.PendingFirst[0].Path != got.Path {
		t.Errorf("status %+v", status)
	}
	findings := do(t, e, op.VaultCheck, &op.VaultCheckRequest{}).Findings
	want := op.Finding{Kind: "pending", Path: got.Path, Text: "this note will be created for memory " + m.ID.Short() + "; reason for the delay: " + string(vault.GitBusy)}
	if len(findings) != 1 || findings[0] != want {
		t.Errorf("findings %+v, want %+v", findings, want)
	}
	h.rest(t, e)
	if all := e.Promote.Pending.List(); len(all) != 1 || all[0].Tries == 0 {
		t.Errorf("the queue is %+v, want it tried", all)
	}
	done()
	h.advance(promote.LastTry)
	h.rest(t, e)
	if got := look(t, e, m.ID); got.PromotedTo != "Memories/the tide turns at six.md" || len(e.Promote.Pending.List()) > 0 {
		t.Errorf("promoted to %q, the queue is %+v", got.PromotedTo, e.Promote.Pending.List())
	}
	wantFiles(t, h, "Memories/the tide turns at six.md")
}

func TestAPromotionWhoseMemoryIsForgotten(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	done := busy(t, h)
	e := h.following(t)
	m := save(t, e, "short")
	promoteByID(t, e, m.ID)
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(m.ID)})
	done()
	h.rest(t, e)
	if len(e.Promote.Pending.List()) > 0 {
		t.Errorf("the queue is %+v", e.Promote.Pending.List())
	}
	wantFiles(t, h)
}

// The timer is armed only while something is near, and status lists it.
func TestNothingTicksWithoutNotesToWrite(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	e := h.following(t)
	timer := func() string { return do(t, e, op.Status, &op.StatusRequest{}).Timers["note write"] }
	until(t, "nothing ticks", func() bool { return timer() == "" })
	done := busy(t, h)
	promoteByID(t, e, save(t, e, "short").ID)
	until(t, "a timer is armed", func() bool { return timer() == "10s" })
	done()
	h.rest(t, e)
	e.Promote.Writing.Nudge()
	until(t, "nothing ticks again", func() bool { return timer() == "" })
}
