package table

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"emberd/internal/relevance"
	"emberd/internal/text/analysis"
	"emberd/internal/words"
	"emberd/memory"
)

// Query asks for the live memories that fit best.
type Query struct {
	// Terms are what to rank by, as analysis.Analyzer.Query makes them; any may
	// match. Without terms and Near every memory matches, with relevance 1.
	Terms []words.QueryTerm
	// Near is what is added to the relevance of memories for another reason than their
	// words, above 0. These match without any term, and pass every other condition.
	Near map[memory.ID]float64
	// Bonus is what is added to the relevance of a memory that matches; nil is nothing.
	// With it every match is looked at.
	Bonus func(*Row) float64
	// Others is how many documents elsewhere are ranked together with these.
	Others int
	// OtherLengths are the lengths of those of them that are memories.
	OtherLengths relevance.Lengths
	// All and None are terms that a memory must hold, and must not.
	All, None []string
	// Accept reports which memories count; nil accepts all. It and Rank look at the row
	// alone: changes and other searches may be waiting in the meantime.
	Accept func(*Row) bool
	// Rank turns relevance into what the order is by; nil keeps relevance.
	Rank func(relevance float64, r *Row) float64
	// Most is the largest factor that Rank puts on a relevance, 0 if unknown.
	// It saves looking at memories that cannot get among the best, unless Accept has
	// to look at each of them for Found to count it.
	Most float64
	// Uncounted says that Found.Total and Best may count what Accept would not, and so
	// that Most holds beside an Accept.
	Uncounted bool
	// Enough ends the search when so many memories matched, whichever; 0 looks at all. It is for who only counts.
	Enough  int
	Limit   int
	Explain bool
	// Beside are further lists to be gathered on the way, of what is indexed, and only
	// when there are terms.
	Beside []Beside
}

// Beside asks for the most relevant of the memories that match a Query and that Accept
// accepts too, at most Limit, explained. What is less relevant than OfBest of the most
// relevant match, or OfLast of the rank of the last of as many matches as the Query
// wants, may be left out; that keeps the cost of a list near nothing. The zero Beside
// gathers none.
type Beside struct {
	Accept         func(*Row) bool
	Limit          int
	OfBest, OfLast float64
}

// Found is the answer to a Query.
type Found struct {
	Matches []Match // best first, at most Limit
	Total   int     // how many matched
	Near    int     // of them, those that hold none of the terms
	Best    float64 // relevance of the most relevant one, wherever it ranks
	// Loading is set while Indexed of Of memories are indexed, which are 0 else; the others
	// were scanned, and their relevance is coarse.
	Loading     bool
	Indexed, Of int
	Beside      [][]Match // in the order of the Query
}

// Match is one memory that matched.
type Match struct {
	Row             *Row
	Relevance, Rank float64
	Near, Bonus     float64           // parts of the relevance
	Terms           []words.TermScore // with Explain
	Coarse          bool              // scanned, not looked up
}

// Search ranks by BM25 every memory that passes. It never waits for the disk.
func (m *MemorySet) Search(q Query) Found {
	if m.Sees != nil {
		q.Accept, q.Uncounted = m.accepting(q.Accept), false
	}
	const tries = 3
	for range tries {
		index := m.Words.Words.Load()
		before := index.Removed()
		// The words of a memory that is changed in the meantime may be out under the old
		// number before the search comes by, and in under the new one after.
		if found := m.searchOnce(q); index.Removed() == before {
			return found
		}
	}
	m.Words.mu.Lock() // what is changed waits for this search
	defer m.Words.mu.Unlock()
	return m.searchOnce(q)
}

func (m *MemorySet) searchOnce(q Query) Found {
	found := Found{}
	c := collector{q: &q, found: &found, near: q.nearness()}
	// What is not indexed yet is collected first: a memory that is indexed in
	// between is then met twice rather than never.
	loading := !m.Words.Complete.Load()
	if loading {
		m.scan(&c, m.rarity(&q))
	}
	index := m.Words.Words.Load()
	if m.Sees == nil {
		c.matches = index.SearchAmong(q.Terms, q.Others, q.OtherLengths)
	} else {
		c.matches = m.part().SearchAmong(q.Terms, q.Others, q.OtherLengths)
	}
	for _, b := range q.Beside {
		c.beside = append(c.beside, c.side(b))
	}
	sieve := newSieve(index, &q)
	if len(q.Terms)+len(q.Near) == 0 {
		m.everything(&c, sieve, loading)
	} else {
		l := lookUp{MemorySet: m, c: &c, sieve: sieve, cells: *m.Words.ByDoc.Load()}
		l.run(m.nearDocs(&c, sieve, loading))
	}
	c.finish()
	for _, s := range c.beside {
		s.finish()
		found.Beside = append(found.Beside, s.found.Matches)
	}
	if found.Loading = loading; loading {
		found.Of = m.Indexable()
		found.Indexed = found.Of - m.unindexed()
	}
	return found
}

// sieve passes documents by the terms they hold; a nil set is no condition.
type sieve struct{ all, none []map[words.Doc]bool }

