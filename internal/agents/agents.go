// Package agents holds the rules of CortexGraph's consolidation agents that are its own:
// what becomes of a group of similar memories, which memories are related by what they
// name, and how many things an agent does in a minute. When a memory is at risk is in
// package decay.
//
// Everything is a pure function of its arguments but for [Rate], which any number of
// goroutines may share.
package agents

import (
	"slices"
	"sync"
	"time"

	"emberd/internal/cluster"
)

// Ladder is what is done about a cluster by its cohesion, 0 to 1.
type Ladder struct {
	AutoMerge float64 // from here it may be merged without anybody looking
	Review    float64 // from here somebody should look, and below it stays
}

// DefaultLadder returns 0.85 and 0.65, of the specification "CortexGraph API".
func DefaultLadder() Ladder { return Ladder{AutoMerge: 0.85, Review: 0.65} }

// For is the action for a cohesion.
func (l Ladder) For(cohesion float64) cluster.Action {
	switch {
	case cohesion >= l.AutoMerge:
		return cluster.AutoMerge
	case cohesion >= l.Review:
		return cluster.LLMReview
	}
	return cluster.KeepSeparate
}

// Rate bounds how many things are done within any minute.
type Rate struct {
	most int

	mu sync.Mutex // guards what follows
	at []time.Time
}

// NewRate returns a bound of most a minute, 1 or more.
func NewRate(most int) *Rate { return &Rate{most: most} }

// Take counts up to want things as done at now, and returns how many that are.
func (r *Rate) Take(now time.Time, want int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := min(want, r.room(now))
	for range got {
		r.at = append(r.at, now)
	}
	return got
}

// Room is how many things could be done at now.
func (r *Rate) Room(now time.Time) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.room(now)
}

// room forgets what is a minute ago, or in the future of a clock that was set back.
func (r *Rate) room(now time.Time) int {
	r.at = slices.DeleteFunc(r.at, func(t time.Time) bool { return now.Sub(t) >= time.Minute || t.After(now) })
	return max(0, r.most-len(r.at))
}
