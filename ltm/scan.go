package ltm

import (
	"cmp"
	"math"
	"slices"
)

// A search goes over the postings of its words side by side, note by note, and keeps the best
// notes. A note is passed over as soon as a bound of its relevance shows that it is not among
// them, and so are words and whole blocks of postings (MaxScore: Turtle and Flood, "Query
// Evaluation: Strategies and Optimizations", 1995, with maxima by block). The result is the same
// as if every note were worked out.

// slack is what rounding may make a bound too low by.
const slack = 1e-9

// termScan is a word in the segment that is scanned.
type termScan struct {
	cursor
	word   int
	full   float64 // of the word
	weak   bool
	most   float64 // bound of what it gives to a note
	blocks []float32
	drift  float64 // factor on blocks, full included
}

// set begins the scan of a word.
func (l *termScan) set(s *searcher, in *segmentBase, word int, list *postingList) {
	w := &s.words[word]
	l.word, l.full, l.weak = word, w.full, w.weak
	if s.index.memories() { // there are too few postings for bounds by block to save anything
		l.most, l.blocks = w.full*memoryMost, nil
		l.reset(list)
		return
	}
	of, drift := s.limitsOf(in, list)
	l.most, l.blocks = w.full*mostGain, nil
	if of != nil {
		l.drift, l.blocks = drift*w.full, of.blocks
		l.most = of.top * l.drift
	}
	l.reset(list)
}

// limitsOf returns the limits of a list and the factor to take them times, nil for a short list.
func (s *searcher) limitsOf(in *segmentBase, l *postingList) (of *limits, drift float64) {
	if l.limits == nil {
		return nil, 1
	}
	of = l.limits.Load()
	if of != nil {
		if drift = s.norms.drift(&of.norms); drift <= driftBound {
			return of, drift
		}
	}
	of = s.norms.limits(in, l)
	l.limits.Store(of)
	return of, 1
}

// limit bounds what the word gives to the note of the first posting at or after a document.
func (l *termScan) limit(doc uint32) float64 {
	block := l.blockOf(doc)
	switch {
	case block == l.list.blockCount():
		return 0
	case l.blocks == nil:
		return l.most
	}
	return float64(l.blocks[block]) * l.drift
}

// scan puts the best notes of all segments into best.
func (s *searcher) scan(best *ranking) {
	mostBonus := 0.0
	if s.query.Bonus != nil {
		mostBonus = math.Inf(1)
	}
	for i := range s.view.segments {
		c := segmentScan{searcher: s, in: &s.view.segments[i], number: i, best: best, mostBonus: mostBonus,
			termScans: s.order[:0], sums: s.limits[:0]}
		c.begin()
		for c.step() {
		}
		s.order, s.limits = c.termScans, c.sums
	}
}

// segmentScan is a scan of one segment.
type segmentScan struct {
	*searcher
	in        *segmentView
	number    int // of the segment
	best      *ranking
	termScans []*termScan // weak ones first, then by what they can give
	sums      []float64   // what the terms before each one can give together
	needed    int         // a note with none of the terms from here on is not among the best
	looked    uint32      // up to here the blocks were looked at
	bar       float64     // what the relevance of a note has to reach
	least     float64     // what its words have to reach
	// mostBonus bounds what the query adds to a note beside its words.
	mostBonus float64
}

// begin sets the terms.
func (c *segmentScan) begin() {
	for word := range c.words {
		if list := c.lists[word][c.number]; list.count > 0 {
			l := c.termScan(len(c.termScans))
			l.set(c.searcher, c.in.segmentBase, word, &c.lists[word][c.number])
			c.termScans = append(c.termScans, l)
		}
	}
	slices.SortStableFunc(c.termScans, func(a, b *termScan) int {
		if a.weak != b.weak {
			return weakLast(c.words[b.word]) - weakLast(c.words[a.word])
		}
		return cmp.Compare(a.most, b.most)
	})
	c.sums = append(c.sums, 0)
	for _, l := range c.termScans {
		if l.weak {
			c.needed++
		}
		c.sums = append(c.sums, c.sums[len(c.sums)-1]+l.most)
	}
}

// step goes on by a note or some blocks, and reports whether there is more.
func (c *segmentScan) step() bool {
	c.bar = c.best.least() - slack
	c.least = c.bar - c.mostBonus
	for c.needed < len(c.termScans) && c.sums[c.needed+1] < c.least {
		c.needed++
	}
	doc := c.lowest()
	if doc == pastEnd {
		return false
	}
	if c.filtered() {
		if first := c.marked[c.number].next(c.in.first(doc)); first > doc {
			c.seek(first)
			return true
		}
	}
	if doc > c.looked || c.looked == 0 {
		if next := c.passed(doc); next > doc {
			c.seek(next)
			return true
		}
	}
	c.judge(c.in.first(doc))
	return true
}