func newSieve(x *words.Index, q *Query) sieve {
	var s sieve
	for _, t := range q.All {
		s.all = append(s.all, docsWith(x, t))
	}
	for _, t := range q.None {
		s.none = append(s.none, docsWith(x, t))
	}
	return s
}

func docsWith(x *words.Index, term string) map[words.Doc]bool {
	docs := map[words.Doc]bool{}
	for doc := range x.Search([]words.QueryTerm{{Term: term, Weight: 1}}).All() {
		docs[doc] = true
	}
	return docs
}

func (s sieve) passes(doc words.Doc) bool {
	for _, set := range s.all {
		if !set[doc] {
			return false
		}
	}
	for _, set := range s.none {
		if set[doc] {
			return false
		}
	}
	return true
}

// everything takes every memory; with loading, those that scan has not seen.
func (m *MemorySet) everything(c *collector, sieve sieve, loading bool) {
	m.Table.Each(func(cell *Cell, r *Row) bool {
		doc := cell.Doc.Load()
		if doc == 0 && !loading && len(sieve.all) == 0 || doc != 0 && sieve.passes(words.Doc(doc-1)) {
			c.take(c.match(r, 1, 0))
		}
		return true
	})
}

// lookUp goes through the documents that match.
type lookUp struct {
	*MemorySet
	c     *collector
	sieve sieve
	cells []*Cell
}

// run takes what holds a term and what is near, in the order of the documents.
func (l *lookUp) run(near []nearDoc) {
	for doc, relevance := range l.c.matches.All() {
		if l.c.enough() {
			return
		}
		for len(near) > 0 && near[0].doc < doc {
			l.take(near[0].doc, 0, near[0].score)
			near = near[1:]
		}
		score := 0.0
		if len(near) > 0 && near[0].doc == doc {
			score, near = near[0].score, near[1:]
		}
		l.take(doc, relevance, score)
	}
	for _, n := range near {
		l.take(n.doc, 0, n.score)
	}
}

func (l *lookUp) take(doc words.Doc, held, near float64) {
	if !l.sieve.passes(doc) {
		return
	}
	for int(doc) >= len(l.cells) {
		// Its place is stored right after its terms.
		runtime.Gosched()
		l.cells = *l.Words.ByDoc.Load()
	}
	c, relevance := l.c, held+near
	hopeless := c.hopeless(relevance)
	if hopeless {
		c.count(relevance, held > 0)
	}
	if l.cells[doc] == nil || hopeless && !c.wanted(relevance) {
		return
	}
	r := l.cells[doc].Row.Load()
	if !r.Live() {
		return
	}
	m := c.match(r, held, near)
	m.doc = doc
	if hopeless || c.take(m) {
		c.offer(m)
	}
}

// rarity is what each of the query's terms adds to a memory that is not indexed
// yet: what it would to an indexed one of average length that holds it once.
func (m *MemorySet) rarity(q *Query) []float64 {
	terms := make([]string, len(q.Terms))
	for i, t := range q.Terms {
		terms[i] = t.Term
	}
	_, df := m.Frequencies(terms)
	out := make([]float64, len(terms))
	for i, t := range q.Terms {
		out[i] = t.Weight * relevance.IDF(m.Len()+q.Others, df[i]+t.Elsewhere) * typicalShare
	}
	return out
}

// typicalShare is tf/(tf + k1) of BM25 for a term that occurs once.
const typicalShare = 1 / 2.2

// scan matches memories that are not indexed yet by analysing their text.
func (m *MemorySet) scan(c *collector, rarity []float64) {
	m.Table.Each(func(cell *Cell, r *Row) bool {
		if cell.Doc.Load() != 0 || len(c.q.Terms) > 0 && !m.Words.has(r) {
			return true
		}
		near, found := c.near[r.Key]
		if held, passes := c.q.scanned(m.Words.Analyzer, r.Text(), rarity, found); passes {
			match := c.match(r, held, near)
			match.coarse = true
			c.take(match)
		}
		return true
	})
}

// scanned is the coarse relevance of a text by its words, and whether it matches; found
// says that it does for another reason than its words if nothing speaks against it.
func (q *Query) scanned(a *analysis.Analyzer, doc string, rarity []float64,
	found bool) (relevance float64, matches bool) {
	if !found && !q.MayMatch(doc) {
		return 0, false
	}
	held := map[string]bool{}
	for _, t := range a.Terms(doc) {
		held[t.Text] = true
	}
	lacks := func(term string) bool { return !held[term] }
	if slices.ContainsFunc(q.All, lacks) || slices.ContainsFunc(q.None, func(term string) bool { return held[term] }) {
		return 0, false
	}
	if len(q.Terms)+len(q.Near) == 0 {
		return 1, true
	}
	for i, t := range q.Terms {
		if held[t.Term] || slices.ContainsFunc(t.Of, func(term string) bool { return held[term] }) {
			relevance += rarity[i]
		}
	}
	return relevance, found || relevance > 0
}

