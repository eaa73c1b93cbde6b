package engine

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

	"emberd/internal/agents"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	// urgentDelay is how long after a save what is urgent is looked for, so that one look is
	// enough for a few saves, and urgentPause how long after the last look.
	urgentDelay = time.Minute
	urgentPause = 5 * time.Minute
	// similarEvery is how often memories that are nearly equal are merged.
	similarEvery = 7 * 24 * time.Hour
)

// The names of runs in the file of the last ones: the whole pipeline, the look for what is
// urgent and that for what is nearly equal; single agents are there by their names.
const (
	pipelineRun = "pipeline"
	urgentRun   = "urgent"
	similarRun  = "similar"
)

// The chores of the agents, as status names them.
const (
	agentsChore  = "run of the agents"
	similarChore = "merging of equal memories"
)

// caring is what the scheduler of the agents knows.
type caring struct {
	running sync.Mutex // held through a run
	rates   map[string]*agents.Rate
	look    chan struct{} // holds a token when something changed
	saved   chan struct{} // holds a token when a memory was saved
	fs      durable.FS
	file    string

	mu   sync.Mutex           // guards what follows
	last map[string]time.Time // runs that were no dry ones
	next time.Time            // when it looks again, zero for not before something changes
	// revision is that of the memories at the end of the last run of the pipeline, and more
	// whether there was more to do than the rate let.
	revision uint64
	more     bool
}

// newCaring goes on where the last run of the daemon ended.
func newCaring(opt *Options) *caring {
	c := &caring{rates: make(map[string]*agents.Rate), look: make(chan struct{}, 1), saved: make(chan struct{}, 1),
		fs: opt.FS, file: filepath.Join(opt.State, "agents.json")}
	for _, name := range op.Agents() {
		c.rates[name] = agents.NewRate(opt.Agents.Rate)
	}
	data, err := durable.ReadAll(c.fs, c.file)
	if err == nil {
		err = json.Unmarshal(data, &c.last)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		opt.Logger.Warn("when the agents ran last is not known", "err", err)
	}
	if c.last == nil {
		c.last = make(map[string]time.Time)
	}
	return c
}

// committed takes in that memories changed. The store waits for it.
func (c *caring) committed(entry *stm.Entry) {
	if entry.Verb == saveVerb || entry.Verb == addVerb {
		nudge(c.saved)
	}
}

// due is when an agent, or the pipeline for "", is to run again, the zero time if it never
// did.
func (c *caring) due(agent string, interval time.Duration) time.Time {
	last := c.lastRun(cmp.Or(agent, pipelineRun))
	if last.IsZero() {
		return last
	}
	return last.Add(interval)
}

func (c *caring) lastRun(name string) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last[name]
}

// finish remembers a run.
func (c *caring) finish(e *Engine, r *agentsRound) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case r.urgent:
		c.last[urgentRun] = stampTime(r.now)
	case r.similar:
		c.last[similarRun] = stampTime(r.now)
	case r.asked != "":
		c.last[r.asked] = stampTime(r.now)
	default:
		c.last[pipelineRun] = stampTime(r.now)
		for _, name := range op.Agents() {
			c.last[name] = stampTime(r.now)
		}
		c.revision, c.more = e.revision.Load(), r.more
	}
	data, err := json.Marshal(c.last)
	if err != nil {
		return err
	}
	return durable.ReplaceFile(c.fs, c.file, data)
}

// keepAgents runs the agents on the keeper, a period after they ran last if something has
// changed since and else after a day, and looks for what is urgent after saves, until ctx
// is done. With no memories no timer is set.
func (e *Engine) keepAgents(ctx context.Context) {
	const name = "agents"
	if e.opt.Agents.Interval == 0 {
		return
	}
	defer e.chores.disarm(name)
	next := e.opt.Now().Add(firstLook)
	var urgent <-chan time.Time
	for {
		timer := e.sleepAgents(name, next)
		select {
		case <-ctx.Done():
			return
		case <-e.caring.saved:
			if urgent == nil {
				urgent = time.After(e.urgentWait())
			}
		case <-urgent:
			urgent = nil
			e.lookForUrgent(ctx)
		case <-e.caring.look:
			next = e.nextAgents(next)
		case <-timer:
			next = e.agentsDue(ctx)
		}
	}
}

// sleepAgents arms the timer for the next run, none for the zero time.
func (e *Engine) sleepAgents(name string, next time.Time) <-chan time.Time {
	e.caring.mu.Lock()
	e.caring.next = next
	e.caring.mu.Unlock()
	return e.timer(name, next)
}

// nextAgents is when to run after a change, no later than was meant before.
func (e *Engine) nextAgents(before time.Time) time.Time {
	now := e.opt.Now()
	at := e.caring.due("", e.opt.Agents.Interval)
	if soonest := now.Add(firstLook); at.Before(soonest) {
		at = soonest
	}
	if !before.IsZero() && before.Before(at) {
		return before
	}
	return at
}

