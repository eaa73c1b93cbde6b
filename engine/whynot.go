package engine

import (
	"context"
	"fmt"
	"slices"

	"emberd/internal/query"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
)

// whyNot finds what keeps a memory or note out of the answer to a search, by searching:
// as asked, then for that one thing alone with each condition by itself. Nothing is
// counted, and nothing is brought back.
func (e *Engine) whyNot(ctx context.Context, req *op.WhyNotRequest) (*op.WhyNotResult, error) {
	d := doubt{e: e, req: &op.SearchRequest{Query: req.Query, Scope: req.Scope, Filter: req.Filter, Limit: req.Limit,
		IncludeReview: req.IncludeReview, Explain: true}, res: &op.WhyNotResult{Query: req.Query, Causes: []op.WhyCause{}}}
	a, err := e.asking(d.req, e.present())
	if err != nil {
		return nil, err
	}
	d.asked, d.limit = a.q.query, a.limit
	if there, err := d.find(ctx, req.Of); err != nil || !there {
		return d.res, err
	}
	a.dry = true
	if !a.q.nothing {
		err = a.answer(ctx)
	}
	if err != nil || d.shown(a.res.Hits) {
		d.res.Total = a.res.Total
		return d.res, err
	}
	kept, err := d.conditions(ctx, a.q)
	if err == nil {
		err = d.ranking(ctx, kept, a.res.AtLeast)
	}
	return d.res, err
}

// doubt is one such question under way.
type doubt struct {
	e     *Engine
	req   *op.SearchRequest
	asked query.Query
	limit int
	res   *op.WhyNotResult

	row  *stm.Row    // the memory, nil for a note
	note *vault.Note // as it is now, nil for a memory or when it cannot be read
	path string      // of the note; of a memory's, if it has one
	of   memory.ID   // whose note that is, "" for nobody's
}

func (d *doubt) cause(stage, fix, format string, args ...any) {
	d.res.Causes = append(d.res.Causes, op.WhyCause{Stage: stage, Reason: fmt.Sprintf(format, args...), Fix: fix})
}

// shown reports whether the answer has it, as itself or as the other half of a pair.
func (d *doubt) shown(hits []op.Hit) bool {
	i := d.place(hits)
	if i < 0 {
		return false
	}
	d.res.Shown, d.res.Place = true, i+1
	switch h := &hits[i]; {
	case h.Review:
		d.res.As = "a memory that is about to fade"
	case d.row != nil && h.Tier == op.TierNote:
		d.res.As = "its note " + h.Note.Path
	case d.row == nil && h.Tier == op.TierMemory:
		d.res.As = "its memory " + h.ID.Short()
	}
	return true
}

// place is where it is among hits, -1 if it is not.
func (d *doubt) place(hits []op.Hit) int {
	return slices.IndexFunc(hits, func(h op.Hit) bool {
		switch {
		case d.row != nil:
			return memoryOf(&h) == d.row.ID()
		case h.Note != nil && h.Note.Path == d.path:
			return true
		}
		return h.Memory != nil && h.ID == d.of
	})
}

// passes puts a question to that one thing.
func (d *doubt) passes(ctx context.Context, q *question) (bool, error) {
	if q.sole.path = d.path; d.row != nil {
		q.sole.id, q.notes = d.row.ID(), q.notes && d.path != ""
	} else {
		q.memories = false
	}
	a := asking{e: d.e, q: q, req: &op.SearchRequest{Explain: true, Track: new(false)}, limit: memory.MaxResults, now: d.e.opt.Now(), res: &op.SearchResult{}}
	c, err := d.e.corpus(ctx, q)
	if err != nil || q.nothing {
		return false, err
	}
	d.e.guess(q, c)
	hits, _, err := a.ranked(ctx, c)
	return d.place(hits) >= 0, err
}

// kept is what is left of a search without the conditions that drop what is looked for.
type kept struct {
	query  query.Query
	scope  string
	filter op.Filter
}

