package promote

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"emberd/decay"
	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Candidate is a memory that qualifies for promotion, and why.
type Candidate struct {
	Row   *stm.Row
	Score float64
	Why   string
}

// Promotable returns the memories that meet the promotion criteria of rule, highest score
// first. It leaves out memories whose text is in a note, memories whose promotion was undone
// or is queued, unconfirmed memories, those on probation, and superseded ones. held are those whose text has
// deceptive characters.
func (e *Promote) Promotable(now time.Time, rule decay.Promotion) (all []Candidate, held []op.Skipped) {
	waiting := make(map[memory.ID]bool)
	for _, w := range e.Pending.List() {
		waiting[w.Memory] = w.What == CreateNote
	}
	for r := range e.Stm.Rows() {
		if r.Promoted() || r.Stage().Cold() || !r.Changed("promoted_to").IsZero() || waiting[r.ID()] ||
			e.Superseded(r) {
			continue
		}
		score := e.Score(r, now)
		switch due := rule.Due(score, int(r.UseCount()), r.CreatedAt(), now, false) != ""; {
		case !due || core.DataOnly(r) || core.OnProbation(r):
		case core.DeceptiveReason(r.Content()) != "":
			held = append(held, op.Skipped{ID: r.ID(),
				Reason: core.DeceptiveReason(r.Content()) +
					"; check the memory, and promote it by its ID with --force (force)"})
		default:
			all = append(all, Candidate{Row: r, Score: score, Why: reasonToPromote(rule, r, score, now)})
		}
	}
	slices.SortFunc(all, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Row.ID(), b.Row.ID()))
	})
	return all, held
}

// reasonToPromote returns the criterion that a memory meets, "" for none.
func reasonToPromote(rule decay.Promotion, r *stm.Row, score float64, now time.Time) string {
	switch rule.Due(score, int(r.UseCount()), r.CreatedAt(), now, false) {
	case decay.ByScore:
		return fmt.Sprintf("High score (%.2f >= %.2f)", score, rule.Threshold)
	case decay.ByUse:
		return fmt.Sprintf("High use count (%d >= %d within %s)", r.UseCount(), rule.UseCount, InDays(rule.Window))
	}
	return ""
}

// InDays formats a setting in days, if it is a whole number of them.
func InDays(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d == day:
		return "1 day"
	case d > 0 && d%day == 0:
		return fmt.Sprintf("%d days", d/day)
	}
	return d.String()
}

// unmet returns why a named memory gets no note, or "". Its score counts at any age and
// without use.
func (e *Promote) unmet(r *stm.Row, now time.Time) string {
	if why := core.DeceptiveReason(r.Content()); why != "" {
		return why + "; check the memory, and promote it anyway with --force (force)"
	}
	rule, score := e.Opt.Promotion.Bare(), e.Score(r, now)
	if reasonToPromote(rule, r, score, now) != "" {
		return ""
	}
	return fmt.Sprintf("the memory does not qualify: its score is %.2f (minimum %.2f), and it has %d uses "+
		"(minimum %d within %s of the save); to promote it anyway, use --force (force)", score, rule.Threshold,
		r.UseCount(), rule.UseCount, InDays(rule.Window))
}

// NextPromotion returns when the first used memory is old enough for a note, zero for none.
func (e *Promote) NextPromotion(now time.Time) time.Time {
	var next time.Time
	rule := e.Opt.Promotion
	if !e.Opt.AutoPromote || e.Notes.Vault == nil {
		return next
	}
	for r := range e.Stm.Rows() {
		at := r.CreatedAt().Add(rule.MinAge)
		if r.Promoted() || int(r.UseCount()) < rule.MinUses || !at.After(now) || !next.IsZero() && !at.Before(next) ||
			e.Superseded(r) {
			continue
		}
		if e.Score(r, at) >= rule.Threshold {
			next = at
		}
	}
	return next
}
