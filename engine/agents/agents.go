package agents

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"emberd/decay"
	"emberd/engine/core"
	"emberd/engine/merge"
	"emberd/engine/review"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	// atRiskADay is how many items the decay agent may have open, and file within a day, so that a store with
	// many old memories does not fill the review note. The others fade, which needs no decision.
	atRiskADay = 10
	// minTrust is the trust from the calibration from which on embeddings count for relations.
	minTrust = 0.5
	// MaxFound is how many results of an agent an answer has.
	MaxFound = 100
)

// AgentsActor returns the actor of automatic runs of the agents.
func AgentsActor() memory.Actor { return memory.Actor{Via: stm.Itself, Client: "agents"} }

// AgentsRun runs all agents or one, at the request of a caller.
func (e *Agents) AgentsRun(ctx context.Context, req *op.AgentsRunRequest) (*op.AgentsRunResult, error) {
	names := op.Agents()
	if req.Agent != "" {
		if !slices.Contains(names, req.Agent) {
			return nil, memory.Errorf(memory.Invalid, "invalid maintenance agent %.20q; use %s", req.Agent,
				strings.Join(names, ", ")).At("agent")
		}
		names = []string{req.Agent}
	}
	interval := time.Duration(req.IntervalSeconds) * time.Second
	switch {
	case !req.Scheduled && (req.Force || interval != 0):
		return nil, memory.Errorf(memory.Invalid, "force and interval_seconds require scheduled").At("scheduled")
	case interval != 0 && (interval < time.Minute || interval > 30*24*time.Hour):
		return nil, memory.Errorf(memory.Invalid, "interval_seconds %d is out of range (60 to 2592000)",
			req.IntervalSeconds).At("interval_seconds")
	}
	if !req.DryRun {
		if err := e.Lifecycle.ErrNotPrimary("the agents run"); err != nil {
			return nil, err
		}
	}
	now := e.Opt.Now()
	if interval = cmp.Or(interval, e.Opt.Agents.Interval); req.Scheduled && !req.Force {
		if next := e.AgentScheduler.due(req.Agent, interval); now.Before(next) {
			return &op.AgentsRunResult{At: core.StampTime(now), DryRun: req.DryRun, NextRun: core.StampTime(next),
					Ran: []op.AgentRan{},
					Skipped: fmt.Sprintf("the last run of the maintenance agents was less than %s ago",
						strings.TrimSuffix(interval.String(), "0s"))},
				nil
		}
	}
	r := agentsRun{e: e, by: op.CallerFrom(ctx), dry: req.DryRun, asked: req.Agent, now: now, set: e.Opt.Agents,
		merges: e.Opt.Agents.AutoMerge || req.Agent == op.AgentMerge && !req.Scheduled, promotes: !req.Scheduled ||
			e.Opt.AutoPromote}
	res, err := e.runAgents(ctx, &r, names)
	if err == nil {
		res.NextRun = core.StampTime(e.AgentScheduler.due(req.Agent, interval))
	}
	return res, err
}

// agentsRun is one run of agents; its changes are one change.
type agentsRun struct {
	e     *Agents
	by    memory.Actor
	dry   bool
	asked string // the named agent, "" for all
	now   time.Time
	// merges and promotes allow the run to do so; otherwise it creates review items.
	merges, promotes bool

	set   core.Agents         // the settings of the run
	g     *merge.ClusterInput // result of the cluster agent, for the merge agent
	would []memory.ReviewItem
	res   op.AgentsRunResult
	ran   *op.AgentRan // the running agent
	// urgent limits the decay agent to items of high urgency, and similar the cluster agent to
	// groups of active memories; see [Agents.ConsolidateSimilar].
	urgent, similar bool
	// since limits the run to the contradictions of memories that were saved after it.
	since time.Time
	// rest limits the run to agents of the backlog, and left has what the rate does not allow now, by agent.
	rest     bool
	left     map[string]int
	revision uint64 // of the memories when the run began
}

