package search

import (
	"cmp"
	"context"
	"slices"

	"emberd/engine/core"
	"emberd/internal/relevance"
	"emberd/internal/text/analysis"
	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
)

// MaxCold is how many archived memories a request to rekindle by words evaluates, the most relevant ones. It is more
// than it may rekindle, so that a vague query that matches many is recognized.
const MaxCold = 50

// hasArchive reports whether the texts of archived memories are in an index of their own: with a vault, and now.
func (q *parsedQuery) hasArchive(e *Search) bool {
	return e.Notes.Vault != nil && q.set == &e.Stm.MemorySet
}

// searchesArchive reports whether the query looks into texts of archived memories. A query without words lists
// memories by what the log has of them.
func (q *parsedQuery) searchesArchive(e *Search) bool {
	return q.memories && q.hasArchive(e) && len(q.Terms)+len(q.Near.archived)+len(q.excluded) > 0
}

// ArchivedHit is an archived memory whose text matches.
type ArchivedHit struct {
	ltm.Hit
	Row *stm.Row
}

// AskArchive returns the archived memories whose text matches, the most relevant first, and how many match.
func (a *SearchRun) AskArchive(ctx context.Context, c docFrequencies, limit int) ([]ArchivedHit, ltm.Result, error) {
	var found ltm.Result
	if !a.Q.searchesArchive(a.E) {
		return nil, found, nil
	}
	rows := map[string]*stm.Row{}
	q := a.E.archiveQuery(ctx, a.Q, c, limit, rows)
	err := a.E.Notes.Vault.AskArchive(func(index *ltm.Index) (err error) {
		found, err = index.Search(ctx, q)
		return err
	})
	if err != nil {
		return nil, found, memory.Errorf(memory.Internal, "cannot search the archived memories: %w", err)
	}
	hits := make([]ArchivedHit, 0, len(found.Hits))
	for _, h := range found.Hits {
		if row := rows[h.Path]; row != nil {
			hits = append(hits, ArchivedHit{h, row})
		}
	}
	return hits, found, nil
}

// archiveQuery returns the query for the texts of archived memories. It adds to rows those that it accepts, by path.
func (e *Search) archiveQuery(ctx context.Context, q *parsedQuery, c docFrequencies, limit int,
	rows map[string]*stm.Row) ltm.Query {
	out := ltm.Query{Docs: c.memories + c.notes, Lengths: c.lengths, Near: q.Near.archived, Limit: limit, Explain: true,
		Must: ltm.Filter{Phrases: q.Query.Must.Phrases}, Not: ltm.Filter{Phrases: q.Query.Not.Phrases},
		Text: func(path string) (string, bool) {
			text, err := e.Notes.ArchivedText(ctx, path)
			return text, err == nil
		}}
	q.dates.intoNotes(&out)
	accept := q.acceptRow(e)
	// Without a filter only texts of memories that are warm again are refused, which are few.
	out.LooseTotal = accept == nil && q.only.id == ""
	out.Accept = func(path string) bool {
		row := e.Notes.ArchivedAt(path)
		if row == nil || q.only.id != "" && q.only.id != row.ID() || accept != nil && !accept(row) {
			return false
		}
		rows[path] = row
		return true
	}
	for i, t := range q.Terms {
		asked := q.of(t)
		out.Terms = append(out.Terms, ltm.Term{Text: t, Weight: asked.times, DF: c.inMemories[i] + c.inNotes[t],
			Form: analysis.Form(asked.form), Name: analysis.Form(asked.name)})
	}
	q.addCorrections(&out, c)
	return out
}

// archivedHits returns the matching archived memories as hits.
func (a *SearchRun) archivedHits(ctx context.Context, c docFrequencies) ([]op.Hit, error) {
	// They come by relevance. Age takes little of it, so that twice as many have the best by rank.
	found, res, err := a.AskArchive(ctx, c, 2*a.Limit)
	if err != nil {
		return nil, err
	}
	a.Res.Total += res.Total
	a.withWords += res.Total - res.Near
	a.Res.AtLeast = a.Res.AtLeast || res.Partial
	return a.bestArchived(found)
}

