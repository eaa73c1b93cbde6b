package table

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"emberd/memory"
)

// FindNamed looks among the live memories.
func (m *MemorySet) FindNamed(n Named) (memory.ID, error) {
	if _, live := m.Get(n.ID); live {
		return n.ID, nil
	}
	var fit []memory.ID
	if n.IsPart() {
		fit = m.withPart(n)
	}
	if len(fit) != 1 {
		if called := m.aliased(n.Text); len(called) > 0 {
			return n.called(called)
		}
	}
	return n.Only(fit)
}

// withPart are the live memories whose ids begin or end as is said, at most two of them.
func (m *MemorySet) withPart(n Named) (ids []memory.ID) {
	for _, c := range m.Table.withPart(n.Parts()) {
		if r := c.Row.Load(); r.Live() && m.Shows(r) {
			ids = append(ids, r.ID())
		}
		if len(ids) == 2 {
			break
		}
	}
	return ids
}

// Named is what a caller names a memory by.
type Named struct {
	Text  string    // as it was written, for an alias
	short string    // in lower case, for an id
	ID    memory.ID // "" if it is no whole one
}

func Naming(text string) Named {
	text = strings.TrimSpace(text)
	n := Named{Text: text, short: strings.ToLower(text)}
	if id, err := memory.ParseID(n.short); err == nil {
		n.ID = id
	}
	return n
}

// IsPartOfID reports whether what a caller names a memory by reads as the beginning or the
// end of an id, whether or not a memory has one. Other words may be an alias.
func IsPartOfID(text string) bool { return Naming(text).IsPart() }

// IsPart reports whether it may be the beginning or the end of an id.
func (n Named) IsPart() bool {
	return n.ID == "" && len(n.short) >= 4 && strings.Trim(n.short, "0123456789abcdef-") == ""
}

// Among is the one of some memories that is named, "" for none.
func (n Named) Among(rows []*Row) (memory.ID, error) {
	var parts, called []memory.ID
	var part idParts
	if n.IsPart() {
		part = n.Parts()
	}
	for _, r := range rows {
		switch id := r.ID(); {
		case n.ID != "" && id == n.ID:
			return id, nil
		case part.AnyOf(r.Key):
			parts = append(parts, id)
		}
		if slices.Contains(r.Aliases(), n.Text) {
			called = append(called, r.ID())
		}
	}
	switch {
	case len(parts) != 1 && len(called) > 0:
		return n.called(called)
	case len(parts) > 0:
		return n.Only(parts)
	}
	return "", nil
}

// OrItself is the answer for a whole id that nothing has: that id.
func (n Named) OrItself(id memory.ID, err error) (memory.ID, error) {
	if n.ID != "" && memory.CodeOf(err) == memory.NotFound {
		return n.ID, nil
	}
	return id, err
}

// called is the only one of the memories with an alias.
func (n Named) called(ids []memory.ID) (memory.ID, error) {
	if len(ids) > 1 {
		return "", memory.Errorf(memory.Ambiguous,
			"several memories have the alias %q (%s, %s); pass the ID of the memory", memory.Clip(n.Text), ids[0],
			ids[1]).At("id")
	}
	return ids[0], nil
}

// Only is the only one of the memories that fit.
func (n Named) Only(ids []memory.ID) (memory.ID, error) {
	switch {
	case len(ids) == 1:
		return ids[0], nil
	case len(ids) > 1 && n.IsPart():
		return "", memory.Errorf(memory.Ambiguous, "several memory IDs match %s (%s, %s); pass more characters",
			n.short, ids[0], ids[1]).At("id")
	case len(ids) > 1:
		return n.called(ids)
	case n.IsPart():
		return "", memory.Errorf(memory.NotFound, "memory %s not found; run: emberd list", n.short).At("id")
	case n.isNothing():
		return "", memory.Errorf(memory.Invalid,
			"invalid memory ID %q; use the whole UUID, or at least four characters of its beginning or end",
			memory.Clip(n.Text)).At("id")
	}
	return "", memory.Errorf(memory.NotFound,
		"memory %q not found; use the whole UUID, at least four characters of its beginning or end, or an alias",
		memory.Clip(n.Text)).At("id")
}

// isNothing reports what can be no alias either.
func (n Named) isNothing() bool {
	return n.Text == "" || !utf8.ValidString(n.Text) || utf8.RuneCountInString(n.Text) > memory.MaxAlias ||
		strings.ContainsFunc(n.Text, unicode.IsControl)
}
