package agents

import (
	"slices"
	"time"

	"emberd/op"
)

const (
	// resumeAfter is how long after a run the agents that the rate stopped run again: the rate is one of a minute.
	resumeAfter = time.Minute
	// backlogShare is the share of a processor that these runs may take.
	backlogShare = 0.1
)

// backlog is what the rate left of the last runs, by agent, and when they run again. The mutex of
// [AgentScheduler] guards it.
type backlog struct {
	left   map[string]int
	resume time.Time
}

// update records what a run left, which ended at now and took so long. A run after another interval
// than the usual one counts too; a search for urgent items, and the weekly one, do not.
func (b *backlog) update(r *agentsRun, took time.Duration, now time.Time) {
	if r.urgent || r.similar {
		return
	}
	if b.left == nil {
		b.left = make(map[string]int)
	}
	for _, ran := range r.res.Ran {
		delete(b.left, ran.Agent)
		if n := r.left[ran.Agent]; n > 0 {
			b.left[ran.Agent] = n
		}
	}
	b.resume = r.now.Add(resumeAfter)
	if rested := now.Add(time.Duration(float64(took) * (1/backlogShare - 1))); rested.After(b.resume) {
		b.resume = rested
	}
}

// waiting returns the number of changes that the rate left.
func (b *backlog) waiting() (n int) {
	for _, left := range b.left {
		n += left
	}
	return n
}

// toResume returns the agents to run at now, in the order of the pipeline.
func (c *AgentScheduler) toResume(now time.Time) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Before(c.resume) {
		return nil
	}
	return slices.DeleteFunc(op.Agents(), func(name string) bool { return c.left[name] == 0 })
}

// sooner returns when to look again: at a time, or before it for the backlog.
func (c *AgentScheduler) sooner(now, at time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.left) == 0 || at.Before(c.resume) {
		return at
	}
	if now.Before(c.resume) {
		return c.resume
	}
	return now.Add(resumeAfter) // another run was in progress
}
