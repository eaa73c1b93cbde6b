package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/op"
)

// carry brings the log and the devices file of one house into another, as
// Syncthing does: under a hidden name first.
func carry(t testing.TB, from, to *house, device string) {
	t.Helper()
	var names []string
	for _, pattern := range []string{"stm/" + device + "/*.jsonl", "devices/" + device + ".json"} {
		found, err := filepath.Glob(filepath.Join(from.Data, pattern))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	for _, name := range names {
		rel, err := filepath.Rel(from.Data, name)
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		name = filepath.Join(to.Data, rel)
		temp := filepath.Join(filepath.Dir(name), ".syncthing."+filepath.Base(name)+".tmp")
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(temp, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(temp, name); err != nil {
			t.Fatal(err)
		}
	}
}

// inTheBackground runs an engine's housekeeping until it is stopped.
func inTheBackground(t testing.TB, e *engine.Engine) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	return func() {
		cancel()
		ok(t, <-done)
	}
}

// running opens a house and runs its engine until the test ends, unasked.
func (h *house) running(t testing.TB) *engine.Engine {
	h.unasked()
	e := h.open(t)
	t.Cleanup(inTheBackground(t, e))
	return e
}

func TestWhatAnotherDeviceSavesArrivesWithAnEvent(t *testing.T) {
	t.Parallel()
	desk, lap := newHouse(t), newHouse(t)
	here, there := desk.running(t), lap.open(t)
	if got := status(t, here); got.Timers["devices"] != "" || len(got.Devices) != 1 {
		t.Errorf("alone: timers %v, devices %+v", got.Timers, got.Devices)
	}
	saved := save(t, there, "the tide turns at nine")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	events := here.Events(ctx, "")
	carry(t, lap, desk, status(t, there).Device)
	for ev := range events {
		if ev.Type == "save" && len(ev.IDs) == 1 && ev.IDs[0] == saved.ID {
			break
		}
		t.Errorf("event %+v, want the save of %s", ev, saved.ID)
		break
	}
	if hits := searchFor(t, here, "tide"); len(hits) != 1 || hits[0].ID != saved.ID {
		t.Errorf("found %+v", hits)
	}
	if got := status(t, here).Devices; len(got) != 2 {
		t.Errorf("devices %+v", got)
	}
}

func status(t testing.TB, e *engine.Engine) *op.StatusResult {
	t.Helper()
	return do(t, e, op.Status, &op.StatusRequest{})
}

func TestTheKeeperCanBeClaimed(t *testing.T) {
	t.Parallel()
	desk, lap := newHouse(t), newHouse(t)
	here, there := desk.open(t), lap.open(t)
	save(t, here, "a pebble")
	save(t, there, "a shell")
	if got := do(t, there, op.KeeperHere, &op.KeeperHereRequest{}); !got.Here || got.Claimed.IsZero() {
		t.Errorf("claimed: %+v", got)
	}
	carry(t, lap, desk, status(t, there).Device)
	here.Admin.Refresh(t.Context())
	got := do(t, here, op.Keeper, &op.KeeperRequest{})
	if got.Here || got.Device != status(t, there).Device || got.Claimed.IsZero() {
		t.Errorf("here the keeper is %+v", got)
	}
	for _, d := range status(t, here).Devices {
		if d.Keeper == d.Here {
			t.Errorf("status: %+v", d)
		}
	}
}

func TestAFloodOfArrivalsIsToldInOneSentence(t *testing.T) {
	t.Parallel()
	desk, lap := newHouse(t), newHouse(t)
	here, there := desk.open(t), lap.open(t)
	for range 300 {
		save(t, there, "a drop")
	}
	carry(t, lap, desk, status(t, there).Device)
	here.Admin.Refresh(t.Context())
	batch, _, _ := here.EventLog.Since(0)
	last := batch[len(batch)-1]
	if len(batch) != 257 || last.Type != "status" || !strings.HasPrefix(last.Text, "44 more changes") {
		t.Errorf("%d events, the last %+v", len(batch), last)
	}
}
