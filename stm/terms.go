package stm

import "emberd/internal/spelling"

// Frequencies returns how many memories are indexed, and how many of them hold
// each of the terms.
func (m *Memories) Frequencies(terms []string) (memories int, df []int) {
	if m.sees != nil {
		return m.part().Frequencies(terms)
	}
	return m.index.words.Load().Frequencies(terms)
}

// Expand returns indexed terms that begin with prefix, commonest first.
func (m *Memories) Expand(prefix string, limit int) []string {
	if m.sees != nil {
		return m.part().Expand(prefix, limit)
	}
	return m.index.words.Load().Expand(prefix, limit)
}

// Similar returns indexed terms that are at most so many edits from term, with
// how many memories hold each.
func (m *Memories) Similar(term string, edits int) []spelling.Near {
	if m.sees != nil {
		return m.part().Similar(term, edits)
	}
	return m.index.words.Load().Similar(term, edits)
}