// bestArchived returns the archived memories with the highest ranks as hits, as many as the answer can show, and
// those that were merged into others, which show these instead.
func (a *SearchRun) bestArchived(found []ArchivedHit) ([]op.Hit, error) {
	ranks := make([]op.Explain, len(found))
	order := make([]int, len(found))
	for i, h := range found {
		if ranks[i] = a.E.weigh(h.Relevance, h.Row, a.Now, a.Q); a.Q.Archive {
			ranks[i] = unaged(ranks[i])
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(Rank(ranks[j]), Rank(ranks[i])) })
	hits := make([]op.Hit, 0, a.Limit)
	for i, at := range order {
		h, x := found[at], ranks[at]
		if i >= a.Limit && !h.Row.Has("consolidated_into") {
			continue
		}
		view, err := a.E.ListedIn(a.Q.set, h.Row, a.Now)
		if err != nil {
			return nil, err
		}
		x.Terms = termsOf(h.Scores)
		a.Q.markReplaced(x.Terms)
		x.Meaning, x.Date = a.Q.Near.Memories[h.Row.ID()], a.Q.dates.ofMemory(h.Row)
		hits = append(hits, op.Hit{Tier: op.TierMemory, Memory: &view, Rank: Rank(x), Explain: &x})
	}
	return hits, nil
}

// ArchivedTerms returns the terms of a hit, for explaining it.
func (h *ArchivedHit) ArchivedTerms() []op.TermExplain { return termsOf(h.Scores) }

// termsOf converts the scores of a note, or of an archived memory.
func termsOf(scores []ltm.Score) (out []op.TermExplain) {
	for _, s := range scores {
		field := string(s.Field)
		if s.Norm != 0 && s.Field == ltm.Body {
			field = "" // of a memory
		}
		out = append(out, op.TermExplain{Term: s.Term, Field: field, TF: s.TF, DF: s.DF, IDF: s.IDF, Norm: s.Norm,
			Weight: unlessOne(s.Weight), Score: s.Score})
	}
	return out
}

// showTexts gives the archived memories of the answer the text in their notes. One whose note cannot be read keeps
// its summary.
func (a *SearchRun) showTexts(ctx context.Context) {
	for i := range a.Res.Hits {
		h := &a.Res.Hits[i]
		if h.Memory == nil || h.Tier != op.TierMemory || !h.Stage.Cold() || !a.Q.hasArchive(a.E) {
			continue
		}
		row, live := a.Q.set.Get(h.ID)
		if !live {
			continue
		}
		if row = row.Unpacked(); !a.E.Archived(row) {
			continue
		}
		if text, err := a.E.Notes.TextOfArchived(ctx, &h.Memory.Memory); err == nil && text != "" {
			h.Content = text
		}
	}
}

// offer marks the archived memories of the answer that are relevant enough to be rekindled when the caller opens or
// uses them. It judges them by their calibrated relevance alone, and changes no rank.
func (a *SearchRun) offer() {
	if a.E.Opt.Rekindle == core.RekindleOff || a.E.Notes.Vault == nil || !a.tracks() || !a.Present {
		return
	}
	var strong []memory.ID
	for i := range a.Res.Hits {
		h := &a.Res.Hits[i]
		if h.Memory == nil || !h.Stage.Cold() || h.SupersededBy != "" || h.Relevance < rekindle.MinRelevance ||
			core.MergedInto(a.Q.set.Get, h.ConsolidatedInto) != nil {
			continue
		}
		h.Rekindle = op.RekindleOffered
		strong = append(strong, h.ID)
	}
	a.E.Notes.Offered.Add(a.Now, strong...)
}

// MemoryOf returns the memory of a hit, or of its note, or "".
func MemoryOf(h *op.Hit) memory.ID {
	if h.Memory != nil {
		return h.ID
	}
	return h.Note.MemoryID
}

// showMemories adds to notes of archived memories the memory, unless the search found it apart.
func (a *SearchRun) showMemories(hits []op.Hit) error {
	for i := range hits {
		h := &hits[i]
		if h.Memory != nil || h.Note.MemoryID == "" || !a.Q.memories ||
			slices.ContainsFunc(hits, func(o op.Hit) bool { return o.Memory != nil && o.ID == h.Note.MemoryID }) {
			continue
		}
		row, ok := a.Q.set.Get(h.Note.MemoryID)
		if !ok || !core.Cold(row) || core.NoteOfRow(row) != h.Note.Path || !a.Q.Filter.Accepts(row) {
			continue
		}
		view, err := a.E.ListedIn(a.Q.set, row, a.Now)
		if err != nil {
			return err
		}
		h.Memory = &view
	}
	return nil
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
