package ltm

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Search finds the notes that match a query and ranks them. It does not wait for
// updates. ctx is looked at between terms and between the texts of phrases.
func (x *Index) Search(ctx context.Context, q Query) (Result, error) {
	done, err := x.use()
	if err != nil {
		return Result{}, err
	}
	defer done()
	s, err := x.searcher(&q)
	if err != nil {
		return Result{}, err
	}
	defer s.close()
	return s.run(ctx)
}

// Frequencies returns how many notes there are and in how many of them each term
// stands, for statistics over several collections.
func (x *Index) Frequencies(ctx context.Context, terms []string) (docs int, df map[string]int, err error) {
	done, err := x.use()
	if err != nil {
		return 0, nil, err
	}
	defer done()
	s, err := x.searcher(&Query{})
	if err != nil {
		return 0, nil, err
	}
	defer s.close()
	df = make(map[string]int, len(terms))
	for _, t := range terms {
		if err := ctx.Err(); err != nil {
			return 0, nil, err
		}
		if df[t], err = s.frequency(t); err != nil {
			return 0, nil, err
		}
	}
	return s.table.count, df, nil
}

// searcher is one search over one state of the index.
type searcher struct {
	index *Index
	query *Query
	view  *view
	table *table
	norms norms
	*scratch

	words    []weighed
	total    float64 // what all words could give
	allowed  func(number uint32) bool
	required []phrase // to be looked up in texts
	excluded []phrase
}

// weighed is a query term with its statistics. One that stands for several, as a prefix
// does, has them in of.
type weighed struct {
	text   string
	of     []string
	hash   uint32
	weight float64
	df     int
	idf    float64
	full   float64 // weight · idf
}

// searcher gets a state of the store and the table that goes with it.
func (x *Index) searcher(q *Query) (*searcher, error) {
	for {
		v, err := x.store.view()
		if err != nil {
			return nil, err
		}
		t, ok := x.tables.Load().of(v.generation)
		if !ok { // two updates have passed between the two lines above
			v.close()
			continue
		}
		sc, _ := x.scratch.Get().(*scratch)
		if sc == nil {
			sc = new(scratch)
		}
		sc.fit(len(t.notes), int(v.docs))
		return &searcher{index: x, query: q, view: v, table: t, norms: t.norms(), scratch: sc}, nil
	}
}

func (s *searcher) close() {
	s.clear()
	s.index.scratch.Put(s.scratch)
	s.view.close()
}

// run answers the query.
func (s *searcher) run(ctx context.Context) (Result, error) {
	if err := s.filter(); err != nil {
		return Result{}, err
	}
	prefix, err := s.prefixTerms()
	if err != nil {
		return Result{}, err
	}
	found, result, err := s.match(ctx, s.queryTerms(prefix))
	if err != nil {
		return Result{}, err
	}
	if len(s.words) > 0 && len(s.touched) == 0 && s.query.Fuzzy {
		similar, err := s.fuzzyTerms()
		if err != nil {
			return Result{}, err
		}
		if len(similar) > 0 {
			s.clear()
			if found, result, err = s.match(ctx, similar); err != nil {
				return Result{}, err
			}
			result.Fuzzy = result.Total > 0
		}
	}
	result.Hits, err = s.hits(found)
	return result, err
}

// match scores the terms and returns the best candidates that pass all conditions.
func (s *searcher) match(ctx context.Context, words []weighed) ([]candidate, Result, error) {
	s.words = words
	var result Result
	for i := range s.words {
		if err := ctx.Err(); err != nil {
			return nil, result, err
		}
		if err := s.score(&s.words[i]); err != nil {
			return nil, result, err
		}
		result.Terms = append(result.Terms, s.words[i].terms()...)
	}
	found := s.candidates()
	found, result.Total, result.Partial = s.checkPhrases(ctx, found)
	return found, result, ctx.Err()
}

func (w *weighed) terms() []string {
	if w.of != nil {
		return w.of
	}
	return []string{w.text}
}

// queryTerms returns what to score: the terms of the query, each once, and the group of
// the prefix.
func (s *searcher) queryTerms(prefix []string) []weighed {
	var words []weighed
	for _, t := range s.query.Terms {
		if t.Weight <= 0 {
			continue
		}
		if i := slices.IndexFunc(words, func(w weighed) bool { return w.text == t.Text }); i >= 0 {
			words[i].weight += t.Weight
			continue
		}
		words = append(words, weighed{text: t.Text, hash: hashOf(t.Text), weight: t.Weight, df: t.DF})
	}
	if len(prefix) > 0 {
		words = append(words, weighed{text: s.query.Prefix + "*", of: prefix, weight: 1})
	}
	return words
}

// candidate is a note that matches.
type candidate struct {
	number    uint32
	relevance float64
}

// candidates returns all notes that hold a term, or all notes if there are no terms,
// best first as far as they are needed.
func (s *searcher) candidates() []candidate {
	if len(s.words) == 0 {
		return s.latest()
	}
	s.total = 0
	for _, w := range s.words {
		s.total += w.full
	}
	found := make([]candidate, 0, len(s.touched))
	for _, number := range s.touched {
		found = append(found, candidate{number, s.relevance(number)})
	}
	s.order(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.relevance, a.relevance), strings.Compare(s.table.notes[a.number].path, s.table.notes[b.number].path))
	})
	return found
}

// latest returns every note that passes the filters, the last created first.
func (s *searcher) latest() []candidate {
	var found []candidate
	for number, n := range s.table.notes {
		if n != nil && s.allowed(uint32(number)) {
			found = append(found, candidate{uint32(number), 1})
		}
	}
	s.order(found, func(a, b candidate) int {
		m, n := s.table.notes[a.number], s.table.notes[b.number]
		return cmp.Or(cmp.Compare(n.created, m.created), strings.Compare(m.path, n.path))
	})
	return found
}

// order sorts as many candidates to the front as may be looked at.
func (s *searcher) order(found []candidate, compare func(a, b candidate) int) {
	needed := max(s.query.Limit, 0)
	if s.hasPhrases() {
		needed = max(needed, maxTexts)
	}
	selectBest(found, needed, compare)
}

// selectBest moves the n first of the list, in order, to its front.
func selectBest[T any](list []T, n int, compare func(a, b T) int) {
	if n >= len(list)/4 {
		slices.SortFunc(list, compare)
		return
	}
	best := slices.Clone(list[:n])
	slices.SortFunc(best, compare)
	for i := n; i < len(list); i++ {
		if n == 0 || compare(list[i], best[n-1]) >= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, list[i], compare)
		out := best[n-1]
		copy(best[at+1:], best[at:n-1])
		best[at] = list[i]
		list[i] = out
	}
	copy(list, best)
}

// hits makes the hits of the candidates, as many as the query wants.
func (s *searcher) hits(found []candidate) ([]Hit, error) {
	found = found[:min(len(found), max(s.query.Limit, 0))]
	hits := make([]Hit, 0, len(found))
	for _, c := range found {
		h, err := s.hit(c)
		if err != nil {
			return nil, err
		}
		hits = append(hits, h)
	}
	return hits, nil
}
