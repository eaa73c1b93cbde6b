package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"emberd/engine/promote"
	"emberd/internal/dedupe/similarity"
	"emberd/memory"
	"emberd/op"
)

// promoteAll promotes candidates and skips those that cannot have a note.
func (r *LifecycleRun) promoteAll(ctx context.Context, all []promote.Candidate) error {
	for some := range slices.Chunk(all, archiveChunk) {
		begun := time.Now()
		for _, c := range some {
			id := c.Row.ID()
			got, err := r.E.Promote.PromoteMemory(ctx,
				promote.Promotion{ID: id, By: r.By, Force: true, Entry: r.Res.Tx})
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case memory.CodeOf(err) == memory.DiskFull, memory.CodeOf(err) == memory.ReadOnly:
				return err
			case err != nil:
				r.skip(id, err.Error())
			case got.Outcome == op.PromotionPending:
				r.skip(id, "emberd cannot write the note yet: "+got.Reason)
			default:
				r.recordTx(got.Tx)
				r.countMoves(op.MovePromote, []memory.ID{id})
			}
			r.reportProgress(ctx, 1)
		}
		r.rest(ctx, time.Since(begun))
	}
	return nil
}

// PromoteAuto promotes every memory that qualifies, as one change.
func (e *Lifecycle) PromoteAuto(ctx context.Context, req *op.PromoteAutoRequest) (*op.PromoteAutoResult, error) {
	if err := e.Notes.NeedVault(); err != nil {
		return nil, err
	}
	now, rule := e.Opt.Now(), e.Opt.Promotion
	if req.Force {
		rule = rule.Bare()
	}
	all, held := e.Promote.Promotable(now, rule)
	res := &op.PromoteAutoResult{DryRun: req.DryRun, CandidatesFound: len(all), PromotedIDs: []memory.ID{},
		Candidates: []op.PromoteCandidate{}}
	for _, c := range all[:min(op.MostShown, len(all))] {
		res.Candidates = append(res.Candidates, e.shownCandidate(c, now))
	}
	res.Skipped = held[:min(op.MostShown, len(held))]
	if req.DryRun {
		res.Message = fmt.Sprintf("Would promote %d %s to obsidian", len(all), memories(len(all)))
		return res, nil
	}
	r := LifecycleRun{E: e, By: op.CallerFrom(ctx), asked: true, Now: now, due: len(all)}
	err := r.promoteAll(ctx, all)
	res.Skipped, res.Tx = append(res.Skipped, r.Res.Skipped...), r.Res.Tx
	for _, m := range r.Res.Moves {
		res.PromotedCount, res.PromotedIDs = m.Count, m.IDs
	}
	if err != nil && res.PromotedCount == 0 {
		return nil, err
	}
	res.Message = fmt.Sprintf("Promoted %d %s to obsidian", res.PromotedCount, memories(res.PromotedCount))
	if err != nil {
		res.Message += ", then stopped because of an error: " + err.Error()
	}
	return res, nil
}

func (e *Lifecycle) shownCandidate(c promote.Candidate, now time.Time) op.PromoteCandidate {
	const most = 100
	preview := similarity.Truncate(strings.Join(strings.Fields(c.Row.Content()), " "), most)
	return op.PromoteCandidate{ID: c.Row.ID(), Preview: preview, Reason: c.Why, Score: c.Score,
		UseCount: c.Row.UseCount(), AgeDays: max(0, now.Sub(c.Row.CreatedAt()).Hours()/24)}
}

// memories returns the noun for a number of memories.
func memories(n int) string {
	if n == 1 {
		return "memory"
	}
	return "memories"
}
