package similarity

import (
	"cmp"
	"math"
	"slices"

	"emberd/internal/text/analysis"
)

// Corpus knows in how many texts each term occurs.
type Corpus struct {
	analyzer *analysis.Analyzer
	ids      map[string]int32
	df       []int32 // by id
	texts    int
	rarity   Rarity          // nil for a corpus of what was added to it
	names    []string        // by id, with rarity
	terms    []analysis.Term // of the latest text, used again
}

// Rarity reports how many texts there are elsewhere, and in how many of them each of some
// terms occurs.
type Rarity func(terms []string) (texts int, df []int)

// NewCorpus returns an empty corpus of texts that are taken apart by analyzer.
func NewCorpus(analyzer *analysis.Analyzer) *Corpus {
	return &Corpus{analyzer: analyzer, ids: make(map[string]int32)}
}

// NewCorpusOf returns a corpus of texts that are elsewhere. Texts that are added to it are
// not counted; a term that occurs nowhere counts as if it did once.
func NewCorpusOf(analyzer *analysis.Analyzer, rarity Rarity) *Corpus {
	c := NewCorpus(analyzer)
	c.rarity = rarity
	return c
}

// TermVector is the terms of one text of a corpus, each with how often it occurs, ordered by
// their number. Stop words are left out unless there is nothing else.
type TermVector []Occurrence

// Occurrence is one term of a text.
type Occurrence struct{ Term, Times int32 }

// Add counts a text and returns its terms.
func (c *Corpus) Add(s string) TermVector {
	known := len(c.df)
	bag := c.bag(s)
	if c.rarity != nil {
		c.ask(known)
		return bag
	}
	c.texts++
	for _, o := range bag {
		c.df[o.Term]++
	}
	return bag
}

func (c *Corpus) bag(s string) TermVector {
	c.terms = c.analyzer.AppendTerms(c.terms[:0], s)
	stops := !slices.ContainsFunc(c.terms, func(t analysis.Term) bool { return !t.Stop() })
	ids := make([]int32, 0, len(c.terms))
	for _, t := range c.terms {
		if t.Text != "" && (stops || !t.Stop()) {
			ids = append(ids, c.id(t.Text))
		}
	}
	slices.Sort(ids)
	var bag TermVector
	for i, id := range ids {
		if i > 0 && ids[i-1] == id {
			bag[len(bag)-1].Times++
			continue
		}
		bag = append(bag, Occurrence{Term: id, Times: 1})
	}
	return slices.Clip(bag)
}

func (c *Corpus) id(term string) int32 {
	id, known := c.ids[term]
	if !known {
		id = int32(len(c.df))
		c.ids[term] = id
		c.df = append(c.df, 0)
		if c.rarity != nil {
			c.names = append(c.names, term)
		}
	}
	return id
}

// ask learns how rare the terms are that have the numbers from one on.
func (c *Corpus) ask(from int) {
	if from == len(c.names) {
		return
	}
	texts, df := c.rarity(c.names[from:])
	c.texts = max(1, texts)
	for i, n := range df {
		c.df[from+i] = int32(max(1, n))
	}
}

// Rarest are the terms of a bag that the fewest texts hold, at most so many, the rarest
// first: of those behind the first only as many as have no more than so many holders
// together with those before. It is for corpora of texts that are elsewhere.
func (c *Corpus) Rarest(b TermVector, limit, holders int) (terms []string) {
	b = slices.Clone(b)
	slices.SortFunc(b, func(x, y Occurrence) int { return c.Rarer(x.Term, y.Term) })
	for _, o := range b[:min(limit, len(b))] {
		if holders -= int(c.df[o.Term]); holders < 0 && len(terms) > 0 {
			break
		}
		terms = append(terms, c.names[o.Term])
	}
	return terms
}

// Join is the bag of several parts of one text.
func Join(parts ...TermVector) TermVector {
	all := slices.Concat(parts...)
	slices.SortFunc(all, func(x, y Occurrence) int { return cmp.Compare(x.Term, y.Term) })
	joined := all[:0]
	for _, o := range all {
		if n := len(joined); n > 0 && joined[n-1].Term == o.Term {
			joined[n-1].Times += o.Times
			continue
		}
		joined = append(joined, o)
	}
	return slices.Clip(joined)
}

// Terms is how many different terms there are. Their numbers are 0 to one less.
func (c *Corpus) Terms() int { return len(c.df) }

// ID returns the number of a term, false if no text has it.
func (c *Corpus) ID(term string) (id int32, known bool) {
	id, known = c.ids[term]
	return id, known
}

// Rarer orders terms by how many texts hold them, fewest first, and is 0 for one term.
func (c *Corpus) Rarer(a, b int32) int {
	return cmp.Or(cmp.Compare(c.df[a], c.df[b]), cmp.Compare(a, b))
}

// Vector is the terms of a text with their weights, ordered by the terms' numbers. The
// squares of the weights add up to 1.
type Vector []Weight

// Weight is what one term counts in a text.
type Weight struct {
	Term  int32
	Value float32
}

// Vector weighs the terms of a text: (1 + ln tf) · ln(1 + N/df), at unit length (Salton
// and Buckley, "Term-weighting approaches in automatic text retrieval", 1988; the 1 keeps
// a term that all texts hold from counting nothing, so that two equal texts are equal in
// a store of two).
func (c *Corpus) Vector(b TermVector) Vector {
	v := make(Vector, len(b))
	var sum float64
	for i, o := range b {
		w := (1 + math.Log(float64(o.Times))) * math.Log1p(float64(c.texts)/float64(c.df[o.Term]))
		v[i] = Weight{o.Term, float32(w)}
		sum += w * w
	}
	for i := range v {
		v[i].Value = float32(float64(v[i].Value) / math.Sqrt(sum))
	}
	return v
}

// Cosine of two texts of one corpus, 0 to 1.
func (v Vector) Cosine(w Vector) float64 {
	var dot float64
	for i, j := 0, 0; i < len(v) && j < len(w); {
		switch a, b := v[i].Term, w[j].Term; {
		case a < b:
			i++
		case a > b:
			j++
		default:
			dot += float64(v[i].Value) * float64(w[j].Value)
			i, j = i+1, j+1
		}
	}
	return min(1, dot)
}
