package search

import (
	"context"
	"slices"

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

// searchesCold reports whether the search may find cold memories besides those that were asked for.
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

// findStrong sets which of the cold memories the query means, by their relevance alone. It changes no rank.
func (a *SearchRun) findStrong(c docFrequencies, hits []op.Hit) error {
	if a.rekindled = nil; !a.canRekindle() {
		return nil
	}
	candidates, err := a.candidates(hits)
	// its successor is better
	candidates = slices.DeleteFunc(candidates, func(h op.Hit) bool { return h.SupersededBy != "" })
	if err != nil || len(candidates) == 0 {
		return err
	}
	asked := a.WeightOf(c)
	matches := []rekindle.Match{{Relevance: a.best}}
	for _, h := range candidates {
		matches = append(matches, rekindle.Match{Cold: true, Relevance: h.Explain.Relevance * h.Explain.Tier,
			Matched: a.Held(h.Explain, asked), Asked: asked})
	}
	a.rekindled = map[memory.ID]bool{}
	for _, i := range rekindle.DefaultThreshold().Strong(matches) {
		a.rekindled[candidates[i-1].ID] = true
	}
	return nil
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

// candidates returns the matching cold memories, each once: by their summary, or by their note. Memories that were merged into another are never rekindled by a search.
func (a *SearchRun) candidates(hits []op.Hit) ([]op.Hit, error) {
	found, err := a.memoryHits(a.cold)
	if err != nil {
		return nil, err
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
}
