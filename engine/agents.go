package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"emberd/decay"
	"emberd/internal/agents"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Agents are the settings of the agents that look after memories.
type Agents struct {
	// Interval is how often they run by themselves on the keeper, never if it is 0.
	Interval time.Duration
	// AutoMerge lets them merge clusters that Ladder says may be without review.
	AutoMerge bool
	Ladder    agents.Ladder
	// Rate is how many things each agent does in any minute, 1 or more.
	Rate int
	// Relations says which memories are related by what they name.
	Relations agents.Rules
	// Threshold is from which similarity on memories are put into one cluster, of MinSize
	// to MaxSize.
	Threshold        float64
	MinSize, MaxSize int
}

// DefaultAgents returns the defaults of CortexGraph's page.
func DefaultAgents() Agents {
	return Agents{Interval: time.Hour, Ladder: agents.DefaultLadder(), Rate: 60, Threshold: op.ClusterThreshold, MinSize: 2, MaxSize: op.MaxClusterSize,
		Relations: agents.Rules{MinShared: 2, MinConfidence: 0.5, Most: 10}}
}

// check refuses what is out of bounds.
func (a *Agents) check() error {
	if a.Ladder.Review > a.Ladder.AutoMerge {
		return memory.Errorf(memory.Invalid, "clusters are reviewed from a cohesion of %v and merged from %v; the first must not exceed the second", a.Ladder.Review, a.Ladder.AutoMerge)
	}
	return firstError(
		memory.CheckRange("cohesion to merge from", a.Ladder.AutoMerge, 0, 1),
		memory.CheckRange("cohesion to review from", a.Ladder.Review, 0, 1),
		memory.CheckRange("rate", float64(a.Rate), 1, 1e6),
		memory.CheckRange("shared entities", float64(a.Relations.MinShared), 1, memory.MaxEntities),
		memory.CheckRange("confidence of relations", a.Relations.MinConfidence, 0, 1),
		memory.CheckRange("cluster threshold", a.Threshold, 0, 1),
		memory.CheckRange("least cluster size", float64(a.MinSize), 2, 1000),
		memory.CheckRange("largest cluster size", float64(a.MaxSize), float64(a.MinSize), 1000),
	)
}

const (
	// mostAtRisk is how many items of the decay agent are open at once. A store of many
	// old memories would fill the inbox otherwise.
	mostAtRisk = 100
	// mostFound is how many of what an agent found an answer shows.
	mostFound = 100
)

func agentsActor() memory.Actor { return memory.Actor{Via: stm.Itself, Client: "agents"} }

// agentsRun runs the pipeline or one agent because somebody asked for it.
func (e *Engine) agentsRun(ctx context.Context, req *op.AgentsRunRequest) (*op.AgentsRunResult, error) {
	names := op.Agents()
	if req.Agent != "" {
		if !slices.Contains(names, req.Agent) {
			return nil, memory.Errorf(memory.Invalid, "agent is %.20q; use %s", req.Agent, strings.Join(names, ", ")).At("agent")
		}
		names = []string{req.Agent}
	}
	interval := time.Duration(req.IntervalSeconds) * time.Second
	switch {
	case !req.Scheduled && (req.Force || interval != 0):
		return nil, memory.Errorf(memory.Invalid, "force and interval_seconds are about a scheduled run; set scheduled, or leave them out").At("scheduled")
	case interval != 0 && (interval < time.Minute || interval > 30*24*time.Hour):
		return nil, memory.Errorf(memory.Invalid, "interval_seconds is %d, outside 60 to 2592000", req.IntervalSeconds).At("interval_seconds")
	}
	if !req.DryRun {
		if err := e.needKeeper("the agents run"); err != nil {
			return nil, err
		}
	}
	now := e.opt.Now()
	if interval = cmp.Or(interval, e.opt.Agents.Interval); req.Scheduled && !req.Force {
		if next := e.caring.due(req.Agent, interval); now.Before(next) {
			return &op.AgentsRunResult{At: stampTime(now), DryRun: req.DryRun, NextRun: stampTime(next), Ran: []op.AgentRan{},
				Skipped: fmt.Sprintf("the last run was less than %s ago", strings.TrimSuffix(interval.String(), "0s"))}, nil
		}
	}
	r := agentsRound{e: e, by: op.CallerFrom(ctx), dry: req.DryRun, asked: req.Agent, now: now, set: e.opt.Agents,
		merges: e.opt.Agents.AutoMerge || req.Agent == op.AgentMerge && !req.Scheduled, promotes: !req.Scheduled || e.opt.AutoPromote}
	res, err := e.runAgents(ctx, &r, names)
	if err == nil {
		res.NextRun = stampTime(e.caring.due(req.Agent, interval))
	}
	return res, err
}

