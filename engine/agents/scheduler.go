package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"emberd/engine/core"
	"emberd/engine/learn"
	"emberd/engine/lifecycle"
	"emberd/engine/memories"
	"emberd/internal/dedupe"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	// UrgentDelay is how long after a save the search for urgent items waits for further
	// saves, and UrgentPause the minimum time between two such searches.
	UrgentDelay = time.Minute
	UrgentPause = 5 * time.Minute
	// ContradictionDelay is how long after a save the check of new memories for contradictions waits for further
	// saves, and contradictionShare the share of a processor that these checks may take.
	ContradictionDelay = 3 * time.Second
	contradictionShare = 0.1
	// similarEvery is how often near-duplicates are looked for, to be filed or merged.
	similarEvery = 7 * 24 * time.Hour
)

// Names of runs in the file of the last runs: the whole pipeline, the search for urgent items,
// and the look for near-duplicates. Single agents have their own names in it.
const (
	PipelineRun = "pipeline"
	urgentRun   = "urgent"
	SimilarRun  = "similar"
)

// Jobs of the agents in status.
const (
	agentsJob  = "agent run"
	similarJob = "check for near-duplicates"
)

// AgentScheduler is the state of the agents' tasks.
type AgentScheduler struct {
	// Running is held through a run, which locks rows and updates the store. It is taken with
	// TryLock only, before mu, so that a second run fails instead of waiting.
	Running sync.Mutex
	Rates   map[string]*agentRate
	Look    chan struct{} // room for one token: something changed
	Saved   chan struct{} // room for one token: a memory was saved
	Added   chan struct{} // room for one token: likewise, for the check for contradictions
	fs      durable.FS
	file    string

	// mu guards the fields below. It is held to read or set them and while the small file is
	// written.
	mu   sync.Mutex
	last map[string]time.Time // last runs that were not dry runs
	next time.Time            // time of the next run, zero if it waits for a change
	// revision is the revision of the memories after the last run of the pipeline.
	revision uint64
	// checked is when the last check for contradictions began, and rested when the next one may.
	checked, rested time.Time
	backlog
}

// NewAgentScheduler continues from the file of the last run.
func NewAgentScheduler(opt *core.Options) *AgentScheduler {
	c := &AgentScheduler{Rates: make(map[string]*agentRate), Look: make(chan struct{}, 1),
		Saved: make(chan struct{}, 1), Added: make(chan struct{}, 1), checked: opt.Now(),
		fs: opt.FS, file: filepath.Join(opt.State, "agents.json")}
	for _, name := range op.Agents() {
		c.Rates[name] = NewAgentRate(opt.Agents.Rate)
	}
	data, err := durable.ReadAll(c.fs, c.file)
	if err == nil {
		err = json.Unmarshal(data, &c.last)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		opt.Logger.Warn("time of the last run of the maintenance agents not read", "err", err)
	}
	if c.last == nil {
		c.last = make(map[string]time.Time)
	}
	return c
}

// Committed signals changed memories. The store's writer goroutine calls it and waits.
func (c *AgentScheduler) Committed(entry *stm.Entry) {
	if entry.Verb == memories.SaveVerb || entry.Verb == learn.AddVerb {
		core.Nudge(c.Saved)
		core.Nudge(c.Added)
	}
}

// due returns when an agent, or the pipeline for "", is due again, zero if it never ran.
func (c *AgentScheduler) due(agent string, interval time.Duration) time.Time {
	last := c.LastRun(cmp.Or(agent, PipelineRun))
	if last.IsZero() {
		return last
	}
	return last.Add(interval)
}

// LastRun returns when a run with this name last ended, zero if it never ran.
func (c *AgentScheduler) LastRun(name string) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last[name]
}

// finish records a run.
func (c *AgentScheduler) finish(e *Agents, r *agentsRun) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	took := time.Duration(r.res.Millis) * time.Millisecond
	if !r.since.IsZero() {
		c.checked, c.rested = r.now, e.Opt.Now().Add(time.Duration(float64(took)/contradictionShare))
		return nil
	}
	c.backlog.update(r, took, e.Opt.Now())
	switch {
	case r.urgent:
		c.last[urgentRun] = core.StampTime(r.now)
	case r.similar:
		c.last[SimilarRun] = core.StampTime(r.now)
	case r.asked != "":
		c.last[r.asked] = core.StampTime(r.now)
	case r.rest:
		for _, ran := range r.res.Ran {
			c.last[ran.Agent] = core.StampTime(r.now)
		}
		if c.revision == r.revision { // what changed since is from this run
			c.revision = e.Revision.Load()
		}
	default:
		c.last[PipelineRun] = core.StampTime(r.now)
		for _, name := range op.Agents() {
			c.last[name] = core.StampTime(r.now)
		}
		c.revision = e.Revision.Load()
	}
	data, err := json.Marshal(c.last)
	if err != nil {
		return err
	}
	return durable.ReplaceFile(c.fs, c.file, data)
}

