package stm

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"emberd/memory"
)

// A relation is a key of the memory that it starts at: relation. and the 32 hex
// digits of its id. So it is a register of its own, which devices merge without loss,
// and goes to the trash and comes back with that memory. It counts while both of its
// ends are live. Keys that only look like one are kept, and are none.
const relationPrefix = "relation."

// relationValue is the value of such a key.
type relationValue struct {
	To        memory.ID                  `json:"to"`
	Type      string                     `json:"type"`
	Kind      string                     `json:"kind,omitempty"`
	Strength  float64                    `json:"strength"`
	CreatedAt time.Time                  `json:"created_at"`
	Metadata  map[string]json.RawMessage `json:"metadata,omitempty"`
}

// RelationKey is the key that holds a relation, by its id.
func RelationKey(id string) string { return relationPrefix + strings.TrimPrefix(id, "rel-") }

// IsRelationKey reports whether a key is where a relation belongs, well formed or not.
func IsRelationKey(key string) bool { return strings.HasPrefix(key, relationPrefix) }

// RelationValue is what that key holds. It fails if the metadata is not JSON.
func RelationValue(r *memory.Relation) (json.RawMessage, error) {
	for name, value := range r.Metadata {
		if !json.Valid(value) {
			return nil, fmt.Errorf("metadata %s is not JSON", name)
		}
	}
	return encode(relationValue{r.To, r.Type, r.Kind, r.Strength, r.CreatedAt.UTC(), r.Metadata}), nil
}

// ParseRelation reads a key of a memory. The caller owns the result.
func ParseRelation(from memory.ID, key string, value []byte) (memory.Relation, error) {
	a, ok := arrowOf([]byte(key), value)
	if !ok {
		return memory.Relation{}, fmt.Errorf("%.60q does not hold a relation", key)
	}
	var v relationValue
	if err := json.Unmarshal(value, &v); err != nil {
		return memory.Relation{}, fmt.Errorf("%s does not hold a relation: %w", key, err)
	}
	return memory.Relation{ID: "rel-" + hex.EncodeToString(a.rel[:]), From: from, To: memory.IDFromBytes(a.to), Type: v.Type,
		Kind: v.Kind, Strength: v.Strength, CreatedAt: v.CreatedAt.UTC(), Metadata: v.Metadata}, nil
}

// arrow is what the index has of a relation, from the side of its memory.
type arrow struct {
	rel, to [16]byte
	at      int64 // Unix milliseconds of its creation
}

// arrowOf reads a member of a document.
func arrowOf(name, value []byte) (arrow, bool) {
	digits, ok := bytes.CutPrefix(name, []byte(relationPrefix))
	var a arrow
	if !ok || len(digits) != 2*len(a.rel) || bytes.ContainsAny(digits, "ABCDEF") {
		return a, false
	}
	if _, err := hex.Decode(a.rel[:], digits); err != nil {
		return a, false
	}
	to, err := textValue(member(value, "to"))
	if err != nil {
		return a, false
	}
	id, err := memory.ParseID(to)
	a.to = id.Bytes()
	// A time that cannot be read is none, for the order only.
	a.at, _ = milliField(member(value, "created_at"))
	return a, err == nil
}

// mayRelate is false for nearly every row that no relation starts at.
func (r *Row) mayRelate() bool { return bytes.Contains(r.doc, []byte(`"`+relationPrefix)) }

// RelationBytes is how much of a memory's JSON its relations are.
func (r *Row) RelationBytes() int {
	if !r.mayRelate() {
		return 0
	}
	n := 0
	_ = eachField(r.doc, func(name, value []byte) bool { // it was walked before
		if IsRelationKey(string(name)) {
			n += len(name) + len(value)
		}
		return true
	})
	return n
}

