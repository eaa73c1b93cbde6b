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
	then, err := e.searchable(ctx, req.AsOf)
	if err != nil {
		return nil, err
	}
	a, err := e.asking(req, then)
	if err != nil {
		return nil, err
	}
	if err := a.run(ctx); err != nil {
		return nil, err
	}
	a.countAccesses(a.res.Hits)
	return a.res, nil
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
	limit int // with what is passed over
	now   time.Time
	res   *op.SearchResult
	// present says that it is not about an earlier moment, which nothing can change.
	present bool
	found   map[string]ltm.Hit // notes by path
	best    float64            // what the most relevant hit would rank if nothing faded
	cold    []stm.Match        // what may be meant of the cold memories
	due     []stm.Match        // what is about to fade, of the memories that match
	meant   map[memory.ID]bool // cold memories that the query means
	loose   bool               // less is asked for than was typed
	// loosened says that phrases need not be held as such.
	loosened bool
	dry      bool // the order is all that is wanted
	// worded are how many of the matches hold a word. The others only mean it, and with
	// byMeaning the answer has them even when there are no others.
	worded    int
	byMeaning bool
	nearest   *nearby // nil until it was looked for
}

// asking checks a request. Of one that cannot be asked the result is nil.
func (e *Engine) asking(req *op.SearchRequest, then moment) (asking, error) {
	a := asking{e: e, req: req, now: then.at, present: then.past == nil}
	var err error
	if a.limit, err = checkLimit(req.Limit, e.opt.SearchLimit); err != nil {
		return a, err
	}
	if err := memory.CheckRange("offset", float64(req.Offset), 0, op.MaxOffset); err != nil {
		return a, err
	}
	a.limit += req.Offset
	if a.q, err = e.question(req, a.now); err == nil {
		a.q.in = then.Memories
		a.res = &op.SearchResult{Query: req.Query, Hits: []op.Hit{}, AsOf: then.told()}
	}
	return a, err
}

// run answers, and says so if a collection is asked that nothing is in.
func (a *asking) run(ctx context.Context) error {
	if a.q.nothing {
		return nil
	}
	if err := a.answer(ctx); err != nil {
		return err
	}
	if a.res.Total == 0 && a.q.memories {
		return checkCollection(a.q.in, a.q.filter.Collection)
	}
	return nil
}

// answer asks for what was typed, when nothing has that for less, and when nothing has a
// word of that either for what means it.
func (a *asking) answer(ctx context.Context) error {
	a.senseSoon(ctx)
	if err := a.both(ctx); err != nil || a.res.Total > 0 {
		return err
	}
	if err := a.less(ctx); err != nil || a.res.Total > 0 || len(a.q.near.memories)+len(a.q.near.notes) == 0 {
		return err
	}
	a.byMeaning, a.loose, a.res.Similar = true, a.loosened, a.loosened
	return a.both(ctx)
}

// both asks the tiers, and shows the best of what they find. What holds none of the words
// comes beside what does, and alone only with byMeaning.
func (a *asking) both(ctx context.Context) error {
	a.worded = 0
	c, err := a.e.corpus(ctx, a.q)
	if err != nil {
		return memory.Errorf(memory.Internal, "search the note index: %w", err)
	}
	a.e.guess(a.q, c)
	hits, terms, err := a.ranked(ctx, c)
	if err != nil {
		return err
	}
	if a.worded == 0 && !a.byMeaning {
		a.res.Total, a.res.AtLeast = 0, false
		return nil
	}
	shown, err := a.remind(hits[:min(len(hits), a.limit)])
	if err != nil {
		return err
	}
	if a.res.Hits = append(a.res.Hits, shown[min(a.req.Offset, len(shown)):]...); a.dry {
		return nil
	}
	a.bringBack(ctx)
	a.explain(c)
	return a.cut(ctx, slices.Concat(a.q.terms, a.q.guesses, terms))
}

// explain completes the parts of each rank, or takes them away.
func (a *asking) explain(c corpus) {
	asked := a.weightOf(c)
	for i := range a.res.Hits {
		h := &a.res.Hits[i]
		switch {
		case !a.req.Explain:
			h.Explain = nil
		case asked > 0:
			x := *h.Explain
			x.Share = a.held(&x, asked) / asked
			h.Explain = &x
		}
	}
}

// ranked merges what the tiers find, best first, and tells which terms they looked for
// beside those of the question.
func (a *asking) ranked(ctx context.Context, c corpus) (hits []op.Hit, terms []string, err error) {
	a.q.dates = a.dated(a.weightOf(c))
	if err := a.senseNear(ctx, c); err != nil {
		return nil, nil, memory.Errorf(memory.Internal, "search the note index: %w", err)
	}
	if a.best = 0; a.q.memories {
		if hits, err = a.askMemories(c); err != nil {
			return nil, nil, err
		}
	}
	if a.q.notes {
		found, searched, err := a.askNotes(ctx, c)
		if err != nil {
			return nil, nil, memory.Errorf(memory.Internal, "search the note index: %w", err)
		}
		hits, terms = append(hits, found...), searched
		a.res.Indexing = a.e.notes.indexing()
		a.res.AtLeast = a.res.AtLeast || a.q.named != nil && a.q.named.partial
	}
	if hits, err = a.mean(c, a.fold(hits)); err != nil {
		return nil, nil, err
	}
	slices.SortStableFunc(hits, func(x, y op.Hit) int { return cmp.Compare(y.Rank, x.Rank) })
	hits, err = a.besideSuccessors(ctx, c, hits)
	return hits, terms, err
}