// Tasks returns the background work of the agents on the primary device. They run one interval
// after the last run if something has changed since, and else after a day; two more tasks
// search for urgent items and for contradictions after saves. Without memories none has a timer.
func (e *Agents) Tasks() []*core.Task {
	if e.Opt.Agents.Interval == 0 {
		return nil
	}
	s := e.AgentScheduler
	planned := func(at time.Time) {
		s.mu.Lock()
		s.next = at
		s.mu.Unlock()
	}
	afterSave := func(due time.Time) time.Time { return e.After(e.UrgentWait())(due) }
	return []*core.Task{
		{Wake: s.Saved, Woken: afterSave, Do: e.LookForUrgent},
		{Wake: s.Added, Woken: e.nextCheck, Do: e.CheckSaved},
		{Name: "agents", First: e.Opt.Now().Add(lifecycle.FirstLook), Wake: s.Look, Woken: e.NextAgents,
			Do: e.AgentsDue, Planned: planned, Rest: time.Second},
	}
}

// NextAgents returns when to run after a change, not later than planned before.
func (e *Agents) NextAgents(before time.Time) time.Time {
	now := e.Opt.Now()
	at := e.AgentScheduler.due("", e.Opt.Agents.Interval)
	if soonest := now.Add(lifecycle.FirstLook); at.Before(soonest) {
		at = soonest
	}
	if !before.IsZero() && before.Before(at) {
		return before
	}
	return at
}

// UrgentWait returns how long to wait before the next search for urgent items.
func (e *Agents) UrgentWait() time.Duration {
	since := e.Opt.Now().Sub(e.AgentScheduler.LastRun(urgentRun))
	return max(UrgentDelay, UrgentPause-max(0, since))
}

// AgentsDue runs what is due and returns when to run again.
func (e *Agents) AgentsDue(ctx context.Context) time.Time {
	now := e.Opt.Now()
	switch {
	case e.Stm.Len() == 0:
		return time.Time{}
	case !e.Lifecycle.IsPrimary():
		return now.Add(lifecycle.LooksAgain)
	case !e.Indexed.Load():
		return now.Add(lifecycle.FirstLook)
	case e.Notes.Vault != nil && !e.Notes.Vault.Complete.Load():
		return now.Add(lifecycle.ReadingRetry)
	}
	interval := e.Opt.Agents.Interval
	if due := e.AgentScheduler.due("", interval); now.Before(due) {
		if agents := e.AgentScheduler.toResume(now); len(agents) > 0 {
			e.runAutomatic(ctx, agentsJob, func() (*op.AgentsRunResult, error) { return e.runRest(ctx, agents) })
		}
		return e.AgentScheduler.sooner(now, due)
	}
	busy := false
	if e.AgentScheduler.wants(e) || !now.Before(e.AgentScheduler.due("", lifecycle.LooksAgain)) {
		busy = e.runAutomatic(ctx, agentsJob, func() (*op.AgentsRunResult, error) { return e.runPipeline(ctx) })
	}
	if !busy && !now.Before(e.AgentScheduler.LastRun(SimilarRun).Add(similarEvery)) {
		busy = e.runAutomatic(ctx, similarJob, func() (*op.AgentsRunResult, error) {
			return e.ConsolidateSimilar(ctx, AgentsActor(), SimilarThreshold)
		})
	}
	if busy {
		return now.Add(lifecycle.FirstLook)
	}
	select {
	case <-e.AgentScheduler.Look: // from these runs' own changes
	default:
	}
	if e.AgentScheduler.wants(e) { // changed in the meantime, or interrupted
		return e.AgentScheduler.sooner(now, now.Add(interval))
	}
	return e.AgentScheduler.sooner(now, now.Add(lifecycle.LooksAgain))
}

// wants reports whether the pipeline has work one interval after its last run: memories were
// changed or used since.
func (c *AgentScheduler) wants(e *Agents) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.revision != e.Revision.Load()
}

