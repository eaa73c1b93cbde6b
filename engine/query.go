package engine

import (
	"context"
	"slices"
	"strings"
	"time"

	"emberd/memory"
	"emberd/op"
)

// Scopes of a query. Its notes are memories and the notes of the vault, for a memory is a
// note to an agent; a search calls these all, memories and notes.
const (
	queryNotes     = "notes"
	queryKnowledge = "knowledge"
	queryMemories  = "memories"
	queryVault     = "vault"
)

const (
	queryLimit = 5
	// supersededPart is what is left of the relevance of a memory whose place another took.
	supersededPart = 0.9
	// queryNothing is said when nothing is known.
	queryNothing = "No matching memories found"
)

// query tells what is known, most relevant first.
//
// Relevance is how much of what was asked something holds, from 0 to 1, by the weight
// (IDF) of its words in memories and notes together. So it means the same for a memory, a
// note and the name of an entity, and their lists can be merged, which the scores of BM25
// cannot: they grow with the length of the question. The best hit of a search has the share
// that it holds ([op.Explain]), and each further one as much less as its rank is lower,
// decay and stage included, so that the order within a list is that of search; what another
// memory took the place of is a tenth less relevant. Of two that are equally relevant the
// text comes before the entity.
func (e *Engine) query(ctx context.Context, req *op.QueryRequest) (*op.QueryResult, error) {
	q := &querying{e: e, req: req}
	if err := q.check(); err != nil {
		return nil, err
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

// querying is one query under way.
type querying struct {
	e     *Engine
	req   *op.QueryRequest
	limit int // with what is passed over
	a     asking
	texts []op.QueryHit // memories and notes, in the order of search
	known []op.QueryHit // entities, and what relations lead to
}

// check refuses what cannot be asked. The search checks the rest.
func (q *querying) check() error {
	if strings.TrimSpace(q.req.Query) == "" {
		return memory.Errorf(memory.Invalid, "query is empty; say in a few words what to look for").At("query")
	}
	if q.scope() == "" {
		return memory.Errorf(memory.Invalid, "scope %.40q is unknown; use notes, knowledge, archive or all, or memories or vault for one half of notes", q.req.Scope).At("scope")
	}
	limit, err := checkLimit(q.req.Limit, queryLimit)
	q.limit = q.req.Offset + limit
	return firstError(err, memory.CheckRange("offset", float64(q.req.Offset), 0, op.MaxOffset))
}

// scope is what to search, "" if that is unknown.
func (q *querying) scope() string {
	switch q.req.Scope {
	case "", scopeAll, queryNotes, queryKnowledge:
		return scopeAll
	case queryMemories:
		return scopeMemories
	case queryVault:
		return scopeNotes
	case scopeArchive:
		return scopeArchive
	}
	return ""
}

// find searches as far down as the page goes, and looks up what is named.
func (q *querying) find(ctx context.Context) error {
	then, err := q.e.searchable(ctx, time.Time{})
	if err != nil {
		return err
	}
	req := &op.SearchRequest{Query: q.req.Query, Scope: q.scope(), Explain: true, Track: q.req.Track,
		IncludeReview: new(q.req.IncludeReview && q.req.Offset == 0),
		Filter:        op.Filter{Tags: q.req.Tags, Project: q.req.Project, Collection: q.req.Collection, WindowDays: q.req.WindowDays}}
	if q.req.Scope == queryKnowledge {
		req.Track = new(false) // the hits are only where to begin
	}
	if q.a, err = q.e.asking(req, then); err != nil {
		return err
	}
	if q.a.limit = q.limit; q.knows() {
		q.a.limit = max(q.limit, beginAt)
	}
	if err := q.a.run(ctx); err != nil || q.a.q.nothing {
		return err
	}
	q.texts = q.told(q.a.res.Hits)
	if q.knows() {
		return q.know(ctx)
	}
	return nil
}

// knows reports whether the knowledge scope is asked.
func (q *querying) knows() bool {
	return q.req.Scope == "" || q.req.Scope == scopeAll || q.req.Scope == queryKnowledge
}

// told gives the hits of the search their relevance.
func (q *querying) told(hits []op.Hit) []op.QueryHit {
	scope := queryNotes
	if q.a.q.archive {
		scope = scopeArchive
	}
	out := make([]op.QueryHit, len(hits))
	last := 1.0
	for i := range hits {
		h, of := &hits[i], 0.0
		switch best := hits[0].Rank; {
		case best > 0 && h.Review: // it stands where it would if it had not faded
			of = worth(*h) / best
		case best > 0:
			of = h.Rank / best
		}
		if h.Superseded != nil {
			of *= supersededPart
		}
		last = min(last, hits[0].Explain.Share*of)
		out[i] = op.QueryHit{Scope: scope, Relevance: last, Hit: h, Source: sourceOf(h)}
	}
	return out
}

// sourceOf says in a few words where a hit comes from.
func sourceOf(h *op.Hit) string {
	if h.Memory == nil {
		return "note of the vault"
	}
	text := h.SourceText()
	if text != "" && h.Source != "" {
		text += "; "
	}
	return text + h.Source
}

// answer is the page that was asked for.
func (q *querying) answer() *op.QueryResult {
	found := q.a.res
	res := &op.QueryResult{Results: []op.QueryHit{}, Compared: op.ComparedByWords, Total: found.Total + len(q.known), AtLeast: found.AtLeast,
		Similar: found.Similar, Respelled: found.Respelled, Loading: found.Loading, Indexing: found.Indexing}
	if q.req.Scope == queryKnowledge {
		q.texts, res.Total, res.AtLeast = nil, len(q.known), false
	}
	if q.knows() && q.e.partial() {
		res.AtLeast = true
	}
	if res.Total == 0 {
		res.Message = queryNothing
	}
	all := mergeByRelevance(q.texts, q.known)
	all = all[:min(q.limit, len(all))]
	res.Results = append(res.Results, all[min(q.req.Offset, len(all)):]...)
	for _, r := range res.Results {
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

// count counts the access to the memories that are shown.
func (q *querying) count(results []op.QueryHit) {
	var shown []op.Hit
	for _, r := range results {
		if r.Hit == nil || r.Hit.Memory == nil {
			continue
		}
		if !slices.ContainsFunc(shown, func(h op.Hit) bool { return h.ID == r.Hit.ID }) {
			shown = append(shown, *r.Hit)
		}
	}
	q.a.req.Track = q.req.Track
	q.a.countAccesses(shown)
}

// mergeByRelevance makes one list of two, each of which keeps its order.
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
