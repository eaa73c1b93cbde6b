package engine_test

import (
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"emberd/engine"
	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
	"emberd/op"
)

// stuckDisk holds the files of sessions until it is let go.
type stuckDisk struct {
	durable.FS
	stuck *atomic.Bool
	free  chan struct{}
}

func (d stuckDisk) Rename(from, to string) error {
	if d.stuck.Load() && filepath.Base(filepath.Dir(to)) == "sessions" {
		<-d.free
	}
	return d.FS.Rename(from, to)
}

// A disk that does not answer holds up the end of a turn, which has to be kept, and neither other sessions nor what a
// session is told.
func TestASessionWaitsForNoOtherOnesFile(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Hooks.Recall = "on"
	disk := stuckDisk{durable.OS{}, new(atomic.Bool), make(chan struct{})}
	h.FS = disk
	e := h.open(t)
	do(t, e, op.Save, &op.SaveRequest{Project: "orion", Content: "The staging database of Orion listens on port 5433."})
	disk.stuck.Store(true)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		do(t, e, op.Hook, saidIn("s1", "orion", op.SessionMessage{ID: "1", Role: op.RoleUser, Text: "We decided to use Redis."}))
	}()
	for _, session := range []string{"s1", "s2", "s3"} {
		do(t, e, op.Hook, event(op.HookStart, session, "orion"))
		if got := do(t, e, op.Hook, promptOf(session, "orion", "Which port does the staging database listen on?")).Text; !strings.Contains(got, "5433") {
			t.Errorf("session %s is told %q, want the port", session, got)
		}
	}
	if n := len(do(t, e, op.SessionList, &op.SessionListRequest{}).Sessions); n != 3 {
		t.Errorf("%d sessions are listed, want 3", n)
	}
	select {
	case <-ended:
		t.Error("the turn is answered before its record is written")
	default:
	}
	disk.stuck.Store(false)
	close(disk.free)
	<-ended
}

// When the daemon is killed, a turn that was answered is not read again, and what it kept can be taken back.
func TestAnAnsweredTurnOutlivesAKill(t *testing.T) {
	t.Parallel()
	disk := crashdisk.New()
	h := onDisk(t, disk)
	turn := saidIn("s1", "orion", op.SessionMessage{ID: "1", Role: op.RoleUser, Text: "We decided to use Redis for the session cache."})
	e, err := engine.Open(h.Options)
	if err != nil {
		t.Fatal(err)
	}
	kept := do(t, e, op.Hook, turn).Kept
	if len(kept) != 1 {
		t.Fatalf("the turn leaves %d memories, want 1", len(kept))
	}
	h.FS = disk.Kill()
	_ = e.Close() // it has no disk any more
	e = h.open(t)
	if again := do(t, e, op.Hook, turn).Kept; len(again) > 0 {
		t.Errorf("the turn is read again and leaves %+v", again)
	}
	all := do(t, e, op.SessionList, &op.SessionListRequest{ID: "s1"}).Sessions
	if len(all) != 1 || len(all[0].Memories) != 1 || all[0].Memories[0].ID != kept[0].ID {
		t.Errorf("the session is listed as %+v, want what it kept", all)
	}
}
