package engine

import (
	"cmp"
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// search ranks the memories and notes that hold any word of the query in one
// list. Accesses are counted after the answer is complete, in memory: a search
// never waits for the log, and its own answer does not count itself.
func (e *Engine) search(ctx context.Context, req *op.SearchRequest) (*op.SearchResult, error) {
	limit, err := checkLimit(req.Limit, e.opt.SearchLimit)
	if err != nil {
		return nil, err
	}
	then, err := e.searchable(ctx, req.AsOf)
	if err != nil {
		return nil, err
	}
	now := then.at
	q, err := e.question(req, now)
	if err != nil {
		return nil, err
	}
	q.in = then.Memories
	res := &op.SearchResult{Query: req.Query, Hits: []op.Hit{}, AsOf: then.told()}
	if q.nothing {
		return res, nil
	}
	asked := asking{e: e, q: q, req: req, limit: limit, now: now, res: res}
	err = asked.both(ctx)
	if err == nil && res.Total == 0 {
		err = asked.less(ctx)
	}
	if err != nil {
		return nil, err
	}
	if res.Total == 0 && q.memories {
		if err := checkCollection(then.Memories, q.filter.Collection); err != nil {
			return nil, err
		}
	}
	if then.past == nil && e.opt.TrackAccess && valueOrTrue(req.Track) {
		e.countAccesses(res.Hits, now)
	}
	return res, nil
}

func checkQuery(q string) error {
	if !utf8.ValidString(q) {
		return memory.Errorf(memory.Invalid, "the query is not valid UTF-8; convert it and try again").At("q")
	}
	if len(q) > memory.MaxQueryBytes {
		return memory.Errorf(memory.TooLarge, "the query has %d bytes, more than %d; search for the words that matter", len(q), memory.MaxQueryBytes).At("q")
	}
	return nil
}

// asking is one search under way.
type asking struct {
	e     *Engine
	q     *question
	req   *op.SearchRequest
	limit int
	now   time.Time
	res   *op.SearchResult
	found map[string]ltm.Hit // notes by path
}

// both asks the tiers and merges what they find.
func (a *asking) both(ctx context.Context) error {
	c, err := a.e.corpus(ctx, a.q)
	if err != nil {
		return memory.Errorf(memory.Internal, "search the note index: %w", err)
	}
	a.e.guess(a.q, c)
	var terms []string
	var hits []op.Hit
	if a.q.memories {
		found, err := a.askMemories(c)
		if err != nil {
			return err
		}
		hits = append(hits, found...)
	}
	if a.q.notes {
		found, searched, err := a.askNotes(ctx, c)
		if err != nil {
			return memory.Errorf(memory.Internal, "search the note index: %w", err)
		}
		hits, terms = append(hits, found...), searched
		a.res.Indexing = a.e.notes.indexing()
	}
	hits = a.fold(hits)
	slices.SortStableFunc(hits, func(x, y op.Hit) int { return cmp.Compare(y.Rank, x.Rank) })
	a.res.Hits = append(a.res.Hits, hits[:min(len(hits), a.limit)]...)
	return a.cut(ctx, slices.Concat(a.q.terms, a.q.guesses, terms))
}

// less asks again for less than nothing was found for: the words of phrases anywhere,
// then words in place of those that nothing holds.
func (a *asking) less(ctx context.Context) error {
	if a.q.loosen() {
		if err := a.both(ctx); err != nil || a.res.Total > 0 {
			a.res.Similar = true
			return err
		}
	}
	respelled, err := a.e.respell(ctx, a.q, a.req.Query)
	if err != nil || len(respelled) == 0 {
		return err
	}
	if err := a.both(ctx); err != nil || a.res.Total == 0 {
		return err
	}
	a.res.Similar, a.res.Respelled = true, respelled
	for _, h := range a.res.Hits {
		if h.Explain != nil {
			attribute(h.Explain.Terms, respelled)
		}
	}
	return nil
}

func (a *asking) askMemories(c corpus) ([]op.Hit, error) {
	found := a.q.in.Search(a.e.stmQuery(a.q, c, a.limit, a.req.Explain, a.now))
	if found.Loading {
		a.res.Loading = &op.Loading{Indexed: found.Indexed, Total: found.Of}
	}
	a.res.Total += found.Total
	hits := make([]op.Hit, 0, len(found.Matches))
	for _, m := range found.Matches {
		view, err := a.e.view(m.Row, a.now)
		if err != nil {
			return nil, err
		}
		hit := op.Hit{Tier: op.TierMemory, Memory: &view, Rank: m.Rank}
		if a.req.Explain {
			hit.Explain = a.e.explain(m, a.now)
		}
		hits = append(hits, hit)
	}
	return hits, nil
}

// askNotes also returns the terms that were searched for in the end: the
// beginning of a word stands for others.
func (a *asking) askNotes(ctx context.Context, c corpus) ([]op.Hit, []string, error) {
	lq := a.e.ltmQuery(ctx, a.q, c, a.limit, a.req.Explain)
	var found ltm.Result
	err := a.e.notes.ask(func(index *ltm.Index) (err error) {
		found, err = index.Search(ctx, lq)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	a.res.Total += found.Total
	a.res.AtLeast = a.res.AtLeast || found.Partial
	hits := make([]op.Hit, 0, len(found.Hits))
	a.found = make(map[string]ltm.Hit, len(found.Hits))
	for _, h := range found.Hits {
		a.found[h.Path] = h
		hits = append(hits, a.noteHit(h))
	}
	return hits, found.Terms, nil
}

// noteHit gives a note its weight. Decay and stage of a note are 1.
func (a *asking) noteHit(h ltm.Hit) op.Hit {
	e := a.e
	hit := op.Hit{Tier: op.TierNote, Rank: h.Relevance * e.opt.LTMWeight, Note: &op.Note{Vault: e.notes.vault.Load().Name(), Path: h.Path,
		Title: h.Title, Heading: h.HeadingPath, Line: h.Line, Created: h.Created.UTC(), Modified: h.Modified.UTC()}}
	if id, err := memory.ParseID(h.MemoryID); err == nil {
		hit.Note.MemoryID = id
	}
	if !a.req.Explain {
		return hit
	}
	hit.Explain = &op.Explain{Relevance: h.Relevance, Decay: 1, Bounded: 1, Floor: e.opt.DecayFloor, Stage: 1, Tier: e.opt.LTMWeight}
	for _, s := range h.Scores {
		hit.Explain.Terms = append(hit.Explain.Terms, op.TermExplain{Term: s.Term, Field: string(s.Field), TF: s.TF, DF: s.DF, IDF: s.IDF, Score: s.Score})
	}
	return hit
}

// fold makes one hit of a memory and the note that was made of it: the one that
// ranks higher, with the other at its side. A second note of the same memory, as
// sync tools make them, stays a hit of its own. Of a pair of which only one is
// among the best of its tier, the other is not known here, and Total counts both.
func (a *asking) fold(hits []op.Hit) []op.Hit {
	memories := map[memory.ID]int{}
	out := hits[:0:0]
	for _, h := range hits {
		if h.Tier == op.TierMemory {
			memories[h.ID] = len(out)
		} else if i, ok := memories[h.Note.MemoryID]; ok && out[i].Note == nil {
			join(&out[i], h)
			a.res.Total--
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

// explain shows the numbers that the rank was multiplied from.
func (e *Engine) explain(m stm.Match, now time.Time) *op.Explain {
	x := e.weigh(m.Relevance, m.Row, now)
	x.Coarse = m.Coarse
	x.Terms = make([]op.TermExplain, 0, len(m.Terms))
	for _, t := range m.Terms {
		x.Terms = append(x.Terms, op.TermExplain{Term: t.Term, TF: t.TF, DF: t.DF, IDF: t.IDF, Norm: t.Norm, Score: t.Score})
	}
	return &x
}

// snippet cuts out what matched; a preview length of 0 shows everything.
func (e *Engine) snippet(content string, terms []string) op.Snippet {
	length := e.opt.PreviewLength
	if length == 0 {
		length = utf8.RuneCountInString(content)
	}
	text, marks := e.text.Snippet(content, terms, length)
	return op.Snippet{Text: text, Marks: marks}
}

func (e *Engine) countAccesses(hits []op.Hit, now time.Time) {
	var uses []stm.Use
	for _, h := range hits {
		if h.Memory != nil {
			uses = append(uses, stm.Use{ID: h.ID, Accesses: 1, At: now})
		}
	}
	if len(uses) > 0 {
		e.stm.Use(uses...)
		e.changed()
	}
}

func valueOrTrue(v *bool) bool { return v == nil || *v }
