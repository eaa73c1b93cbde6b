package engine

import (
	"context"
	"time"
	"unicode/utf8"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// search ranks the memories that hold any word of the query. Accesses are
// counted after the answer is complete, in memory: a search never waits for the
// disk, and its own answer does not count itself.
func (e *Engine) search(_ context.Context, req *op.SearchRequest) (*op.SearchResult, error) {
	now := e.opt.Now()
	limit, err := checkLimit(req.Limit, e.opt.SearchLimit)
	if err == nil {
		err = checkQuery(req.Query)
	}
	if err != nil {
		return nil, err
	}
	filter, err := e.filter(req.Filter, now)
	if err != nil {
		return nil, err
	}
	found := e.stm.Search(stm.Query{
		Text:    req.Query,
		Accept:  filter.accept(),
		Most:    e.opt.STMWeight * e.opt.StageFactor.most(),
		Rank:    func(relevance float64, r *stm.Row) float64 { return rank(e.weigh(relevance, r, now)) },
		Limit:   limit,
		Explain: req.Explain,
	})
	if found.Total == 0 {
		if err := e.checkCollection(filter.Collection); err != nil {
			return nil, err
		}
	}
	res, err := e.answer(req, found, now)
	if err == nil && e.opt.TrackAccess && valueOrTrue(req.Track) {
		e.countAccesses(found.Matches, now)
	}
	return res, err
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

// answer turns matches into hits.
func (e *Engine) answer(req *op.SearchRequest, found stm.Found, now time.Time) (*op.SearchResult, error) {
	res := &op.SearchResult{Query: req.Query, Hits: make([]op.Hit, 0, len(found.Matches)), Total: found.Total}
	if found.Loading {
		res.Loading = &op.Loading{Indexed: found.Indexed, Total: found.Of}
	}
	for _, m := range found.Matches {
		view, err := e.view(m.Row, now)
		if err != nil {
			return nil, err
		}
		hit := op.Hit{Memory: view, Rank: m.Rank, Snippet: e.snippet(view.Content, found.Terms)}
		if req.Explain {
			hit.Explain = e.explain(m, now)
		}
		res.Hits = append(res.Hits, hit)
	}
	return res, nil
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

func (e *Engine) countAccesses(matches []stm.Match, now time.Time) {
	if len(matches) == 0 {
		return
	}
	uses := make([]stm.Use, len(matches))
	for i, m := range matches {
		uses[i] = stm.Use{ID: m.Row.ID(), Accesses: 1, At: now}
	}
	e.stm.Use(uses...)
	e.changed()
}

func valueOrTrue(v *bool) bool { return v == nil || *v }