// lowest returns the first document of the needed terms.
func (c *segmentScan) lowest() uint32 {
	doc := uint32(pastEnd)
	for _, l := range c.termScans[c.needed:] {
		doc = min(doc, l.doc())
	}
	return doc
}

// seek has the needed terms go on to a document.
func (c *segmentScan) seek(doc uint32) {
	for _, l := range c.termScans[c.needed:] {
		l.seek(doc)
	}
}

// passed returns the first document that may be of a good enough note, as far as the blocks show
// that the terms are in.
func (c *segmentScan) passed(doc uint32) uint32 {
	most, until := c.sums[c.needed], uint32(len(c.in.rows)-1)
	for _, l := range c.termScans[c.needed:] {
		if l.doc() == pastEnd {
			continue
		}
		until = min(until, l.list.last(l.block))
		if l.blocks == nil {
			most += l.most
		} else {
			most += float64(l.blocks[l.block]) * l.drift
		}
	}
	if c.looked = until; most >= c.least {
		return doc
	}
	return c.in.end(until)
}

// judge works the note out that begins at first, unless it cannot be among the best.
func (c *segmentScan) judge(first uint32) {
	end, number := c.in.end(first), c.in.rows[first].note
	if !c.in.live(first) || len(c.near) > 0 && c.isNear(number) {
		c.seek(end)
		return
	}
	c.clearRuns()
	most := c.sums[c.needed]
	for _, l := range c.termScans[c.needed:] {
		most += c.take(l, first, end)
	}
	for i := c.needed - 1; i >= 0 && most >= c.least; i-- {
		l := c.termScans[i]
		if most -= l.most; most+l.limit(first) < c.least {
			return
		}
		l.seek(first)
		most += c.take(l, first, end)
	}
	// A bound is quicker than to ask whether a note is accepted, unless there is no one to ask.
	if most+c.bonus(number) < c.bar || c.accept == nil && !c.fits(c.number, first) {
		return
	}
	found := candidate{number: number, segment: c.number, first: first}
	c.work(&found)
	if c.accept == nil || found.relevance >= c.best.least() && c.fits(c.number, first) {
		c.best.add(found)
	}
}

func (c *segmentScan) isNear(number uint32) bool {
	_, near := c.near[number]
	return near
}

// take reads the postings that a word has in a note, and returns a bound of what it gives.
func (c *segmentScan) take(l *termScan, first, end uint32) float64 {
	if l.doc() >= end {
		return 0
	}
	run := l.run(c.runs[l.word], c.in.segmentBase, end)
	c.runs[l.word] = run
	if c.index.memories() {
		g := c.ofMemory(c.in.segmentBase, first, &c.words[l.word], run)
		return l.full * (g.whole + g.form + g.most)
	}
	g := c.norms.gain(c.in.segmentBase, first, run)
	return l.full * g.limit()
}

// ranking is the best candidates, as many as are wanted, the worst on top of a heap.
type ranking struct {
	best    []candidate
	wanted  int
	compare func(a, b *candidate) int
}

// least returns the relevance that a note has to have to be among the best.
func (r *ranking) least() float64 {
	switch {
	case r.wanted == 0:
		return math.Inf(1)
	case len(r.best) < r.wanted:
		return math.Inf(-1)
	}
	return r.best[0].relevance
}

// add adds a candidate if it is among the best.
func (r *ranking) add(c candidate) {
	if len(r.best) < r.wanted {
		r.best = append(r.best, c)
		if len(r.best) == r.wanted {
			for i := len(r.best)/2 - 1; i >= 0; i-- {
				r.sink(i)
			}
		}
		return
	}
	if r.wanted > 0 && r.compare(&c, &r.best[0]) < 0 {
		r.best[0] = c
		r.sink(0)
	}
}

// sink brings a candidate below those that are worse.
func (r *ranking) sink(i int) {
	for {
		worse := 2*i + 1
		if worse >= len(r.best) {
			return
		}
		if right := worse + 1; right < len(r.best) && r.compare(&r.best[right], &r.best[worse]) > 0 {
			worse = right
		}
		if r.compare(&r.best[i], &r.best[worse]) >= 0 {
			return
		}
		r.best[i], r.best[worse] = r.best[worse], r.best[i]
		i = worse
	}
}

// sorted returns the candidates, the best first.
func (r *ranking) sorted() []candidate {
	slices.SortFunc(r.best, func(a, b candidate) int { return r.compare(&a, &b) })
	return r.best
}
