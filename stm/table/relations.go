package table

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"slices"
	"strings"

	"emberd/memory"
	"emberd/stm/record"
)

// MayRelate is false for nearly every row that no relation starts at.
func (r *Row) MayRelate() bool { return mayHave(r, record.HasRelations, `"`+record.RelationPrefix) }

// RelationBytes is how much of a memory's JSON its relations are.
func (r *Row) RelationBytes() int {
	if !r.MayRelate() {
		return 0
	}
	n := 0
	_ = record.EachField(r.JSON(), func(name, value []byte) bool { // it was walked before
		if record.IsRelationKey(string(name)) {
			n += len(name) + len(value)
		}
		return true
	})
	return n
}

// arrowsFrom are the relations that start at a row, by their ids.
func arrowsFrom(r *Row) map[[16]byte]record.Arrow {
	if !r.Live() || !r.MayRelate() {
		return nil
	}
	out := map[[16]byte]record.Arrow{}
	_ = record.EachField(r.JSON(), func(name, value []byte) bool { // it was walked before
		if a, ok := record.ArrowOf(name, value); ok {
			out[a.Rel] = a
		}
		return true
	})
	return out
}

// link is what the index has of a relation, from the side where it leads.
type link struct {
	rel, from [16]byte
	at        int64
}

// newest orders links by their creation, the latest first.
func newest(a, b link) int { return cmp.Or(cmp.Compare(b.at, a.at), bytes.Compare(a.rel[:], b.rel[:])) }

// links are the relations that start at live memories, by where they lead. Like the
// counts they are built when a caller asks for the first time.
type links struct {
	begun bool
	to    map[[16]byte][]link
}

// linked returns the index, begun. The lock of the table is held.
func (m *MemorySet) linked() *links {
	l := &m.Table.links
	if !l.begun {
		l.begun, l.to = true, map[[16]byte][]link{}
		m.Table.Each(func(_ *Cell, r *Row) bool {
			for _, a := range arrowsFrom(r) {
				l.add(r.Key, a)
			}
			return true
		})
	}
	return l
}

// replace follows a row that took another's place.
func (l *links) replace(old, next *Row) {
	if !l.begun || old.Live() == next.Live() && SameDoc(old, next) {
		return
	}
	was, is := arrowsFrom(old), arrowsFrom(next)
	for rel, a := range was {
		if is[rel] != a {
			l.remove(old.Key, a)
		}
	}
	for rel, a := range is {
		if was[rel] != a {
			l.add(next.Key, a)
		}
	}
}

func (l *links) add(from [16]byte, a record.Arrow) {
	l.to[a.To] = append(l.to[a.To], link{rel: a.Rel, from: from, at: a.At})
}

func (l *links) remove(from [16]byte, a record.Arrow) {
	in := l.to[a.To]
	i := slices.Index(in, link{rel: a.Rel, from: from, at: a.At})
	last := len(in) - 1
	in[i] = in[last]
	if l.to[a.To] = in[:last]; last == 0 {
		delete(l.to, a.To)
	}
}

// Relations lists the relations from a memory to live ones, newest first.
func (m *MemorySet) Relations(from *Row) []memory.Relation {
	if !from.MayRelate() {
		return nil
	}
	var out []memory.Relation
	id := from.ID()
	_ = record.EachField(from.JSON(), func(name, value []byte) bool { // it was walked before
		if !bytes.HasPrefix(name, []byte(record.RelationPrefix)) {
			return true
		}
		if r, err := record.ParseRelation(id, string(name), value); err == nil && m.Shows(m.Table.Get(r.To)) {
			out = append(out, r)
		}
		return true
	})
	slices.SortFunc(out, func(a, b memory.Relation) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// RelationsTo lists the relations that lead to a live memory, newest first and at most
// limit of them, and reports how many there are.
func (m *MemorySet) RelationsTo(id memory.ID, limit int) (list []memory.Relation, total int) {
	if !m.Shows(m.Table.Get(id)) {
		return nil, 0
	}
	m.Table.placing.Lock()
	in := slices.Clone(m.linked().to[id.Bytes()])
	m.Table.placing.Unlock()
	if m.Sees != nil {
		in = slices.DeleteFunc(in, func(l link) bool { return !m.Shows(m.Table.at(l.from)) })
	}
	slices.SortFunc(in, newest)
	for _, l := range in[:min(len(in), limit)] {
		if r, ok := m.relation(l); ok {
			list = append(list, r)
		}
	}
	return list, len(in)
}

// relation decodes a relation unless it went just now.
func (m *MemorySet) relation(l link) (memory.Relation, bool) {
	from := m.Table.at(l.from)
	if !m.Shows(from) {
		return memory.Relation{}, false
	}
	key := record.RelationPrefix + hex.EncodeToString(l.rel[:])
	r, err := record.ParseRelation(from.ID(), key, from.Value(key))
	return r, err == nil && m.Shows(m.Table.Get(r.To))
}

// CountRelations counts the relations between live memories that accept selects, all
// for nil. It takes time for each relation there is.
func (m *MemorySet) CountRelations(accept func(*Row) bool) int {
	passes := func(key [16]byte) bool {
		r := m.Table.at(key)
		return m.Shows(r) && (accept == nil || accept(r))
	}
	var last [16]byte
	leads, n := false, 0
	for i, l := range m.allLinks() {
		if i == 0 || l.to != last {
			last, leads = l.to, passes(l.to)
		}
		if leads && passes(l.from) {
			n++
		}
	}
	return n
}

// ends is a relation with both of its ends.
type ends struct {
	link
	to [16]byte
}

// allLinks copies the index, one end after the other.
func (m *MemorySet) allLinks() []ends {
	m.Table.placing.Lock()
	defer m.Table.placing.Unlock()
	var out []ends
	for to, in := range m.linked().to {
		for _, l := range in {
			out = append(out, ends{l, to})
		}
	}
	return out
}

// ResolveRelations turns ids of relations, or at least four characters of their
// beginnings, into the relations. It takes time for each relation there is.
func (m *MemorySet) ResolveRelations(shorts []string) ([]memory.Relation, error) {
	all := m.allLinks()
	out := make([]memory.Relation, 0, len(shorts))
	for _, short := range shorts {
		r, err := m.resolveRelation(short, all)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func (m *MemorySet) resolveRelation(short string, all []ends) (memory.Relation, error) {
	digits := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(short)), "rel-")
	if len(digits) < 4 || len(digits) > 32 || strings.Trim(digits, "0123456789abcdef") != "" {
		return memory.Relation{}, memory.Errorf(memory.Invalid,
			"invalid relation ID %.40q; use rel- followed by at least the first four digits", short).At("id")
	}
	var fit []memory.Relation
	for _, l := range all {
		if !strings.HasPrefix(hex.EncodeToString(l.rel[:]), digits) {
			continue
		}
		if r, ok := m.relation(l.link); ok {
			fit = append(fit, r)
		}
	}
	switch len(fit) {
	case 0:
		return memory.Relation{}, memory.Errorf(memory.NotFound,
			"relation rel-%s not found; to list the relations of a memory, run: emberd show ID", digits).At("id")
	case 1:
		return fit[0], nil
	}
	return memory.Relation{}, memory.Errorf(memory.Ambiguous,
		"several relations begin with rel-%s (%s, %s); pass more digits", digits, fit[0].ID, fit[1].ID).At("id")
}
