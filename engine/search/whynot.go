package search

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

// WhyNot explains why a search does not return a memory or note. It runs the search as
// requested, and then for that item alone with each condition. It counts no access and
// rekindles nothing.
func (e *Search) WhyNot(ctx context.Context, req *op.WhyNotRequest) (*op.WhyNotResult, error) {
	d := exclusion{e: e,
		req: &op.SearchRequest{Query: req.Query, Scope: req.Scope, Filter: req.Filter, Limit: req.Limit,
			IncludeReview: req.IncludeReview, Explain: true},
		res: &op.WhyNotResult{Query: req.Query, Causes: []op.WhyCause{}}}
	a, err := e.NewRun(d.req, e.present())
	if err != nil {
		return nil, err
	}
	d.asked, d.limit = a.Q.Query, a.Limit
	if there, err := d.find(ctx, req.Of); err != nil || !there {
		return d.res, err
	}
	a.dry = true
	if !a.Q.Nothing {
		err = a.answer(ctx)
	}
	if err != nil || d.shown(a.Res.Hits) {
		d.res.Total = a.Res.Total
		return d.res, err
	}
	kept, err := d.conditions(ctx, a.Q)
	if err == nil {
		err = d.ranking(ctx, kept, a.Res.AtLeast)
	}
	return d.res, err
}

// exclusion is one such explanation in progress.
type exclusion struct {
	e     *Search
	req   *op.SearchRequest
	asked query.Query
	limit int
	res   *op.WhyNotResult

	row  *stm.Row    // the memory, nil for a note
	note *vault.Note // the current note, nil for a memory or if it cannot be read
	path string      // of the note, or of the memory's note
	of   memory.ID   // the memory of that note, "" for none
}

func (d *exclusion) addCause(stage, fix, format string, args ...any) {
	d.res.Causes = append(d.res.Causes, op.WhyCause{Stage: stage, Reason: fmt.Sprintf(format, args...), Fix: fix})
}

