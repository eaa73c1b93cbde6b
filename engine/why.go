package engine

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"emberd/decay"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
)

// why takes the score and the stage of a memory apart. Asking is no use of it.
func (e *Engine) why(_ context.Context, req *op.WhyRequest) (*op.WhyResult, error) {
	row, err := e.find(req.ID)
	if err != nil {
		return nil, err
	}
	now := e.opt.Now()
	view, err := e.view(row, now)
	if err != nil {
		return nil, err
	}
	res := &op.WhyResult{Memory: view, Parts: e.parts(row, now), Stages: e.stagesAhead(row),
		Crossings: e.crossings(row, now), Promotion: e.promotionOf(&view, now), Used: e.ifUsed(row, now)}
	if view.Stage.Cold() || view.PromotedTo != "" && view.NoteGone.IsZero() {
		res.Text = homeOf(&view.Memory)
	}
	return res, nil
}

func (e *Engine) parts(r *stm.Row, now time.Time) op.ScoreParts {
	p, age := e.opt.Decay, now.Sub(r.LastUsed())
	return op.ScoreParts{UseCount: r.UseCount(), Beta: p.Beta, Uses: math.Pow(float64(r.UseCount())+1, p.Beta),
		AgeDays: max(0, age.Hours()/24), Model: p.Model.String(), AgeFactor: p.Factor(age), Strength: math.Round(r.Strength()*1e6) / 1e6, // held in single precision
		Score: p.Score(int(r.UseCount()), r.LastUsed(), now, r.Strength()), Core: r.Core()}
}

// factsAhead are what the stages to come of a memory depend on.
func factsAhead(r *stm.Row) rekindle.Facts {
	f := factsOf(r)
	if !f.Stage.Cold() && !keepable(r.Content()) {
		f.Coldest = memory.Demoted
	}
	return f
}

// stagesAhead are the stages a memory goes through if it is left alone.
func (e *Engine) stagesAhead(r *stm.Row) []op.StageDue {
	out := []op.StageDue{}
	f := factsAhead(r)
	for {
		stage, at, ok := e.opt.Lifecycle.Next(f)
		if !ok {
			return out
		}
		out = append(out, op.StageDue{Stage: stage, At: stampTime(at)})
		f.Stage, f.Since = stage, at
	}
}

// thresholds are the scores that matter, highest first as they come.
func (e *Engine) thresholds() []op.Crossing {
	return []op.Crossing{
		{Name: op.CrossPromote, Score: e.opt.Promotion.Threshold},
		{Name: op.CrossReview, Score: e.opt.Review.Max},
		{Name: op.CrossFading, Score: e.opt.Review.Min},
		{Name: op.CrossForget, Score: e.opt.ForgetBelow},
	}
}

// crossings says when the score of a memory falls below each of them.
func (e *Engine) crossings(r *stm.Row, now time.Time) []op.Crossing {
	out, score := e.thresholds(), e.score(r, now)
	for i := range out {
		c := &out[i]
		c.Below = score < c.Score
		if r.Core() {
			continue // it stays at 1 at least
		}
		wait, ahead := e.opt.Decay.TimeUntil(score, c.Score, now.Sub(r.LastUsed()))
		if at := now.Add(wait); ahead && at.After(now) && at.Year() < 9999 {
			c.At = stampTime(at)
		}
	}
	return out
}

// promotionOf tells of both rules what they lack.
func (e *Engine) promotionOf(m *op.Memory, now time.Time) op.PromotionDue {
	p := e.opt.Promotion
	out := op.PromotionDue{Rule: string(p.Due(m.Score, int(m.UseCount), m.CreatedAt, now, false))}
	if m.NoteGone.IsZero() {
		out.Path = m.PromotedTo
	}
	byScore := op.PromotionRule{Rule: string(decay.ByScore), Missing: []string{}}
	lacks := func(r *op.PromotionRule, format string, args ...any) {
		r.Missing = append(r.Missing, fmt.Sprintf(format, args...))
	}
	if m.Score < p.Threshold {
		lacks(&byScore, "a score of %.2f, and it is %.2f", p.Threshold, m.Score)
	}
	if age := now.Sub(m.CreatedAt); age < p.MinAge {
		lacks(&byScore, "an age of %s, which it has on %s", days(p.MinAge), m.CreatedAt.Add(p.MinAge).UTC().Format("2006-01-02 15:04 MST"))
	}
	if n := int64(p.MinUses) - m.UseCount; n > 0 {
		lacks(&byScore, "%s", moreUses(n))
	}
	byUse := op.PromotionRule{Rule: string(decay.ByUse), Missing: []string{}}
	if n := int64(p.UseCount) - m.UseCount; n > 0 {
		lacks(&byUse, "%s", moreUses(n))
	}
	if now.Sub(m.CreatedAt) > p.Window {
		lacks(&byUse, "a younger age: uses count for %s after the save, until %s", days(p.Window), m.CreatedAt.Add(p.Window).UTC().Format("2006-01-02"))
	}
	if m.Memory.DataOnly() {
		out.Rule = ""
		lacks(&byScore, "%s", confirmation)
		lacks(&byUse, "%s", confirmation)
	}
	if why := veiled(m.Content); why != "" {
		out.Rule = ""
		lacks(&byScore, "%s", forced(why))
		lacks(&byUse, "%s", forced(why))
	}
	out.Rules = []op.PromotionRule{byScore, byUse}
	return out
}

// forced is what a memory lacks whose text deceives.
func forced(why string) string { return "a person's look at it (emberd promote --force), for " + why }

// confirmation is what a memory lacks that is data only.
const confirmation = "a person's confirmation (emberd confirm), for it is what a tool or the web said"

func moreUses(n int64) string {
	if n == 1 {
		return "one more use"
	}
	return fmt.Sprintf("%d more uses", n)
}

// days writes a duration as people count it.
func days(d time.Duration) string {
	if d%(24*time.Hour) != 0 {
		return fmt.Sprintf("%g hours", d.Hours())
	}
	if d == 24*time.Hour {
		return "1 day"
	}
	return fmt.Sprintf("%g days", d.Hours()/24)
}

// ifUsed tells how a memory would stand after one use now, which wakes a demoted one.
func (e *Engine) ifUsed(r *stm.Row, now time.Time) op.WhyUsed {
	uses := int(r.UseCount()) + 1
	out := op.WhyUsed{Score: e.opt.Decay.Score(uses, now, now, r.Strength())}
	if r.Core() {
		out.Score = max(1, out.Score)
	}
	if !r.Promoted() && !dataOnly(r) {
		out.Rule = string(e.opt.Promotion.Due(out.Score, uses, r.CreatedAt(), now, false))
	}
	f := factsAhead(r)
	f.LastUsed, f.Since = now, time.Time{}
	if f.Stage == memory.Demoted {
		f.Stage = memory.Active
	}
	f.Stage = cmp.Or(f.Stage, memory.Active)
	if stage, at, ok := e.opt.Lifecycle.Next(f); ok {
		out.Next = &op.StageDue{Stage: stage, At: stampTime(at)}
	}
	return out
}
