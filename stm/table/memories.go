package table

import (
	"iter"
	"slices"

	"emberd/internal/relevance"
	"emberd/internal/text/spelling"
	"emberd/internal/words"
	"emberd/memory"
)

// MemorySet are the memories that were live at a moment: of a [Store] now, of a
// [Past] then. Both are looked up, listed and searched in the same way.
type MemorySet struct {
	Table *Table
	Words *index
	Sees  func(*Row) bool // nil for all of them, see [stm.Store.WithView]
}

// Get returns a live memory.
func (m *MemorySet) Get(id memory.ID) (*Row, bool) {
	r := m.Table.Get(id)
	return r, m.Shows(r)
}

// Shows reports whether a row, which may be nil, is one of the memories.
func (m *MemorySet) Shows(r *Row) bool { return r != nil && (m.Sees == nil || m.Sees(r)) }

// Len counts the live memories.
func (m *MemorySet) Len() int {
	if m.Sees != nil {
		return m.count((*Row).Live)
	}
	return int(m.Table.Live.Load())
}

// Cold returns how many of them are archived or rehydratable.
func (m *MemorySet) Cold() int {
	if m.Sees != nil {
		return m.count((*Row).Cold)
	}
	return int(m.Table.Cold.Load())
}

func (m *MemorySet) count(which func(*Row) bool) (n int) {
	for r := range m.Rows() {
		if which(r) {
			n++
		}
	}
	return n
}

// Rows yields the live memories in no order. Changes made in the meantime may or may
// not show.
func (m *MemorySet) Rows() iter.Seq[*Row] {
	return func(yield func(*Row) bool) {
		m.Table.Each(func(_ *Cell, r *Row) bool { return !m.Shows(r) || yield(r) })
	}
}

// Latest returns the live memories that were written last, n of them and those that were written with the oldest of
// these, in no order; n is 1 or more.
func (m *MemorySet) Latest(n int) []*Row {
	rows := slices.Collect(m.Rows())
	if len(rows) <= n {
		return rows
	}
	times := make([]uint64, len(rows))
	for i, r := range rows {
		times[i] = r.Latest().T
	}
	slices.Sort(times)
	oldest := times[len(times)-n]
	return slices.DeleteFunc(rows, func(r *Row) bool { return r.Latest().T < oldest })
}

// accepting narrows what accept, nil for everything, accepts to what is seen.
func (m *MemorySet) accepting(accept func(*Row) bool) func(*Row) bool {
	if accept == nil {
		return m.Sees
	}
	return func(r *Row) bool { return m.Sees(r) && accept(r) }
}

// part is the word index of what is seen.
func (m *MemorySet) part() *words.Part {
	return m.Words.Words.Load().Part(func(doc words.Doc) bool {
		cells := *m.Words.ByDoc.Load()
		if int(doc) >= len(cells) || cells[doc] == nil {
			return false // its place is stored right after its terms, and no result contains it yet
		}
		r := cells[doc].Row.Load()
		return r.Live() && m.Sees(r)
	})
}

// unindexed counts the memories that are seen and have no place in the word index.
func (m *MemorySet) unindexed() (n int) {
	m.Table.Each(func(c *Cell, r *Row) bool {
		if c.Doc.Load() == 0 && m.Shows(r) && m.Words.has(r) {
			n++
		}
		return true
	})
	return n
}

// Indexable counts the memories that belong into the word index. Of memories that are cold it looks at each.
func (m *MemorySet) Indexable() (n int) {
	if n = m.Len(); m.Words.elsewhere == nil || m.Cold() == 0 {
		return n
	}
	return m.count(m.Words.has)
}

// Lengths returns the lengths of the memories that are indexed.
func (m *MemorySet) Lengths() relevance.Lengths {
	if m.Sees != nil {
		return m.part().Lengths()
	}
	return m.Words.Words.Load().Lengths()
}

// Frequencies returns how many memories are indexed, and how many of them hold
// each of the terms.
func (m *MemorySet) Frequencies(terms []string) (memories int, df []int) {
	if m.Sees != nil {
		return m.part().Frequencies(terms)
	}
	return m.Words.Words.Load().Frequencies(terms)
}

// Expand returns indexed terms that begin with prefix, with about how many memories hold each.
func (m *MemorySet) Expand(prefix string) []spelling.Near {
	if m.Sees != nil {
		return m.part().Expand(prefix)
	}
	return m.Words.Words.Load().Expand(prefix)
}

// Together counts the indexed memories that hold a term and any of the others.
func (m *MemorySet) Together(term string, others []string) int {
	query := []words.QueryTerm{{Term: term, Weight: 1}, {Term: "others", Of: others, Weight: 1}}
	if m.Sees != nil {
		return m.part().SearchAmong(query, 0, relevance.Lengths{}).Together()
	}
	return m.Words.Words.Load().Search(query).Together()
}

// Similar returns indexed terms that are at most so many edits from term, with
// how many memories hold each.
func (m *MemorySet) Similar(term string, edits int) []spelling.Near {
	if m.Sees != nil {
		return m.part().Similar(term, edits)
	}
	return m.Words.Words.Load().Similar(term, edits)
}
