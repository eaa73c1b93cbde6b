package stm

import (
	"cmp"
	"runtime"
	"slices"
	"strings"

	"emberd/internal/words"
)

// Query asks for the live memories that fit Text best.
type Query struct {
	Text string
	// Accept says which memories count; nil accepts all.
	Accept func(*Row) bool
	// Rank turns relevance into what the order is by; nil keeps relevance.
	Rank func(relevance float64, r *Row) float64
	// Most is the largest factor that Rank puts on a relevance, 0 if unknown.
	// It saves looking at memories that cannot get among the best.
	Most    float64
	Limit   int
	Explain bool
}

// Found is the answer to a Query.
type Found struct {
	Matches []Match  // best first, at most Limit
	Total   int      // how many matched
	Terms   []string // the analysed query, to mark matches with
	// Loading is set while Indexed of Of memories are indexed; the others
	// were scanned, and their relevance is coarse.
	Loading     bool
	Indexed, Of int
}

// Match is one memory that matched.
type Match struct {
	Row             *Row
	Relevance, Rank float64
	Terms           []words.TermScore // with Explain
	Coarse          bool              // scanned, not looked up
}

// Search ranks every memory that holds at least one word of the query (BM25),
// and, when the query holds no word at all, every memory, with relevance 1.
// It never waits for the disk.
func (s *Store) Search(q Query) Found {
	found := Found{Terms: s.queryTerms(q.Text)}
	c := collector{q: &q, found: &found}
	switch {
	case len(found.Terms) == 0:
		s.table.each(func(_ *cell, r *Row) bool {
			c.take(r, 1, false, 0)
			return true
		})
	default:
		s.lookUp(&c)
	}
	c.finish()
	found.Indexed, found.Of = int(s.index.indexed.Load()), s.Len()
	found.Loading = !s.index.complete.Load()
	return found
}

// queryTerms returns the distinct terms of a query.
func (s *Store) queryTerms(text string) []string {
	var terms []string
	for _, t := range s.index.analyzer.Query(text) {
		if !slices.Contains(terms, t.Text) {
			terms = append(terms, t.Text)
		}
	}
	return terms
}

func (s *Store) lookUp(c *collector) {
	// What is not indexed yet is collected first: a memory that is indexed in
	// between is then met twice rather than never.
	if !s.index.complete.Load() {
		s.scan(c)
	}
	query := make([]words.QueryTerm, len(c.found.Terms))
	for i, t := range c.found.Terms {
		query[i] = words.QueryTerm{Term: t, Weight: 1}
	}
	matches := s.index.words.Load().Search(query)
	cells := *s.index.byDoc.Load()
	for doc, relevance := range matches.All() {
		for int(doc) >= len(cells) {
			// Its place is stored right after its terms.
			runtime.Gosched()
			cells = *s.index.byDoc.Load()
		}
		if c.hopeless(relevance) {
			c.found.Total++
			continue
		}
		if cells[doc] == nil {
			continue
		}
		if r := cells[doc].row.Load(); r.live() {
			c.take(r, relevance, false, doc)
		}
	}
	c.matches = matches
}

// scan matches memories that are not indexed yet by looking for the query's
// terms in their text. Every term counts the same, as if it were rare.
func (s *Store) scan(c *collector) {
	s.table.each(func(cell *cell, r *Row) bool {
		if cell.doc.Load() != 0 {
			return true
		}
		text := strings.ToLower(searchText(r.doc))
		var relevance float64
		for _, t := range c.found.Terms {
			if strings.Contains(text, t) {
				relevance++
			}
		}
		if relevance > 0 {
			c.take(r, relevance, true, 0)
		}
		return true
	})
}

// collector keeps the best matches in a heap whose root is the worst.
type collector struct {
	q       *Query
	found   *Found
	heap    []candidate
	matches *words.Matches
}

type candidate struct {
	row             *Row
	relevance, rank float64
	doc             words.Doc
	used            int64
	coarse          bool
}

// hopeless reports whether a match, whatever memory it is, only counts.
func (c *collector) hopeless(relevance float64) bool {
	return c.q.Most > 0 && c.q.Accept == nil && c.q.Limit > 0 && len(c.heap) == c.q.Limit &&
		relevance*c.q.Most < c.heap[0].rank
}

func (c *collector) take(r *Row, relevance float64, coarse bool, doc words.Doc) {
	if c.q.Accept != nil && !c.q.Accept(r) {
		return
	}
	c.found.Total++
	m := candidate{row: r, relevance: relevance, rank: relevance, doc: doc, used: r.total().used, coarse: coarse}
	if c.q.Rank != nil {
		m.rank = c.q.Rank(relevance, r)
	}
	switch {
	case len(c.heap) < c.q.Limit:
		c.heap = append(c.heap, m)
		c.up(len(c.heap) - 1)
	case len(c.heap) > 0 && better(m, c.heap[0]) < 0:
		c.heap[0] = m
		c.down(0)
	}
}

// better orders by rank, then by the later use, then by id, so that equal
// questions get equal answers.
func better(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.rank, a.rank),
		cmp.Compare(b.used, a.used),
		slices.Compare(b.row.key[:], a.row.key[:]))
}

func (c *collector) worse(i, j int) bool { return better(c.heap[i], c.heap[j]) > 0 }

func (c *collector) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !c.worse(i, parent) {
			return
		}
		c.heap[i], c.heap[parent] = c.heap[parent], c.heap[i]
		i = parent
	}
}

func (c *collector) down(i int) {
	for {
		worst := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(c.heap) && c.worse(child, worst) {
				worst = child
			}
		}
		if worst == i {
			return
		}
		c.heap[i], c.heap[worst] = c.heap[worst], c.heap[i]
		i = worst
	}
}

// finish sorts the best, drops a memory that was met twice, and explains.
func (c *collector) finish() {
	slices.SortFunc(c.heap, better)
	seen := make(map[[16]byte]bool, len(c.heap))
	for _, m := range c.heap {
		if seen[m.row.key] {
			c.found.Total--
			continue
		}
		seen[m.row.key] = true
		match := Match{Row: m.row, Relevance: m.relevance, Rank: m.rank, Coarse: m.coarse}
		if c.q.Explain && c.matches != nil && !m.coarse {
			if e, ok := c.matches.Explain(m.doc); ok {
				match.Terms = e.Terms
			}
		}
		c.found.Matches = append(c.found.Matches, match)
	}
}
