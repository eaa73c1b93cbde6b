package ltm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"emberd/internal/contain"
)

// Search finds the notes that match a query and ranks them. It does not wait for
// updates. ctx is looked at between terms and between the texts of phrases.
func (x *Index) Search(ctx context.Context, q Query) (Result, error) {
	var found Result
	err := x.search(&q, func(s *searcher) (err error) {
		found, err = s.run(ctx)
		return err
	})
	if err != nil {
		return Result{}, err
	}
	return found, nil
}

// Frequencies returns how many notes there are, and how many of them contain each term, for
// statistics over several collections.
func (x *Index) Frequencies(ctx context.Context, terms []string) (docs int, df map[string]int, err error) {
	df = make(map[string]int, len(terms))
	err = x.search(&Query{}, func(s *searcher) error {
		for _, t := range terms {
			if err := ctx.Err(); err != nil {
				return err
			}
			df[t] = s.notesWith(t)
		}
		docs = s.table.count
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	return docs, df, nil
}

// search calls do with a search of the current state. A page of a segment that cannot be read, or a segment that was
// changed since it was opened, is ErrRebuild.
func (x *Index) search(q *Query, do func(s *searcher) error) error {
	done, err := x.use()
	if err != nil {
		return err
	}
	defer done()
	err = contain.Failures(func() (err error) {
		reading(func() { err = x.searchOnce(q, do) })
		return err
	})
	if errors.Is(err, errUnreadable) || errors.Is(err, errChanged) {
		x.health.fail(err)
		return fmt.Errorf("%w: %w", ErrRebuild, err)
	}
	return err
}

func (x *Index) searchOnce(q *Query, do func(s *searcher) error) error {
	s, err := x.searcher(q)
	if err != nil {
		return err
	}
	defer s.view.close()
	defer s.failIfChanged()
	err = do(s)
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && s.changed() {
		err = errChanged
	}
	s.clear()
	x.scratch.Put(s.scratch)
	return err
}

// failIfChanged makes a panic while segments were read a [contain.Failure] if one of them no longer has its checksum.
func (s *searcher) failIfChanged() {
	r := recover()
	if r == nil {
		return
	}
	if s.changed() {
		r = contain.Failure{Err: errChanged}
	}
	panic(r)
}

// changed reports whether a segment no longer has its checksum.
func (s *searcher) changed() bool {
	return slices.ContainsFunc(s.view.segments, func(in segmentView) bool { return checkSegment(in.data) != nil })
}

// searcher is one search over one state of the index.
type searcher struct {
	index *Index
	query *Query
	view  *view
	table *table
	norms norms
	*scratch

	words    []queryTerm
	total    float64                  // what all words could give
	near     map[uint32]Near          // Query.Near by number, of what passes
	apart    int                      // of them, those that hold none of the terms
	counted  int                      // notes that hold one; -1 until they are counted
	allowed  func(number uint32) bool // nil for every note
	accept   func(path string) bool   // of a query with LooseTotal alone: it leaves notes out, and not all of the total
	holds    [][]bitset               // of phrases, as suspects are: all words of each that is required
	lacks    [][]bitset               // the word of one that is excluded
	required []phrase                 // to be looked up in texts
	excluded []phrase
}

// queryTerm is a query term with its statistics. One that stands for several has them in of.
type queryTerm struct {
	text   string
	of     []string
	hash   uint32
	weight float64
	weak   bool
	form   uint8 // see Term
	name   uint8
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
		sc.fit(len(t.notes))
		if x.sees != nil {
			t = t.only(x.shows)
		}
		s := &searcher{index: x, query: q, view: v, table: t, norms: t.norms(), scratch: sc, counted: -1}
		if x.memories() {
			all := t.lengths().Plus(q.Lengths)
			s.norms.passage, s.norms.typical = max(all.Passage(), 1), all.Typical()
		}
		return s, nil
	}
}

// run answers the query.
func (s *searcher) run(ctx context.Context) (Result, error) {
	s.filter()
	found, result, err := s.match(ctx, s.queryTerms())
	if err != nil {
		return Result{}, err
	}
	result.Hits, err = s.hits(found)
	return result, err
}

// match returns the best candidates that pass all conditions.
func (s *searcher) match(ctx context.Context, words []queryTerm) ([]candidate, Result, error) {
	s.words = words
	for len(s.runs) < len(words) {
		s.runs = append(s.runs, nil)
	}
	var result Result
	for i := range s.words {
		if err := ctx.Err(); err != nil {
			return nil, result, err
		}
		s.look(&s.words[i])
		if !s.words[i].weak {
			result.Terms = append(result.Terms, s.words[i].terms()...)
		}
	}
	var found []candidate
	if s.hasPhrases() {
		found, result.Partial = s.holders(ctx)
		result.Total = len(found)
	} else {
		found, result.Total = s.candidates(max(s.query.Limit, 0))
	}
	result.Near = s.byNearness(found)
	return found, result, ctx.Err()
}

func (w *queryTerm) terms() []string {
	if w.of != nil {
		return w.of
	}
	return []string{w.text}
}

// queryTerms returns what to score: the terms of the query, each once.
func (s *searcher) queryTerms() []queryTerm {
	var words []queryTerm
	for _, t := range s.query.Terms {
		if t.Weight <= 0 {
			continue
		}
		if i := slices.IndexFunc(words, func(w queryTerm) bool { return w.text == t.Text }); i >= 0 {
			words[i].weight += t.Weight
			words[i].weak = words[i].weak && t.Weak
			continue
		}
		words = append(words, queryTerm{text: t.Text, hash: hashOf(t.Text), weight: t.Weight, df: t.DF, weak: t.Weak,
			form: uint8(t.Form), name: uint8(t.Name), of: t.Of})
	}
	slices.SortStableFunc(words, func(a, b queryTerm) int { return weakLast(a) - weakLast(b) })
	return words
}

func weakLast(w queryTerm) int {
	if w.weak {
		return 1
	}
	return 0
}

// candidate is a note that matches.
type candidate struct {
	number    uint32
	relevance float64
	passage   int // the best one
	segment   int // that the note is in, -1 until place finds it
	first     uint32
	held      bool // a word that is not weak is in it
	named     bool // a word is in the names
}

// candidates returns the n best of the notes that hold a word or are near, or of all notes if the
// query has neither, and how many there are: with phrases, whether there are more than n.
func (s *searcher) candidates(n int) (best []candidate, total int) {
	if len(s.query.Terms)+len(s.query.Near) == 0 {
		return s.latest(n)
	}
	s.total = 0
	for _, w := range s.words {
		if !w.weak && w.of == nil {
			s.total += w.full
		}
	}
	kept := ranking{wanted: n, compare: s.compare}
	apart := s.nearby(&kept)
	if s.counted < 0 {
		s.counted = s.count()
	}
	if n > 0 {
		s.scan(&kept)
	}
	if total = apart + s.counted; s.hasPhrases() {
		total = len(kept.best)
		if total == n {
			total++ // more than are wanted were not looked for
		}
	}
	return kept.sorted(), total
}

// fits reports whether the note that begins with a document may be a hit, as far as that is known
// without its text.
func (s *searcher) fits(segment int, first uint32) bool {
	if !s.passes(s.view.segments[segment].rows[first].note) {
		return false
	}
	fits, sure := s.hasRows(segment, first)
	return (fits || !sure) && s.hasWords(segment, first)
}

// compare orders by falling relevance, then path.
func (s *searcher) compare(a, b *candidate) int {
	return cmp.Or(cmp.Compare(b.relevance, a.relevance),
		strings.Compare(s.table.notes[a.number].path, s.table.notes[b.number].path))
}

// latest returns the n notes that were created last of those that pass the filters, and
// how many pass.
func (s *searcher) latest(n int) (best []candidate, total int) {
	for number, n := range s.table.notes {
		if n != nil && s.passesWith(uint32(number)) {
			best = append(best, candidate{number: uint32(number), relevance: 1, segment: -1})
		}
	}
	slices.SortFunc(best, func(a, b candidate) int {
		m, n := s.table.notes[a.number], s.table.notes[b.number]
		return cmp.Or(cmp.Compare(n.created, m.created), strings.Compare(m.path, n.path))
	})
	return best[:min(len(best), n)], len(best)
}

// hits returns the hits of the candidates, as many as the query wants.
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
