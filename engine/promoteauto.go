package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"emberd/decay"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// candidate is a memory that deserves a note, and why.
type candidate struct {
	row   *stm.Row
	score float64
	why   string
}

// promotable lists the memories that deserve a note by a rule, highest score first. Not
// among them are those whose text is in a note already, and those that somebody took the
// note from: undone promotions, and notes that are to be written still. Nor are those
// that are data only, or whose place another took. Held are those that would deserve one, but
// whose text deceives.
func (e *Engine) promotable(now time.Time, rule decay.Promotion) (all []candidate, held []op.Skipped) {
	waiting := make(map[memory.ID]bool)
	for _, w := range e.pending.list() {
		waiting[w.Memory] = w.What == createNote
	}
	for r := range e.stm.Rows() {
		if r.Promoted() || r.Stage().Cold() || !r.Changed("promoted_to").IsZero() || waiting[r.ID()] || e.superseded(r) {
			continue
		}
		score := e.score(r, now)
		switch due := rule.Due(score, int(r.UseCount()), r.CreatedAt(), now, false) != ""; {
		case !due || dataOnly(r):
		case veiled(r.Content()) != "":
			held = append(held, op.Skipped{ID: r.ID(), Reason: veiled(r.Content()) + "; look at it, and promote it by its id with --force (force)"})
		default:
			all = append(all, candidate{row: r, score: score, why: reasonToPromote(rule, r, score, now)})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.row.ID(), b.row.ID()))
	})
	return all, held
}

// reasonToPromote says which criterion a memory meets, "" for none.
func reasonToPromote(rule decay.Promotion, r *stm.Row, score float64, now time.Time) string {
	switch rule.Due(score, int(r.UseCount()), r.CreatedAt(), now, false) {
	case decay.ByScore:
		return fmt.Sprintf("High score (%.2f >= %.2f)", score, rule.Threshold)
	case decay.ByUse:
		return fmt.Sprintf("High use count (%d >= %d within %s)", r.UseCount(), rule.UseCount, inDays(rule.Window))
	}
	return ""
}

// inDays writes a setting as people think of it.
func inDays(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d == day:
		return "1 day"
	case d > 0 && d%day == 0:
		return fmt.Sprintf("%d days", d/day)
	}
	return d.String()
}

// unmet is why a memory that was named does not get a note, "" if it does: its score
// counts at any age and without use.
func (e *Engine) unmet(r *stm.Row, now time.Time) string {
	if why := veiled(r.Content()); why != "" {
		return why + "; look at it, and promote it with --force (force) all the same"
	}
	rule, score := e.opt.Promotion.Bare(), e.score(r, now)
	if reasonToPromote(rule, r, score, now) != "" {
		return ""
	}
	return fmt.Sprintf("its score is %.2f, below %.2f, and its uses are %d, not %d within %s of the save; promote it with --force (force) all the same",
		score, rule.Threshold, r.UseCount(), rule.UseCount, inDays(rule.Window))
}

// nextPromotion is when the first memory that was used is old enough for a note, zero if
// none is to come.
func (e *Engine) nextPromotion(now time.Time) time.Time {
	var next time.Time
	rule := e.opt.Promotion
	if !e.opt.AutoPromote || e.notes == nil {
		return next
	}
	for r := range e.stm.Rows() {
		at := r.CreatedAt().Add(rule.MinAge)
		if r.Promoted() || int(r.UseCount()) < rule.MinUses || !at.After(now) || !next.IsZero() && !at.Before(next) || e.superseded(r) {
			continue
		}
		if e.score(r, at) >= rule.Threshold {
			next = at
		}
	}
	return next
}

// promoteAll gives notes to candidates. One that cannot have it is skipped.
func (r *agingRun) promoteAll(ctx context.Context, all []candidate) error {
	for some := range slices.Chunk(all, archiveChunk) {
		begun := time.Now()
		for _, c := range some {
			id := c.row.ID()
			got, err := r.e.promoteMemory(ctx, promotion{id: id, by: r.by, force: true, entry: r.res.Tx})
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case memory.CodeOf(err) == memory.DiskFull, memory.CodeOf(err) == memory.ReadOnly:
				return err
			case err != nil:
				r.skip(id, err.Error())
			case got.Outcome == op.PromotionPending:
				r.skip(id, "its note is written later: "+got.Reason)
			default:
				r.wrote(got.Tx)
				r.moved(op.MovePromote, []memory.ID{id})
			}
			r.went(ctx, 1)
		}
		r.rest(ctx, time.Since(begun))
	}
	return nil
}

// promoteAuto gives a note to every memory that deserves one, in one journal entry.
func (e *Engine) promoteAuto(ctx context.Context, req *op.PromoteAutoRequest) (*op.PromoteAutoResult, error) {
	if err := e.needVault(); err != nil {
		return nil, err
	}
	now, rule := e.opt.Now(), e.opt.Promotion
	if req.Force {
		rule = rule.Bare()
	}
	all, held := e.promotable(now, rule)
	res := &op.PromoteAutoResult{DryRun: req.DryRun, CandidatesFound: len(all), PromotedIDs: []memory.ID{}, Candidates: []op.PromoteCandidate{}}
	for _, c := range all[:min(op.MostShown, len(all))] {
		res.Candidates = append(res.Candidates, e.shownCandidate(c, now))
	}
	res.Skipped = held[:min(op.MostShown, len(held))]
	if req.DryRun {
		res.Message = fmt.Sprintf("Would promote %d %s to obsidian", len(all), memories(len(all)))
		return res, nil
	}
	r := agingRun{e: e, by: op.CallerFrom(ctx), asked: true, now: now, due: len(all)}
	err := r.promoteAll(ctx, all)
	res.Skipped, res.Tx = append(res.Skipped, r.res.Skipped...), r.res.Tx
	for _, m := range r.res.Moves {
		res.PromotedCount, res.PromotedIDs = m.Count, m.IDs
	}
	if err != nil && res.PromotedCount == 0 {
		return nil, err
	}
	res.Message = fmt.Sprintf("Promoted %d %s to obsidian", res.PromotedCount, memories(res.PromotedCount))
	if err != nil {
		res.Message += ", and was broken off: " + err.Error()
	}
	return res, nil
}

func (e *Engine) shownCandidate(c candidate, now time.Time) op.PromoteCandidate {
	const most = 100
	preview := []rune(strings.Join(strings.Fields(c.row.Content()), " "))
	if len(preview) > most {
		preview = append(preview[:most-1], '…')
	}
	return op.PromoteCandidate{ID: c.row.ID(), Preview: string(preview), Reason: c.why, Score: c.score,
		UseCount: c.row.UseCount(), AgeDays: max(0, now.Sub(c.row.CreatedAt()).Hours()/24)}
}

// memories is the noun behind a number of them.
func memories(n int) string {
	if n == 1 {
		return "memory"
	}
	return "memories"
}
