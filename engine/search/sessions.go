package search

import (
	"context"
	"slices"
	"strings"
	"time"

	"emberd/engine/core"
	"emberd/engine/transcripts"
	"emberd/internal/query"
	"emberd/internal/relevance"
	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
)

// sessionsRun is one search of past sessions. It has nothing in common with the tiers of memories and notes but the
// language of queries and how far a hit answers.
type sessionsRun struct {
	e      *Search
	req    *op.SearchRequest
	q      *parsedQuery
	limit  int // including the skipped ones
	wanted transcripts.Wanted
	res    *op.SearchResult
}

// searchSessions searches what was said in past sessions. It counts as no access of anything.
func (e *Search) searchSessions(ctx context.Context, req *op.SearchRequest) (*op.SearchResult, error) {
	r := &sessionsRun{e: e, req: req, res: &op.SearchResult{Query: req.Query, Hits: []op.Hit{}}}
	if err := r.check(); err != nil {
		return nil, err
	}
	if r.q.Nothing {
		return r.res, nil
	}
	err := r.ask(ctx)
	if err == nil && r.res.Total == 0 && r.q.relaxPhrases() {
		r.res.Similar = true
		err = r.ask(ctx)
	}
	if err != nil {
		return nil, err
	}
	return r.res, nil
}

// check parses the request. It fails for what only memories have.
func (r *sessionsRun) check() (err error) {
	if r.limit, err = core.CheckLimit(r.req.Limit, r.e.Opt.SearchLimit); err != nil {
		return err
	}
	r.limit += r.req.Offset
	now := r.e.Opt.Now()
	parsed, err := query.Parse(r.req.Query, now.In(time.Local))
	if err != nil {
		return memory.Errorf(memory.Invalid, "%w", err).At("q")
	}
	f := &r.req.Filter
	switch field := memoryField(r.req, &parsed); {
	case field != "":
		return memory.Errorf(memory.Invalid,
			"messages of past sessions do not have the field %s; omit the field, or search another scope",
			field).At(field)
	default:
		err = core.FirstError(core.CheckQuery(r.req.Query),
			memory.CheckRange("offset", float64(r.req.Offset), 0, op.MaxOffset),
			memory.CheckRange("window_days", f.WindowDays, 0, core.MaxWindowDays))
	}
	r.q = &parsedQuery{Query: parsed}
	r.q.analyse(r.e.Text)
	r.wanted = transcripts.Wanted{Project: f.Project, After: parsed.After, Before: parsed.Before}
	if f.WindowDays > 0 {
		r.wanted.Since = now.Add(-time.Duration(f.WindowDays * float64(core.HoursOfADay*time.Hour)))
	}
	return err
}

// memoryField returns what a request asks for that only memories and notes have, "" for nothing.
func memoryField(req *op.SearchRequest, parsed *query.Query) string {
	f := &req.Filter
	tags := len(f.Tags)
	for _, of := range []*query.Filter{&parsed.Must, &parsed.Not} {
		tags += len(of.Tags)
		if len(of.Entities) > 0 {
			return "entities"
		}
	}
	switch {
	case tags > 0:
		return "tags"
	case f.Collection != "" && f.Collection != core.EveryCollection:
		return "collection"
	case f.Category != "":
		return "category"
	case f.Section != "":
		return "section"
	case len(f.Stages) > 0:
		return "stages"
	case f.Status != "":
		return "status"
	case f.MinScore > 0:
		return "min_score"
	case f.MinConfidence > 0:
		return "min_confidence"
	case !req.AsOf.IsZero():
		return "as_of"
	}
	return ""
}

// ask searches the index and sets the hits.
func (r *sessionsRun) ask(ctx context.Context) error {
	return r.e.Transcripts.Ask(ctx, r.wanted, func(index *ltm.Index, accept func(string) bool) error {
		docs, df, err := index.Frequencies(ctx, r.q.Terms)
		if err != nil {
			return err
		}
		found, err := index.Search(ctx, r.ltmQuery(accept))
		if err != nil {
			return err
		}
		r.res.Total, r.res.AtLeast, r.res.Hits = found.Total, found.Partial, r.res.Hits[:0]
		best := 0.0
		for i := range found.Hits {
			hit, ok := r.hit(&found.Hits[i], found.Terms)
			if !ok {
				r.res.Total--
				continue
			}
			r.judge(&hit, docs, df)
			best = max(best, hit.Relevance)
			r.res.Hits = append(r.res.Hits, hit)
		}
		r.res.Hits = r.res.Hits[min(r.req.Offset, len(r.res.Hits)):]
		r.res.Nearest = len(r.res.Hits) > 0 && r.req.Offset == 0 && len(r.q.Terms) > 0 &&
			(r.res.Similar || best < leastRelevance)
		return nil
	})
}

func (r *sessionsRun) ltmQuery(accept func(string) bool) ltm.Query {
	out := ltm.Query{Must: ltmFilter(r.q.Query.Must), Not: ltmFilter(r.q.Query.Not), Accept: accept, Limit: r.limit,
		Explain: true, Text: r.e.Transcripts.TextOf}
	for i, t := range slices.Concat(r.q.Terms, r.q.weak) {
		term := ltm.Term{Text: t, Weight: r.q.of(t).times}
		if i >= len(r.q.Terms) {
			term.Weight, term.Weak = ltm.WeakWeight, true
		}
		out.Terms = append(out.Terms, term)
	}
	return out
}

// hit returns a session as a hit, with the message that answers best. It is false for one that is gone.
func (r *sessionsRun) hit(h *ltm.Hit, terms []string) (op.Hit, bool) {
	session, messages, ok := r.e.Transcripts.Answer(h)
	if !ok {
		return op.Hit{}, false
	}
	out := op.Hit{Tier: op.TierSession, Session: &session, Rank: h.Relevance}
	out.Explain = &op.Explain{Relevance: h.Relevance, Age: 1, Tier: 1, Terms: termsOf(h.Scores)}
	terms = slices.Concat(r.q.Terms, terms)
	most := -1
	for i := range messages {
		m := &messages[i]
		snippet := r.e.Snippet(m.Text, terms)
		if n := r.words(m, snippet); n > most {
			most, out.Snippet, session.Role = n, snippet, m.Role
			if !m.At.IsZero() {
				session.At = m.At
			}
		}
	}
	return out, true
}

// words counts the different words of the query in a snippet; any phrase of it in the message counts more.
func (r *sessionsRun) words(m *transcripts.Message, s op.Snippet) int {
	found := map[string]bool{}
	for _, mark := range s.Marks {
		found[strings.ToLower(s.Text[mark[0]:mark[1]])] = true
	}
	n := len(found)
	for _, row := range r.q.phrases {
		if holds(r.e.Text, m.Text, row) {
			n += len(s.Text)
		}
	}
	return n
}

// judge sets how far a hit answers: by what its best passage holds of what was asked. A long session holds almost every
// word somewhere.
func (r *sessionsRun) judge(h *op.Hit, docs int, df map[string]int) {
	asked, held := 0.0, 0.0
	for _, t := range r.q.Terms {
		weight := r.q.of(t).times * relevance.IDF(docs, df[t])
		asked += weight
		if slices.ContainsFunc(h.Explain.Terms, func(x op.TermExplain) bool {
			return x.Term == t && x.Field == string(ltm.Passage)
		}) {
			held += weight
		}
	}
	if h.Relevance = 1; asked > 0 {
		h.Explain.Share = held / asked
		h.Relevance = Relevance(h.Explain.Share)
	}
	if !r.req.Explain {
		h.Explain = nil
	}
}
