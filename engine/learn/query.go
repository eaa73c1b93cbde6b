package learn

import (
	"context"
	"slices"
	"strings"
	"time"

	"emberd/engine/core"
	"emberd/engine/search"
	"emberd/memory"
	"emberd/op"
)

// Scopes of a query. To an agent a memory is a note, so the scope notes contains memories and
// the notes of the vault; a search calls these scopes all, memories and notes.
const (
	queryNotes     = "notes"
	queryKnowledge = "knowledge"
	queryMemories  = "memories"
	queryVault     = "vault"
)

const (
	queryLimit = 5
	// supersededPart is the factor on the relevance of a superseded memory.
	supersededPart = 0.9
	// nearestShown is how many results are shown as near if none fits.
	nearestShown = 3
	// queryNothing is the message without results.
	queryNothing = "No matching memories found"
)

// Query returns memories, notes and entities, most relevant first.
//
// Relevance is that of a search ([op.Hit]), from 0 to 1: it comes from the share of the query that an
// item matches, by the weight (IDF) of the words in memories and notes together. It means the same for
// a memory, a note and the name of an entity, so that their lists can be merged. Scores of BM25 cannot,
// because they grow with the length of the query. The order within a list is that of the search, so a
// hit counts no more than the one before it. A superseded memory is a tenth less relevant.
// Of two equal results, the text comes before the entity. If nothing fits, there are no results, and
// what comes nearest is apart.
func (e *Learn) Query(ctx context.Context, req *op.QueryRequest) (*op.QueryResult, error) {
	q := &queryRun{e: e, req: req}
	if err := q.check(); err != nil {
		return nil, err
	}
	if req.Scope == search.ScopeSessions {
		return e.querySessions(ctx, req, q.limit-req.Offset)
	}
	if err := q.find(ctx); err != nil {
		if typed, ok := err.(*memory.Error); ok && typed.Field == "q" {
			return nil, typed.At("query")
		}
		return nil, err
	}
	res := q.answer()
	q.count(res.Results)
	return res, nil
}

// queryRun is one query in progress.
type queryRun struct {
	e     *Learn
	req   *op.QueryRequest
	limit int // including the skipped ones
	a     search.SearchRun
	texts []op.QueryHit // memories and notes, in the order of the search
	known []op.QueryHit // entities, and memories reached by relations
}

// check returns an error for an invalid request. The search checks the rest.
func (q *queryRun) check() error {
	if strings.TrimSpace(q.req.Query) == "" {
		return memory.Errorf(memory.Invalid, "missing query; describe in a few words what to search for").At("query")
	}
	if q.scope() == "" {
		return memory.Errorf(memory.Invalid,
			"invalid scope %.40q; use notes, memories, vault, knowledge, archive, sessions or all",
			q.req.Scope).At("scope")
	}
	limit, err := core.CheckLimit(q.req.Limit, queryLimit)
	q.limit = q.req.Offset + limit
	return core.FirstError(err, memory.CheckRange("offset", float64(q.req.Offset), 0, op.MaxOffset))
}

// scope returns the scope of the search, "" if it is unknown.
func (q *queryRun) scope() string {
	switch q.req.Scope {
	case "", search.ScopeAll, queryNotes, queryKnowledge:
		return search.ScopeAll
	case queryMemories:
		return search.ScopeMemories
	case queryVault:
		return search.ScopeNotes
	case search.ScopeArchive, search.ScopeSessions:
		return q.req.Scope
	}
	return ""
}

// find searches down to the end of the page, and looks up entities.
func (q *queryRun) find(ctx context.Context) error {
	then, err := q.e.Search.Searchable(ctx, time.Time{})
	if err != nil {
		return err
	}
	req := &op.SearchRequest{Query: q.req.Query, Scope: q.scope(), Explain: true, Track: q.req.Track,
		IncludeReview: new(q.req.IncludeReview && q.req.Offset == 0),
		Filter: op.Filter{Tags: q.req.Tags, Project: q.req.Project, Collection: q.req.Collection,
			WindowDays: q.req.WindowDays}}
	if q.req.Scope == queryKnowledge {
		req.Track = new(false) // the hits are only starting points
	}
	if q.a, err = q.e.Search.NewRun(req, then); err != nil {
		return err
	}
	q.a.Whole()
	if q.a.Limit = q.limit; q.includesEntities() {
		q.a.Limit = max(q.limit, beginAt)
	}
	if err := q.a.Run(ctx); err != nil || q.a.Q.Nothing {
		return err
	}
	q.texts = q.withRelevance(q.a.Res.Hits)
	if q.includesEntities() {
		return q.addEntities(ctx)
	}
	return nil
}

