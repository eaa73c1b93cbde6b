package agents

import (
	"slices"
	"sync"
	"time"
)

// agentRate limits how many actions an agent does within any minute. Any number of goroutines
// can use it.
type agentRate struct {
	limit int

	mu sync.Mutex // guards the fields below
	at []time.Time
}

// NewAgentRate returns a rate of limit actions a minute.
func NewAgentRate(limit int) *agentRate { return &agentRate{limit: limit} }

// Take counts up to want actions at now, and returns how many the rate allows.
func (r *agentRate) Take(now time.Time, want int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := min(want, r.free(now))
	for range got {
		r.at = append(r.at, now)
	}
	return got
}

// Room returns how many actions the rate allows at now.
func (r *agentRate) Room(now time.Time) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.free(now)
}

// free drops times older than a minute, and times in the future after the clock was set back.
// mu must be held.
func (r *agentRate) free(now time.Time) int {
	r.at = slices.DeleteFunc(r.at, func(t time.Time) bool { return now.Sub(t) >= time.Minute || t.After(now) })
	return max(0, r.limit-len(r.at))
}