// urgentWait is how long to wait for the next look for what is urgent.
func (e *Engine) urgentWait() time.Duration {
	since := e.opt.Now().Sub(e.caring.lastRun(urgentRun))
	return max(urgentDelay, urgentPause-max(0, since))
}

// agentsDue runs what is due and returns when to look again.
func (e *Engine) agentsDue(ctx context.Context) time.Time {
	now := e.opt.Now()
	switch {
	case e.stm.Len() == 0:
		return time.Time{}
	case !e.isKeeper():
		return now.Add(looksAgain)
	case !e.indexed.Load():
		return now.Add(firstLook)
	case e.notes != nil && !e.notes.complete.Load():
		return now.Add(readingAgain)
	}
	interval := e.opt.Agents.Interval
	if due := e.caring.due("", interval); now.Before(due) {
		return due
	}
	if e.caring.wants(e) || !now.Before(e.caring.due("", looksAgain)) {
		e.runUnasked(ctx, agentsChore, func() (*op.AgentsRunResult, error) { return e.runPipeline(ctx) })
	}
	if !now.Before(e.caring.lastRun(similarRun).Add(similarEvery)) {
		e.runUnasked(ctx, similarChore, func() (*op.AgentsRunResult, error) {
			return e.consolidateSimilar(ctx, agentsActor(), similarThreshold)
		})
	}
	select {
	case <-e.caring.look: // of these runs' own changes
	default:
	}
	if e.caring.wants(e) { // of somebody's changes meanwhile, or since a run was broken off
		return now.Add(interval)
	}
	return now.Add(looksAgain)
}

// wants reports whether the pipeline has something to do an interval after its last run:
// memories were changed or used since, or it was not done.
func (c *caring) wants(e *Engine) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.more || c.revision != e.revision.Load()
}

// runUnasked has the daemon tell how a run ended that nobody waits for.
func (e *Engine) runUnasked(ctx context.Context, chore string, run func() (*op.AgentsRunResult, error)) {
	_, err := run()
	if ctx.Err() != nil || memory.CodeOf(err) == memory.Busy {
		return
	}
	e.chores.settle(chore, err)
	if err != nil {
		e.opt.Logger.Error("agents broken off", "what", chore, "err", err)
	}
}

// runPipeline runs all agents by themselves.
func (e *Engine) runPipeline(ctx context.Context) (*op.AgentsRunResult, error) {
	r := agentsRound{e: e, by: agentsActor(), now: e.opt.Now(), set: e.opt.Agents, merges: e.opt.Agents.AutoMerge, promotes: e.opt.AutoPromote}
	res, err := e.runAgents(ctx, &r, op.Agents())
	if err == nil {
		err = r.broken()
	}
	return res, err
}

// broken is the first error that an agent of a finished run ended with.
func (r *agentsRound) broken() error {
	for _, a := range r.res.Ran {
		if a.Problem != "" && a.Failed {
			return fmt.Errorf("%s: %s", a.Agent, a.Problem)
		}
	}
	return nil
}

// consolidateSimilar merges active memories that are at least so similar, 0 to 1, or files
// them where nothing is merged without review.
func (e *Engine) consolidateSimilar(ctx context.Context, by memory.Actor, threshold float64) (*op.AgentsRunResult, error) {
	r := agentsRound{e: e, by: by, now: e.opt.Now(), set: e.opt.Agents, merges: e.opt.Agents.AutoMerge, similar: true}
	r.set.Threshold, r.set.Ladder = threshold, agents.Ladder{AutoMerge: threshold, Review: threshold}
	res, err := e.runAgents(ctx, &r, []string{op.AgentCluster, op.AgentMerge})
	if err == nil {
		err = r.broken()
	}
	return res, err
}

// lookForUrgent files what is highly urgent.
func (e *Engine) lookForUrgent(ctx context.Context) {
	if !e.isKeeper() || !e.indexed.Load() {
		return
	}
	e.runUnasked(ctx, agentsChore, func() (*op.AgentsRunResult, error) {
		r := agentsRound{e: e, by: agentsActor(), now: e.opt.Now(), set: e.opt.Agents, urgent: true}
		return e.runAgents(ctx, &r, []string{op.AgentDecay})
	})
}

// agentJobs tells of the agents among the jobs.
func (e *Engine) agentJobs() []op.Job {
	c := e.caring
	c.mu.Lock()
	defer c.mu.Unlock()
	run := op.Job{Name: "agents", Last: c.last[pipelineRun], Problem: e.chores.problem(agentsChore), Note: "an interval after something changed, or a day later"}
	similar := op.Job{Name: "similar", Last: c.last[similarRun], Problem: e.chores.problem(similarChore), Note: "with a run of the agents, once a week"}
	if e.opt.Agents.Interval > 0 && e.isKeeper() {
		run.Next = stampTime(c.next)
		if !similar.Last.IsZero() {
			similar.Next = similar.Last.Add(similarEvery)
		}
	}
	return []op.Job{run, similar}
}
