package stm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// merged returns the row after one change, or row itself when the change adds
// nothing. Changes commute, associate and repeat without effect: every
// top-level key is a last-writer-wins register, a delete is a tombstone that
// hides what is older, and only a put later than the tombstone brings a
// memory back (Shapiro et al., "Conflict-free replicated data types", 2011).
func merged(row *Row, c *change, at Stamp) (*Row, error) {
	next := *row
	next.rev = later(row.rev, at)
	switch c.op {
	case opDelete:
		if !at.after(row.tomb) {
			return row, nil
		}
		next.tomb = at
		return &next, next.hideOlder()
	case opPut:
		if row.base.IsZero() && len(row.regs) == 0 && at.after(row.tomb) && !bytes.Contains(c.data, null) {
			next.doc, next.base, next.born = bytes.Clone(c.data), at, at
			return &next, next.warm()
		}
		next.born = later(row.born, at)
	}
	changed, err := next.assign(c.data, at)
	if err != nil {
		return nil, err
	}
	if !changed && next.born == row.born {
		return row, nil
	}
	return &next, next.warm()
}

func later(a, b Stamp) Stamp {
	if b.after(a) {
		return b
	}
	return a
}

// assign writes the keys of data that are newer than what the row holds. It
// replaces doc and regs, which older rows share.
func (r *Row) assign(data []byte, at Stamp) (bool, error) {
	set := map[string]json.RawMessage{}
	err := eachField(data, func(name, value []byte) bool {
		if key := string(name); at.after(r.stampOf(key)) && at.after(r.tomb) {
			set[key] = value
		}
		return true
	})
	if err != nil || len(set) == 0 {
		return false, err
	}
	r.regs = slices.Clone(r.regs)
	for key := range set {
		r.mark(key, at)
	}
	r.doc, err = withKeys(r.doc, set)
	return true, err
}

func (r *Row) mark(key string, at Stamp) {
	for i := range r.regs {
		if r.regs[i].key == key {
			r.regs[i].stamp = at
			return
		}
	}
	r.regs = append(r.regs, register{key, at})
}

// hideOlder drops the keys whose stamp the tombstone covers.
func (r *Row) hideOlder() error {
	if !r.base.after(r.tomb) && !slices.ContainsFunc(r.regs, func(g register) bool { return g.stamp.after(r.tomb) }) {
		r.doc, r.regs, r.base = nil, nil, Stamp{}
		return r.warm()
	}
	old := map[string]json.RawMessage{}
	err := eachField(r.doc, func(name, _ []byte) bool {
		if key := string(name); !r.stampOf(key).after(r.tomb) {
			old[key] = null
		}
		return true
	})
	if err != nil {
		return err
	}
	if !r.base.after(r.tomb) {
		r.base = Stamp{}
	}
	r.regs = slices.DeleteFunc(slices.Clone(r.regs), func(g register) bool { return !g.stamp.after(r.tomb) })
	if r.doc, err = withKeys(r.doc, old); err != nil {
		return err
	}
	return r.warm()
}

var null = []byte("null")

// withKeys returns doc with keys replaced, added at the end, or, with the
// value null, removed. Untouched members keep their bytes and their place.
func withKeys(doc []byte, set map[string]json.RawMessage) ([]byte, error) {
	out := append(make([]byte, 0, len(doc)+64), '{')
	member := func(name string, value []byte) {
		if bytes.Equal(value, null) {
			return
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(append(out, '"'), name...), `":`...), value...)
	}
	done := make(map[string]bool, len(set))
	if len(doc) > 0 {
		err := eachField(doc, func(name, value []byte) bool {
			key := string(name)
			if v, ok := set[key]; ok {
				value, done[key] = v, true
			}
			member(key, value)
			return true
		})
		if err != nil {
			return nil, fmt.Errorf("merge keys: %w", err)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		if !done[key] {
			member(key, set[key])
		}
	}
	return append(out, '}'), nil
}

// withUse returns the row with a device's totals raised to at least u.
func withUse(row *Row, u useTotal) *Row {
	next := *row
	next.use = slices.Clone(row.use)
	i := slices.IndexFunc(next.use, func(o useTotal) bool { return o.dev == u.dev })
	if i < 0 {
		next.use = append(next.use, u)
	} else {
		o := &next.use[i]
		o.uses, o.accesses = max(o.uses, u.uses), max(o.accesses, u.accesses)
		o.used, o.accessed = max(o.used, u.used), max(o.accessed, u.accessed)
	}
	next.total()
	return &next
}
