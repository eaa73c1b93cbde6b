package engine_test

import (
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"emberd/internal/testutil/bubble"
	"emberd/op"
)

// A note that is saved again and again is taken over once, a minute after the last.
func TestANoteIsLeftAloneForAMinute(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d := &desk{house: vaultHouse(t, nil), t: t}
		d.FS = unwatched{}
		d.Options.Now = time.Now
		d.start()
		id := d.kept("the kettle leaks", "Kettle.md")
		before := d.lines(id)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { d.RunTask(ctx, d.Sync.Sync.Task()); close(done) }()

		saved := func(text string) {
			d.write(t, "Kettle.md", noteFor(id, text))
			d.batch([]string{"Kettle.md"}, nil)
		}
		for range 20 {
			saved("the kettle leaks, and ")
			time.Sleep(50 * time.Second)
		}
		saved("the kettle leaks, and more")
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if got := d.lines(id); got != before || timers(t, d.Engine)["note sync"] != "1m0s" {
			t.Errorf("after 59 seconds there are %d lines more; timers %v", got-before, timers(t, d.Engine))
		}
		if got := status(t, d.Engine).Vaults[0].Settling; got != 1 {
			t.Errorf("%d memories wait, want 1", got)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := d.memory(id).Content; got != "the kettle leaks, and more" || d.lines(id) != before+1 {
			t.Errorf("after 61 seconds the memory is %q, %d lines more", got, d.lines(id)-before)
		}
		if got := timers(t, d.Engine); len(got) != 0 {
			t.Errorf("with nothing to take over %v tick", got)
		}
		cancel()
		<-done
		ok(t, d.Close())
	})
}

// What cannot be read is looked at again, at longer and longer intervals.
func TestAnUnreadableVaultIsLookedAtLessAndLess(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d := &desk{house: vaultHouse(t, nil), t: t}
		d.FS = unwatched{}
		d.Options.Now = time.Now
		d.start()
		id := d.kept("the kettle leaks", "Kettle.md")
		d.write(t, "Kettle.md", noteFor(id, "the kettle is mended"))
		d.batch([]string{"Kettle.md"}, nil)
		ok(t, os.Rename(d.Vaults[0], d.Vaults[0]+" away"))
		begun := time.Now()
		for _, after := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 124} {
			next := d.Sync.Sync.Next()
			if got := next.Sub(begun).Round(time.Minute); got != after*time.Minute {
				t.Errorf("looks after %v, want %v", got, after*time.Minute)
			}
			time.Sleep(time.Until(next))
			d.Sync.Sync.ProcessDue(t.Context())
		}
		ok(t, os.Rename(d.Vaults[0]+" away", d.Vaults[0]))
		d.settle()
		if got := d.memory(id).Content; got != "the kettle is mended" {
			t.Errorf("with the vault back the memory is %q", got)
		}
		ok(t, d.Close())
	})
}

// Of two devices on one vault the keeper takes over first.
func TestTheKeeperComesFirst(t *testing.T) {
	t.Parallel()
	here, there := newDesk(t, nil), newDesk(t, nil)
	save(t, here.Engine, "a pebble")
	save(t, there.Engine, "a shell")
	do(t, there.Engine, op.KeeperHere, &op.KeeperHereRequest{})
	carry(t, there.house, here.house, status(t, there.Engine).Device)
	here.Admin.Refresh(t.Context())
	if a, b := here.Sync.Sync.Wait(), there.Sync.Sync.Wait(); a != 90*time.Second || b != time.Minute {
		t.Errorf("the keeper waits %v and the other %v", b, a)
	}
}
