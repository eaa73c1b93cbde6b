package engine

import (
	"context"
	"slices"

	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// successors are the memories that took the place of r, one after the other, the last of
// which counts now. There are none when the first was forgotten: r counts again.
//
// Devices that did not know of each other may have made a circle. In it the oldest word
// does not count, so that the newest does and one memory of the circle is left to count.
func successors(get func(memory.ID) (*stm.Row, bool), r *stm.Row) []*stm.Row {
	path := []*stm.Row{r}
	for {
		next, live := get(path[len(path)-1].SupersededBy())
		if !live {
			return path[1:]
		}
		if i := slices.IndexFunc(path, func(p *stm.Row) bool { return p.ID() == next.ID() }); i >= 0 {
			return path[1:max(1, i+1+oldestWord(path[i:]))]
		}
		path = append(path, next)
	}
}

// oldestWord is the place of the memory of a circle that was superseded first, of several
// at once that with the least id.
func oldestWord(circle []*stm.Row) int {
	oldest := 0
	for i, r := range circle {
		at, least := r.Changed(supersededBy), circle[oldest].Changed(supersededBy)
		if at.Before(least) || at.Equal(least) && r.CompareID(circle[oldest]) < 0 {
			oldest = i
		}
	}
	return oldest
}

// successor is the memory that counts in the place of r, nil when r itself does. If that
// was merged into another, it is the merged one.
func successor(get func(memory.ID) (*stm.Row, bool), r *stm.Row) *stm.Row {
	if r.SupersededBy() == "" {
		return nil
	}
	all := successors(get, r)
	if len(all) == 0 {
		return nil
	}
	last := mergedRow(get, all[len(all)-1])
	if last.ID() == r.ID() {
		return nil
	}
	return last
}

// superseded reports whether another live memory counts in the place of r.
func (e *Engine) superseded(r *stm.Row) bool { return successor(e.stm.Get, r) != nil }

// besideSuccessors puts what took the place of a hit right above it, unless it ranks
// higher anyway, and says of each such hit what that is. A successor that matches but is
// not among the best of its tier is looked up, so that no limit hides it behind what it
// replaces. It takes over the rank, which sorts it by what is asked for: the question
// means the fact, and the successor is what the fact is now.
func (a *asking) besideSuccessors(ctx context.Context, c corpus, hits []op.Hit) ([]op.Hit, error) {
	further, err := a.further(c, hits)
	if err != nil {
		return nil, err
	}
	for i := 0; i < min(len(hits), a.limit); i++ {
		row, last := a.replaced(&hits[i])
		if last == nil {
			continue
		}
		by := &op.Successor{By: last.ID(), Text: beginningOf(last.Content())}
		hits[i].Superseded = by
		below := row.ID()
		for _, above := range append(between(a.q.in.Get, row, last), last) {
			if hits, err = a.raiseAbove(ctx, c, hits, further, below, above); err != nil {
				return nil, err
			}
			at := placeOf(hits, above.ID())
			if at < 0 {
				continue
			}
			if below = above.ID(); above != last {
				hits[at].Superseded = by
			}
		}
		i = max(i, placeOf(hits, row.ID())) // a second note of it stands further down
	}
	return hits, nil
}

// between are the successors of r before the one that counts.
func between(get func(memory.ID) (*stm.Row, bool), r, last *stm.Row) []*stm.Row {
	all := successors(get, r)
	return slices.DeleteFunc(all, func(s *stm.Row) bool { return s.ID() == last.ID() })
}

// replaced is the memory of a hit and the one that counts in its place, nil if itself does.
func (a *asking) replaced(h *op.Hit) (row, last *stm.Row) {
	if h.Memory != nil && h.SupersededBy == "" { // most, and no look at the store
		return nil, nil
	}
	row, live := a.q.in.Get(memoryOf(h))
	if !live {
		return nil, nil
	}
	return row, successor(a.q.in.Get, row)
}

// further are the hits of all memories that took the place of one of the best, match and
// are no hits yet. They are looked up at once, since each look costs as much as a search.
func (a *asking) further(c corpus, hits []op.Hit) (map[memory.ID]op.Hit, error) {
	var wanted []*stm.Row
	for i := range hits[:min(len(hits), a.limit)] {
		row, last := a.replaced(&hits[i])
		if last == nil {
			continue
		}
		for _, r := range append(between(a.q.in.Get, row, last), last) {
			if placeOf(hits, r.ID()) < 0 {
				wanted = append(wanted, r)
			}
		}
	}
	if len(wanted) == 0 || !a.q.memories {
		return nil, nil
	}
	q := a.e.stmQuery(a.q, c, len(wanted), a.req.Explain, a.now)
	slices.SortFunc(wanted, (*stm.Row).CompareID)
	q.Accept = only(q.Accept, func(r *stm.Row) bool {
		_, is := slices.BinarySearchFunc(wanted, r, (*stm.Row).CompareID)
		return is
	})
	found, err := a.memoryHits(a.q.in.Search(q).Matches)
	out := make(map[memory.ID]op.Hit, len(found))
	for _, h := range found {
		out[h.ID] = h
	}
	return out, err
}

// raiseAbove puts the hit of a memory right above that of another, if it matches and is
// below it.
func (a *asking) raiseAbove(ctx context.Context, c corpus, hits []op.Hit, further map[memory.ID]op.Hit, old memory.ID, above *stm.Row) ([]op.Hit, error) {
	to, from := placeOf(hits, old), placeOf(hits, above.ID())
	if from >= 0 && from < to {
		return hits, nil
	}
	h, found := further[above.ID()]
	switch {
	case from >= 0:
		h = hits[from]
		hits = slices.Delete(hits, from, from+1)
	case !found:
		notes, err := a.noteOf(ctx, c, above)
		if err != nil || len(notes) == 0 {
			return hits, err
		}
		h = notes[0]
	}
	x := *h.Explain
	x.Above = old
	h.Explain, h.Rank = &x, hits[to].Rank
	return slices.Insert(hits, to, h), nil
}

// placeOf is where a memory, or the first note of it, is among the hits, -1 if it is not.
func placeOf(hits []op.Hit, id memory.ID) int {
	return slices.IndexFunc(hits, func(h op.Hit) bool { return memoryOf(&h) == id })
}

// noteOf puts the question to the note of a memory that is not asked or does not match.
func (a *asking) noteOf(ctx context.Context, c corpus, r *stm.Row) ([]op.Hit, error) {
	m, err := r.Memory()
	if err != nil || !a.q.notes || m.PromotedTo == "" {
		return nil, err
	}
	lq := a.e.ltmQuery(ctx, a.q, c, 1, a.req.Explain)
	lq.Must.Paths = append(slices.Clone(lq.Must.Paths), m.PromotedTo)
	var found ltm.Result
	err = a.e.notes.ask(func(index *ltm.Index) (err error) {
		found, err = index.Search(ctx, lq)
		return err
	})
	if err != nil {
		return nil, memory.Errorf(memory.Internal, "search the note index: %w", err)
	}
	var hits []op.Hit
	for _, h := range found.Hits {
		a.found[h.Path] = h
		hits = append(hits, a.noteHit(h))
	}
	return hits, nil
}
