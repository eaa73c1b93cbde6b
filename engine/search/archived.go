package search

import (
	"context"
	"slices"

	"emberd/decay"
	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/internal/relevance"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
)

// MaxCold is how many cold memories one search evaluates, the most relevant ones. It is more
// than a search may rekindle, so that a vague query that matches many is recognized.
const MaxCold = 50

// searchesCold reports whether the search may find cold memories. A search that filters by
// stage ranks them as they are.
func (a *SearchRun) searchesCold() bool {
	return a.Q.stm > 0 && a.Q.memories && !a.Q.Archive && len(a.Q.Terms) > 0 &&
		len(a.Q.Filter.Stages)+len(a.Q.Filter.Statuses) == 0 &&
		a.Q.set.Cold() > 0
}

// canRekindle reports whether the search may rekindle memories. An untracked search may not,
// and a relaxed one may not either.
func (a *SearchRun) canRekindle() bool {
	return a.searchesCold() && a.E.Opt.Rekindle != core.RekindleOff && a.E.Notes.Vault != nil &&
		a.tracks() && !a.relaxed && len(a.Q.corrected) == 0 && a.Res.Loading == nil && a.Present
}

// rankArchived ranks the cold memories that the query means as if they had not faded, and
// those that come close as if they were demoted. Only relevance decides, because stage and
// decay would rank all of them too low.
func (a *SearchRun) rankArchived(c docFrequencies, hits []op.Hit) ([]op.Hit, error) {
	if a.rekindled = nil; !a.searchesCold() {
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
	// its successor is better
	candidates = slices.DeleteFunc(candidates, func(h op.Hit) bool { return h.SupersededBy != "" })
	if !a.canRekindle() || len(candidates) == 0 {
		return hits, nil
	}
	asked := a.WeightOf(c)
	matches := []rekindle.Match{{Relevance: a.best}}
	for _, h := range candidates {
		matches = append(matches,
			rekindle.Match{Cold: true, Relevance: h.Rank, Matched: a.Held(h.Explain, asked), Asked: asked})
	}
	a.rekindled = map[memory.ID]bool{}
	for _, i := range rekindle.DefaultThreshold().Strong(matches) {
		h := candidates[i-1]
		a.rekindled[h.ID] = true
		hits = raise(hits, h)
	}
	return hits, nil
}

// asDemoted ranks a cold memory as a demoted one.
func (a *SearchRun) asDemoted(h op.Hit) op.Hit {
	x := *h.Explain
	x.Bounded = decay.Bounded(x.Decay)
	x.Stage = max(a.E.Opt.StageFactor.Of(h.Stage), a.E.Opt.StageFactor.Demoted)
	h.Explain, h.Rank = &x, Rank(x)
	return h
}

// raise sets the rank of a hit, or adds the hit.
func raise(hits []op.Hit, h op.Hit) []op.Hit {
	i := slices.IndexFunc(hits, func(o op.Hit) bool { return MemoryOf(&o) == h.ID })
	if i < 0 {
		return append(hits, h)
	}
	if hits[i].Note != nil {
		join(&h, hits[i])
	}
	hits[i] = h
	return hits
}

// MemoryOf returns the memory of a hit, or of its note, or "".
func MemoryOf(h *op.Hit) memory.ID {
	if h.Memory != nil {
		return h.ID
	}
	return h.Note.MemoryID
}

// coldMatches selects the cold memories that the query may mean.
func (a *SearchRun) coldMatches() stm.Beside {
	return stm.Beside{Accept: core.Cold, Limit: MaxCold, OfBest: rekindle.DefaultThreshold().Near}
}

// candidates returns the matching cold memories, each once and unfaded: by their summary, or
// by their note. Memories that were merged into another are never rekindled by a search.
func (a *SearchRun) candidates(hits []op.Hit) ([]op.Hit, error) {
	found, err := a.memoryHits(a.cold)
	if err != nil {
		return nil, err
	}
	for i := range found {
		x := a.E.unfaded(*found[i].Explain)
		found[i].Explain, found[i].Rank = &x, Rank(x)
	}
	for _, h := range hits {
		if h.Tier != op.TierNote || h.Note.MemoryID == "" {
			continue
		}
		row, ok := a.Q.set.Get(h.Note.MemoryID)
		if !ok || !core.Cold(row) {
			continue
		}
		if i := slices.IndexFunc(found, func(o op.Hit) bool { return o.ID == row.ID() }); i >= 0 {
			join(&found[i], h)
			continue
		}
		view, err := a.E.ListedIn(a.Q.set, row, a.Now)
		if err != nil {
			return nil, err
		}
		h.Memory = &view
		found = append(found, h)
	}
	return slices.DeleteFunc(found,
		func(h op.Hit) bool { return core.MergedInto(a.Q.set.Get, h.ConsolidatedInto) != nil }), nil
}

// WeightOf returns the total weight of the query's words, including unknown words. A word
// that is said twice weighs twice.
func (a *SearchRun) WeightOf(c docFrequencies) float64 {
	sum := 0.0
	for i, t := range a.Q.Terms {
		sum += a.Q.of(t).times * c.idf(a.Q, i)
	}
	return sum
}

// idf returns the weight of one word that the query says once.
func (c *docFrequencies) idf(q *parsedQuery, term int) float64 {
	return relevance.IDF(c.memories+c.notes, c.inMemories[term]+c.inNotes[q.Terms[term]])
}

// rekindleHits requests the texts of the cold memories that the query means and the answer
// shows. Those that arrive in time are shown with their text.
func (a *SearchRun) rekindleHits(ctx context.Context) {
	var asked []*op.Hit
	var texts []<-chan notes.TextLookup
	for i := range a.Res.Hits {
		h := &a.Res.Hits[i]
		if h.Memory == nil || !a.rekindled[h.ID] {
			continue
		}
		h.Rekindle = op.RekindleOffered
		if row, live := a.E.Stm.Get(h.ID); a.E.Opt.Rekindle != core.RekindleAuto || live && !a.E.CanWrite(row) {
			continue
		}
		if text, ok := a.E.Notes.RequestRekindle(h.Memory.Memory); ok {
			h.Rekindle, h.Rekindling = "", true
			asked, texts = append(asked, h), append(texts, text)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, a.E.Opt.Patience)
	defer cancel()
	for i, text := range texts {
		select {
		case l, ok := <-text:
			a.show(asked[i], l, ok)
		case <-ctx.Done():
		}
	}
}

// show sets the result of rekindling in a hit. If the note could not be read, the hit stays as
// it is.
func (a *SearchRun) show(h *op.Hit, l notes.TextLookup, readable bool) {
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
	core.RestoreText(m, l.Body, l.Path, a.Now)
	m.UseCount++
	m.Summary = ""
	h.Status = m.Status()
	h.Score = a.E.Opt.Decay.Score(int(m.UseCount), m.LastUsed, a.Now, m.Strength)
	if x := h.Explain; h.Tier == op.TierMemory {
		x.Decay = h.Score
	}
}
