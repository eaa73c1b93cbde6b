package search

import (
	"context"
	"slices"

	"emberd/engine/core"
	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// placeSuccessors moves the memory that supersedes a hit directly above it, unless it ranks
// higher anyway, and names it in the hit. A successor that matches but is not among the best
// of its tier is looked up, so that no limit hides it. It gets the rank of the superseded hit:
// the query means the fact, and the successor has its current value.
func (a *SearchRun) placeSuccessors(ctx context.Context, c docFrequencies, hits []op.Hit) ([]op.Hit, error) {
	further, err := a.successorHits(c, hits)
	if err != nil {
		return nil, err
	}
	for i := 0; i < min(len(hits), a.Limit); i++ {
		row, last := a.replaced(&hits[i])
		if last == nil {
			continue
		}
		by := &op.Successor{By: last.ID(), Text: core.BeginningOf(last.Content())}
		hits[i].Superseded = by
		below := row.ID()
		for _, above := range append(olderSuccessors(a.Q.set.Get, row, last), last) {
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
		i = max(i, placeOf(hits, row.ID())) // a second note of it is further down
	}
	return hits, nil
}

// olderSuccessors returns the successors of r before the last one.
func olderSuccessors(get func(memory.ID) (*stm.Row, bool), r, last *stm.Row) []*stm.Row {
	all := core.Successors(get, r)
	return slices.DeleteFunc(all, func(s *stm.Row) bool { return s.ID() == last.ID() })
}

// replaced returns the memory of a hit and the one that supersedes it, nil if none does.
func (a *SearchRun) replaced(h *op.Hit) (row, last *stm.Row) {
	if h.Memory != nil && h.SupersededBy == "" { // the usual case, without a lookup
		return nil, nil
	}
	row, live := a.Q.set.Get(MemoryOf(h))
	if !live {
		return nil, nil
	}
	return row, core.Successor(a.Q.set.Get, row)
}

// successorHits returns the hits of matching successors that are not among the hits yet. One lookup
// finds them all, because it costs as much as a search.
func (a *SearchRun) successorHits(c docFrequencies, hits []op.Hit) (map[memory.ID]op.Hit, error) {
	var wanted []*stm.Row
	for i := range hits[:min(len(hits), a.Limit)] {
		row, last := a.replaced(&hits[i])
		if last == nil {
			continue
		}
		for _, r := range append(olderSuccessors(a.Q.set.Get, row, last), last) {
			if placeOf(hits, r.ID()) < 0 {
				wanted = append(wanted, r)
			}
		}
	}
	if len(wanted) == 0 || !a.Q.memories {
		return nil, nil
	}
	q := a.E.StmQuery(a.Q, c, len(wanted), a.Req.Explain, a.Now)
	slices.SortFunc(wanted, (*stm.Row).CompareID)
	q.Accept = core.Only(q.Accept, func(r *stm.Row) bool {
		_, is := slices.BinarySearchFunc(wanted, r, (*stm.Row).CompareID)
		return is
	})
	found, err := a.memoryHits(a.Q.set.Search(q).Matches)
	out := make(map[memory.ID]op.Hit, len(found))
	for _, h := range found {
		out[h.ID] = h
	}
	return out, err
}

// raiseAbove moves the hit of one memory directly above that of another, if it matches and is
// below it.
func (a *SearchRun) raiseAbove(ctx context.Context, c docFrequencies, hits []op.Hit, further map[memory.ID]op.Hit,
	old memory.ID, above *stm.Row) ([]op.Hit, error) {
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

// placeOf returns the index of a memory, or of its first note, among the hits, or -1.
func placeOf(hits []op.Hit, id memory.ID) int {
	return slices.IndexFunc(hits, func(h op.Hit) bool { return MemoryOf(&h) == id })
}

// noteOf searches the note of a memory that the search of memories left out.
func (a *SearchRun) noteOf(ctx context.Context, c docFrequencies, r *stm.Row) ([]op.Hit, error) {
	m, err := r.Memory()
	if err != nil || !a.Q.notes || m.PromotedTo == "" {
		return nil, err
	}
	lq := a.E.ltmQuery(ctx, a.Q, c, 1, a.Req.Explain)
	lq.Must.Paths = append(slices.Clone(lq.Must.Paths), m.PromotedTo)
	var found ltm.Result
	err = a.E.Notes.Vault.Ask(func(index *ltm.Index) (err error) {
		found, err = index.Search(ctx, lq)
		return err
	})
	if err != nil {
		return nil, memory.Errorf(memory.Internal, "cannot search the note index: %w", err)
	}
	var hits []op.Hit
	for _, h := range found.Hits {
		a.found[h.Path] = h
		hits = append(hits, a.noteHit(h))
	}
	return hits, nil
}
