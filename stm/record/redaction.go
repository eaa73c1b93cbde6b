package record

import (
	"bytes"
	"encoding/json"
	"slices"

	"emberd/memory"
)

// Redaction has for every purged memory the stamp up to which nothing of it is kept.
type Redaction map[[16]byte]Stamp

// MaxStamp is after every stamp.
func MaxStamp() Stamp {
	return Stamp{T: 1<<64 - 1, Dev: Device{'z', 'z', 'z', 'z', 'z', 'z', 'z', 'z'}}
}

// Redact takes purged memories out of a line of the log. A line of which nothing
// is left is of class empty. One that takes an entry back stays, without changes,
// to say so, and so does one with an idempotency key, lest its repetition bring a
// memory back; the hash of the request goes, and of the key a digest stays. What cannot be decoded goes if it
// mentions a memory. A purge of another device that came back stays.
func (p Redaction) Redact(b, good []byte, l *Line, is Class) (_, _ []byte, _ Class, changed bool) {
	switch {
	case len(p) == 0 || is == Meta || is == Empty:
		return b, good, is, false
	case is != Counted:
		if (l.Op != OpPurge || !l.Purges()) && p.Mentioned(b) {
			return nil, nil, Empty, true
		}
		return b, good, is, false
	case l.Op == OpUse:
		changed = p.uncount(l)
	default:
		changed = p.strip(l)
	}
	switch {
	case !changed:
		return b, good, is, false
	case len(l.Changes) == 0 && l.Op != OpUse && len(l.Lift) == 0 && l.Ref.IsZero() && (l.Key == "" ||
		IsHandKey(l.Key)):
		return nil, nil, Empty, true
	}
	b = l.Append(nil)
	return b, b[:len(b)-1], is, true
}

// Mentioned reports whether bytes hold the id of a purged memory.
func (p Redaction) Mentioned(b []byte) bool {
	b = bytes.ToLower(b)
	for key := range p {
		if bytes.Contains(b, []byte(memory.IDFromBytes(key))) {
			return true
		}
	}
	return false
}

// strip takes changes out, and relations out of those of other memories. A purge stays.
func (p Redaction) strip(l *Line) bool {
	var left []Change
	related := false
	for _, c := range l.Changes {
		if upto, ok := p[c.ID.Bytes()]; !ok || c.Op == OpPurge || l.Stamp.After(upto) {
			related = p.Unrelate(&c, l.Stamp) || related
			left = append(left, c)
		}
	}
	if len(left) == len(l.Changes) && !related {
		return false
	}
	l.Changes, l.KeyHash = left, ""
	if len(left) > 0 {
		return true
	}
	if l.Op = OpAll; l.Key != "" && !IsHandKey(l.Key) {
		l.Key = PurgedKey(l.Key)
	}
	return true
}

// Keeps takes out of a line what may not be kept, and reports whether anything is left of it.
func (p Redaction) Keeps(l *Line) bool {
	p.strip(l)
	return len(l.Changes)+len(l.Lift) > 0
}

// uncount takes totals of use out.
func (p Redaction) uncount(l *Line) bool {
	left, all := map[[16]byte]UseTotal{}, 0
	// It was decoded before.
	_ = DecodeUse(l.Data, l.Stamp.Dev, func(key [16]byte, t UseTotal) {
		all++
		if upto, ok := p[key]; !ok || l.Stamp.After(upto) {
			left[key] = t
		}
	})
	if len(left) == all {
		return false
	}
	l.Data = EncodeUse(left)
	return true
}

// What another memory has of one that was purged are its relations to it, with words
// of their own, that it took its place, and what is to be reviewed of both: they go too. A relation that was set
// becomes one that was removed then, so that no other line comes to count. The key of a relation follows from where
// it leads, and that of a review item from the memories that it is about, so that all values which a key ever had go
// together.

// Leads reports whether a member of a document is a relation to a memory that was purged
// after it was written at a stamp, or is about one in another way.
func (p Redaction) Leads(name, value []byte, at Stamp) bool {
	return slices.ContainsFunc(NamedBy(name, value), func(to [16]byte) bool {
		upto, gone := p[to]
		return gone && !at.After(upto)
	})
}

// NamedBy are the other memories that a member of a document is about.
func NamedBy(name, value []byte) [][16]byte {
	if ids, ok := aboutIDs(name, value); ok {
		return ids
	}
	if string(name) != SuccessorKey {
		if a, ok := ArrowOf(name, value); ok {
			return [][16]byte{a.To}
		}
		return nil
	}
	text, err := Text(value)
	if err != nil {
		return nil
	}
	id, err := memory.ParseID(text)
	if err != nil {
		return nil
	}
	return [][16]byte{id.Bytes()}
}

// successorKey holds the memory that replaced one, successorSince when it did.
const (
	SuccessorKey   = "superseded_by"
	SuccessorSince = "superseded_at"
)

// MayName is false for nearly every document that names no other memory.
func MayName(doc []byte) bool {
	return slices.ContainsFunc([]string{`"` + RelationPrefix, `"` + ReviewPrefix, `"` + SuccessorKey + `"`}, func(begin string) bool {
		return bytes.Contains(doc, []byte(begin))
	})
}

// Leading are the relations in a document to memories that were purged, each as null, and
// with a successor since when it was one.
func (p Redaction) Leading(doc []byte, at Stamp) map[string]json.RawMessage {
	if len(p) == 0 || !MayName(doc) {
		return nil
	}
	var out map[string]json.RawMessage
	_ = EachField(doc, func(name, value []byte) bool { // what cannot be walked was sorted out before
		if p.Leads(name, value, at) {
			if out == nil {
				out = map[string]json.RawMessage{}
			}
			out[string(name)] = Null
		}
		return true
	})
	if _, gone := out[SuccessorKey]; gone && Member(doc, SuccessorSince) != nil {
		out[SuccessorSince] = Null
	}
	return out
}

// Unrelate takes the relations to purged memories out of a change that was written at
// a stamp, and out of what it superseded.
func (p Redaction) Unrelate(c *Change, at Stamp) (changed bool) {
	if gone := p.Leading(c.Data, at); gone != nil {
		// A document that was walked is put together again.
		doc, _ := WithKeys(c.Data, gone)
		if c.Op == OpSet {
			doc = withNulls(doc, gone)
		}
		c.Data, changed = doc, true
	}
	if was := Member(c.Prev, "d"); was != nil {
		rev, _ := stampField(Member(c.Prev, "t"))
		if gone := p.Leading(was, rev); gone != nil {
			doc, _ := WithKeys(was, gone)
			c.Prev, changed = EncodePrev(rev, c.From(), doc), true
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
		out = append(append(AppendName(out, []byte(key)), ':'), Null...)
	}
	return append(out, '}')
}