// less asks again for less than nothing was found for: the words of phrases anywhere,
// then words in place of those that nothing holds.
func (a *asking) less(ctx context.Context) error {
	if a.loose = true; a.q.loosen() {
		a.loosened, a.nearest = true, nil // more may pass now
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
	q := a.e.stmQuery(a.q, c, a.limit, a.req.Explain, a.now)
	a.cold, a.due = nil, nil
	var into []*[]stm.Match
	if a.looksAtCold() {
		q.Beside, into = append(q.Beside, a.besideCold()), append(into, &a.cold)
	}
	if a.mayRemind() {
		q.Beside, into = append(q.Beside, a.besideDue()), append(into, &a.due)
	}
	found := a.q.in.Search(q)
	for i, list := range into {
		*list = found.Beside[i]
	}
	if found.Loading {
		a.res.Loading = &op.Loading{Indexed: found.Indexed, Total: found.Of}
	}
	a.res.Total += found.Total
	a.worded += found.Total - found.Near
	a.best = found.Best * a.q.stm
	hits, err := a.memoryHits(found.Matches)
	if err != nil {
		return nil, err
	}
	return a.asMerged(hits)
}

func (a *asking) memoryHits(matches []stm.Match) ([]op.Hit, error) {
	hits := make([]op.Hit, 0, len(matches))
	for _, m := range matches {
		view, err := a.e.listedIn(a.q.in, m.Row, a.now)
		if err != nil {
			return nil, err
		}
		x := explain(a.e.weigh(m.Relevance, m.Row, a.now, a.q), m)
		x.Meaning, x.Date = a.q.near.memories[m.Row.ID()], a.q.dates.ofMemory(m.Row)
		if a.q.archive {
			x = a.e.unfaded(x)
		}
		hits = append(hits, op.Hit{Tier: op.TierMemory, Memory: &view, Rank: m.Rank, Explain: &x})
	}
	return hits, nil
}

// askNotes also returns the terms that were searched for in the end: the
// beginning of a word stands for others.
func (a *asking) askNotes(ctx context.Context, c corpus) ([]op.Hit, []string, error) {
	lq := a.e.ltmQuery(ctx, a.q, c, a.limit, a.req.Explain || a.mayMean())
	var found ltm.Result
	err := a.e.notes.ask(func(index *ltm.Index) (err error) {
		found, err = index.Search(ctx, lq)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	a.res.Total += found.Total
	a.worded += found.Total - found.Near
	a.res.AtLeast = a.res.AtLeast || found.Partial
	hits := make([]op.Hit, 0, len(found.Hits))
	a.found = make(map[string]ltm.Hit, len(found.Hits))
	for _, h := range found.Hits {
		a.found[h.Path] = h
		a.best = max(a.best, h.Relevance*a.q.ltm)
		hits = append(hits, a.noteHit(h))
	}
	return hits, found.Terms, nil
}

// noteHit gives a note its weight. Decay and stage of a note are 1.
func (a *asking) noteHit(h ltm.Hit) op.Hit {
	e := a.e
	hit := op.Hit{Tier: op.TierNote, Rank: h.Relevance * a.q.ltm, Note: e.noteOfHit(h)}
	hit.Explain = &op.Explain{Relevance: h.Relevance, Decay: 1, Bounded: 1, Floor: a.q.floor, Stage: 1, Tier: a.q.ltm}
	hit.Explain.Meaning, hit.Explain.Date = a.q.near.notes[h.Path], a.q.dates.ofNote(h.Path, h.Created)
	for _, s := range h.Scores {
		hit.Explain.Terms = append(hit.Explain.Terms, op.TermExplain{Term: s.Term, Field: string(s.Field), TF: s.TF, DF: s.DF, IDF: s.IDF, Score: s.Score})
	}
	return hit
}

// noteOfHit is a note as callers see it.
func (e *Engine) noteOfHit(h ltm.Hit) *op.Note {
	n := &op.Note{Vault: e.notes.vault.Load().Name(), Path: h.Path,
		Title: h.Title, Heading: h.HeadingPath, Line: h.Line, Created: h.Created.UTC(), Modified: h.Modified.UTC()}
	if id, err := memory.ParseID(h.MemoryID); err == nil && (e.grant == nil || e.live(id)) {
		n.MemoryID = id
	}
	return n
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

// explain adds the terms to the other numbers that a rank is multiplied from.
func explain(x op.Explain, m stm.Match) op.Explain {
	x.Coarse = m.Coarse
	x.Terms = make([]op.TermExplain, 0, len(m.Terms))
	for _, t := range m.Terms {
		x.Terms = append(x.Terms, op.TermExplain{Term: t.Term, TF: t.TF, DF: t.DF, IDF: t.IDF, Norm: t.Norm, Score: t.Score})
	}
	return x
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

// countAccesses counts what is shown of an answer, unless it is about an earlier moment or
// is to leave no trace.
func (a *asking) countAccesses(hits []op.Hit) {
	if !a.present || !a.e.opt.TrackAccess || !a.tracks() {
		return
	}
	var uses []stm.Use
	for _, h := range hits {
		if h.Memory != nil {
			uses = append(uses, stm.Use{ID: h.ID, Accesses: 1, At: a.now})
		}
	}
	if len(uses) > 0 {
		a.e.stm.Use(uses...)
		a.e.changed()
	}
}

// tracks reports whether the answer counts as one that somebody got.
func (a *asking) tracks() bool { return valueOrTrue(a.req.Track) && !a.req.Trial }

func valueOrTrue(v *bool) bool { return v == nil || *v }
