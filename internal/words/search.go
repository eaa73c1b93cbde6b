package words

import (
	"iter"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"emberd/internal/text"
	"emberd/internal/text/spelling"
)

// BM25's parameters: how soon repetition stops to count, and how much length counts
// against a document. k1 is customary. b is usually 0.75, which suits pages; short
// memories that say more are rarely just wordier. Over judged sets of chat turns,
// one-sentence facts and abstracts the best b lay between 0.2 and 0.4 for every k1.
const (
	k1 = 1.2
	b  = 0.3
)

// QueryTerm is a term to search for and what it counts. A weight of zero or less
// leaves the term out.
type QueryTerm struct {
	Term   string
	Weight float64
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
	lengths []uint32
	dead    []atomic.Uint64
	docs    int     // live documents, with those elsewhere
	average float64 // their average length
	scratch *sync.Pool
}

// scoredTerm is a query term with its postings.
type scoredTerm struct {
	QueryTerm
	postings []posting
	df       int
	idf      float64
}

// Search looks the query terms up. Terms given twice count twice.
func (x *Index) Search(query []QueryTerm) *Matches { return x.SearchAmong(query, 0) }

// SearchAmong is Search for documents that are ranked together with so many
// others elsewhere: the rarity of a term is judged over all of them, with
// QueryTerm.Elsewhere telling how many of the others hold it.
func (x *Index) SearchAmong(query []QueryTerm, others int) *Matches {
	m := x.capture(query)
	m.among(others)
	return m
}

// among completes the statistics of the terms.
func (m *Matches) among(others int) {
	m.docs += others
	for i := range m.terms {
		t := &m.terms[i]
		if t.df < 0 {
			t.df = liveCount(t.postings, m.dead)
		}
		t.df += t.Elsewhere
		t.idf = text.IDF(m.docs, t.df)
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
		if id, ok := x.terms[near[i].Word]; ok {
			near[i].Docs = liveCount(x.lists[id].postings, x.dead)
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
	m.lengths, m.dead, m.docs = x.lengths, x.dead, x.live
	m.average = float64(x.words) / float64(max(x.live, 1))
	for _, q := range query {
		t := scoredTerm{QueryTerm: q}
		t.postings = x.postingsOf(&q)
		t.df = len(t.postings)
		if x.stale > 0 {
			t.df = -1
		}
		if q.Weight > 0 {
			m.terms = append(m.terms, t)
		}
	}
	return m
}

// norm returns the denominator's share that does not depend on the count,
// k1·(1 - b + b·len/avg). Without any words in the index all lengths count as average.
func (m *Matches) norm(doc Doc) float64 {
	if m.average == 0 {
		return k1
	}
	return k1 * (1 - b + b*float64(m.lengths[doc])/m.average)
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

// score adds what the term gives to the documents of the window and returns the
// postings behind it.
func (m *Matches) score(w *window, base Doc, t *scoredTerm, postings []posting) []posting {
	full := t.Weight * t.idf
	for i, p := range postings {
		at := p.doc() - base
		if at >= windowSize {
			return postings[i:]
		}
		w.scores[at] += contribution(full, p.tf(), m.norm(p.doc()))
		w.matched[at/64] |= 1 << (at % 64)
	}
	return nil
}

// contribution is the part of one term in a document's relevance.
func contribution(full float64, tf int, norm float64) float64 {
	return full * float64(tf) / (float64(tf) + norm)
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
			if !isDead(m.dead, base+at) && !yield(base+at, relevance) {
				return false
			}
		}
	}
	return true
}

// Explanation takes the relevance of one document apart.
type Explanation struct {
	Relevance float64 // the sum of the terms' scores
	Length    int     // words in the document
	Average   float64 // words in the average live document
	Docs      int     // live documents, with those elsewhere
	Terms     []TermScore
}

// TermScore is what one query term gives to a document:
// Score = Weight · IDF · TF / (TF + Norm).
type TermScore struct {
	Term   string
	Weight float64
	TF     int // in the document, at most 255
	DF     int // of Docs, those that hold the term
	IDF    float64
	Norm   float64 // k1·(1 - b + b·Length/Average)
	Score  float64
}

// Explain reports where the relevance of doc comes from, with one entry for each query
// term that it holds, in the order of the query. It is false for a document that All
// does not yield.
func (m *Matches) Explain(doc Doc) (Explanation, bool) {
	if int64(doc) >= int64(len(m.lengths)) || isDead(m.dead, doc) {
		return Explanation{}, false
	}
	e := Explanation{Length: int(m.lengths[doc]), Average: m.average, Docs: m.docs}
	norm := m.norm(doc)
	for _, t := range m.terms {
		i, _ := slices.BinarySearch(t.postings, pack(doc, 0))
		if i == len(t.postings) || t.postings[i].doc() != doc {
			continue
		}
		tf := t.postings[i].tf()
		score := contribution(t.Weight*t.idf, tf, norm)
		e.Relevance += score
		e.Terms = append(e.Terms,
			TermScore{Term: t.Term, Weight: t.Weight, TF: tf, DF: t.df, IDF: t.idf, Norm: norm, Score: score})
	}
	return e, len(e.Terms) > 0
}
