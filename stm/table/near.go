package table

import (
	"cmp"
	"slices"

	"emberd/internal/words"
	"emberd/memory"
)

// nearDoc is a document that a Query's Near names.
type nearDoc struct {
	doc   words.Doc
	score float64
}

// nearness is Near by the keys of rows, nil without any.
func (q *Query) nearness() map[[16]byte]float64 {
	if len(q.Near) == 0 {
		return nil
	}
	near := make(map[[16]byte]float64, len(q.Near))
	for id, score := range q.Near {
		near[id.Bytes()] = score
	}
	return near
}

// nearDocs lists what is near by document. A memory that none stands for, having no words
// or being indexed just now, is taken at once unless scan has seen it.
func (m *MemorySet) nearDocs(c *collector, sieve sieve, loading bool) []nearDoc {
	docs := make([]nearDoc, 0, len(c.near))
	for key, score := range c.near {
		cell := m.Table.Cell(key)
		if cell == nil {
			continue
		}
		if doc := cell.Doc.Load(); doc != 0 {
			docs = append(docs, nearDoc{words.Doc(doc - 1), score})
		} else if r := cell.Row.Load(); r.Live() && !loading && len(sieve.all) == 0 {
			c.take(c.match(r, 0, score))
		}
	}
	slices.SortFunc(docs, func(a, b nearDoc) int { return cmp.Compare(a.doc, b.doc) })
	return docs
}

// Accepting returns a function that reports whether a memory can match the query, as far
// as that is known without its relevance: by Accept, and by the terms that it must hold and
// must not.
func (m *MemorySet) Accepting(q Query) func(memory.ID) bool {
	sieve := newSieve(m.Words.Words.Load(), &q)
	return func(id memory.ID) bool {
		cell := m.Table.Cell(id.Bytes())
		if cell == nil {
			return false
		}
		r, doc := cell.Row.Load(), cell.Doc.Load()
		if !r.Live() || !m.Shows(r) || doc != 0 && !sieve.passes(words.Doc(doc-1)) {
			return false
		}
		return q.Accept == nil || q.Accept(r)
	}
}