// arrows are the relations that start at a row, by their ids.
func (r *Row) arrows() map[[16]byte]arrow {
	if !r.live() || !r.mayRelate() {
		return nil
	}
	out := map[[16]byte]arrow{}
	_ = eachField(r.doc, func(name, value []byte) bool { // it was walked before
		if a, ok := arrowOf(name, value); ok {
			out[a.rel] = a
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
// tally they begin when somebody asks for the first time.
type links struct {
	begun bool
	to    map[[16]byte][]link
}

// linked returns the index, begun. The lock of the table is held.
func (m *Memories) linked() *links {
	l := &m.table.links
	if !l.begun {
		l.begun, l.to = true, map[[16]byte][]link{}
		m.table.each(func(_ *cell, r *Row) bool {
			for _, a := range r.arrows() {
				l.add(r.key, a)
			}
			return true
		})
	}
	return l
}

// replace follows a row that took another's place.
func (l *links) replace(old, next *Row) {
	if !l.begun || old.live() == next.live() && sameDoc(old, next) {
		return
	}
	was, is := old.arrows(), next.arrows()
	for rel, a := range was {
		if is[rel] != a {
			l.remove(old.key, a)
		}
	}
	for rel, a := range is {
		if was[rel] != a {
			l.add(next.key, a)
		}
	}
}

func (l *links) add(from [16]byte, a arrow) {
	l.to[a.to] = append(l.to[a.to], link{rel: a.rel, from: from, at: a.at})
}

func (l *links) remove(from [16]byte, a arrow) {
	in := l.to[a.to]
	i := slices.Index(in, link{rel: a.rel, from: from, at: a.at})
	last := len(in) - 1
	in[i] = in[last]
	if l.to[a.to] = in[:last]; last == 0 {
		delete(l.to, a.to)
	}
}

// Relations lists the relations from a memory to live ones, newest first.
func (m *Memories) Relations(from *Row) []memory.Relation {
	if !from.mayRelate() {
		return nil
	}
	var out []memory.Relation
	id := from.ID()
	_ = eachField(from.doc, func(name, value []byte) bool { // it was walked before
		if !bytes.HasPrefix(name, []byte(relationPrefix)) {
			return true
		}
		if r, err := ParseRelation(id, string(name), value); err == nil && m.shows(m.table.get(r.To)) {
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
// most of them, and says how many there are.
func (m *Memories) RelationsTo(id memory.ID, most int) (list []memory.Relation, total int) {
	if !m.shows(m.table.get(id)) {
		return nil, 0
	}
	m.table.placing.Lock()
	in := slices.Clone(m.linked().to[id.Bytes()])
	m.table.placing.Unlock()
	if m.sees != nil {
		in = slices.DeleteFunc(in, func(l link) bool { return !m.shows(m.table.at(l.from)) })
	}
	slices.SortFunc(in, newest)
	for _, l := range in[:min(len(in), most)] {
		if r, ok := m.relation(l); ok {
			list = append(list, r)
		}
	}
	return list, len(in)
}

// relation decodes a relation unless it went just now.
func (m *Memories) relation(l link) (memory.Relation, bool) {
	from := m.table.at(l.from)
	if !m.shows(from) {
		return memory.Relation{}, false
	}
	key := relationPrefix + hex.EncodeToString(l.rel[:])
	r, err := ParseRelation(from.ID(), key, from.value(key))
	return r, err == nil && m.shows(m.table.get(r.To))
}

// CountRelations counts the relations between live memories that accept selects, all
// for nil. It takes time for each relation there is.
func (m *Memories) CountRelations(accept func(*Row) bool) int {
	passes := func(key [16]byte) bool {
		r := m.table.at(key)
		return m.shows(r) && (accept == nil || accept(r))
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
func (m *Memories) allLinks() []ends {
	m.table.placing.Lock()
	defer m.table.placing.Unlock()
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
func (m *Memories) ResolveRelations(shorts []string) ([]memory.Relation, error) {
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

func (m *Memories) resolveRelation(short string, all []ends) (memory.Relation, error) {
	digits := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(short)), "rel-")
	if len(digits) < 4 || len(digits) > 32 || strings.Trim(digits, "0123456789abcdef") != "" {
		return memory.Relation{}, memory.Errorf(memory.Invalid, "%.40q is not the id of a relation; give rel- and at least the first four digits after it", short).At("id")
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
		return memory.Relation{}, memory.Errorf(memory.NotFound, "there is no relation rel-%s; emberd show lists those of a memory", digits).At("id")
	case 1:
		return fit[0], nil
	}
	return memory.Relation{}, memory.Errorf(memory.Ambiguous, "several relations begin with rel-%s (%s, %s); give more digits", digits, fit[0].ID, fit[1].ID).At("id")
}
