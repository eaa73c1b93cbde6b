package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"emberd/engine/core"
	"emberd/internal/words"
	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Search returns the memories and notes that match any word of the query or its meaning, in
// one ranked list. It counts accesses after the answer is complete, in memory: a search never
// waits for the log, and its own access does not affect it.
func (e *Search) Search(ctx context.Context, req *op.SearchRequest) (*op.SearchResult, error) {
	return e.search(ctx, req, false)
}

// Asked is [Search.Search] for a text that nobody is typing: its last word is whole.
func (e *Search) Asked(ctx context.Context, req *op.SearchRequest) (*op.SearchResult, error) {
	return e.search(ctx, req, true)
}

func (e *Search) search(ctx context.Context, req *op.SearchRequest, whole bool) (*op.SearchResult, error) {
	if req.Scope == ScopeSessions {
		return e.searchSessions(ctx, req)
	}
	then, err := e.Searchable(ctx, req.AsOf)
	if err != nil {
		return nil, err
	}
	a, err := e.NewRun(req, then)
	if err != nil {
		return nil, err
	}
	if whole {
		a.Whole()
	}
	if err := a.Run(ctx); err != nil {
		return nil, err
	}
	a.CountAccesses(a.Res.Hits)
	return a.Res, nil
}

// SearchRun is one search in progress.
type SearchRun struct {
	E     *Search
	Q     *parsedQuery
	Req   *op.SearchRequest
	Limit int // including the skipped ones
	Now   time.Time
	Res   *op.SearchResult
	// Present is false for an earlier moment, which nothing can change.
	Present bool
	found   map[string]ltm.Hit // notes by path
	due     []stm.Match        // matching memories that are about to fade
	relaxed bool               // the query was relaxed
	// loosened is true if phrases were turned into words.
	phrasesRelaxed bool
	dry            bool // only the order is needed
	// worded is how many matches contain a word. The others match by embedding only; byMeaning
	// returns them even without the first kind.
	withWords int
	byMeaning bool
	nearest   *nearbyHits // nil until it was searched
}

// NewRun checks a request. For a request that cannot be searched the result is nil.
func (e *Search) NewRun(req *op.SearchRequest, then moment) (SearchRun, error) {
	a := SearchRun{E: e, Req: req, Now: then.At, Present: then.Past == nil}
	var err error
	if a.Limit, err = core.CheckLimit(req.Limit, e.Opt.SearchLimit); err != nil {
		return a, err
	}
	if err := memory.CheckRange("offset", float64(req.Offset), 0, op.MaxOffset); err != nil {
		return a, err
	}
	a.Limit += req.Offset
	if a.Q, err = e.Question(req, a.Now); err == nil {
		a.Q.set = then.MemorySet
		a.Res = &op.SearchResult{Query: req.Query, Hits: []op.Hit{}, AsOf: then.Description()}
	}
	return a, err
}

// Whole says that nobody is typing the query: its last word is no beginning of one, unless no text
// contains it.
func (a *SearchRun) Whole() { a.Q.whole = true }

// Run runs the search, and returns an error if the collection does not exist.
func (a *SearchRun) Run(ctx context.Context) error {
	if a.Q.Nothing {
		return nil
	}
	if err := a.answer(ctx); err != nil {
		return err
	}
	if a.Res.Total == 0 && a.Q.memories {
		return core.CheckCollection(a.Q.set, a.Q.Filter.Collection)
	}
	return nil
}

// answer searches for the query as typed. If nothing matches, it relaxes the query, and then
// accepts matches by embedding only.
func (a *SearchRun) answer(ctx context.Context) error {
	a.startQueryEmbedding(ctx)
	if err := a.queryTiers(ctx); err != nil || a.Res.Total > 0 {
		return err
	}
	if err := a.relax(ctx); err != nil || a.Res.Total > 0 || len(a.Q.Near.Memories)+len(a.Q.Near.notes) == 0 {
		return err
	}
	a.byMeaning, a.relaxed, a.Res.Similar = true, a.phrasesRelaxed, a.phrasesRelaxed
	return a.queryTiers(ctx)
}

// queryTiers searches the tiers and sets the best hits. Hits without a word of the query come
// besides hits with one; alone only with byMeaning.
func (a *SearchRun) queryTiers(ctx context.Context) error {
	a.withWords = 0
	c, err := a.E.prepare(ctx, a.Q)
	if err != nil {
		return err
	}
	hits, terms, err := a.ranked(ctx, c)
	if err != nil {
		return err
	}
	if a.withWords == 0 && !a.byMeaning {
		a.Res.Total, a.Res.AtLeast = 0, false
		return nil
	}
	shown, err := a.addFading(hits[:min(len(hits), a.Limit)])
	if err != nil {
		return err
	}
	a.noteCorrections(c)
	if a.Res.Hits = append(a.Res.Hits, shown[min(a.Req.Offset, len(shown)):]...); a.dry {
		return nil
	}
	a.judge(c)
	a.showTexts(ctx)
	a.offer()
	err = a.cutSnippets(ctx, slices.Concat(a.Q.Terms, a.Q.corrections(), a.Q.begun.words, terms))
	a.giveReasons()
	a.explain()
	return err
}