// includesEntities reports whether the query includes entities.
func (q *queryRun) includesEntities() bool {
	return q.req.Scope == "" || q.req.Scope == search.ScopeAll || q.req.Scope == queryKnowledge
}

// withRelevance returns the hits of the search with their relevance.
func (q *queryRun) withRelevance(hits []op.Hit) []op.QueryHit {
	scope := queryNotes
	if q.a.Q.Archive {
		scope = search.ScopeArchive
	}
	out := make([]op.QueryHit, len(hits))
	last := 1.0
	for i := range hits {
		h := &hits[i]
		of := h.Relevance
		if h.Superseded != nil {
			of *= supersededPart
		}
		last = min(last, of)
		out[i] = op.QueryHit{Scope: scope, Relevance: last, Hit: h, Source: sourceOf(h)}
	}
	return out
}

// sourceOf describes the source of a hit in a few words.
func sourceOf(h *op.Hit) string {
	if h.Memory == nil {
		return "note in the vault"
	}
	text := h.SourceText()
	if text != "" && h.Source != "" {
		text += "; "
	}
	return text + h.Source
}

// answer returns the requested page.
func (q *queryRun) answer() *op.QueryResult {
	found := q.a.Res
	res := &op.QueryResult{Results: []op.QueryHit{}, Compared: op.ComparedByWords, Total: found.Total + len(q.known),
		AtLeast: found.AtLeast,
		Similar: found.Similar, Respelled: found.Respelled, Loading: found.Loading, Indexing: found.Indexing,
		Away: found.Away}
	if q.req.Scope == queryKnowledge {
		q.texts, res.Total, res.AtLeast = nil, len(q.known), false
	}
	if q.includesEntities() && q.e.Graph.Partial() {
		res.AtLeast = true
	}
	if res.Total == 0 {
		res.Message = queryNothing
	}
	all := mergeByRelevance(q.texts, q.known)
	all = all[:min(q.limit, len(all))]
	res.Results = append(res.Results, all[min(q.req.Offset, len(all)):]...)
	if found.Nearest && !fits(q.known) {
		res.Nearest, res.Results = res.Results[:min(nearestShown, len(res.Results))], []op.QueryHit{}
		res.Total, res.AtLeast, res.Message = 0, false, queryNothing
	}
	for _, r := range slices.Concat(res.Results, res.Nearest) {
		if r.Hit == nil {
			continue
		}
		if x := r.Hit.Explain; x != nil && x.Meaning != nil {
			res.Compared = op.ComparedByVectors
		}
		r.Hit.Explain = nil
	}
	return res
}

// fits reports whether an entity answers the query by its name.
func fits(known []op.QueryHit) bool {
	return slices.ContainsFunc(known, func(k op.QueryHit) bool { return k.Relevance >= search.LeastEntity })
}

// count counts the accesses to the returned memories.
func (q *queryRun) count(results []op.QueryHit) {
	var shown []op.Hit
	for _, r := range results {
		if r.Hit == nil || r.Hit.Memory == nil {
			continue
		}
		if !slices.ContainsFunc(shown, func(h op.Hit) bool { return h.ID == r.Hit.ID }) {
			shown = append(shown, *r.Hit)
		}
	}
	q.a.Req.Track = q.req.Track
	q.a.CountAccesses(shown)
}

// mergeByRelevance merges two lists, each of which keeps its order.
func mergeByRelevance(texts, known []op.QueryHit) []op.QueryHit {
	out := make([]op.QueryHit, 0, len(texts)+len(known))
	for len(texts) > 0 && len(known) > 0 {
		if texts[0].Relevance >= known[0].Relevance {
			out, texts = append(out, texts[0]), texts[1:]
		} else {
			out, known = append(out, known[0]), known[1:]
		}
	}
	return append(append(out, texts...), known...)
}
