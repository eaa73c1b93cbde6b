package stm

import (
	"iter"

	"emberd/memory"
)

// Memories are the memories that were live at a moment: of a [Store] now, of a
// [Past] then. Both are looked up, listed and searched in the same way.
type Memories struct {
	table *table
	index *index
	sees  func(*Row) bool // nil for all of them, see [Store.Through]
}

// Get returns a live memory.
func (m *Memories) Get(id memory.ID) (*Row, bool) {
	r := m.table.get(id)
	return r, m.shows(r)
}

// shows reports whether a row, which may be nil, is one of the memories.
func (m *Memories) shows(r *Row) bool { return r != nil && (m.sees == nil || m.sees(r)) }

// Len counts the live memories.
func (m *Memories) Len() int {
	if m.sees != nil {
		return m.count((*Row).live)
	}
	return int(m.table.live.Load())
}

// Cold returns how many of them are archived or rehydratable.
func (m *Memories) Cold() int {
	if m.sees != nil {
		return m.count((*Row).cold)
	}
	return int(m.table.cold.Load())
}

func (m *Memories) count(which func(*Row) bool) (n int) {
	for r := range m.Rows() {
		if which(r) {
			n++
		}
	}
	return n
}

// Rows yields the live memories in no order. Changes made meanwhile may or may
// not show.
func (m *Memories) Rows() iter.Seq[*Row] {
	return func(yield func(*Row) bool) {
		m.table.each(func(_ *cell, r *Row) bool { return !m.shows(r) || yield(r) })
	}
}
