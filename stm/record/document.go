package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"emberd/memory"
)

func Later(a, b Stamp) Stamp {
	if b.After(a) {
		return b
	}
	return a
}

var Null = []byte("null")

// WithKeys returns doc with keys replaced, added at the end, or, with the
// value null, removed. Untouched members keep their bytes and their place.
func WithKeys(doc []byte, set map[string]json.RawMessage) ([]byte, error) {
	out := append(make([]byte, 0, len(doc)+64), '{')
	member := func(name, value []byte) {
		if bytes.Equal(value, Null) {
			return
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(AppendName(out, name), ':'), value...)
	}
	var done map[string]bool
	if len(doc) > 0 {
		done = make(map[string]bool, len(set))
		err := EachField(doc, func(name, value []byte) bool {
			if v, ok := set[string(name)]; ok {
				value, done[string(name)] = v, true
			}
			member(name, value)
			return true
		})
		if err != nil {
			return nil, fmt.Errorf("cannot change the fields of a memory: %w", err)
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

// AppendName quotes the name of a member.
func AppendName(b, name []byte) []byte {
	if bytes.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' }) {
		return append(b, Encode(string(name))...)
	}
	return append(append(append(b, '"'), name...), '"')
}

// CheckedDoc is WithKeys of what can be read back as a memory, and the facets of that.
func CheckedDoc(doc []byte, set map[string]json.RawMessage) ([]byte, Facets, error) {
	doc, err := WithKeys(doc, set)
	if err != nil {
		return doc, Facets{}, err
	}
	h, err := checkDoc(doc)
	return doc, h, err
}

// WasNone reports whether the revision before a change is that of a memory that
// was not here.
func (p *Superseded) WasNone() bool {
	rev, err := ParseStamp(p.Rev)
	return err == nil && rev.T == 0
}

// EncodePrev encodes what a change supersedes. from names the texts that a change of the text was made
// from, none for any other change.
func EncodePrev(rev Stamp, from []Stamp, doc []byte) []byte {
	b := append([]byte(nil), `{"t":"`...)
	b = append(append(b, rev.String()...), '"')
	if len(from) > 0 {
		b = append(b, `,"from":[`...)
		for i, at := range from {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(at.Append(append(b, '"')), '"')
		}
		b = append(b, ']')
	}
	b = append(b, `,"d":`...)
	return append(append(b, doc...), '}')
}

// Same compares two values; null is as good as none.
func Same(a, b []byte) bool {
	none := func(v []byte) bool { return v == nil || bytes.Equal(v, Null) }
	return none(a) && none(b) || bytes.Equal(a, b)
}

func (l *LogLine) ChangesMemory(id memory.ID) bool {
	return slices.ContainsFunc(l.Changes, func(c LogChange) bool { return c.ID == id })
}

// Forgotten is the document of a memory that the line deletes, nil if it does
// not, or does not tell.
func (l *Line) Forgotten(id memory.ID) []byte {
	for i := range l.Changes {
		c := &l.Changes[i]
		if c.ID != id || c.Op != OpDelete {
			continue
		}
		if prior, err := c.Superseded(); err == nil && len(prior.Keys) > 0 {
			return Encode(prior.Keys)
		}
	}
	return nil
}

// Values returns the members of a document by name.
func Values(doc []byte) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if len(doc) > 0 {
		// A document that was applied has been walked before.
		_ = EachField(doc, func(name, value []byte) bool {
			out[string(name)] = value
			return true
		})
	}
	return out
}

// DecodeMemory is the memory that stored keys make, as [Row.Fields] has them, counters aside. Keys
// that no field has are passed over.
func DecodeMemory(id memory.ID, fields map[string]json.RawMessage) (memory.Memory, error) {
	m, err := DecodeDocument(Encode(fields))
	m.ID = id
	return m, err
}

func DecodeDocument(doc []byte) (memory.Memory, error) {
	m := memory.Memory{Confidence: 1, Importance: 0.5, Strength: 1,
		Collection: memory.DefaultCollection, Stage: memory.Active}
	err := json.Unmarshal(doc, &m)
	GatherSources(&m, doc)
	return m, err
}

// HistorySince is from when on a compacted file left nothing out for good: before it was
// made, if it does not say.
func (h *Header) HistorySince() time.Time {
	if h.Generation == 0 || h.Oldest != "" { // no compacted file
		return time.Time{}
	}
	for _, text := range []string{h.Since, h.Created} {
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			return at
		}
	}
	return time.Unix(math.MaxInt32, 0)
}
