package stm

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"emberd/memory"
)

// Resolve turns what a caller names a memory by into its id: a full id, at least four
// characters of its beginning or end, or an alias as it is written. An id, or a part that
// only one has, counts before an alias of another memory, and what is live before what is
// in the trash. It is an error of code NotFound if nothing is called so, and of code
// Ambiguous if several are. A full id that nothing has is returned as it is.
func (s *Store) Resolve(text string) (memory.ID, error) {
	n := naming(text)
	if n.id != "" && s.knows(n.id) {
		return n.id, nil
	}
	id, err := s.resolve(n)
	if memory.CodeOf(err) == memory.NotFound {
		id, err = n.only(s.trashedAs(n))
	}
	return n.orItself(id, err)
}

// ResolveAmong is [Store.Resolve] where some memories are more likely to be meant: one of
// these that is live and called so counts before all others.
func (s *Store) ResolveAmong(text string, ids []memory.ID) (memory.ID, error) {
	var rows []*Row
	for _, id := range ids {
		if row, live := s.Get(id); live {
			rows = append(rows, row)
		}
	}
	if id, err := naming(text).among(rows); id != "" || err != nil {
		return id, err
	}
	return s.Resolve(text)
}

// ResolveStale is [Store.Resolve] for the memories that [Store.Stale] lists. Those that are
// live nowhere are called what they would be if they were taken.
func (s *Store) ResolveStale(text string) (memory.ID, error) {
	var rows []*Row
	for _, w := range s.Stale() {
		if row := s.review.preview(w.ID); row != nil {
			rows = append(rows, row)
		}
	}
	if id, err := naming(text).among(rows); id != "" || err != nil {
		return id, err
	}
	return s.Resolve(text)
}

// Resolve turns what a caller names a memory by into the id of one that was live then, as
// [Store.Resolve] does.
func (p *Past) Resolve(text string) (memory.ID, error) {
	n := naming(text)
	return n.orItself(p.resolve(n))
}

// trashedAs are the memories in the trash that are named.
func (s *Store) trashedAs(n named) (ids []memory.ID) {
	kept := func(ids []memory.ID) []memory.ID {
		return slices.DeleteFunc(ids, func(id memory.ID) bool { return !s.buried(id) })
	}
	if n.isPart() {
		ids = kept(s.table.buriedWithPart(n.parts()))
	}
	if len(ids) != 1 {
		if called := kept(s.table.buriedAs(n.text)); len(called) > 0 {
			ids = called
		}
	}
	slices.Sort(ids)
	return slices.DeleteFunc(ids, s.hides)
}

// resolve looks among the live memories.
func (m *Memories) resolve(n named) (memory.ID, error) {
	if _, live := m.Get(n.id); live {
		return n.id, nil
	}
	var fit []memory.ID
	if n.isPart() {
		fit = m.withPart(n)
	}
	if len(fit) != 1 {
		if called := m.aliased(n.text); len(called) > 0 {
			return n.called(called)
		}
	}
	return n.only(fit)
}

// withPart are the live memories whose ids begin or end as is said, at most two of them.
func (m *Memories) withPart(n named) (ids []memory.ID) {
	for _, c := range m.table.withPart(n.parts()) {
		if r := c.row.Load(); r.live() && m.shows(r) {
			ids = append(ids, r.ID())
		}
		if len(ids) == 2 {
			break
		}
	}
	return ids
}

// named is what a caller names a memory by.
type named struct {
	text  string    // as it was written, for an alias
	short string    // in lower case, for an id
	id    memory.ID // "" if it is no whole one
}

func naming(text string) named {
	text = strings.TrimSpace(text)
	n := named{text: text, short: strings.ToLower(text)}
	if id, err := memory.ParseID(n.short); err == nil {
		n.id = id
	}
	return n
}

// IsPartOfID reports whether what a caller names a memory by reads as the beginning or the
// end of an id, whether or not a memory has one. Other words may be an alias.
func IsPartOfID(text string) bool { return naming(text).isPart() }

// isPart reports whether it may be the beginning or the end of an id.
func (n named) isPart() bool {
	return n.id == "" && len(n.short) >= 4 && strings.Trim(n.short, "0123456789abcdef-") == ""
}

// among is the one of some memories that is named, "" for none.
func (n named) among(rows []*Row) (memory.ID, error) {
	var parts, called []memory.ID
	var part idParts
	if n.isPart() {
		part = n.parts()
	}
	for _, r := range rows {
		switch id := r.ID(); {
		case n.id != "" && id == n.id:
			return id, nil
		case part.anyOf(r.key):
			parts = append(parts, id)
		}
		if slices.Contains(r.Aliases(), n.text) {
			called = append(called, r.ID())
		}
	}
	switch {
	case len(parts) != 1 && len(called) > 0:
		return n.called(called)
	case len(parts) > 0:
		return n.only(parts)
	}
	return "", nil
}

// orItself is the answer for a whole id that nothing has: that id.
func (n named) orItself(id memory.ID, err error) (memory.ID, error) {
	if n.id != "" && memory.CodeOf(err) == memory.NotFound {
		return n.id, nil
	}
	return id, err
}

// called is the only one of the memories with an alias.
func (n named) called(ids []memory.ID) (memory.ID, error) {
	if len(ids) > 1 {
		return "", memory.Errorf(memory.Ambiguous, "several memories are known as %q (%s, %s); give the id of one", memory.Clip(n.text), ids[0], ids[1]).At("id")
	}
	return ids[0], nil
}

// only is the only one of the memories that fit.
func (n named) only(ids []memory.ID) (memory.ID, error) {
	switch {
	case len(ids) == 1:
		return ids[0], nil
	case len(ids) > 1 && n.isPart():
		return "", memory.Errorf(memory.Ambiguous, "several ids fit %s (%s, %s); give more characters", n.short, ids[0], ids[1]).At("id")
	case len(ids) > 1:
		return n.called(ids)
	case n.isPart():
		return "", memory.Errorf(memory.NotFound, "no memory has an id that begins or ends with %s, or is known as that; emberd list shows ids", n.short).At("id")
	case n.isNothing():
		return "", memory.Errorf(memory.Invalid, "%q is not a memory id; give the whole UUID, or at least four characters of its beginning or end", memory.Clip(n.text)).At("id")
	}
	return "", memory.Errorf(memory.NotFound, "no memory is known as %q; give the whole UUID, at least four characters of its beginning or end, or an alias", memory.Clip(n.text)).At("id")
}

// isNothing reports what can be no alias either.
func (n named) isNothing() bool {
	return n.text == "" || !utf8.ValidString(n.text) || utf8.RuneCountInString(n.text) > memory.MaxAlias || strings.ContainsFunc(n.text, unicode.IsControl)
}
