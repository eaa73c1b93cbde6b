package stm

import (
	"iter"
	"slices"
	"strings"

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

// Resolve turns a full id, or at least four characters of its beginning or
// end, into the id of a live memory or, failing that, of one in the trash.
func (s *Store) Resolve(short string) (memory.ID, error) {
	return s.resolve(short, func(short string) (dead []memory.ID) {
		for _, t := range s.Trash() {
			dead = appendMatch(dead, t.ID, short)
		}
		return slices.DeleteFunc(dead, s.hides)
	})
}

// Resolve turns a full id, or at least four characters of its beginning or end,
// into the id of a memory that was live then.
func (p *Past) Resolve(short string) (memory.ID, error) {
	return p.resolve(short, func(string) []memory.ID { return nil })
}

// resolve looks among the live memories, and then among others.
func (m *Memories) resolve(short string, others func(short string) []memory.ID) (memory.ID, error) {
	short = strings.ToLower(strings.TrimSpace(short))
	if len(short) == 36 {
		return memory.ParseID(short)
	}
	if len(short) < 4 || strings.Trim(short, "0123456789abcdef-") != "" {
		return "", memory.Errorf(memory.Invalid, "%.40q is not a memory id; give the whole UUID, or at least four characters of its beginning or end", short).At("id")
	}
	var fit []memory.ID
	m.table.each(func(_ *cell, r *Row) bool {
		if some := appendMatch(fit, r.ID(), short); len(some) > len(fit) && m.shows(r) {
			fit = some
		}
		return len(fit) < 3
	})
	if len(fit) == 0 {
		fit = others(short)
	}
	switch len(fit) {
	case 0:
		return "", memory.Errorf(memory.NotFound, "no memory has an id that begins or ends with %s; emberd list shows ids", short).At("id")
	case 1:
		return fit[0], nil
	}
	return "", memory.Errorf(memory.Ambiguous, "several ids fit %s (%s, %s); give more characters", short, fit[0], fit[1]).At("id")
}

func appendMatch(ids []memory.ID, id memory.ID, short string) []memory.ID {
	if strings.HasSuffix(string(id), short) || strings.HasPrefix(string(id), short) {
		return append(ids, id)
	}
	return ids
}
