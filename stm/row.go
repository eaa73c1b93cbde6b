package stm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
	"unique"

	"emberd/memory"
)

// Row is one memory as the table holds it. A Row never changes: an update
// makes a new one. It is safe to share and cheap to read; only Content and
// Memory decode JSON.
type Row struct {
	key  [16]byte
	doc  []byte // JSON object of all present keys, unknown ones included
	base Stamp  // of every key of doc that has no register of its own
	odd  *odd   // nil for a memory that was written once and never used
	hot  hot
}

// odd is what most memories do not have. It is never changed either.
type odd struct {
	regs   []register
	tomb   Stamp // hides every key with an older stamp
	born   Stamp // latest put: the memory lives while born is after tomb
	rev    Stamp // latest of all stamps
	use    []useTotal
	forgot *forgot // nil if no delete has a fingerprint, and no line lifts one
}

// rest returns what odd holds, or what it would.
func (r *Row) rest() odd {
	if r.odd == nil {
		return odd{born: r.base, rev: r.base}
	}
	return *r.odd
}

// keep stores o in a row that nobody else has yet.
func (r *Row) keep(o odd) {
	r.odd = nil
	if len(o.regs) > 0 || len(o.use) > 0 || !o.tomb.IsZero() || o.forgot != nil || o.born != r.base || o.rev != r.base {
		r.odd = &o
	}
}

func (r *Row) rev() Stamp { return r.rest().rev }

func (r *Row) born() Stamp { return r.rest().born }

// register is the stamp of one key that was written apart from the rest.
type register struct {
	key   string
	stamp Stamp
}

// hot holds what ranking and filters read, decoded once. Its strings are shared
// by all memories that have the same.
type hot struct {
	tags                          []string
	project, collection, category string
	created, updated, lastUsed    int64  // Unix milliseconds
	uses, accesses                uint32 // imported
	strength                      float32
	stage                         stage
	core, promoted                bool
}

// stage is a memory.Stage in one byte.
type stage uint8

var stages = [...]memory.Stage{memory.Active, memory.Demoted, memory.Archived, memory.Rehydratable}

func stageOf(s string) stage {
	return stage(max(0, slices.Index(stages[:], memory.Stage(s))))
}

// useTotal is one device's running total for one memory. Totals only grow, so
// merging two copies takes the larger of each.
type useTotal struct {
	dev            Device
	uses, accesses int64
	used, accessed int64 // Unix milliseconds of the latest
}

// ID names the memory.
func (r *Row) ID() memory.ID { return memory.IDFromBytes(r.key) }

// CompareID orders rows as their ids, without spelling these.
func (r *Row) CompareID(other *Row) int { return bytes.Compare(r.key[:], other.key[:]) }

// Rev changes with every change of content or fields, not with use, nor with a link of
// the provenance chain or a review item that comes alone: who says the same once more, or asks what
// is to become of a memory, edits nothing. It is
// the stamp of the latest change, and, while some keys are older than that, a sum
// over their stamps: another device's change may arrive late and be none of the
// latest.
func (r *Row) Rev() string {
	rev := r.edited()
	if r.odd == nil || len(r.odd.regs) == 0 {
		return rev.String()
	}
	var older uint32 // adds up, so that the order of keys does not matter
	note := func(key string, at Stamp) {
		if at != rev && !isAside(key) {
			older += crc32.Checksum(at.append(append([]byte(key), 0)), castagnoli)
		}
	}
	own := make(map[string]bool, len(r.odd.regs))
	for _, g := range r.odd.regs {
		own[g.key] = true
		note(g.key, g.stamp)
	}
	// The document was walked when it was merged.
	_ = eachField(r.doc, func(name, _ []byte) bool {
		if !own[string(name)] {
			note(string(name), r.base)
		}
		return true
	})
	if older == 0 {
		return rev.String()
	}
	return fmt.Sprintf("%s-%08x", rev, older)
}

