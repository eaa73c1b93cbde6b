package core

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// jobs is the state of background tasks, for status.
type jobs struct {
	mu     sync.Mutex // guards the fields below
	timers map[string]time.Duration
	faults map[string]error
}

// Changed signals the tasks that something changed. It never blocks.
func (e *View) Changed() {
	for _, signal := range e.Signals {
		Nudge(signal)
	}
}

// Nudge sends a token to a channel with room for one. If the channel is full, the token in it
// is enough.
func Nudge(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// Arm records that a job has a timer, for status.
func (c *jobs) Arm(name string, period time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timers == nil {
		c.timers = make(map[string]time.Duration)
	}
	c.timers[name] = period
}

// Disarm records that a job has no timer.
func (c *jobs) Disarm(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.timers, name)
}

// settlePanic records whether the last run of a job panicked, apart from errors that it reports
// itself.
func (c *jobs) settlePanic(name string, err error) { c.Settle(name+" run", err) }

// Settle records the result of the last attempt at a job.
func (c *jobs) Settle(name string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.faults, name)
	if err == nil {
		return
	}
	if c.faults == nil {
		c.faults = make(map[string]error)
	}
	c.faults[name] = err
}

// Problem returns the error of the last attempt at a job, or "".
func (c *jobs) Problem(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.faults[name]; err != nil {
		return err.Error()
	}
	return ""
}

// Report returns the armed timers with their periods, and one sentence for every job whose
// last attempt failed.
func (c *jobs) Report() (timers map[string]string, warnings []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, period := range c.timers {
		if timers == nil {
			timers = make(map[string]string)
		}
		timers[name] = period.String()
	}
	for _, name := range slices.Sorted(maps.Keys(c.faults)) {
		warnings = append(warnings, fmt.Sprintf("emberd could not complete the background job \"%s\": %v", name,
			c.faults[name]))
	}
	return timers, warnings
}