// conditions names every condition that drops it, and returns the search without them.
func (d *doubt) conditions(ctx context.Context, q *question) (*kept, error) {
	left := &kept{query: query.Query{Words: d.asked.Words, Prefix: d.asked.Prefix}}
	for _, c := range d.all() {
		alone, err := d.e.questionOf(c.query, c.scope, c.filter, d.e.opt.Now())
		if err != nil {
			return nil, err
		}
		pass, err := d.passes(ctx, alone)
		switch {
		case err != nil:
			return nil, err
		case pass:
			c.keep(left)
		default:
			d.cause(c.stage, c.fix, "%s", c.reason)
		}
	}
	words, err := d.e.questionOf(left.query, "", op.Filter{}, d.e.opt.Now())
	if err != nil || d.asked.Words == "" {
		return left, err
	}
	pass, err := d.passes(ctx, words)
	if err != nil || pass {
		return left, err
	}
	return nil, d.words(ctx, q)
}

// ranking tells how far down it is in the search that is left, and what holds it there.
func (d *doubt) ranking(ctx context.Context, left *kept, bounded bool) error {
	if left == nil {
		return nil
	}
	hits, at, err := d.down(ctx, left)
	if err != nil {
		return err
	}
	if at < 0 {
		d.crowdedOut(ctx)
		return nil
	}
	d.res.Place, d.res.Total = at+1, len(hits)
	d.drags(hits, at)
	dropped := len(d.res.Causes) > 0
	switch {
	case at >= d.limit:
		d.cause(op.WhyLimit, d.closer(ctx, left, at+1), "it is number %d of what matches, and %d are shown", at+1, d.limit)
	case dropped:
	case bounded:
		d.cause(op.WhyPhrase, "add words that the note has beside the phrase, so that it is among the best candidates",
			"phrases are looked up in the notes that rank best by their words, and it is not among those")
	default:
		d.cause(op.WhyReview, "leave out what is about to fade (--no-review), or raise the limit to "+fmt.Sprint(d.limit+d.limit/2),
			"it is number %d, and made room for a memory that is about to fade", at+1)
	}
	return nil
}

// down returns what the search that is left finds, as far down as it takes.
func (d *doubt) down(ctx context.Context, left *kept) ([]op.Hit, int, error) {
	for limit := memory.MaxResults; ; limit *= 10 {
		q, err := d.e.questionOf(left.query, left.scope, left.filter, d.e.opt.Now())
		if err != nil {
			return nil, -1, err
		}
		a := asking{e: d.e, q: q, req: d.req, limit: limit, now: d.e.opt.Now(), res: &op.SearchResult{}}
		c, err := d.e.corpus(ctx, q)
		if err != nil {
			return nil, -1, err
		}
		d.e.guess(q, c)
		hits, _, err := a.ranked(ctx, c)
		if at := d.place(hits); err != nil || at >= 0 || limit > a.res.Total {
			return hits, at, err
		}
	}
}

// drags lists what keeps a rank down, with the place that it would have without.
func (d *doubt) drags(hits []op.Hit, at int) {
	x := *hits[at].Explain
	without := func(what string, factor float64, y op.Explain) {
		if factor >= 1 {
			return
		}
		better := 0
		for i, h := range hits {
			if i != at && h.Rank >= rank(y) {
				better++
			}
		}
		d.res.Drags = append(d.res.Drags, op.WhyDrag{What: what, Factor: factor, Place: better + 1})
	}
	fresh, active, other := x, x, x
	fresh.Bounded, active.Stage = 1, d.e.opt.StageFactor.Active
	other.Tier = max(d.e.opt.STMWeight, d.e.opt.LTMWeight)
	without("decay", x.Floor+(1-x.Floor)*x.Bounded, fresh)
	without("stage", x.Stage, active)
	without("tier", x.Tier/other.Tier, other)
}

// closer is the smallest change that brings it into the answer: a limit, or where that
// would have to be too large, a word or three of its own that were tried.
func (d *doubt) closer(ctx context.Context, left *kept, place int) string {
	if place <= memory.MaxResults {
		return fmt.Sprintf("raise the limit to %d (--limit %d)", place, place)
	}
	own := d.telling(ctx)
	for n := 1; n <= min(3, len(own)); n++ {
		more := *left
		for _, word := range own[:n] {
			more.query.Words += " " + word
		}
		more.query.Prefix = false
		if _, at, err := d.down(ctx, &more); err == nil && at >= 0 && at < d.limit {
			return fmt.Sprintf("add %q to the query, which it has", more.query.Words[len(left.query.Words)+1:])
		}
	}
	return ""
}
