package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"emberd/compaction"
	"emberd/engine/core"
	"emberd/engine/promote"
	"emberd/internal/metrics"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
)

const (
	// ShiftAtOnce is how many memories change their stage in one log line, at about 250 bytes
	// each.
	ShiftAtOnce = 1000
	// archiveChunk is how many memories are archived, or promoted, between two rests.
	archiveChunk = 32
	// maxPromoted is how many notes one run creates.
	maxPromoted = 100
)

// LifecycleRun is one run of the lifecycle, all of it one change. An interrupted run leaves
// nothing half done: the next one plans again.
type LifecycleRun struct {
	E     *Lifecycle
	By    memory.Actor
	asked bool // a caller requested it and waits
	Now   time.Time
	Res   op.LifecycleRunResult

	seen, due int // progress of moves and promotions
}

// RunLifecycleOnce runs the lifecycle. If asked is false, it rests between writes. It returns an error of
// code Busy if a run is in progress.
func (e *Lifecycle) RunLifecycleOnce(ctx context.Context, by memory.Actor, asked bool) (*op.LifecycleRunResult, error) {
	if !e.Scheduler.Running.TryLock() {
		return nil, memory.Errorf(memory.Busy, "a lifecycle run is in progress; run: emberd lifecycle status")
	}
	defer e.Scheduler.Running.Unlock()
	begun := time.Now()
	r := LifecycleRun{E: e, By: by, asked: asked, Now: e.Opt.Now()}
	plan, promotions := r.Plan()
	err := r.CarryOut(ctx, plan, promotions)
	r.Res.Millis = time.Since(begun).Milliseconds()
	e.Vitals.Ran(err, time.Since(begun))
	e.Scheduler.finish(&r.Res)
	if text := r.summary(); text != "" {
		e.EventLog.Publish(op.Event{ID: r.Res.Tx, Type: "lifecycle", At: r.Res.At, Text: text})
		e.Opt.Logger.Info("lifecycle run", "did", text, "skipped", len(r.Res.Skipped), "took", time.Since(begun))
	}
	if err != nil && r.Res.Tx != "" && asked {
		r.Res.Why, err = "interrupted: "+err.Error(), nil
	}
	return &r.Res, err
}

// Plan returns what is due, and sets its numbers in the result.
func (r *LifecycleRun) Plan() (rekindle.Plan, []promote.Candidate) {
	p := r.E.Policy()
	plan := p.Plan(r.E.Facts(p, r.Now, func(memory.ID) {}), r.Now)
	r.Res.At, r.Res.Memories, r.Res.Waiting = core.StampTime(r.Now), plan.Memories, plan.Waiting
	r.Res.Moves = []op.LifecycleMoves{}
	if r.E.Notes.Vault != nil {
		r.Res.Why = r.E.Notes.VaultUnavailable()
	}
	var promotions []promote.Candidate
	if r.E.Opt.AutoPromote && r.E.Notes.Vault != nil && r.Res.Why == "" {
		promotions, _ = r.E.Promote.Promotable(r.Now, r.E.Opt.Promotion)
		r.Res.Waiting += max(0, len(promotions)-maxPromoted)
		promotions = promotions[:min(maxPromoted, len(promotions))]
	}
	moves := slices.DeleteFunc(plan.Moves, func(m rekindle.Move) bool {
		return m.To.Cold() &&
			slices.ContainsFunc(promotions, func(c promote.Candidate) bool { return c.Row.ID() == m.ID })
	})
	r.Res.Waiting += len(plan.Moves) - len(moves) // one kind at a time, so that each can be undone
	plan.Moves = moves
	return plan, promotions
}

// CarryOut applies a plan, one kind of move after the other.
func (r *LifecycleRun) CarryOut(ctx context.Context, plan rekindle.Plan, promotions []promote.Candidate) error {
	r.due = len(plan.Moves) + len(promotions)
	if err := r.promoteAll(ctx, promotions); err != nil {
		return err
	}
	for _, kind := range kindsOfMoves() {
		moves := slices.DeleteFunc(slices.Clone(plan.Moves),
			func(m rekindle.Move) bool { return KindOfMove(m) != kind })
		move := r.SetStage
		if kind == core.ArchiveVerb || kind == core.FadeVerb {
			move = r.archiveDue
		}
		if err := move(ctx, kind, moves); err != nil {
			return err
		}
	}
	return nil
}

// kindsOfMoves returns the journal verbs of moves, in the order of a run.
func kindsOfMoves() []string {
	return []string{core.WakeVerb, core.DemoteVerb, core.ArchiveVerb, core.FadeVerb}
}

