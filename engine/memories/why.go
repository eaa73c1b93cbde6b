package memories

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"emberd/decay"
	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
)

// Why explains the score and the stage of a memory. It does not count as a use.
func (e *Memories) Why(_ context.Context, req *op.WhyRequest) (*op.WhyResult, error) {
	row, err := e.Find(req.ID)
	if err != nil {
		return nil, err
	}
	now := e.Opt.Now()
	view, err := e.MemoryView(row, now)
	if err != nil {
		return nil, err
	}
	res := &op.WhyResult{Memory: view, Parts: e.parts(row, now), Stages: e.StagesAhead(row),
		Crossings: e.Crossings(row, now), Promotion: e.promotionOf(&view, now), Used: e.ifUsed(row, now)}
	if view.Stage.Cold() || view.PromotedTo != "" && view.NoteGone.IsZero() {
		res.Text = core.NotePath(&view.Memory)
	}
	return res, nil
}

func (e *Memories) parts(r *stm.Row, now time.Time) op.ScoreParts {
	p, age := e.Opt.Decay, now.Sub(r.LastUsed())
	return op.ScoreParts{UseCount: r.UseCount(), Beta: p.Beta, Uses: math.Pow(float64(r.UseCount())+1, p.Beta),
		// stored in single precision
		AgeDays: max(0, age.Hours()/24), Model: p.Model.String(), AgeFactor: p.Factor(age),
		Strength: math.Round(r.Strength()*1e6) / 1e6,
		Score:    p.Score(int(r.UseCount()), r.LastUsed(), now, r.Strength()), Core: r.Core()}
}

// factsAhead returns the facts that decide the next stages of a memory.
func factsAhead(r *stm.Row) rekindle.StageInputs {
	f := lifecycle.FactsOf(r)
	if !f.Stage.Cold() && !core.FitsNote(r.Content()) {
		f.Coldest = memory.Demoted
	}
	return f
}

// StagesAhead returns the stages of a memory that is not used any more.
func (e *Memories) StagesAhead(r *stm.Row) []op.StageDue {
	out := []op.StageDue{}
	f := factsAhead(r)
	for {
		stage, at, ok := e.Opt.Lifecycle.Next(f)
		if !ok {
			return out
		}
		out = append(out, op.StageDue{Stage: stage, At: core.StampTime(at)})
		f.Stage, f.Since = stage, at
	}
}

// thresholds returns the scores that have an effect, in the order of the answer.
func (e *Memories) thresholds() []op.Crossing {
	return []op.Crossing{
		{Name: op.CrossPromote, Score: e.Opt.Promotion.Threshold},
		{Name: op.CrossReview, Score: e.Opt.Review.Max},
		{Name: op.CrossFading, Score: e.Opt.Review.Min},
		{Name: op.CrossForget, Score: e.Opt.ForgetBelow},
	}
}

// Crossings returns when the score of a memory falls below each threshold.
func (e *Memories) Crossings(r *stm.Row, now time.Time) []op.Crossing {
	out, score := e.thresholds(), e.Score(r, now)
	for i := range out {
		c := &out[i]
		c.Below = score < c.Score
		if r.Core() {
			continue // it stays at least 1
		}
		wait, ahead := e.Opt.Decay.TimeUntil(score, c.Score, now.Sub(r.LastUsed()))
		if at := now.Add(wait); ahead && at.After(now) && at.Year() < 9999 {
			c.At = core.StampTime(at)
		}
	}
	return out
}

// promotionOf returns what a memory lacks for either promotion criterion.
func (e *Memories) promotionOf(m *op.Memory, now time.Time) op.PromotionDue {
	p := e.Opt.Promotion
	out := op.PromotionDue{Rule: string(p.Due(m.Score, int(m.UseCount), m.CreatedAt, now, false))}
	if m.NoteGone.IsZero() {
		out.Path = m.PromotedTo
	}
	byScore := op.PromotionRule{Rule: string(decay.ByScore), Missing: []string{}}
	lacks := func(r *op.PromotionRule, format string, args ...any) {
		r.Missing = append(r.Missing, fmt.Sprintf(format, args...))
	}
	if m.Score < p.Threshold {
		lacks(&byScore, "a score of %.2f (now %.2f)", p.Threshold, m.Score)
	}
	if age := now.Sub(m.CreatedAt); age < p.MinAge {
		lacks(&byScore, "an age of %s, reached on %s", days(p.MinAge),
			m.CreatedAt.Add(p.MinAge).UTC().Format("2006-01-02 15:04 MST"))
	}
	if n := int64(p.MinUses) - m.UseCount; n > 0 {
		lacks(&byScore, "%s", moreUses(n))
	}
	byUse := op.PromotionRule{Rule: string(decay.ByUse), Missing: []string{}}
	if n := int64(p.UseCount) - m.UseCount; n > 0 {
		lacks(&byUse, "%s", moreUses(n))
	}
	if now.Sub(m.CreatedAt) > p.Window {
		lacks(&byUse,
			"a later save: emberd considers only uses in the first %s after the save, and this period ended on %s",
			days(p.Window), m.CreatedAt.Add(p.Window).UTC().Format("2006-01-02"))
	}
	if m.Memory.DataOnly() {
		out.Rule = ""
		lacks(&byScore, "%s", confirmation)
		lacks(&byUse, "%s", confirmation)
	}
	if why := core.DeceptiveReason(m.Content); why != "" {
		out.Rule = ""
		lacks(&byScore, "%s", forced(why))
		lacks(&byUse, "%s", forced(why))
	}
	out.Rules = []op.PromotionRule{byScore, byUse}
	return out
}

// forced returns what a memory with deceptive characters lacks.
func forced(why string) string {
	return "a review by the user (emberd promote --force), because " + why
}

// confirmation is what an unconfirmed memory lacks.
const confirmation = "a confirmation by the user (emberd edit --confirm), because the text came from a tool or the web"

func moreUses(n int64) string {
	if n == 1 {
		return "one more use"
	}
	return fmt.Sprintf("%d more uses", n)
}

// days formats a duration in days, or in hours if it is not a whole number of days.
func days(d time.Duration) string {
	if d%(24*time.Hour) != 0 {
		return fmt.Sprintf("%g hours", d.Hours())
	}
	if d == 24*time.Hour {
		return "1 day"
	}
	return fmt.Sprintf("%g days", d.Hours()/24)
}

// ifUsed returns the state of a memory after one use now, which makes a demoted one active.
func (e *Memories) ifUsed(r *stm.Row, now time.Time) op.WhyUsed {
	uses := int(r.UseCount()) + 1
	out := op.WhyUsed{Score: e.Opt.Decay.Score(uses, now, now, r.Strength())}
	if r.Core() {
		out.Score = max(1, out.Score)
	}
	if !r.Promoted() && !core.DataOnly(r) {
		out.Rule = string(e.Opt.Promotion.Due(out.Score, uses, r.CreatedAt(), now, false))
	}
	f := factsAhead(r)
	f.LastUsed, f.Since = now, time.Time{}
	if f.Stage == memory.Demoted {
		f.Stage = memory.Active
	}
	f.Stage = cmp.Or(f.Stage, memory.Active)
	if stage, at, ok := e.Opt.Lifecycle.Next(f); ok {
		out.Next = &op.StageDue{Stage: stage, At: core.StampTime(at)}
	}
	return out
}
