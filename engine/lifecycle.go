package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"emberd/compaction"
	"emberd/internal/metrics"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
)

const (
	// shiftAtOnce memories change their stage in one line of the log, some 250 bytes each.
	shiftAtOnce = 1000
	// archiveChunk memories are archived, and as many promoted, between two rests.
	archiveChunk = 32
	// promoteMost notes are made by one run.
	promoteMost = 100
)

// agingRun is one run of the lifecycle, all of it one journal entry. A run that is broken
// off leaves nothing half-done: the next one plans anew.
type agingRun struct {
	e     *Engine
	by    memory.Actor
	asked bool // by somebody, who waits for it
	now   time.Time
	res   op.LifecycleRunResult

	seen, due int // of the moves and promotions
}

// age carries out a run. Only what somebody asks for goes beyond what a clock that jumped
// would bring about.
func (e *Engine) age(ctx context.Context, by memory.Actor, asked bool) (*op.LifecycleRunResult, error) {
	if !e.aging.running.TryLock() {
		return nil, memory.Errorf(memory.Busy, "a run of the lifecycle is under way; emberd lifecycle status tells when it is done")
	}
	defer e.aging.running.Unlock()
	begun := time.Now()
	r := agingRun{e: e, by: by, asked: asked, now: e.opt.Now()}
	plan, promotions := r.plan()
	if r.res.Report && !asked && plan.Colder > e.aging.agreement() {
		r.report(plan)
		e.vitals.runs.Add(metrics.By("reported"), 1)
		e.aging.finish(&r.res, e.aging.agreement())
		return &r.res, nil
	}
	err := r.carryOut(ctx, plan, promotions)
	r.res.Millis = time.Since(begun).Milliseconds()
	e.vitals.ran(err, time.Since(begun))
	left := 0
	if plan.Report {
		left = plan.Waiting
	}
	e.aging.finish(&r.res, left)
	if text := r.summary(); text != "" {
		e.events.publish(op.Event{ID: r.res.Tx, Type: "lifecycle", At: r.res.At, Text: text})
		e.opt.Logger.Info("lifecycle run", "did", text, "skipped", len(r.res.Skipped), "took", time.Since(begun))
	}
	if err != nil && r.res.Tx != "" && asked {
		r.res.Why, err = "broken off: "+err.Error(), nil
	}
	return &r.res, err
}

// plan says what is due, and fills in what the result says of that.
func (r *agingRun) plan() (rekindle.Plan, []candidate) {
	p := r.e.policy()
	plan := p.Plan(r.e.facts(p, r.now, func(memory.ID) {}), r.now)
	r.res.At, r.res.Memories, r.res.Waiting, r.res.Report = stampTime(r.now), plan.Memories, plan.Waiting, plan.Report
	r.res.Moves = []op.LifecycleMoves{}
	if r.e.notes != nil {
		r.res.Why = r.e.vaultAway()
	}
	var promotions []candidate
	if r.e.opt.AutoPromote && r.e.notes != nil && r.res.Why == "" {
		promotions, _ = r.e.promotable(r.now, r.e.opt.Promotion)
		r.res.Waiting += max(0, len(promotions)-promoteMost)
		promotions = promotions[:min(promoteMost, len(promotions))]
	}
	moves := slices.DeleteFunc(plan.Moves, func(m rekindle.Move) bool {
		return m.To.Cold() && slices.ContainsFunc(promotions, func(c candidate) bool { return c.row.ID() == m.ID })
	})
	r.res.Waiting += len(plan.Moves) - len(moves) // one thing at a time, so that each can be undone
	plan.Moves = moves
	return plan, promotions
}

// report says that too much is due at once. Once is enough.
func (r *agingRun) report(plan rekindle.Plan) {
	r.res.Why = atOnce(&plan) + "; if that is right: emberd lifecycle run"
	r.res.Waiting = len(plan.Moves) + plan.Waiting
	if last := r.e.aging.lastRun(); last == nil || last.Why != r.res.Why {
		r.e.opt.Logger.Warn("lifecycle waits for somebody to agree", "fading", plan.Colder, "memories", plan.Memories)
		r.e.events.publish(r.e.notice(r.res.Why))
	}
}

// atOnce says why a plan is reported and not carried out.
func atOnce(plan *rekindle.Plan) string {
	return fmt.Sprintf("%d of %d memories would fade at once, so that a clock may have jumped", plan.Colder, plan.Memories)
}

// carryOut does what is planned, a kind at a time.
func (r *agingRun) carryOut(ctx context.Context, plan rekindle.Plan, promotions []candidate) error {
	r.due = len(plan.Moves) + len(promotions)
	if err := r.promoteAll(ctx, promotions); err != nil {
		return err
	}
	for _, kind := range kindsOfMoves() {
		moves := slices.DeleteFunc(slices.Clone(plan.Moves), func(m rekindle.Move) bool { return kindOfMove(m) != kind })
		move := r.shift
		if kind == archiveVerb || kind == fadeVerb {
			move = r.cool
		}
		if err := move(ctx, kind, moves); err != nil {
			return err
		}
	}
	return nil
}