// shown reports whether the answer contains the item, or its note or memory.
func (d *exclusion) shown(hits []op.Hit) bool {
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

// place returns the index of the item among hits, or -1.
func (d *exclusion) place(hits []op.Hit) int {
	return slices.IndexFunc(hits, func(h op.Hit) bool {
		switch {
		case d.row != nil:
			return MemoryOf(&h) == d.row.ID()
		case h.Note != nil && h.Note.Path == d.path:
			return true
		}
		return h.Memory != nil && h.ID == d.of
	})
}

// matchesAlone runs the query for the item alone.
func (d *exclusion) matchesAlone(ctx context.Context, q *parsedQuery) (bool, error) {
	if q.only.path = d.path; d.row != nil {
		q.only.id, q.notes = d.row.ID(), q.notes && d.path != ""
	} else {
		q.memories = false
	}
	a := SearchRun{E: d.e, Q: q, Req: &op.SearchRequest{Explain: true, Track: new(false)}, Limit: memory.MaxResults,
		Now: d.e.Opt.Now(), Present: true, Res: &op.SearchResult{}}
	c, err := d.e.prepare(ctx, q)
	if err != nil || q.Nothing {
		return false, err
	}
	hits, _, err := a.ranked(ctx, c)
	return d.place(hits) >= 0, err
}

// remainingSearch is a search without the conditions that exclude the item.
type remainingSearch struct {
	query  query.Query
	scope  string
	filter op.Filter
}

// conditions records every condition that excludes the item, and returns the search without
// them.
func (d *exclusion) conditions(ctx context.Context, q *parsedQuery) (*remainingSearch, error) {
	left := &remainingSearch{query: query.Query{Words: d.asked.Words, Prefix: d.asked.Prefix}}
	for _, c := range d.all() {
		alone, err := d.e.questionOf(c.query, c.scope, c.filter, d.e.Opt.Now())
		if err != nil {
			return nil, err
		}
		pass, err := d.matchesAlone(ctx, alone)
		switch {
		case err != nil:
			return nil, err
		case pass:
			c.keep(left)
		default:
			d.addCause(c.stage, c.fix, "%s", c.reason)
		}
	}
	words, err := d.e.questionOf(left.query, "", op.Filter{}, d.e.Opt.Now())
	if err != nil || d.asked.Words == "" {
		return left, err
	}
	pass, err := d.matchesAlone(ctx, words)
	if err != nil || pass {
		return left, err
	}
	return nil, d.words(ctx, q)
}

// ranking records how far down the item is in the remaining search, and why.
func (d *exclusion) ranking(ctx context.Context, left *remainingSearch, bounded bool) error {
	if left == nil {
		return nil
	}
	hits, at, err := d.hitsDownTo(ctx, left)
	if err != nil {
		return err
	}
	if at < 0 {
		d.addCrowdedOut(ctx)
		return nil
	}
	d.res.Place, d.res.Total = at+1, len(hits)
	d.rankPenalties(hits, at)
	dropped := len(d.res.Causes) > 0
	switch {
	case at >= d.limit:
		d.addCause(op.WhyLimit, d.suggestion(ctx, left, at+1),
			"this match is number %d, but the search returns only %d results", at+1, d.limit)
	case dropped:
	case bounded:
		d.addCause(op.WhyPhrase,
			"add other words of the note to the query, so that the note ranks higher",
			"emberd searches for phrases only in the notes that rank highest by their words, "+
				"and this note is not one of them")
	default:
		d.addCause(op.WhyReview,
			"exclude memories that are about to fade "+
				"(--no-review), or raise the limit to "+fmt.Sprint(d.limit+d.limit/2),
			"this match is number %d, but the search returned a memory that is about to fade instead", at+1)
	}
	return nil
}

// hitsDownTo returns the hits of the remaining search down to the item.
func (d *exclusion) hitsDownTo(ctx context.Context, left *remainingSearch) ([]op.Hit, int, error) {
	for limit := memory.MaxResults; ; limit *= 10 {
		q, err := d.e.questionOf(left.query, left.scope, left.filter, d.e.Opt.Now())
		if err != nil {
			return nil, -1, err
		}
		a := SearchRun{E: d.e, Q: q, Req: d.req, Limit: limit, Now: d.e.Opt.Now(), Present: true,
			Res: &op.SearchResult{}}
		c, err := d.e.prepare(ctx, q)
		if err != nil {
			return nil, -1, err
		}
		hits, _, err := a.ranked(ctx, c)
		if at := d.place(hits); err != nil || at >= 0 || limit > a.Res.Total {
			return hits, at, err
		}
	}
}

// rankPenalties records the factors that lower the rank, and the place without each.
func (d *exclusion) rankPenalties(hits []op.Hit, at int) {
	x := *hits[at].Explain
	without := func(what string, factor float64, y op.Explain) {
		if factor >= 1 {
			return
		}
		better := 0
		for i, h := range hits {
			if i != at && h.Rank >= Rank(y) {
				better++
			}
		}
		d.res.Drags = append(d.res.Drags, op.WhyDrag{What: what, Factor: factor, Place: better + 1})
	}
	other := x
	other.Tier = max(d.e.Opt.STMWeight, d.e.Opt.LTMWeight)
	without("age", x.Age, unaged(x))
	without("tier", x.Tier/other.Tier, other)
}

// suggestion returns the smallest change that brings the item into the answer: a limit, or, if
// that would be too large, up to three of its own words.
func (d *exclusion) suggestion(ctx context.Context, left *remainingSearch, place int) string {
	if place <= memory.MaxResults {
		return fmt.Sprintf("raise the limit to %d (--limit %d)", place, place)
	}
	own := d.rarestWords(ctx)
	for n := 1; n <= min(3, len(own)); n++ {
		more := *left
		for _, word := range own[:n] {
			more.query.Words += " " + word
		}
		more.query.Prefix = false
		if _, at, err := d.hitsDownTo(ctx, &more); err == nil && at >= 0 && at < d.limit {
			return fmt.Sprintf("add %q, which the text contains, to the query",
				more.query.Words[len(left.query.Words)+1:])
		}
	}
	return ""
}
