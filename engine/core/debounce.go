package core

import (
	"sync"
	"time"
)

// How long nothing must have changed before notes are written, and the longest wait while changes go on.
const (
	Quiet  = 30 * time.Second
	Latest = 5 * time.Minute
)

// Debounce says when work is due that waits until nothing has changed for a while. All its methods may be called by
// several goroutines, and none of them waits for another's work.
type Debounce struct {
	now  func() time.Time
	wake chan struct{} // room for one token: due changed

	mu    sync.Mutex // guards the fields below, and is held only to read or set them
	begun time.Time  // first change since the last work, zero for none
	due   time.Time  // zero to wait for a change
	again time.Time  // when postponed work is tried again, zero for never
}

// NewDebounce returns one for work that is due once nothing has changed for [Quiet], and at latest [Latest] after the
// first change.
func NewDebounce(now func() time.Time) *Debounce {
	return &Debounce{now: now, wake: make(chan struct{}, 1)}
}

// Wake delivers a token when the work may be due sooner than it was.
func (d *Debounce) Wake() <-chan struct{} { return d.wake }

// Nudge has the task look once more whether its work is due.
func (d *Debounce) Nudge() { Nudge(d.wake) }

// Changed schedules the work for when nothing has changed for a while.
func (d *Debounce) Changed() {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	if d.begun.IsZero() {
		d.begun = now
	}
	d.due = now.Add(Quiet)
	if last := d.begun.Add(Latest); last.Before(d.due) {
		d.due = last
	}
	Nudge(d.wake)
}

// Later schedules the work for a time, if it is not tried again sooner.
func (d *Debounce) Later(at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.again.IsZero() || at.Before(d.again) {
		d.again = at
	}
	Nudge(d.wake)
}

// Due returns when changes are worked on, zero to wait for one.
func (d *Debounce) Due() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.due
}

// Next returns when work is due, for changes or once more, zero to wait for a change.
func (d *Debounce) Next() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.due.IsZero() || !d.again.IsZero() && d.again.Before(d.due) {
		return d.again
	}
	return d.due
}

// Begin clears what is due, since the work begins. Changes from now on are due once more.
func (d *Debounce) Begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begun, d.due, d.again = time.Time{}, time.Time{}, time.Time{}
}
