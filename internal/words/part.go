package words

import (
	"sync/atomic"

	"emberd/internal/relevance"
	"emberd/internal/text/spelling"
)

// Part is an index as if it held only some of its documents: what it answers, relevances
// included, is what an index of these alone would. Every question looks at each document
// that there is. It may be shared.
type Part struct {
	index *Index
	holds func(Doc) bool
}

// Part narrows the index to the documents that holds accepts. holds is called by the goroutine that
// asks the part, and without a lock.
func (x *Index) Part(holds func(Doc) bool) *Part { return &Part{x, holds} }

// SearchAmong is [Index.SearchAmong] of the part.
func (p *Part) SearchAmong(query []QueryTerm, others int, lengths relevance.Lengths) *Matches {
	m := p.capture(query)
	m.among(others, lengths)
	return m
}

// capture is that of the index with every other document removed.
func (p *Part) capture(query []QueryTerm) *Matches {
	m := p.index.capture(query)
	dead, sum, alive := make([]atomic.Uint64, len(m.dead)), relevance.Lengths{}, false
	for i, s := range m.sizes {
		doc := Doc(i)
		if isDead(m.dead, doc) {
			alive = alive && s.isPassage()
		} else if !s.isPassage() {
			alive = p.holds(doc)
		}
		if !alive || isDead(m.dead, doc) {
			dead[doc/64].Or(1 << (doc % 64))
			continue
		}
		count(&sum, s, 1)
	}
	m.dead = dead
	m.measure(sum)
	for i := range m.terms {
		m.terms[i].df = -1
	}
	return m
}

// Lengths is [Index.Lengths] of the part.
func (p *Part) Lengths() relevance.Lengths { return p.capture(nil).lengths }

// Frequencies is [Index.Frequencies] of the part.
func (p *Part) Frequencies(terms []string) (docs int, df []int) {
	query := make([]QueryTerm, len(terms))
	for i, t := range terms {
		query[i] = QueryTerm{Term: t, Weight: 1}
	}
	return p.SearchAmong(query, 0, relevance.Lengths{}).frequencies()
}

// Expand is [Index.Expand] of the part.
func (p *Part) Expand(prefix string) []spelling.Near { return p.held(p.index.Expand(prefix)) }

// Similar is [Index.Similar] of the part, without terms that none of its documents holds.
func (p *Part) Similar(term string, edits int) []spelling.Near {
	return p.held(p.index.Similar(term, edits))
}

// held returns the words that documents of the part hold, with how many do.
func (p *Part) held(near []spelling.Near) []spelling.Near {
	terms := make([]string, len(near))
	for i := range near {
		terms[i] = near[i].Word
	}
	_, df := p.Frequencies(terms)
	out := near[:0]
	for i, n := range near {
		if n.Docs = df[i]; n.Docs > 0 {
			out = append(out, n)
		}
	}
	return out
}
