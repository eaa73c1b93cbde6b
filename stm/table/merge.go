package table

import (
	"bytes"
	"encoding/json"
	"slices"
	"unique"

	"emberd/stm/record"
)

// Merged returns the row after one change, or row itself when the change adds
// nothing. Changes commute, associate and repeat without effect: every
// top-level key is a last-writer-wins register, a delete is a tombstone that
// hides what is older, and only a put later than the tombstone brings a
// memory back (Shapiro et al., "Conflict-free replicated data types", 2011).
func Merged(row *Row, c *record.Change, at record.Stamp) (*Row, error) {
	next, err := merged(row, c, at)
	if err == nil && next != row {
		pack(next)
	}
	return next, err
}

func merged(row *Row, c *record.Change, at record.Stamp) (*Row, error) {
	o := row.Rest()
	o.rev = record.Later(o.rev, at)
	if c.IsDelete() {
		o.Forgot = o.Forgot.printed(c.Print, at)
		if !at.After(o.Tomb) {
			return withExtra(row, o), nil
		}
		o.Tomb = at
		return row.without(o)
	}
	if c.Op == record.OpPut {
		o.Born = record.Later(o.Born, at)
		if row.Base.IsZero() && len(o.Regs) == 0 && at.After(o.Tomb) && !removes(c.Data) {
			next := &Row{Key: row.Key, Base: at}
			if next.keep(o); c.Ready != nil {
				next.Doc, next.Hot = c.Data, *c.Ready
				return next, nil
			}
			next.Doc = bytes.Clone(c.Data)
			return next, warm(next)
		}
	}
	next, err := row.assigned(c.Data, at, &o)
	if err != nil || next == nil && o.Born == row.Rest().Born {
		return row, err
	}
	if next == nil {
		clone := *row
		next, err = &clone, warm(&clone)
	}
	next.keep(o)
	return next, err
}

// removes reports whether a document removes keys, which null says, or is damaged. Most documents, though not
// those whose text has the word, are told by a search for it.
func removes(doc []byte) (null bool) {
	if !bytes.Contains(doc, record.Null) {
		return false
	}
	err := record.EachField(doc, func(_, value []byte) bool {
		null = bytes.Equal(value, record.Null)
		return !null
	})
	return null || err != nil
}

// withExtra returns the row with what o holds of its fingerprint, the row itself if it
// has that.
func withExtra(r *Row, o Extra) *Row {
	if o.Forgot == r.Rest().Forgot {
		return r
	}
	next := *r
	next.keep(o)
	return &next
}

// assigned returns a row with the keys of data that are newer than what r holds,
// and marks them in o; nil when there are none.
func (r *Row) assigned(data []byte, at record.Stamp, o *Extra) (*Row, error) {
	set := map[string]json.RawMessage{}
	regs := Extra{Regs: slices.Clone(o.Regs)}
	err := record.EachField(data, func(name, value []byte) bool {
		if key := string(name); yields(r, key, at) && at.After(o.Tomb) {
			set[key] = value
			regs.mark(key, at)
		}
		return true
	})
	if err != nil || len(set) == 0 {
		return nil, err
	}
	o.Regs = regs.Regs
	doc, err := record.WithKeys(r.JSON(), set)
	if err != nil {
		return nil, err
	}
	next := &Row{Key: r.Key, Doc: doc, Base: r.Base, Hot: r.Hot}
	return next, rewarm(next, r, set)
}

// yields reports whether a value that was written at is newer than what r has of key.
func yields(r *Row, key string, at record.Stamp) bool {
	for _, reg := range r.Rest().Regs {
		if reg.Key == key {
			return at.After(reg.Stamp)
		}
	}
	return at.After(r.Base) || r.Value(key) == nil
}

func (o *Extra) mark(key string, at record.Stamp) {
	for i := range o.Regs {
		if o.Regs[i].Key == key {
			o.Regs[i].Stamp = at
			return
		}
	}
	o.Regs = append(o.Regs, Register{unique.Make(key).Value(), at})
}

// without returns the row less the keys that o's tombstone covers.
func (r *Row) without(o Extra) (*Row, error) {
	next := &Row{Key: r.Key, Base: r.Base}
	old := map[string]json.RawMessage{}
	if !bare(r) && !hidden(r, o.Tomb) {
		newer := map[string]bool{}
		for _, g := range r.Rest().Regs {
			newer[g.Key] = g.Stamp.After(o.Tomb)
		}
		err := record.EachField(r.JSON(), func(name, _ []byte) bool {
			if after, own := newer[string(name)]; own && !after || !own && !r.Base.After(o.Tomb) {
				old[string(name)] = record.Null
			}
			return true
		})
		if err == nil {
			next.Doc, err = record.WithKeys(r.JSON(), old)
		}
		if err != nil {
			return nil, err
		}
	}
	if !r.Base.After(o.Tomb) {
		next.Base = record.Stamp{}
	}
	o.Regs = after(o.Regs, o.Tomb)
	if next.Base.IsZero() && len(o.Regs) == 0 {
		next.Doc = nil
	}
	next.keep(o)
	return next, warm(next)
}

// hidden reports whether a tombstone covers all keys of a row.
func hidden(r *Row, tomb record.Stamp) bool {
	newer := func(g Register) bool { return g.Stamp.After(tomb) }
	return !r.Base.After(tomb) && !slices.ContainsFunc(r.Rest().Regs, newer)
}

// after returns the registers set after a stamp, without a trace of the others: rows of what was
// forgotten are kept for good.
func after(regs []Register, at record.Stamp) (left []Register) {
	for _, g := range regs {
		if g.Stamp.After(at) {
			left = append(left, g)
		}
	}
	return left
}

// WithUse returns the row with a device's totals raised to at least u.
func WithUse(row *Row, u record.UseTotal) *Row {
	next, o := *row, row.Rest()
	o.Use = slices.Clone(o.Use)
	i := slices.IndexFunc(o.Use, func(have record.UseTotal) bool { return have.Dev == u.Dev })
	if i < 0 {
		o.Use = append(o.Use, u)
	} else {
		o.Use[i] = record.MaxUse(o.Use[i], u)
	}
	next.keep(o)
	return &next
}

// SameDoc reports whether two rows have their document in the same place, as rows that differ in their counters alone
// do. It reports false for a document that was moved between memory and a file.
func SameDoc(a, b *Row) bool {
	if a.away != b.away {
		return false
	}
	return len(a.Doc) == len(b.Doc) && (len(a.Doc) == 0 || &a.Doc[0] == &b.Doc[0])
}
