package agents

import (
	"context"
	"time"

	"emberd/op"
)

// nextCheck returns when to check for contradictions after a save.
func (e *Agents) nextCheck(due time.Time) time.Time {
	if !due.IsZero() {
		return due
	}
	s := e.AgentScheduler
	s.mu.Lock()
	defer s.mu.Unlock()
	at := e.Opt.Now().Add(ContradictionDelay)
	if s.rested.After(at) {
		return s.rested
	}
	return at
}

// CheckSaved creates items for the contradictions of the memories that were saved since the last check, by the rules
// of the hourly run. If another run was in progress, it returns when to try again, else zero.
func (e *Agents) CheckSaved(ctx context.Context) time.Time {
	if !e.Lifecycle.IsPrimary() {
		return time.Time{}
	}
	again := e.Opt.Now().Add(ContradictionDelay)
	if !e.Indexed.Load() {
		return again
	}
	e.AgentScheduler.mu.Lock()
	since := e.AgentScheduler.checked
	e.AgentScheduler.mu.Unlock()
	busy := e.runAutomatic(ctx, agentsJob, func() (*op.AgentsRunResult, error) {
		r := agentsRun{e: e, by: AgentsActor(), now: e.Opt.Now(), set: e.Opt.Agents, since: since}
		return e.runAgents(ctx, &r, []string{op.AgentCluster})
	})
	if busy {
		return again
	}
	return time.Time{}
}