// MayMatch is false for most texts that do not match, in an eighth of the time
// that analysing them takes.
func (q *Query) MayMatch(doc string) bool {
	if strings.ContainsFunc(doc, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return true // folded in many ways
	}
	doc = strings.ReplaceAll(strings.ToLower(doc), "'", "")
	lacks := func(term string) bool { return !strings.Contains(doc, beginning(term)) }
	return !slices.ContainsFunc(q.All, lacks) &&
		(len(q.Terms) == 0 || slices.ContainsFunc(q.Terms, func(t words.QueryTerm) bool {
			return t.Of != nil || !lacks(t.Term)
		}))
}

// beginning is what a word surely has in common with its term: stemming writes
// again the last two letters of a stem at most (happy, happi; sensible, sensibl;
// hoping, hope), and long terms do not end as their words do.
func beginning(term string) string { return term[:max(min(len(term)-2, 16), min(len(term), 1))] }

// collector keeps the best matches in a heap whose root is the worst.
type collector struct {
	q       *Query
	found   *Found
	near    map[[16]byte]float64
	heap    []candidate
	matches *words.Matches
	beside  []*side
}

// side collects a list beside.
type side struct {
	collector
	Beside
}

func (c *collector) side(b Beside) *side {
	return &side{collector{q: &Query{Accept: b.Accept, Limit: b.Limit, Explain: true}, found: &Found{},
		matches: c.matches}, b}
}

// wanted reports whether any list beside may take what is so relevant.
func (c *collector) wanted(relevance float64) bool {
	for _, s := range c.beside {
		if s.wants(c, relevance) {
			return true
		}
	}
	return false
}

func (s *side) wants(c *collector, relevance float64) bool {
	switch {
	case len(c.heap) > 0 && len(c.heap) == c.q.Limit && relevance < s.OfLast*c.heap[0].rank,
		relevance < s.OfBest*c.found.Best,
		s.Beside.Limit == 0,
		len(s.heap) == s.Beside.Limit && relevance < s.heap[0].rank:
		return false
	}
	return true
}

// offer shows a match to the lists beside.
func (c *collector) offer(m candidate) {
	for _, s := range c.beside {
		if s.wants(c, m.relevance) {
			m.rank = m.relevance
			s.take(m)
		}
	}
}

type candidate struct {
	row             *Row
	relevance, rank float64
	near, bonus     float64 // parts of the relevance
	doc             words.Doc
	used            int64
	held            bool // it holds a term
	coarse          bool
}

// hopeless reports whether a match, whatever memory it is, only counts.
func (c *collector) hopeless(relevance float64) bool {
	return c.q.Most > 0 && (c.q.Accept == nil || c.q.Uncounted) && c.q.Bonus == nil && c.q.Limit > 0 &&
		len(c.heap) == c.q.Limit &&
		relevance*c.q.Most < c.heap[0].rank
}

// enough reports whether the search may end.
func (c *collector) enough() bool { return c.q.Enough > 0 && c.found.Total >= c.q.Enough }

// match is a memory with what its words, if it holds any, and other reasons give it.
func (c *collector) match(r *Row, held, near float64) candidate {
	m := candidate{row: r, near: near, held: held > 0}
	if c.q.Bonus != nil {
		m.bonus = c.q.Bonus(r)
	}
	m.relevance = held + near + m.bonus
	m.rank = m.relevance
	return m
}

// count counts a match.
func (c *collector) count(relevance float64, held bool) {
	c.found.Total++
	c.found.Best = max(c.found.Best, relevance)
	if !held {
		c.found.Near++
	}
}

// take keeps a match if it is among the best, and reports whether it is one.
func (c *collector) take(m candidate) bool {
	if c.q.Accept != nil && !c.q.Accept(m.row) {
		return false
	}
	c.count(m.relevance, m.held)
	m.used = m.row.Total().Used
	if c.q.Rank != nil {
		m.rank = c.q.Rank(m.relevance, m.row)
	}
	switch {
	case len(c.heap) < c.q.Limit:
		c.heap = append(c.heap, m)
		c.up(len(c.heap) - 1)
	case len(c.heap) > 0 && better(m, c.heap[0]) < 0:
		c.heap[0] = m
		c.down(0)
	}
	return true
}

// better orders by rank, then by the later use, then by id, so that equal
// questions get equal answers.
func better(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.rank, a.rank),
		cmp.Compare(b.used, a.used),
		slices.Compare(b.row.Key[:], a.row.Key[:]))
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
		if seen[m.row.Key] {
			c.found.Total--
			if !m.held {
				c.found.Near--
			}
			continue
		}
		seen[m.row.Key] = true
		match := Match{Row: m.row, Relevance: m.relevance, Rank: m.rank, Near: m.near, Bonus: m.bonus, Coarse: m.coarse}
		if c.q.Explain && c.matches != nil && !m.coarse {
			if e, ok := c.matches.Explain(m.doc); ok {
				match.Terms = e.Terms
			}
		}
		c.found.Matches = append(c.found.Matches, match)
	}
}
