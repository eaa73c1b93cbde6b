package words

import (
	"iter"
	"math/bits"
	"sync"
	"sync/atomic"

	"emberd/internal/relevance"
	"emberd/internal/text/spelling"
)

// QueryTerm is a term to search for and what it counts. A weight of zero or less
// leaves the term out.
type QueryTerm struct {
	Term   string
	Weight float64
	// Form is the form in which the query has the term, 0 if that does not matter, and
	// Name is the form that marks names if the query has the term as a name.
	Form, Name Forms
	// Elsewhere is how many documents of another index, ranked together with
	// these, hold the term.
	Elsewhere int
	// Of are the terms that count as this one, if there are any: Term is only their name.
	Of []string
}

// Matches is one query against the index as it was at that moment: further Adds
// change nothing in it. It is cheap until it is iterated, holds no lock, and keeps the
// postings it refers to in memory.
type Matches struct {
	terms   []scoredTerm
	sizes   []size
	dead    []atomic.Uint64
	docs    int     // live documents, with those elsewhere
	passage float64 // average length of a passage
	typical float64 // harmonic mean of the lengths of documents
	lengths relevance.Lengths
	scratch *sync.Pool
}

// scoredTerm is a query term with its postings.
type scoredTerm struct {
	QueryTerm
	postings []posting
	forms    []Forms
	df       int
	idf      float64
}

// Search looks the query terms up. Terms given twice count twice.
func (x *Index) Search(query []QueryTerm) *Matches {
	return x.SearchAmong(query, 0, relevance.Lengths{})
}

// SearchAmong is Search for documents that are ranked together with so many
// others elsewhere: the rarity of a term is judged over all of them, with
// QueryTerm.Elsewhere telling how many of the others hold it. Those of them that are memories
// have lengths, which count in the averages.
func (x *Index) SearchAmong(query []QueryTerm, others int, lengths relevance.Lengths) *Matches {
	m := x.capture(query)
	m.among(others, lengths)
	return m
}

// among completes the statistics of the terms.
func (m *Matches) among(others int, lengths relevance.Lengths) {
	if lengths.Texts > 0 {
		docs := m.docs
		m.measure(m.lengths.Plus(lengths))
		m.docs = docs
	}
	m.docs += others
	for i := range m.terms {
		t := &m.terms[i]
		if t.df < 0 {
			t.df = liveCount(t.postings, m.dead, m.sizes)
		}
		t.df += t.Elsewhere
		t.idf = relevance.IDF(m.docs, t.df)
	}
}

// Frequencies returns how many live documents there are, and how many of them
// hold each of the terms.
func (x *Index) Frequencies(terms []string) (docs int, df []int) {
	query := make([]QueryTerm, len(terms))
	for i, t := range terms {
		query[i] = QueryTerm{Term: t, Weight: 1}
	}
	return x.Search(query).frequencies()
}

func (m *Matches) frequencies() (docs int, df []int) {
	df = make([]int, len(m.terms))
	for i := range m.terms {
		df[i] = m.terms[i].df
	}
	return m.docs, df
}