// TextRev changes whenever the text is written, whatever the clock says: it is the stamp of
// that, "" for a memory without a text.
func (r *Row) TextRev() string {
	if at := r.stampOf("content"); !at.IsZero() {
		return at.String()
	}
	return ""
}

// isAside reports whether what a key holds is said about a memory rather than by it.
func isAside(key string) bool { return IsSourceKey(key) || IsReviewKey(key) }

// edited is the latest of all stamps, but for those of keys that edit nothing.
func (r *Row) edited() Stamp {
	rev := r.rev()
	aside := func(g register) bool { return g.stamp == rev && isAside(g.key) }
	if !slices.ContainsFunc(r.rest().regs, aside) {
		return rev
	}
	latest := r.base
	if born := r.born(); born.after(latest) {
		latest = born
	}
	for _, g := range r.rest().regs {
		if g.stamp.after(latest) && !isAside(g.key) {
			latest = g.stamp
		}
	}
	return latest
}

// Stage is how far the memory has faded.
func (r *Row) Stage() memory.Stage { return stages[r.hot.stage] }

// Core memories never fade.
func (r *Row) Core() bool { return r.hot.core }

// Strength multiplies decay, 0–2.
func (r *Row) Strength() float64 { return float64(r.hot.strength) }

// UseCount sums the uses on all devices.
func (r *Row) UseCount() int64 { return r.total().uses }

// LastUsed is the latest use anywhere, the creation when there was none.
func (r *Row) LastUsed() time.Time { return milli(r.total().used) }

// CreatedAt is when the memory was made.
func (r *Row) CreatedAt() time.Time { return milli(r.hot.created) }

// UpdatedAt is when a field last changed, the creation when none did.
func (r *Row) UpdatedAt() time.Time { return milli(max(r.hot.updated, r.hot.created)) }

// Project is where the memory belongs, or "".
func (r *Row) Project() string { return r.hot.project }

// Collection is the memory's collection.
func (r *Row) Collection() string { return r.hot.collection }

// Category is the memory's category, or "".
func (r *Row) Category() string { return r.hot.category }

// Type decodes the memory's type, or "".
func (r *Row) Type() string { return r.textOf("type") }

// Section decodes what the memory is filed under, or "".
func (r *Row) Section() string { return r.textOf("section") }

// Promoted reports whether a note was made of the memory.
func (r *Row) Promoted() bool { return r.hot.promoted }

// Tags are the memory's tags. Callers must not change the slice.
func (r *Row) Tags() []string { return r.hot.tags }

// HasTag reports whether the memory carries tag or one nested under it.
func (r *Row) HasTag(tag string) bool {
	return slices.ContainsFunc(r.hot.tags, func(t string) bool {
		return t == tag || len(t) > len(tag) && t[len(tag)] == '/' && strings.HasPrefix(t, tag)
	})
}

// Entities decodes the names of what the memory is about. The caller owns them.
func (r *Row) Entities() []string {
	var names []string
	_ = json.Unmarshal(r.value("entities"), &names) // what is of another shape names nothing
	return names
}

// SupersededBy is the memory that took the place of this one, "" for none. It may not be
// live.
func (r *Row) SupersededBy() memory.ID {
	if !bytes.Contains(r.doc, []byte(`"`+successorKey+`"`)) { // as of nearly all, which is told faster than by their keys
		return ""
	}
	return memory.ID(r.textOf(successorKey))
}

// EntitiesFound reports whether nobody named the entities: they were found in the content.
func (r *Row) EntitiesFound() bool { return found(r.doc) }

func found(doc []byte) bool { return string(member(doc, entitiesFound)) == "true" }

// Learning is how often the memory was learned, by its provenance chain, and when last:
// when it was made, if no link says more.
func (r *Row) Learning() (times int, last time.Time) {
	chain := memory.Memory{CreatedAt: r.CreatedAt()}
	_ = json.Unmarshal(r.value("sources"), &chain.Sources) // what is of another shape says nothing
	_ = json.Unmarshal(r.value("sources_dropped"), &chain.SourcesDropped)
	gatherSources(&chain, r.doc)
	last = chain.CreatedAt
	for _, s := range chain.Sources {
		if s.At.After(last) {
			last = s.At
		}
	}
	return chain.Learned(), last
}

