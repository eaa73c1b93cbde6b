package engine

import (
	"cmp"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// mergedInto is the live memory that has the text of one that was merged into another,
// which may have been merged in turn. It is nil if there is none: the merged memory was
// forgotten, so that its parts stand for themselves again.
func mergedInto(get func(memory.ID) (*stm.Row, bool), into memory.ID) *stm.Row {
	var last *stm.Row
	for range 100 { // devices that merge the same memories at once may make a circle
		if into == "" {
			return last
		}
		row, live := get(into)
		if !live {
			return last
		}
		m, err := row.Memory()
		if err != nil {
			return row
		}
		last, into = row, m.ConsolidatedInto
	}
	return nil
}

// mergedRow is the memory that has the text of r: what r was merged into, or r itself.
func mergedRow(get func(memory.ID) (*stm.Row, bool), r *stm.Row) *stm.Row {
	if !cold(r) || !r.Has("consolidated_into") {
		return r
	}
	m, err := r.Memory()
	if err != nil {
		return r
	}
	return cmp.Or(mergedInto(get, m.ConsolidatedInto), r)
}

// asMerged answers with the merged memory for what was merged into it, once. A part that
// has its text again stands for itself: an undo on one of two devices that merged it may
// have left the other's name in it. A search
// that picks stages, or the archive, gets what it asks for.
func (a *asking) asMerged(hits []op.Hit) ([]op.Hit, error) {
	if a.q.archive || len(a.q.filter.Stages) > 0 || a.q.sole.id != "" {
		return hits, nil
	}
	out := hits[:0:0]
	there := make(map[memory.ID]bool)
	for _, h := range hits {
		there[h.ID] = true
	}
	for _, h := range hits {
		into := mergedInto(a.q.in.Get, h.ConsolidatedInto)
		if into == nil || !h.Stage.Cold() || !a.q.filter.accepts(into) {
			out = append(out, h)
			continue
		}
		if there[into.ID()] {
			a.res.Total--
			continue
		}
		there[into.ID()] = true
		view, err := a.e.listedIn(a.q.in, into, a.now)
		if err != nil {
			return nil, err
		}
		x := a.e.weigh(h.Explain.Relevance, into, a.now, a.q)
		x.Coarse, x.Terms = h.Explain.Coarse, h.Explain.Terms
		x.Meaning, x.Date = h.Explain.Meaning, h.Explain.Date
		out = append(out, op.Hit{Tier: op.TierMemory, Memory: &view, Rank: rank(x), Explain: &x})
	}
	return out, nil
}