// noteCorrections sets in the answer which words were corrected, and whether it has similar words
// alone: then nothing is meant for certain, so it brings nothing back.
func (a *SearchRun) noteCorrections(c docFrequencies) {
	if a.Res.Respelled = nil; a.Res.Total == 0 {
		return
	}
	a.Res.Respelled = a.Q.respellings()
	if len(a.Q.corrected) > 0 && len(a.Q.begun.words) == 0 && len(a.Q.others("", c)) == 0 {
		a.Res.Similar = true
	}
}

// explain completes the factors of each rank, or removes them unless they were asked for.
func (a *SearchRun) explain() {
	for i := range a.Res.Hits {
		if h := &a.Res.Hits[i]; a.Req.Explain {
			h.Explain.Similarity = a.similarity(h)
		} else {
			h.Explain = nil
		}
	}
}

// ranked merges the hits of the tiers, best first, and returns the expanded terms.
func (a *SearchRun) ranked(ctx context.Context, c docFrequencies) (hits []op.Hit, terms []string, err error) {
	a.Q.dates = a.newDateBoost(a.WeightOf(c))
	a.Res.AtLeast = a.Res.AtLeast || a.Q.begun.partial
	if err := a.FindNear(ctx, c); err != nil {
		return nil, nil, memory.Errorf(memory.Internal, "cannot search the note index: %w", err)
	}
	if a.Q.memories {
		if hits, err = a.askMemories(ctx, c); err != nil {
			return nil, nil, err
		}
	}
	if a.Q.notes {
		found, searched, err := a.askNotes(ctx, c)
		if err != nil {
			return nil, nil, memory.Errorf(memory.Internal, "cannot search the note index: %w", err)
		}
		hits, terms = append(hits, found...), searched
		a.Res.Indexing, a.Res.Away = a.E.Notes.Vault.Indexing(), a.E.Notes.Vault.Away()
		a.Res.AtLeast = a.Res.AtLeast || a.Q.named != nil && a.Q.named.partial
	}
	hits = a.mergeNoteHits(hits)
	if err := a.showMemories(hits); err != nil {
		return nil, nil, err
	}
	slices.SortStableFunc(hits, func(x, y op.Hit) int { return cmp.Compare(y.Rank, x.Rank) })
	hits, err = a.placeSuccessors(ctx, c, hits)
	return hits, terms, err
}

// relax searches again with fewer requirements: phrases as words, then similar words for
// unknown ones, whether or not they fit the others.
func (a *SearchRun) relax(ctx context.Context) error {
	a.Q.unquoted = strings.Join(a.Q.Query.Must.Phrases, " ")
	if a.relaxed = true; a.Q.relaxPhrases() {
		a.phrasesRelaxed, a.nearest = true, nil // more may match now
		if err := a.queryTiers(ctx); err != nil || a.Res.Total > 0 {
			a.Res.Similar = true
			return err
		}
	}
	a.Q.lenient = true
	return a.queryTiers(ctx)
}

func (a *SearchRun) askMemories(ctx context.Context, c docFrequencies) ([]op.Hit, error) {
	q := a.E.StmQuery(a.Q, c, a.Limit, true, a.Now)
	// A memory that is restored meanwhile is met twice rather than never.
	archived, err := a.archivedHits(ctx, c)
	if err != nil {
		return nil, err
	}
	if a.due = nil; a.canAddFading() {
		q.Beside = append(q.Beside, a.fadingMatches())
	}
	found := a.Q.set.Search(q)
	if len(found.Beside) > 0 {
		a.due = found.Beside[0]
	}
	if found.Loading {
		a.Res.Loading = &op.Loading{Indexed: found.Indexed, Total: found.Of}
	}
	a.Res.Total += found.Total
	a.withWords += found.Total - found.Near
	hits, err := a.memoryHits(found.Matches)
	if err != nil {
		return nil, err
	}
	for _, h := range archived {
		if placeOf(hits, h.ID) >= 0 {
			a.Res.Total--
			continue
		}
		hits = append(hits, h)
	}
	return a.replaceMerged(hits)
}

func (a *SearchRun) memoryHits(matches []stm.Match) ([]op.Hit, error) {
	hits := make([]op.Hit, 0, len(matches))
	for _, m := range matches {
		view, err := a.E.ListedIn(a.Q.set, m.Row, a.Now)
		if err != nil {
			return nil, err
		}
		x := Explain(a.E.weigh(m.Relevance, m.Row, a.Now, a.Q), m)
		a.Q.markReplaced(x.Terms)
		x.Meaning, x.Date = a.Q.Near.Memories[m.Row.ID()], a.Q.dates.ofMemory(m.Row)
		if a.Q.Archive {
			x = unaged(x)
		}
		hits = append(hits, op.Hit{Tier: op.TierMemory, Memory: &view, Rank: m.Rank, Explain: &x})
	}
	return hits, nil
}

