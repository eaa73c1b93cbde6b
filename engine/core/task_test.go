package core_test

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"emberd/engine/core"
	"emberd/internal/testutil/bubble"
)

// running runs a task until the test ends, and returns the times at which it was done.
func running(t *testing.T, task *core.Task) *[]time.Duration {
	t.Helper()
	start, done := time.Now(), []time.Duration{}
	do := task.Do
	task.Do = func(ctx context.Context) time.Time {
		done = append(done, time.Since(start))
		return do(ctx)
	}
	v := &core.View{Kernel: &core.Kernel{Opt: core.Options{Now: time.Now}}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { v.RunTask(ctx, task); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
	return &done
}

// Tokens that keep coming do not put a task off that is due.
func TestATaskIsDoneWhileTokensKeepComing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		wake, due := make(chan struct{}, 1), time.Now().Add(time.Second)
		done := running(t, &core.Task{First: due, Wake: wake, Rest: time.Second,
			Woken: func(time.Time) time.Time { return due },
			Do:    func(context.Context) time.Time { return due }})
		for range 20 {
			time.Sleep(300 * time.Millisecond)
			core.Nudge(wake)
			synctest.Wait()
		}
		if n := len(*done); n < 3 || n > 6 {
			t.Errorf("in 6 seconds it was done at %v, want about once a second", *done)
		}
	})
}

// A token without Woken is a request, which no rest delays.
func TestATaskIsDoneOnRequest(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		wake := make(chan struct{}, 1)
		done := running(t, &core.Task{Wake: wake, Rest: time.Minute,
			Do: func(context.Context) time.Time { return time.Time{} }})
		for range 3 {
			core.Nudge(wake)
			synctest.Wait()
		}
		time.Sleep(time.Hour)
		if len(*done) != 3 {
			t.Errorf("after 3 requests it was done %d times", len(*done))
		}
	})
}

// A run that panics is told in the report and is followed by another one, after a rest.
func TestATaskThatPanicsRunsAgain(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		v := &core.View{Kernel: &core.Kernel{Opt: core.Options{Now: time.Now, Logger: slog.New(slog.DiscardHandler)}}}
		var runs atomic.Int32
		task := &core.Task{Name: "tidying", First: time.Now(), Do: func(context.Context) time.Time {
			if runs.Add(1) == 1 {
				panic("a fault")
			}
			return time.Time{}
		}}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { v.RunTask(ctx, task); close(ended) }()
		synctest.Wait()
		if _, warnings := v.Chores.Report(); runs.Load() != 1 || len(warnings) != 1 || !strings.Contains(warnings[0], "fault") {
			t.Errorf("after the panic: %d runs, warnings %q", runs.Load(), warnings)
		}
		time.Sleep(time.Hour)
		if _, warnings := v.Chores.Report(); runs.Load() != 2 || len(warnings) != 0 {
			t.Errorf("an hour later: %d runs, warnings %q", runs.Load(), warnings)
		}
		cancel()
		<-ended
	})
}