// runAgents runs agents one after the other. If one fails, its result has the problem, and the
// others run.
func (e *Agents) runAgents(ctx context.Context, r *agentsRun, names []string) (*op.AgentsRunResult, error) {
	if !e.AgentScheduler.Running.TryLock() {
		return nil, memory.Errorf(memory.Busy, "a run of the maintenance agents is in progress; try again in a moment")
	}
	defer e.AgentScheduler.Running.Unlock()
	begun := time.Now()
	r.left, r.revision = make(map[string]int), e.Revision.Load()
	r.res.At, r.res.DryRun = core.StampTime(r.now), r.dry
	r.res.Ran = make([]op.AgentRan, len(names))
	for i, name := range names {
		r.ran = &r.res.Ran[i]
		r.ran.Agent = name
		if err := r.one(ctx, name); err != nil {
			if r.res.Tx == "" && (ctx.Err() != nil || r.asked != "") {
				return nil, err
			}
			r.ran.Problem, r.ran.Failed = err.Error(), true
			if ctx.Err() != nil { // the caller can undo the part that was done
				r.res.Ran = r.res.Ran[:i+1]
				break
			}
		}
	}
	r.res.Millis = time.Since(begun).Milliseconds()
	if r.dry {
		return &r.res, nil
	}
	if ctx.Err() == nil {
		if err := e.AgentScheduler.finish(e, r); err != nil {
			e.Opt.Logger.Warn("time of the last run of the maintenance agents not saved", "err", err)
		}
	}
	if did := summaryOfAgents(&r.res); did != "" {
		e.EventLog.Publish(op.Event{ID: r.res.Tx, Type: "agents", At: r.res.At, Text: did})
		e.Opt.Logger.Info("agents ran", "did", did, "took", time.Since(begun))
	}
	return &r.res, nil
}

func (r *agentsRun) one(ctx context.Context, name string) error {
	begun := time.Now()
	defer func() { r.ran.Millis = time.Since(begun).Milliseconds() }()
	switch name {
	case op.AgentDecay:
		return r.decay(ctx)
	case op.AgentCluster:
		return r.cluster(ctx)
	case op.AgentMerge:
		return r.merge(ctx)
	case op.AgentPromote:
		return r.promote(ctx)
	}
	return r.relations(ctx)
}

// summaryOfAgents describes a run in one line, "" if it changed nothing.
func summaryOfAgents(res *op.AgentsRunResult) string {
	var parts []string
	filed := 0
	for _, a := range res.Ran {
		filed += a.Filed
		if a.Changed == 0 {
			continue
		}
		did := map[string]string{op.AgentCluster: "contradictions noted", op.AgentMerge: "merged",
			op.AgentPromote: "promoted", op.AgentRelations: "related"}
		parts = append(parts, fmt.Sprintf("%d %s", a.Changed, did[a.Agent]))
	}
	if filed > 0 {
		parts = append(parts, fmt.Sprintf("review items created: %d", filed))
	}
	return strings.Join(parts, ", ")
}

// recordTx records the change that a part of the run started.
func (r *agentsRun) recordTx(entry string) {
	if entry != "" {
		r.res.Tx = entry
	}
}

// allow returns how many of so many actions the agent may do now; the others wait.
func (r *agentsRun) allow(want int) int {
	rate := r.e.AgentScheduler.Rates[r.ran.Agent]
	got := min(want, rate.Room(r.now))
	if !r.dry {
		got = rate.Take(r.now, want)
	}
	r.ran.Waiting += want - got
	r.left[r.ran.Agent] += want - got
	return got
}

// file creates review items, as many as the rate allows.
func (r *agentsRun) file(ctx context.Context, items []memory.ReviewItem) error {
	items = review.WouldFile(r.e.Review, items)
	return r.fileSome(ctx, items[:r.allow(len(items))])
}

