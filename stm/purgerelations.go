package stm

import (
	"bytes"
	"encoding/json"
	"slices"

	"emberd/memory"
)

// What another memory has of one that was purged are its relations to it, with words
// of their own, that it took its place, and what is to be reviewed of both: they go too. A relation that was set
// becomes one that was removed then, so that no other line comes to count. The key of a relation follows from where
// it leads, and that of a review item from the memories that it is about, so that all values which a key ever had go
// together.

// leads reports whether a member of a document is a relation to a memory that was purged
// after it was written at a stamp, or is about one in another way.
func (p purged) leads(name, value []byte, at Stamp) bool {
	return slices.ContainsFunc(namedBy(name, value), func(to [16]byte) bool {
		upto, gone := p[to]
		return gone && !at.after(upto)
	})
}

// namedBy are the other memories that a member of a document is about.
func namedBy(name, value []byte) [][16]byte {
	if ids, ok := aboutIDs(name, value); ok {
		return ids
	}
	if string(name) != successorKey {
		if a, ok := arrowOf(name, value); ok {
			return [][16]byte{a.to}
		}
		return nil
	}
	text, err := textValue(value)
	if err != nil {
		return nil
	}
	id, err := memory.ParseID(text)
	if err != nil {
		return nil
	}
	return [][16]byte{id.Bytes()}
}

// successorKey holds the memory that took the place of one, successorSince when it did.
const (
	successorKey   = "superseded_by"
	successorSince = "superseded_at"
)

// mayName is false for nearly every document that names no other memory.
func mayName(doc []byte) bool {
	return slices.ContainsFunc([]string{`"` + relationPrefix, `"` + reviewPrefix, `"` + successorKey + `"`}, func(begin string) bool {
		return bytes.Contains(doc, []byte(begin))
	})
}

// leading are the relations in a document to memories that were purged, each as null, and
// with a successor since when it was one.
func (p purged) leading(doc []byte, at Stamp) map[string]json.RawMessage {
	if len(p) == 0 || !mayName(doc) {
		return nil
	}
	var out map[string]json.RawMessage
	_ = eachField(doc, func(name, value []byte) bool { // what cannot be walked was sorted out before
		if p.leads(name, value, at) {
			if out == nil {
				out = map[string]json.RawMessage{}
			}
			out[string(name)] = null
		}
		return true
	})
	if _, gone := out[successorKey]; gone && member(doc, successorSince) != nil {
		out[successorSince] = null
	}
	return out
}

// unrelate takes the relations to purged memories out of a change that was written at
// a stamp, and out of what it superseded.
func (p purged) unrelate(c *change, at Stamp) (changed bool) {
	if gone := p.leading(c.data, at); gone != nil {
		// A document that was walked is put together again.
		doc, _ := withKeys(c.data, gone)
		if c.op == opSet {
			doc = withNulls(doc, gone)
		}
		c.data, changed = doc, true
	}
	if was := member(c.prev, "d"); was != nil {
		rev, _ := stampField(member(c.prev, "t"))
		if gone := p.leading(was, rev); gone != nil {
			doc, _ := withKeys(was, gone)
			c.prev, changed = encodePrev(rev, doc), true
		}
	}
	return changed
}

// withNulls adds members that say that keys were removed.
func withNulls(doc []byte, gone map[string]json.RawMessage) []byte {
	out := bytes.TrimSuffix(slices.Clone(doc), []byte("}"))
	for key := range gone {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(appendName(out, []byte(key)), ':'), null...)
	}
	return append(out, '}')
}

// related is the change as it is applied: without relations to memories that are known to
// have been purged later. One to a memory that was purged before, by a device that did
// not know, makes the purge due again.
func (t *table) related(c *change, at Stamp) *change {
	if !mayName(c.data) {
		return c
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p := purged{}
	_ = eachField(c.data, func(name, value []byte) bool {
		for _, to := range namedBy(name, value) {
			known, gone := t.purges[to]
			switch {
			case !gone:
			case !at.after(known.stamp):
				p[to] = known.stamp
			case t.cells[to] == nil || t.gone(t.cells[to].row.Load()):
				known.due = true
				t.purges[to] = known
			}
		}
		return true
	})
	if len(p) == 0 {
		return c
	}
	less := *c
	p.unrelate(&less, at)
	return &less
}

// unrelateAll takes the relations to purged memories out of all rows. It is for the
// goroutine that changes the table.
func (t *table) unrelateAll(p purged) {
	for _, c := range t.every() {
		for {
			old := c.row.Load()
			next := p.unrelated(old)
			if next == old || t.swap(c, old, next) {
				break
			}
		}
	}
}

// unrelated is a row without relations to purged memories, the row itself if it has none.
func (p purged) unrelated(row *Row) *Row {
	gone := p.leading(row.doc, Stamp{})
	for key := range gone {
		name := key
		if key == successorSince {
			name = successorKey
		}
		if !p.leads([]byte(name), row.value(name), row.stampOf(name)) {
			delete(gone, key)
		}
	}
	if len(gone) == 0 {
		return row
	}
	next := *row
	// The document was walked when it was merged.
	next.doc, _ = withKeys(row.doc, gone)
	return &next
}