// kindsOfMoves are the journal's verbs for moves, in the order of a run.
func kindsOfMoves() []string { return []string{wakeVerb, demoteVerb, archiveVerb, fadeVerb} }

// kindOfMove is the journal's verb for a move.
func kindOfMove(m rekindle.Move) string {
	switch {
	case m.To == memory.Active:
		return wakeVerb
	case m.To == memory.Demoted:
		return demoteVerb
	case m.From.Cold():
		return fadeVerb
	}
	return archiveVerb
}

// cool takes memories to the cold stages, a few at a time.
func (r *agingRun) cool(ctx context.Context, kind string, moves []rekindle.Move) error {
	for len(moves) > 0 {
		reason, n := r.together(moves)
		begun := time.Now()
		got, err := r.e.archive(op.WithProgress(ctx, nil), moves[:n], reason, r.by, r.res.Tx)
		r.wrote(got.Entry)
		r.moved(kind, got.Done)
		for _, s := range got.Skipped {
			r.skip(s.ID, s.Reason)
		}
		if err != nil {
			return err
		}
		r.went(ctx, n)
		if moves = moves[n:]; len(moves) > 0 {
			r.rest(ctx, time.Since(begun))
		}
	}
	return nil
}

// together is how many of the first moves have the same reason, and which.
func (r *agingRun) together(moves []rekindle.Move) (reason string, n int) {
	for n = range moves[:min(archiveChunk, len(moves))] {
		why := r.reasonToArchive(moves[n].ID)
		if n > 0 && why != reason {
			return reason, n
		}
		reason = why
	}
	return reason, n + 1
}

func (r *agingRun) reasonToArchive(id memory.ID) string {
	ages := r.e.opt.Lifecycle.Ages
	if row, live := r.e.stm.Get(id); live {
		if own, ok := r.e.opt.Lifecycle.Categories[row.Category()]; ok {
			ages = own
		}
	}
	if days := int(ages.Archive.Hours() / 24); days != 1 && ages.Archive%(24*time.Hour) == 0 {
		return fmt.Sprintf("unused for %d days", days)
	}
	return fmt.Sprintf("unused for %s", ages.Archive)
}

// rest leaves the disk to others for a while after some work, unless somebody waits.
func (r *agingRun) rest(ctx context.Context, worked time.Duration) {
	if r.asked {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(compaction.Rest * worked):
	}
}

func (r *agingRun) skip(id memory.ID, why string) { r.res.Skipped = skipped(r.res.Skipped, id, why) }

// skipped adds to a list what was skipped, as far as an answer shows it.
func skipped(all []op.Skipped, id memory.ID, why string) []op.Skipped {
	if len(all) == op.MostShown {
		return all
	}
	return append(all, op.Skipped{ID: id, Reason: why})
}

// wrote notes the journal entry that a part of the run began.
func (r *agingRun) wrote(entry string) {
	if entry != "" {
		r.res.Tx = entry
	}
}

// moved counts what was done.
func (r *agingRun) moved(kind string, ids []memory.ID) {
	if len(ids) == 0 {
		return
	}
	i := slices.IndexFunc(r.res.Moves, func(m op.LifecycleMoves) bool { return m.Kind == kind })
	if i < 0 {
		i = len(r.res.Moves)
		r.res.Moves = append(r.res.Moves, op.LifecycleMoves{Kind: kind})
	}
	m := &r.res.Moves[i]
	m.Count += len(ids)
	r.e.vitals.moves.Add(metrics.By(kind), uint64(len(ids)))
	m.IDs = append(m.IDs, ids[:min(len(ids), op.MostShown-len(m.IDs))]...)
}

// went tells whoever asked how far the run is.
func (r *agingRun) went(ctx context.Context, n int) {
	r.seen += n
	op.Report(ctx, r.seen, r.due)
}

// summary tells what a run did in a line, "" for nothing.
func (r *agingRun) summary() string {
	done := map[string]string{op.MovePromote: "promoted", op.MoveWake: "woken", op.MoveDemote: "demoted", op.MoveArchive: "archived", op.MoveFade: "faded to key terms"}
	var parts []string
	for _, m := range r.res.Moves {
		parts = append(parts, fmt.Sprintf("%d %s", m.Count, done[m.Kind]))
	}
	return strings.Join(parts, ", ")
}

func (a *aging) agreement() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.agreed
}

func (a *aging) lastRun() *op.LifecycleRunResult {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last
}

// finish remembers a run, and how many memories may go on fading without being asked for
// again.
func (a *aging) finish(res *op.LifecycleRunResult, agreed int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last, a.agreed = res, agreed
}