// Content decodes the memory's text.
func (r *Row) Content() string { return r.textOf("content") }

// Text is everything that searches look into, the content first.
func (r *Row) Text() string { return searchText(r.doc) }

func (r *Row) textOf(key string) string {
	s, _ := textValue(r.value(key))
	return s
}

// Size is how many bytes of JSON the memory has, as it is stored.
func (r *Row) Size() int { return len(r.doc) }

// Fields returns every key of the memory as it is stored, JSON by name, unknown
// ones included and its id not. The values are shared and must not be changed.
func (r *Row) Fields() map[string]json.RawMessage { return values(r.doc) }

// Memory decodes the whole memory, counters included. The caller owns it.
func (r *Row) Memory() (memory.Memory, error) {
	m, err := decodeMemory(r.doc)
	if err != nil {
		return m, fmt.Errorf("memory %s: %w", r.ID(), err)
	}
	m.ID = r.ID()
	m.UseCount, m.AccessCount = r.UseCount(), r.AccessCount()
	m.LastUsed, m.LastAccessed = r.LastUsed(), r.LastAccessed()
	return m, nil
}

// Decode is the memory that stored keys make, as [Row.Fields] has them, counters aside. Keys
// that no field has are passed over.
func Decode(id memory.ID, fields map[string]json.RawMessage) (memory.Memory, error) {
	m, err := decodeMemory(encode(fields))
	m.ID = id
	return m, err
}

func decodeMemory(doc []byte) (memory.Memory, error) {
	m := memory.Memory{Confidence: 1, Importance: 0.5, Strength: 1,
		Collection: memory.DefaultCollection, Stage: memory.Active}
	err := json.Unmarshal(doc, &m)
	gatherSources(&m, doc)
	return m, err
}

// docDepth is how deep a document may nest. The line of its delete, one of
// several, wraps it in four more.
const docDepth = maxDepth - 4

// checkDoc refuses a document that could not be read back as a memory.
func checkDoc(doc []byte) error {
	switch {
	case !utf8.Valid(doc):
		return errors.New("it is not valid UTF-8")
	case skipNested(doc, 0, docDepth) != len(doc):
		return fmt.Errorf("it is nested deeper than %d", docDepth)
	}
	if _, err := decodeMemory(doc); err != nil {
		return err
	}
	return (&Row{doc: doc}).warm()
}

