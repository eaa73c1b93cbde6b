package engine

import (
	"context"
	"slices"
	"time"

	"emberd/decay"
	"emberd/internal/words"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
)

// mostCold is how many cold memories one search judges, the most relevant ones: more
// than it may mean, so that a query that means many is known to be vague.
const mostCold = 50

// rekindleBudget is how long a search waits for the texts of all cold memories that it
// means.
const rekindleBudget = 50 * time.Millisecond

// cold selects the memories whose text is in a note.
func cold(r *stm.Row) bool { return r.Stage().Cold() }

// only narrows what accept, nil for everything, accepts.
func only(accept, more func(*stm.Row) bool) func(*stm.Row) bool {
	if accept == nil {
		return more
	}
	return func(r *stm.Row) bool { return more(r) && accept(r) }
}

// looksAtCold reports whether there are cold memories that the search may find. One that
// picks stages itself ranks them as they are.
func (a *asking) looksAtCold() bool {
	return a.q.stm > 0 && a.q.memories && !a.q.archive && len(a.q.terms) > 0 && len(a.q.filter.Stages)+len(a.q.filter.statuses) == 0 &&
		a.q.in.Cold() > 0
}

// mayMean reports whether the search may bring a cold memory back. One that is to leave
// no trace does not, nor does one that only found something similar to what was asked.
func (a *asking) mayMean() bool {
	return a.looksAtCold() && a.e.opt.Rekindle != RekindleOff && a.e.notes != nil &&
		a.tracks() && !a.loose && a.res.Loading == nil && a.present
}

// mean ranks the cold memories that the query means as if they had not faded, and those
// that come near as if they had only been demoted. Whether it does is judged on relevance
// alone; stage and decay would bury every one of them.
func (a *asking) mean(c corpus, hits []op.Hit) ([]op.Hit, error) {
	if a.meant = nil; !a.looksAtCold() {
		return hits, nil
	}
	candidates, err := a.candidates(hits)
	if err != nil || len(candidates) == 0 {
		return hits, err
	}
	near := rekindle.DefaultThreshold().Near * a.best
	for _, h := range candidates {
		if h.Tier == op.TierMemory && h.Explain.Relevance*h.Explain.Tier >= near {
			hits = raise(hits, a.asDemoted(h))
		}
	}
	candidates = slices.DeleteFunc(candidates, func(h op.Hit) bool { return h.SupersededBy != "" }) // its successor says more
	if !a.mayMean() || len(candidates) == 0 {
		return hits, nil
	}
	asked := a.weightOf(c)
	matches := []rekindle.Match{{Relevance: a.best}}
	for _, h := range candidates {
		matches = append(matches, rekindle.Match{Cold: true, Relevance: h.Rank, Matched: a.held(h.Explain, asked), Asked: asked})
	}
	a.meant = map[memory.ID]bool{}
	for _, i := range rekindle.DefaultThreshold().Strong(matches) {
		h := candidates[i-1]
		a.meant[h.ID] = true
		hits = raise(hits, h)
	}
	return hits, nil
}

// asDemoted ranks a cold memory as it would if it had only been demoted.
func (a *asking) asDemoted(h op.Hit) op.Hit {
	x := *h.Explain
	x.Bounded = decay.Bounded(x.Decay)
	x.Stage = max(a.e.opt.StageFactor.of(h.Stage), a.e.opt.StageFactor.Demoted)
	h.Explain, h.Rank = &x, rank(x)
	return h
}

// raise gives a hit another rank, or adds it.
func raise(hits []op.Hit, h op.Hit) []op.Hit {
	i := slices.IndexFunc(hits, func(o op.Hit) bool { return memoryOf(&o) == h.ID })
	if i < 0 {
		return append(hits, h)
	}
	if hits[i].Note != nil {
		join(&h, hits[i])
	}
	hits[i] = h
	return hits
}

// memoryOf names the memory that a hit is or whose note it is, "" if there is none.
func memoryOf(h *op.Hit) memory.ID {
	if h.Memory != nil {
		return h.ID
	}
	return h.Note.MemoryID
}

