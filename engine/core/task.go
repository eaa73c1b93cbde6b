package core

import (
	"context"
	"time"

	"emberd/internal/contain"
)

// Task is background work of a feature, which decides what to do and when. [View.RunTask] runs
// all tasks the same way. A task that is not due has no timer.
type Task struct {
	Name  string          // name of its timer in status, "" to hide it
	First time.Time       // when it is first due; zero waits for Wake
	Wake  <-chan struct{} // delivers a token after a change that may concern the task
	// Woken returns when the task is due after a token from Wake. It gets the previous due
	// time, zero for none. A nil Woken stands for now.
	Woken func(due time.Time) time.Time
	// Do does the work and returns when the task is due again; zero waits for Wake. It returns
	// early when the context ends.
	Do func(context.Context) time.Time
	// Planned receives the next due time; it may be nil.
	Planned func(time.Time)
	// Rest is the minimum wait after Do, and after the first token that finds the task overdue.
	// A task without Woken does not wait: its tokens are requests.
	Rest time.Duration
}

// RunTask runs a task whenever it is due, until ctx ends. Woken and Do run in one goroutine,
// never at the same time. RunTask sets the timer again after each token, because the clock may
// have jumped in the meantime.
func (e *View) RunTask(ctx context.Context, t *Task) {
	defer e.Chores.Disarm(t.Name)
	e.plan(t, t.First, 0)
	due, rested, resting := t.First, time.Time{}, false
	for {
		next := due
		select {
		case <-ctx.Done():
			return
		case <-t.Wake:
			if t.Woken == nil {
				next, rested = e.Opt.Now(), time.Time{}
				break
			}
			next = t.Woken(due)
			overdue := !next.IsZero() && !next.After(e.Opt.Now())
			if overdue && !resting { // later tokens do not put the task off
				rested = time.Now().Add(t.Rest)
			}
			resting = overdue
		case <-e.timer(due, time.Until(rested)):
			next, rested, resting = e.runOnce(ctx, t), time.Now().Add(t.Rest), false
		}
		if !next.Equal(due) {
			e.plan(t, next, time.Until(rested))
		}
		due = next
	}
}

// afterPanic is how long a task rests that panicked.
const afterPanic = 10 * time.Minute

// runOnce does the work of a task. After a panic, status names the task and its fault until a
// later run succeeds, and the task is due again after a rest. What the run had done stays: its
// changes of memories are whole, and notes that it was writing are settled as after a crash.
func (e *View) runOnce(ctx context.Context, t *Task) (next time.Time) {
	name := "background work"
	if t.Name != "" {
		name = t.Name
	}
	err := contain.Do(e.Opt.Logger, contain.Task, name, func() error {
		next = t.Do(ctx)
		return nil
	})
	if err != nil {
		next = e.Opt.Now().Add(afterPanic)
	}
	e.Chores.settlePanic(name, err)
	return next
}

// plan reports to status and to the task when it is due.
func (e *View) plan(t *Task, due time.Time, rest time.Duration) {
	if t.Planned != nil {
		t.Planned(due)
	}
	if wait := max(due.Sub(e.Opt.Now()), rest); due.IsZero() || t.Name == "" {
		e.Chores.Disarm(t.Name)
	} else if wait > 0 {
		e.Chores.Arm(t.Name, wait.Round(time.Second))
	}
}

// timer returns a channel that delivers when a task is due, not before the rest. It returns
// nil for the zero time.
func (e *View) timer(due time.Time, rest time.Duration) <-chan time.Time {
	if due.IsZero() {
		return nil
	}
	return time.After(max(due.Sub(e.Opt.Now()), rest, 0))
}

// After returns a [Task.Woken] for a task that collects changes: it is due a while after the
// first one.
func (e *View) After(wait time.Duration) func(time.Time) time.Time {
	return func(due time.Time) time.Time {
		if due.IsZero() {
			return e.Opt.Now().Add(wait)
		}
		return due
	}
}