func milli(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// live reports whether the memory exists for callers.
func (r *Row) live() bool {
	if r.odd == nil {
		return !r.base.IsZero()
	}
	return r.odd.born.after(r.odd.tomb)
}

// Changed is when a key was last written or removed, apart from the rest of the
// memory; zero when it was not since the memory was saved.
func (r *Row) Changed(key string) time.Time {
	for _, reg := range r.rest().regs {
		if reg.key == key {
			return reg.stamp.Time()
		}
	}
	return time.Time{}
}

// Later reports whether a key was written or removed after another one was.
func (r *Row) Later(key, than string) bool { return r.stampOf(key).after(r.stampOf(than)) }

// ChangedBy is the device that wrote or removed a key last, the zero device for none.
func (r *Row) ChangedBy(key string) Device { return r.stampOf(key).Dev }

// Value returns the JSON of a key, nil for none. It is shared and must not be changed.
func (r *Row) Value(key string) json.RawMessage { return r.value(key) }

// Has reports whether the memory has a key.
func (r *Row) Has(key string) bool { return r.value(key) != nil }

// cold reports whether the text of a live memory is in a note.
func (r *Row) cold() bool { return r.live() && r.Stage().Cold() }

// value returns the raw JSON of one key, nil when absent.
func (r *Row) value(key string) []byte { return member(r.doc, key) }

func member(doc []byte, key string) []byte {
	var found []byte
	// A document that was applied has been walked before.
	_ = eachField(doc, func(name, value []byte) bool {
		if string(name) == key {
			found = value
			return false
		}
		return true
	})
	return found
}

// stampOf is when key was last written or removed, zero when never.
func (r *Row) stampOf(key string) Stamp {
	for _, reg := range r.rest().regs {
		if reg.key == key {
			return reg.stamp
		}
	}
	if r.value(key) != nil {
		return r.base
	}
	return Stamp{}
}

// warm decodes the hot fields from the document.
func (r *Row) warm() (err error) {
	if r.hot, err = hotOf(r.doc); err != nil {
		return fmt.Errorf("memory %s: %w", r.ID(), err)
	}
	return nil
}

// rewarm is warm for a row that differs from before, whose hot fields it has, in
// the keys of set.
func (r *Row) rewarm(before *Row, set map[string]json.RawMessage) error {
	if len(before.doc) == 0 {
		return r.warm()
	}
	for key, value := range set {
		if bytes.Equal(value, null) {
			return r.warm() // what is removed is as if it never was
		}
		if err := r.hot.take(key, value); err != nil {
			return fmt.Errorf("memory %s: %w", r.ID(), err)
		}
	}
	return nil
}

func hotOf(doc []byte) (hot, error) {
	h := hot{collection: memory.DefaultCollection, strength: 1}
	if len(doc) == 0 {
		return h, nil
	}
	var bad error
	err := eachField(doc, func(name, value []byte) bool {
		bad = h.take(string(name), value)
		return bad == nil
	})
	if err == nil {
		err = bad
	}
	return h, err
}

// take replaces the field of a key. Tags go into a slice of their own, for rows
// share theirs.
func (h *hot) take(name string, value []byte) (err error) {
	switch name {
	case "tags":
		h.tags = nil
		err = json.Unmarshal(value, &h.tags)
		for i, t := range h.tags {
			h.tags[i] = unique.Make(t).Value()
		}
	case "project":
		h.project, err = shared(value)
	case "collection":
		h.collection, err = shared(value)
	case "category":
		h.category, err = shared(value)
	case "stage":
		var s string
		s, err = textValue(value)
		h.stage = stageOf(s)
	case "strength":
		var f float64
		f, err = strconv.ParseFloat(string(value), 32)
		h.strength = float32(f)
	case "core":
		h.core = string(value) == "true"
	case "promoted_to":
		h.promoted = len(value) > 2
	case "created_at":
		h.created, err = milliField(value)
	case "updated_at":
		h.updated, err = milliField(value)
	case "last_used":
		h.lastUsed, err = milliField(value)
	case "use_count":
		h.uses, err = countField(value)
	case "access_count":
		h.accesses, err = countField(value)
	}
	if err != nil {
		return fmt.Errorf("field %s: %w", name, err)
	}
	return nil
}

func shared(value []byte) (string, error) {
	s, err := textValue(value)
	return unique.Make(s).Value(), err
}

func countField(value []byte) (uint32, error) {
	n, err := strconv.ParseUint(string(value), 10, 32)
	return uint32(n), err
}

func milliField(value []byte) (int64, error) {
	if len(value) < 2 {
		return 0, errSyntax
	}
	t, err := time.Parse(time.RFC3339Nano, string(value[1:len(value)-1]))
	return t.UnixMilli(), err
}

// total sums the devices' use onto the imported counts.
func (r *Row) total() useTotal {
	h := &r.hot
	sum := useTotal{uses: int64(h.uses), accesses: int64(h.accesses), used: max(h.lastUsed, h.created)}
	if r.odd == nil {
		return sum
	}
	for _, u := range r.odd.use {
		sum.uses += u.uses
		sum.accesses += u.accesses
		sum.used = max(sum.used, u.used)
		sum.accessed = max(sum.accessed, u.accessed)
	}
	return sum
}