// askNotes searches the notes and also returns the terms after expansion of prefixes.
func (a *SearchRun) askNotes(ctx context.Context, c docFrequencies) ([]op.Hit, []string, error) {
	lq := a.E.ltmQuery(ctx, a.Q, c, a.Limit, true)
	var found ltm.Result
	err := a.E.Notes.Vault.Ask(func(index *ltm.Index) (err error) {
		found, err = index.Search(ctx, lq)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	a.Res.Total += found.Total
	a.withWords += found.Total - found.Near
	a.Res.AtLeast = a.Res.AtLeast || found.Partial
	hits := make([]op.Hit, 0, len(found.Hits))
	a.found = make(map[string]ltm.Hit, len(found.Hits))
	for _, h := range found.Hits {
		a.found[h.Path] = h
		hits = append(hits, a.noteHit(h))
	}
	return hits, found.Terms, nil
}

// noteHit returns a note as a hit. Notes do not age.
func (a *SearchRun) noteHit(h ltm.Hit) op.Hit {
	e := a.E
	hit := op.Hit{Tier: op.TierNote, Rank: h.Relevance * a.Q.ltm, Note: e.Notes.NoteOfHit(h)}
	hit.Explain = &op.Explain{Relevance: h.Relevance, Age: 1, Tier: a.Q.ltm}
	hit.Explain.Meaning, hit.Explain.Date = a.Q.Near.notes[h.Path], a.Q.dates.ofNote(h.Path, h.Created)
	hit.Explain.Terms = termsOf(h.Scores)
	a.Q.markReplaced(hit.Explain.Terms)
	return hit
}

// mergeNoteHits joins the hits of a memory and its note: the one with the higher rank has the
// other beside it. A second note of the same memory, which sync tools create, stays a separate
// hit. If only one of a pair is among the best of its tier, it stays alone, and Total counts
// both.
func (a *SearchRun) mergeNoteHits(hits []op.Hit) []op.Hit {
	memories := map[memory.ID]int{}
	out := hits[:0:0]
	for _, h := range hits {
		if h.Tier == op.TierMemory {
			memories[h.ID] = len(out)
		} else if i, ok := memories[h.Note.MemoryID]; ok && out[i].Note == nil {
			join(&out[i], h)
			a.Res.Total--
			continue
		}
		out = append(out, h)
	}
	return out
}

func join(mine *op.Hit, note op.Hit) {
	mine.Note = note.Note
	if note.Rank > mine.Rank {
		mine.Tier, mine.Rank, mine.Explain = note.Tier, note.Rank, note.Explain
	}
}

// Explain adds the terms to the factors of a rank.
func Explain(x op.Explain, m stm.Match) op.Explain {
	x.Coarse = m.Coarse
	x.Terms = make([]op.TermExplain, 0, len(m.Terms))
	for _, t := range m.Terms {
		x.Terms = append(x.Terms, partsOf(t)...)
	}
	return x
}

// partsOf divides what a term gives to a memory between its text, the best passage of a long
// one, and its form.
func partsOf(t words.TermScore) []op.TermExplain {
	part := op.TermExplain{Term: t.Term, DF: t.DF, IDF: t.IDF, Weight: unlessOne(t.Weight)}
	whole, passage, form := part, part, part
	whole.TF, whole.Norm, whole.Score = t.TF, t.Norm, t.Score-t.BestScore-t.FormScore
	parts := []op.TermExplain{whole}
	if t.BestTF > 0 {
		passage.Field, passage.TF, passage.Norm, passage.Score = op.FieldPassage, t.BestTF, t.BestNorm, t.BestScore
		parts = append(parts, passage)
	}
	if t.FormScore > 0 {
		form.Field, form.TF, form.Score = op.FieldForm, t.TF, t.FormScore
		parts = append(parts, form)
	}
	return parts
}

// unlessOne is a weight as it is shown.
func unlessOne(weight float64) float64 {
	if weight == 1 {
		return 0
	}
	return weight
}

// Snippet returns the part of a text that matched; with a preview length of 0, the whole text.
func (e *Search) Snippet(content string, terms []string) op.Snippet {
	length := e.Opt.PreviewLength
	if length == 0 {
		length = utf8.RuneCountInString(content)
	}
	text, marks := e.Text.Snippet(content, terms, length)
	return op.Snippet{Text: text, Marks: marks}
}

// CountAccesses counts the accesses of an answer, unless it is about an earlier moment or
// untracked.
func (a *SearchRun) CountAccesses(hits []op.Hit) {
	if !a.Present || !a.E.Opt.TrackAccess || !a.tracks() {
		return
	}
	var uses []stm.Use
	for _, h := range hits {
		if h.Memory != nil {
			uses = append(uses, stm.Use{ID: h.ID, Accesses: 1, At: a.Now})
		}
	}
	if len(uses) > 0 {
		a.E.Stm.Use(uses...)
		a.E.Changed()
	}
}

// tracks reports whether the search counts as an access.
func (a *SearchRun) tracks() bool { return ValueOrTrue(a.Req.Track) && !a.Req.Trial }

// ValueOrTrue returns *v, or true if v is nil.
func ValueOrTrue(v *bool) bool { return v == nil || *v }