// agentsRound is one run of some of the agents; all that it changes is one journal entry.
type agentsRound struct {
	e     *Engine
	by    memory.Actor
	dry   bool
	asked string // the agent that was named, "" for the pipeline
	now   time.Time
	// merges and promotes are what it may do unasked; else it files that for review.
	merges, promotes bool

	set   Agents               // the settings it goes by
	g     *gathering           // of the cluster agent, for the merge agent
	made  map[memory.ID]string // notes of members of the merges that are next
	would []memory.ReviewItem
	res   op.AgentsRunResult
	ran   *op.AgentRan // the agent that is running
	// urgent has the decay agent file only what is highly urgent, and similar the cluster
	// agent only groups of active memories; see [Engine.consolidateSimilar].
	urgent, similar bool
	more            bool // to do than the rate lets
}

// runAgents runs agents one after the other. What one cannot do is told of it and keeps no
// other from running.
func (e *Engine) runAgents(ctx context.Context, r *agentsRound, names []string) (*op.AgentsRunResult, error) {
	if !e.caring.running.TryLock() {
		return nil, memory.Errorf(memory.Busy, "the agents are running; try again in a moment")
	}
	defer e.caring.running.Unlock()
	begun := time.Now()
	r.res.At, r.res.DryRun = stampTime(r.now), r.dry
	r.res.Ran = make([]op.AgentRan, len(names))
	for i, name := range names {
		r.ran = &r.res.Ran[i]
		r.ran.Agent = name
		if err := r.one(ctx, name); err != nil {
			if r.res.Tx == "" && (ctx.Err() != nil || r.asked != "") {
				return nil, err
			}
			r.ran.Problem, r.ran.Failed = err.Error(), true
			if ctx.Err() != nil { // what was done can be undone by the entry
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
		if err := e.caring.finish(e, r); err != nil {
			e.opt.Logger.Warn("the agents may run again sooner than they should after a restart", "err", err)
		}
	}
	if did := summaryOfAgents(&r.res); did != "" {
		e.events.publish(op.Event{ID: r.res.Tx, Type: "agents", At: r.res.At, Text: did})
		e.opt.Logger.Info("agents ran", "did", did, "took", time.Since(begun))
	}
	return &r.res, nil
}

func (r *agentsRound) one(ctx context.Context, name string) error {
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

// summaryOfAgents tells what a run did in a line, "" for nothing.
func summaryOfAgents(res *op.AgentsRunResult) string {
	var parts []string
	filed := 0
	for _, a := range res.Ran {
		filed += a.Filed
		if a.Changed == 0 {
			continue
		}
		did := map[string]string{op.AgentCluster: "contradictions noted", op.AgentMerge: "merged", op.AgentPromote: "promoted", op.AgentRelations: "related"}
		parts = append(parts, fmt.Sprintf("%d %s", a.Changed, did[a.Agent]))
	}
	if filed > 0 {
		parts = append(parts, fmt.Sprintf("%d filed for review", filed))
	}
	return strings.Join(parts, ", ")
}

// wrote notes the journal entry that a part of the run began.
func (r *agentsRound) wrote(entry string) {
	if entry != "" {
		r.res.Tx = entry
	}
}

// take is how many of so many things the agent may do now; the others wait.
func (r *agentsRound) take(want int) int {
	rate := r.e.caring.rates[r.ran.Agent]
	got := min(want, rate.Room(r.now))
	if !r.dry {
		got = rate.Take(r.now, want)
	}
	r.ran.Waiting += want - got
	r.more = r.more || got < want
	return got
}

// file files review items, as many as the rate lets.
func (r *agentsRound) file(ctx context.Context, items []memory.ReviewItem) error {
	items = r.e.wouldFile(items)
	return r.fileSome(ctx, items[:r.take(len(items))])
}

func (r *agentsRound) fileSome(ctx context.Context, items []memory.ReviewItem) error {
	if r.dry {
		r.would = append(r.would, items...)
		r.ran.Filed += len(items)
		return nil
	}
	entry, filed, err := r.e.fileItems(ctx, r.by, r.res.Tx, items)
	r.wrote(entry)
	r.ran.Filed += len(filed)
	return err
}

// takenBack is when somebody undid or removed what a memory had under a key, the zero time
// if nobody did: an agent does not do again what was taken back.
func takenBack(row *stm.Row, key string) time.Time {
	if row.Has(key) {
		return time.Time{}
	}
	return row.Changed(key)
}

// wouldFile are the items that fileItems would file now, complete, less those that somebody
// undid and of whose memories none was changed since.
func (e *Engine) wouldFile(items []memory.ReviewItem) []memory.ReviewItem {
	var out []memory.ReviewItem
	shelves := make(map[memory.ID]*itemShelf)
	for _, item := range items {
		if e.completeItem(&item) != nil {
			continue
		}
		id := item.MemoryIDs[0]
		row, live := e.stm.Get(id)
		if !live {
			continue
		}
		if shelves[id] == nil {
			shelves[id] = &itemShelf{e: e, row: row, items: row.ReviewItems(), set: make(map[string]json.RawMessage)}
		}
		item.ClosedAt = takenBack(row, stm.ReviewKey(item.ID))
		undone := !item.ClosedAt.IsZero() && !e.changedSince(&item)
		item.ClosedAt = time.Time{}
		if !undone && shelves[id].add(item) {
			out = append(out, item)
		}
	}
	return out
}

// decay files what is about to be forgotten.
func (r *agentsRound) decay(ctx context.Context) error {
	found := r.e.atRisk(r.now)
	if r.urgent {
		found = slices.DeleteFunc(found, func(d op.DecayResult) bool { return d.Urgency != string(decay.High) })
	}
	r.ran.Found, r.res.Decay = len(found), found[:min(len(found), mostFound)]
	free := max(0, mostAtRisk-r.e.openItemsOf(op.ReviewDecay))
	if r.urgent && free == 0 { // after any save, and a large store has much that is at risk
		return nil
	}
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b op.DecayResult) int { return cmp.Compare(worthAsking(a.Action), worthAsking(b.Action)) })
	items := make([]memory.ReviewItem, len(found))
	for i, d := range found {
		items[i] = memory.ReviewItem{Agent: op.ReviewDecay, Action: d.Action, Urgency: d.Urgency, MemoryIDs: []memory.ID{d.MemoryID}, Evidence: r.e.fading(d, r.now)}
	}
	fresh := r.e.wouldFile(items)
	room := min(len(fresh), free)
	r.ran.Waiting += len(fresh) - room
	return r.fileSome(ctx, fresh[:r.take(room)])
}

// worthAsking orders actions by how much a look at the memory is worth.
func worthAsking(action string) int {
	return slices.Index([]string{string(decay.Reinforce), string(decay.NeedsReview), string(decay.GCCandidate)}, action)
}

// atRisk are the memories in the danger zone or below it, the lowest score first. What
// does not fade, has a note of its own or left its text there is not at risk.
func (e *Engine) atRisk(now time.Time) []op.DecayResult {
	found := []op.DecayResult{}
	for row := range e.stm.Rows() {
		if row.Stage().Cold() || row.Core() || row.Promoted() {
			continue
		}
		score := e.score(row, now)
		urgency := decay.UrgencyOf(score)
		if urgency == "" || e.superseded(row) {
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

// fading says why a memory is at risk.
func (e *Engine) fading(d op.DecayResult, now time.Time) string {
	row, live := e.stm.Get(d.MemoryID)
	if !live {
		return ""
	}
	ago := ofNoun(int64(max(0, now.Sub(row.LastUsed())).Hours()/24), "day")
	if row.UseCount() == 0 {
		return fmt.Sprintf("its score is %.2f; it was not used for %s", d.Score, ago)
	}
	return fmt.Sprintf("its score is %.2f; it was used %s, the last time %s ago", d.Score, ofNoun(row.UseCount(), "time"), ago)
}

// ofNoun is a number with its noun.
func ofNoun(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// openItemsOf counts the items of an agent that wait for somebody.
func (e *Engine) openItemsOf(agent string) (n int) {
	for item := range e.reviewItems() {
		if item.Agent == agent && item.Status != memory.ItemClosed {
			n++
		}
	}
	return n
}
