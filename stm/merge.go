package stm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unique"
)

// merged returns the row after one change, or row itself when the change adds
// nothing. Changes commute, associate and repeat without effect: every
// top-level key is a last-writer-wins register, a delete is a tombstone that
// hides what is older, and only a put later than the tombstone brings a
// memory back (Shapiro et al., "Conflict-free replicated data types", 2011).
func merged(row *Row, c *change, at Stamp) (*Row, error) {
	o := row.rest()
	o.rev = later(o.rev, at)
	if c.buries() {
		o.forgot = o.forgot.printed(c.print, at)
		if !at.after(o.tomb) {
			return row.with(o), nil
		}
		o.tomb = at
		return row.without(o)
	}
	if c.op == opPut {
		o.born = later(o.born, at)
		if row.base.IsZero() && len(o.regs) == 0 && at.after(o.tomb) && !bytes.Contains(c.data, null) {
			next := &Row{key: row.key, base: at}
			if next.keep(o); c.ready != nil {
				next.doc, next.hot = c.data, *c.ready
				return next, nil
			}
			next.doc = bytes.Clone(c.data)
			return next, next.warm()
		}
	}
	next, err := row.assigned(c.data, at, &o)
	if err != nil || next == nil && o.born == row.rest().born {
		return row, err
	}
	if next == nil {
		clone := *row
		next, err = &clone, clone.warm()
	}
	next.keep(o)
	return next, err
}

// with returns the row with what o holds of its fingerprint, the row itself if it
// has that.
func (r *Row) with(o odd) *Row {
	if o.forgot == r.rest().forgot {
		return r
	}
	next := *r
	next.keep(o)
	return &next
}

func later(a, b Stamp) Stamp {
	if b.after(a) {
		return b
	}
	return a
}

// assigned returns a row with the keys of data that are newer than what r holds,
// and marks them in o; nil when there are none.
func (r *Row) assigned(data []byte, at Stamp, o *odd) (*Row, error) {
	set := map[string]json.RawMessage{}
	err := eachField(data, func(name, value []byte) bool {
		if key := string(name); r.yields(key, at) && at.after(o.tomb) {
			set[key] = value
		}
		return true
	})
	if err != nil || len(set) == 0 {
		return nil, err
	}
	o.regs = slices.Clone(o.regs)
	for key := range set {
		o.mark(key, at)
	}
	doc, err := withKeys(r.doc, set)
	if err != nil {
		return nil, err
	}
	next := &Row{key: r.key, doc: doc, base: r.base, hot: r.hot}
	return next, next.rewarm(r, set)
}

// yields reports whether a value that was written at is newer than what r has of key.
func (r *Row) yields(key string, at Stamp) bool {
	for _, reg := range r.rest().regs {
		if reg.key == key {
			return at.after(reg.stamp)
		}
	}
	return at.after(r.base) || r.value(key) == nil
}

func (o *odd) mark(key string, at Stamp) {
	for i := range o.regs {
		if o.regs[i].key == key {
			o.regs[i].stamp = at
			return
		}
	}
	o.regs = append(o.regs, register{unique.Make(key).Value(), at})
}

// without returns the row less the keys that o's tombstone covers.
func (r *Row) without(o odd) (*Row, error) {
	next := &Row{key: r.key, base: r.base}
	old := map[string]json.RawMessage{}
	if len(r.doc) > 0 {
		newer := map[string]bool{}
		for _, g := range r.rest().regs {
			newer[g.key] = g.stamp.after(o.tomb)
		}
		err := eachField(r.doc, func(name, _ []byte) bool {
			if after, own := newer[string(name)]; own && !after || !own && !r.base.after(o.tomb) {
				old[string(name)] = null
			}
			return true
		})
		if err == nil {
			next.doc, err = withKeys(r.doc, old)
		}
		if err != nil {
			return nil, err
		}
	}
	if !r.base.after(o.tomb) {
		next.base = Stamp{}
	}
	o.regs = after(o.regs, o.tomb)
	if next.base.IsZero() && len(o.regs) == 0 {
		next.doc = nil
	}
	next.keep(o)
	return next, next.warm()
}

// after returns the registers set after a stamp, without a trace of the others: rows of what was
// forgotten are kept for good.
func after(regs []register, at Stamp) (left []register) {
	for _, g := range regs {
		if g.stamp.after(at) {
			left = append(left, g)
		}
	}
	return left
}

var null = []byte("null")

// withKeys returns doc with keys replaced, added at the end, or, with the
// value null, removed. Untouched members keep their bytes and their place.
func withKeys(doc []byte, set map[string]json.RawMessage) ([]byte, error) {
	out := append(make([]byte, 0, len(doc)+64), '{')
	member := func(name, value []byte) {
		if bytes.Equal(value, null) {
			return
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(appendName(out, name), ':'), value...)
	}
	var done map[string]bool
	if len(doc) > 0 {
		done = make(map[string]bool, len(set))
		err := eachField(doc, func(name, value []byte) bool {
			if v, ok := set[string(name)]; ok {
				value, done[string(name)] = v, true
			}
			member(name, value)
			return true
		})
		if err != nil {
			return nil, fmt.Errorf("merge keys: %w", err)
		}
	}
	added := make([]string, 0, len(set)-len(done))
	for key := range set {
		if !done[key] {
			added = append(added, key)
		}
	}
	slices.Sort(added)
	for _, key := range added {
		member([]byte(key), set[key])
	}
	return append(out, '}'), nil
}

// appendName quotes the name of a member.
func appendName(b, name []byte) []byte {
	if bytes.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' }) {
		return append(b, encode(string(name))...)
	}
	return append(append(append(b, '"'), name...), '"')
}

// withUse returns the row with a device's totals raised to at least u.
func withUse(row *Row, u useTotal) *Row {
	next, o := *row, row.rest()
	o.use = slices.Clone(o.use)
	i := slices.IndexFunc(o.use, func(have useTotal) bool { return have.dev == u.dev })
	if i < 0 {
		o.use = append(o.use, u)
	} else {
		o.use[i] = mostUse(o.use[i], u)
	}
	next.keep(o)
	return &next
}