// besideCold lists the cold memories that may be meant.
func (a *asking) besideCold() stm.Beside {
	return stm.Beside{Accept: cold, Limit: mostCold, OfBest: rekindle.DefaultThreshold().Near}
}

// candidates are the cold memories that match, each once and unfaded: by what is left of
// them, or by their note. Those that were merged into another never come back by
// themselves.
func (a *asking) candidates(hits []op.Hit) ([]op.Hit, error) {
	found, err := a.memoryHits(a.cold)
	if err != nil {
		return nil, err
	}
	for i := range found {
		x := a.e.unfaded(*found[i].Explain)
		found[i].Explain, found[i].Rank = &x, rank(x)
	}
	for _, h := range hits {
		if h.Tier != op.TierNote || h.Note.MemoryID == "" {
			continue
		}
		row, ok := a.q.in.Get(h.Note.MemoryID)
		if !ok || !cold(row) {
			continue
		}
		if i := slices.IndexFunc(found, func(o op.Hit) bool { return o.ID == row.ID() }); i >= 0 {
			join(&found[i], h)
			continue
		}
		view, err := a.e.listedIn(a.q.in, row, a.now)
		if err != nil {
			return nil, err
		}
		h.Memory = &view
		found = append(found, h)
	}
	return slices.DeleteFunc(found, func(h op.Hit) bool { return mergedInto(a.q.in.Get, h.ConsolidatedInto) != nil }), nil
}

// weightOf is what the words of the question weigh, those that nothing holds included.
func (a *asking) weightOf(c corpus) float64 {
	sum := 0.0
	for i := range a.q.terms {
		sum += a.idf(c, i)
	}
	return sum
}

// idf is what a word of the question weighs.
func (a *asking) idf(c corpus, term int) float64 {
	return words.IDF(c.memories+c.notes, c.inMemories[term]+c.inNotes[a.q.terms[term]])
}

// matched is what those of the words weigh that a hit holds. A word that is only the
// beginning of one of them is not held.
func (a *asking) matched(terms []op.TermExplain) float64 {
	sum, counted := 0.0, map[string]bool{}
	for _, t := range terms {
		if _, asked := slices.BinarySearch(a.q.terms, t.Term); asked && !counted[t.Term] {
			counted[t.Term] = true
			sum += t.IDF
		}
	}
	return sum
}

// bringBack gets the cold memories back that the query means and the answer shows. Those
// whose notes are read in time are shown as they are from now on.
func (a *asking) bringBack(ctx context.Context) {
	var asked []*op.Hit
	var texts []<-chan lookup
	for i := range a.res.Hits {
		h := &a.res.Hits[i]
		if h.Memory == nil || !a.meant[h.ID] {
			continue
		}
		h.Rekindle = op.RekindleOffered
		if row, live := a.e.stm.Get(h.ID); a.e.opt.Rekindle != RekindleAuto || live && !a.e.may(row) {
			continue
		}
		if text, ok := a.e.wake(h.Memory.Memory); ok {
			h.Rekindle, h.Rekindling = "", true
			asked, texts = append(asked, h), append(texts, text)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, a.e.opt.patience)
	defer cancel()
	for i, text := range texts {
		select {
		case l, ok := <-text:
			a.show(asked[i], l, ok)
		case <-ctx.Done():
		}
	}
}

// show says of a hit what became of its text. A note that could not be read leaves it
// as it is.
func (a *asking) show(h *op.Hit, l lookup, readable bool) {
	h.Rekindling = false
	if !readable {
		h.Rekindle = op.RekindleOffered
		return
	}
	h.Rekindled = &op.Rekindled{Verdict: string(l.Verdict), Path: l.Path, Edited: l.Edited}
	if l.Body == "" {
		return
	}
	m := &h.Memory.Memory
	warm(m, l.Body, l.Path, a.now)
	m.UseCount++
	m.Summary = ""
	h.Status = m.Status()
	h.Score = a.e.opt.Decay.Score(int(m.UseCount), m.LastUsed, a.now, m.Strength)
	if x := h.Explain; h.Tier == op.TierMemory {
		x.Decay = h.Score
	}
}