// KindOfMove returns the journal verb of a move.
func KindOfMove(m rekindle.Move) string {
	switch {
	case m.To == memory.Active:
		return core.WakeVerb
	case m.To == memory.Demoted:
		return core.DemoteVerb
	case m.From.Cold():
		return core.FadeVerb
	}
	return core.ArchiveVerb
}

// archiveDue moves memories to the cold stages, a few at a time.
func (r *LifecycleRun) archiveDue(ctx context.Context, kind string, moves []rekindle.Move) error {
	for len(moves) > 0 {
		reason, n := r.together(moves)
		begun := time.Now()
		got, err := r.E.Archive(op.WithProgress(ctx, nil), moves[:n], reason, r.By, r.Res.Tx)
		r.recordTx(got.Entry)
		r.countMoves(kind, got.Done)
		for _, s := range got.Skipped {
			r.skip(s.ID, s.Reason)
		}
		if err != nil {
			return err
		}
		r.reportProgress(ctx, n)
		if moves = moves[n:]; len(moves) > 0 {
			r.rest(ctx, time.Since(begun))
		}
	}
	return nil
}

// together returns how many of the first moves have the same reason, and the reason.
func (r *LifecycleRun) together(moves []rekindle.Move) (reason string, n int) {
	for n = range moves[:min(archiveChunk, len(moves))] {
		why := r.reasonToArchive(moves[n].ID)
		if n > 0 && why != reason {
			return reason, n
		}
		reason = why
	}
	return reason, n + 1
}

func (r *LifecycleRun) reasonToArchive(id memory.ID) string {
	ages := r.E.Opt.Lifecycle.Ages
	if row, live := r.E.Stm.Get(id); live {
		if own, ok := r.E.Opt.Lifecycle.Categories[row.Category()]; ok {
			ages = own
		}
	}
	if days := int(ages.Archive.Hours() / 24); days != 1 && ages.Archive%(24*time.Hour) == 0 {
		return fmt.Sprintf("unused for %d days", days)
	}
	return fmt.Sprintf("unused for %s", ages.Archive)
}

// rest leaves the disk to others for a while after work, unless a caller waits.
func (r *LifecycleRun) rest(ctx context.Context, worked time.Duration) {
	if r.asked {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(compaction.Rest * worked):
	}
}

func (r *LifecycleRun) skip(id memory.ID, why string) {
	r.Res.Skipped = Skipped(r.Res.Skipped, id, why)
}

// Skipped appends a skipped memory, up to the limit of an answer.
func Skipped(all []op.Skipped, id memory.ID, why string) []op.Skipped {
	if len(all) == op.MostShown {
		return all
	}
	return append(all, op.Skipped{ID: id, Reason: why})
}

// recordTx records the change that a part of the run started.
func (r *LifecycleRun) recordTx(entry string) {
	if entry != "" {
		r.Res.Tx = entry
	}
}

// countMoves counts moves.
func (r *LifecycleRun) countMoves(kind string, ids []memory.ID) {
	if len(ids) == 0 {
		return
	}
	i := slices.IndexFunc(r.Res.Moves, func(m op.LifecycleMoves) bool { return m.Kind == kind })
	if i < 0 {
		i = len(r.Res.Moves)
		r.Res.Moves = append(r.Res.Moves, op.LifecycleMoves{Kind: kind})
	}
	m := &r.Res.Moves[i]
	m.Count += len(ids)
	r.E.Vitals.Moves.Add(metrics.By(kind), uint64(len(ids)))
	m.IDs = append(m.IDs, ids[:min(len(ids), op.MostShown-len(m.IDs))]...)
}

// reportProgress reports the progress to the caller.
func (r *LifecycleRun) reportProgress(ctx context.Context, n int) {
	r.seen += n
	op.Report(ctx, r.seen, r.due)
}

// summary describes a run in one line, "" if it did nothing.
func (r *LifecycleRun) summary() string {
	var parts []string
	for _, m := range r.Res.Moves {
		parts = append(parts, fmt.Sprintf("%d %s", m.Count, op.MoveText(m.Kind)))
	}
	return strings.Join(parts, ", ")
}

// LastRun returns the last run that was not a dry run, nil for none, and whether it was undone since.
func (e *Lifecycle) LastRun() *op.LifecycleRunResult {
	e.Scheduler.Mu.Lock()
	defer e.Scheduler.Mu.Unlock()
	if e.Scheduler.Last == nil {
		return nil
	}
	last := *e.Scheduler.Last
	last.Undone = last.Tx != "" && e.Stm.Undone(last.Tx)
	return &last
}

// finish records a run.
func (a *LifecycleScheduler) finish(res *op.LifecycleRunResult) {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	a.Last = res
}