// Similar returns terms that are at most so many edits from term, as
// spelling.Distance counts them, with the number of live documents that hold each.
// It compares every term there is, some 20 ms for 100,000 of them, without holding
// the lock in the meantime.
func (x *Index) Similar(term string, edits int) []spelling.Near {
	x.mu.RLock()
	lists := x.lists
	x.mu.RUnlock()
	var near []spelling.Near
	distance := spelling.From(term, edits)
	for i := range lists {
		if n, ok := distance(lists[i].term); ok {
			near = append(near, spelling.Near{Word: lists[i].term, Edits: n})
		}
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	for i := range near {
		if id, ok := x.terms.find(x.lists, near[i].Word); ok {
			near[i].Docs = liveCount(x.lists[id].postings, x.dead, x.sizes)
		}
	}
	return near
}

// capture takes what a search needs while it holds the lock. Document frequencies
// it does not know are negative: they have to be counted, since lists still hold
// removed documents.
func (x *Index) capture(query []QueryTerm) *Matches {
	m := &Matches{terms: make([]scoredTerm, 0, len(query)), scratch: &x.scratch}
	x.mu.RLock()
	defer x.mu.RUnlock()
	m.sizes, m.dead = x.sizes, x.dead
	m.measure(x.live)
	for _, q := range query {
		t := scoredTerm{QueryTerm: q}
		t.postings, t.forms, t.df = x.postingsOf(&q)
		if x.stale > 0 {
			t.df = -1
		}
		if q.Weight > 0 {
			m.terms = append(m.terms, t)
		}
	}
	return m
}

// measure takes the averages from sums.
func (m *Matches) measure(l relevance.Lengths) {
	m.docs, m.lengths, m.passage, m.typical = l.Texts, l, l.Passage(), l.Typical()
}

// norm returns the count at which a term has half of what it can give to a text of a size. Without any
// words in the index all lengths count as average.
func (m *Matches) norm(s size) float64 {
	switch {
	case s.isLong():
		return relevance.MemoryLongNorm(float64(s.words()) / m.typical)
	case m.passage == 0:
		return relevance.MemoryK1
	}
	return relevance.MemoryNorm(float64(s.words()) / m.passage)
}

// windowSize is how many documents are scored at a time: their scores fit in a
// processor's first-level cache.
const windowSize = 4096

// window holds the scores of the documents from a multiple of windowSize on.
type window struct {
	scores  [windowSize]float64
	matched [windowSize / 64]uint64
}

// All yields the live documents that hold at least one of the terms, in ascending
// order, each with its relevance.
func (m *Matches) All() iter.Seq2[Doc, float64] {
	return func(yield func(Doc, float64) bool) {
		rest := make([][]posting, len(m.terms))
		for i, t := range m.terms {
			rest[i] = t.postings
		}
		w, _ := m.scratch.Get().(*window)
		if w == nil {
			w = new(window)
		}
		for base, ok := nextBase(rest); ok; base, ok = nextBase(rest) {
			for i := range rest {
				rest[i] = m.score(w, base, &m.terms[i], rest[i])
			}
			if !m.emit(w, base, yield) {
				break
			}
		}
		// A window goes back only when it is clean: emit clears what it has passed on,
		// and leaves the rest when the loop ends early.
		if w.matched == [windowSize / 64]uint64{} {
			m.scratch.Put(w)
		}
	}
}

// nextBase returns where the window of the next unscored document begins.
func nextBase(rest [][]posting) (base Doc, ok bool) {
	base = MaxDocs
	for _, p := range rest {
		if len(p) > 0 {
			base = min(base, p[0].doc())
		}
	}
	return base - base%windowSize, base < MaxDocs
}

// score adds what the term gives to the documents of the window, and to passages there,
// and returns the postings behind it.
func (m *Matches) score(w *window, base Doc, t *scoredTerm, postings []posting) []posting {
	full := t.Weight * t.idf
	forms := t.forms[len(t.forms)-len(postings):]
	for i, p := range postings {
		at := p.doc() - base
		if at >= windowSize {
			return postings[i:]
		}
		s := m.sizes[p.doc()]
		score := shareOf(s) * contribution(full, p.tf(), m.norm(s))
		if !s.isPassage() {
			score += full * t.formShare(forms[i])
		}
		w.scores[at] += score
		w.matched[at/64] |= 1 << (at % 64)
	}
	return nil
}

// shareOf is what the score of a text counts in that of its document.
func shareOf(s size) float64 {
	switch {
	case s < longBit:
		return relevance.MemoryTextShare
	case s.isPassage():
		return relevance.MemoryTextShare * relevance.MemoryPassageShare
	}
	return relevance.MemoryTextShare * (1 - relevance.MemoryPassageShare)
}

// contribution is the part of one term in a text's relevance.
func contribution(full float64, tf int, norm float64) float64 {
	return full * relevance.Share(float64(tf), norm)
}

// formShare is what counts for a document's having the term in forms.
func (t *scoredTerm) formShare(forms Forms) float64 {
	return relevance.FormShare(forms&t.Form != 0, forms&t.Name != 0)
}

// emit yields the live documents of the window and clears it. It returns false when
// the loop has ended.
func (m *Matches) emit(w *window, base Doc, yield func(Doc, float64) bool) bool {
	for i := range w.matched {
		for w.matched[i] != 0 {
			at := Doc(i*64 + bits.TrailingZeros64(w.matched[i]))
			relevance := w.scores[at]
			w.scores[at] = 0
			w.matched[i] &= w.matched[i] - 1
			s := m.sizes[base+at]
			if s.isPassage() || isDead(m.dead, base+at) {
				continue
			}
			if s.isLong() {
				relevance += m.bestPassage(w, base, at)
			}
			if !yield(base+at, relevance) {
				return false
			}
		}
	}
	return true
}

// bestPassage is the highest score of the passages of the document at a place of the window.
func (m *Matches) bestPassage(w *window, base, at Doc) (best float64) {
	for at++; at < windowSize && int(base+at) < len(m.sizes) && m.sizes[base+at].isPassage(); at++ {
		best = max(best, w.scores[at])
	}
	return best
}