// runAutomatic records for status how an automatic run ended. It reports whether another run was
// in progress, so that this one did not start.
func (e *Agents) runAutomatic(ctx context.Context, chore string,
	run func() (*op.AgentsRunResult, error)) (busy bool) {
	_, err := run()
	if ctx.Err() != nil {
		return false
	}
	if err != nil && memory.CodeOf(err) == memory.Busy {
		return true
	}
	e.Chores.Settle(chore, err)
	if err != nil {
		e.Opt.Logger.Error("agents interrupted", "what", chore, "err", err)
	}
	return false
}

// runPipeline runs all agents automatically.
func (e *Agents) runPipeline(ctx context.Context) (*op.AgentsRunResult, error) {
	r := agentsRun{e: e, by: AgentsActor(), now: e.Opt.Now(), set: e.Opt.Agents, merges: e.Opt.Agents.AutoMerge,
		promotes: e.Opt.AutoPromote}
	res, err := e.runAgents(ctx, &r, op.Agents())
	if err == nil {
		err = r.firstError()
	}
	return res, err
}

// runRest runs the agents that the rate stopped, automatically.
func (e *Agents) runRest(ctx context.Context, agents []string) (*op.AgentsRunResult, error) {
	r := agentsRun{e: e, by: AgentsActor(), now: e.Opt.Now(), set: e.Opt.Agents, merges: e.Opt.Agents.AutoMerge,
		promotes: e.Opt.AutoPromote, rest: true}
	res, err := e.runAgents(ctx, &r, agents)
	if err == nil {
		err = r.firstError()
	}
	return res, err
}

// firstError returns the first error of an agent in a finished run.
func (r *agentsRun) firstError() error {
	for _, a := range r.res.Ran {
		if a.Problem != "" && a.Failed {
			return fmt.Errorf("%s: %s", a.Agent, a.Problem)
		}
	}
	return nil
}

// ConsolidateSimilar merges active memories above a similarity, 0 to 1, or creates items if
// merges need a review.
func (e *Agents) ConsolidateSimilar(ctx context.Context, by memory.Actor,
	threshold float64) (*op.AgentsRunResult, error) {
	r := agentsRun{e: e, by: by, now: e.Opt.Now(), set: e.Opt.Agents, merges: e.Opt.Agents.AutoMerge, similar: true}
	r.set.Threshold, r.set.Ladder = threshold, dedupe.Ladder{AutoMerge: threshold, Review: threshold}
	res, err := e.runAgents(ctx, &r, []string{op.AgentCluster, op.AgentMerge})
	if err == nil {
		err = r.firstError()
	}
	return res, err
}

// similarFate states what emberd does with the similar memories that the weekly run finds.
func similarFate(merges bool) string {
	if merges {
		return "emberd merges similar memories"
	}
	return "emberd creates review items"
}

// LookForUrgent creates items of high urgency. If another run was in progress, it returns when
// to try again, else zero.
func (e *Agents) LookForUrgent(ctx context.Context) time.Time {
	if !e.Lifecycle.IsPrimary() || !e.Indexed.Load() {
		return time.Time{}
	}
	busy := e.runAutomatic(ctx, agentsJob, func() (*op.AgentsRunResult, error) {
		r := agentsRun{e: e, by: AgentsActor(), now: e.Opt.Now(), set: e.Opt.Agents, urgent: true}
		return e.runAgents(ctx, &r, []string{op.AgentDecay})
	})
	if busy {
		return e.Opt.Now().Add(UrgentDelay)
	}
	return time.Time{}
}

// AgentJobs returns the jobs of the agents for status.
func (e *Agents) AgentJobs() []op.Job {
	c := e.AgentScheduler
	c.mu.Lock()
	defer c.mu.Unlock()
	run := op.Job{Name: "agents", Last: c.last[PipelineRun], Problem: e.Chores.Problem(agentsJob), Waiting: c.waiting(),
		Note: "runs after changes, at most once per consolidation.interval; otherwise once a day"}
	similar := op.Job{Name: "similar", Last: c.last[SimilarRun], Problem: e.Chores.Problem(similarJob),
		Note: "runs once a week with the other maintenance agents; " + similarFate(e.Opt.Agents.AutoMerge)}
	if e.Opt.Agents.Interval > 0 && e.Lifecycle.IsPrimary() {
		run.Next = core.StampTime(c.next)
		if !similar.Last.IsZero() {
			similar.Next = similar.Last.Add(similarEvery)
		}
	}
	return []op.Job{run, similar}
}