func (r *agentsRun) fileSome(ctx context.Context, items []memory.ReviewItem) error {
	if r.dry {
		r.would = append(r.would, items...)
		r.ran.Filed += len(items)
		return nil
	}
	entry, filed, err := r.e.Review.FileItems(ctx, r.by, r.res.Tx, items)
	r.recordTx(entry)
	r.ran.Filed += len(filed)
	return err
}

// decay creates items for memories that are about to be deleted.
func (r *agentsRun) decay(ctx context.Context) error {
	found := r.e.atRisk(r.now)
	if r.urgent {
		found = slices.DeleteFunc(found, func(d op.DecayResult) bool { return d.Urgency != string(decay.High) })
	}
	r.ran.Found, r.res.Decay = len(found), found[:min(len(found), MaxFound)]
	free := r.e.roomForRisks(r.now)
	if r.urgent && free == 0 { // checked after every save; a large store has much at risk
		return nil
	}
	found = slices.Clone(found)
	slices.SortStableFunc(found,
		func(a, b op.DecayResult) int { return cmp.Compare(actionOrder(a.Action), actionOrder(b.Action)) })
	items := make([]memory.ReviewItem, len(found))
	for i, d := range found {
		items[i] = memory.ReviewItem{Agent: op.ReviewDecay, Action: d.Action, Urgency: d.Urgency,
			MemoryIDs: []memory.ID{d.MemoryID}, Evidence: r.e.riskReason(d, r.now)}
	}
	fresh := review.WouldFile(r.e.Review, items)
	room := min(len(fresh), free)
	r.ran.Waiting += len(fresh) - room
	return r.fileSome(ctx, fresh[:r.allow(room)])
}

// actionOrder orders actions by how much a review is worth.
func actionOrder(action string) int {
	return slices.Index([]string{string(decay.Reinforce), string(decay.NeedsReview), string(decay.GCCandidate)}, action)
}

// atRisk returns the memories in the danger zone or below it, lowest score first. Core,
// promoted and archived memories are not at risk.
func (e *Agents) atRisk(now time.Time) []op.DecayResult {
	found := []op.DecayResult{}
	for row := range e.Stm.Rows() {
		if row.Stage().Cold() || row.Core() || row.Promoted() {
			continue
		}
		score := e.Score(row, now)
		urgency := decay.UrgencyOf(score)
		if urgency == "" || e.Superseded(row) {
			continue
		}
		found = append(found, op.DecayResult{MemoryID: row.ID(), Score: score, Urgency: string(urgency),
			Action: string(decay.ActionFor(score, int(row.UseCount()), row.Strength()))})
	}
	slices.SortFunc(found, func(a, b op.DecayResult) int {
		return cmp.Or(cmp.Compare(a.Score, b.Score), cmp.Compare(a.MemoryID, b.MemoryID))
	})
	return found
}

// riskReason returns why a memory is at risk.
func (e *Agents) riskReason(d op.DecayResult, now time.Time) string {
	row, live := e.Stm.Get(d.MemoryID)
	if !live {
		return ""
	}
	ago := ofNoun(int64(max(0, now.Sub(row.LastUsed())).Hours()/24), "day")
	if row.UseCount() == 0 {
		return fmt.Sprintf("the memory has a score of %.2f and has not been used for %s", d.Score, ago)
	}
	return fmt.Sprintf("the memory has a score of %.2f; it was used %s, the last time %s ago", d.Score,
		ofNoun(row.UseCount(), "time"), ago)
}

// ofNoun returns a number with its noun.
func ofNoun(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// roomForRisks returns how many more items the decay agent may file now.
func (e *Agents) roomForRisks(now time.Time) int {
	room := atRiskADay
	for item := range e.Review.ReviewItems() {
		today := now.Sub(item.CreatedAt) < 24*time.Hour
		if item.Agent == op.ReviewDecay && (today || item.Status != memory.ItemClosed) {
			room--
		}
	}
	return max(0, room)
}
