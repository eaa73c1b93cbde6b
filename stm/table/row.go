package table

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"time"

	"emberd/memory"
	"emberd/stm/record"
)

// Row is one memory as the table holds it. A Row never changes: an update
// makes a new one. It is safe to share and cheap to read; only Content and
// Memory decode JSON.
type Row struct {
	Key  [16]byte
	Doc  []byte       // what [Row.JSON] returns, of a cold memory compressed; nil if it is away
	away place        // where the document is if it is not in memory
	Base record.Stamp // of every key of doc that has no register of its own
	Odd  *Extra       // nil for a memory that was written once and never used
	Hot  record.Facets
}

// Extra is what most memories do not have. It is never changed either.
type Extra struct {
	Regs   []Register
	Tomb   record.Stamp // hides every key with an older stamp
	Born   record.Stamp // latest put: the memory lives while born is after tomb
	rev    record.Stamp // latest of all stamps
	Use    []record.UseTotal
	Forgot *deletedText // nil if no delete has a fingerprint, and no line lifts one
}

// Rest returns what odd holds, or what it would.
func (r *Row) Rest() Extra {
	if r.Odd == nil {
		return Extra{Born: r.Base, rev: r.Base}
	}
	return *r.Odd
}

// keep stores o in a row that no other goroutine has yet.
func (r *Row) keep(o Extra) {
	r.Odd = nil
	if len(o.Regs) > 0 || len(o.Use) > 0 || !o.Tomb.IsZero() || o.Forgot != nil || o.Born != r.Base || o.rev != r.Base {
		r.Odd = &o
	}
}

func (r *Row) Latest() record.Stamp { return r.Rest().rev }

func (r *Row) Born() record.Stamp { return r.Rest().Born }

// Register is the stamp of one key that was written apart from the rest.
type Register struct {
	Key   string
	Stamp record.Stamp
}

// ID names the memory.
func (r *Row) ID() memory.ID { return memory.IDFromBytes(r.Key) }

// CompareID orders rows as their ids, without spelling these.
func (r *Row) CompareID(other *Row) int { return bytes.Compare(r.Key[:], other.Key[:]) }

// Rev changes with every change of content or fields, not with use, nor with a link of
// the provenance chain, a review item or the record of a note's fields that comes alone: a caller
// that saves the same text again, or files a review item, edits nothing, and neither does emberd
// when it writes an edit to a note. It is the stamp of the latest change,
// and, while some keys are older than that, a sum over their stamps: another device's
// change can arrive late and not be the latest.
func (r *Row) Rev() string {
	rev := edited(r)
	if r.Odd == nil || len(r.Odd.Regs) == 0 {
		return rev.String()
	}
	var older uint32 // adds up, so that the order of keys does not matter
	note := func(key string, at record.Stamp) {
		if at != rev && !isAside(key) {
			older += crc32.Checksum(at.Append(append([]byte(key), 0)), record.Castagnoli)
		}
	}
	own := make(map[string]bool, len(r.Odd.Regs))
	for _, g := range r.Odd.Regs {
		own[g.Key] = true
		note(g.Key, g.Stamp)
	}
	// The document was walked when it was merged.
	_ = record.EachField(r.JSON(), func(name, _ []byte) bool {
		if !own[string(name)] {
			note(string(name), r.Base)
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
	if at := r.StampOf("content"); !at.IsZero() {
		return at.String()
	}
	return ""
}

// noteSeen is the key that records what was last read in a memory's note.
const noteSeen = "note_seen"

// isAside reports whether what a key holds is said about a memory rather than by it.
func isAside(key string) bool {
	return key == noteSeen || record.IsSourceKey(key) || record.IsReviewKey(key)
}

// edited is the latest of all stamps, but for those of keys that edit nothing.
func edited(r *Row) record.Stamp {
	rev := r.Latest()
	aside := func(g Register) bool { return g.Stamp == rev && isAside(g.Key) }
	if !slices.ContainsFunc(r.Rest().Regs, aside) {
		return rev
	}
	latest := r.Base
	if born := r.Born(); born.After(latest) {
		latest = born
	}
	for _, g := range r.Rest().Regs {
		if g.Stamp.After(latest) && !isAside(g.Key) {
			latest = g.Stamp
		}
	}
	return latest
}

// Stage is how far the memory has faded.
func (r *Row) Stage() memory.Stage { return record.Stages[r.Hot.Stage] }

// Core memories never fade.
func (r *Row) Core() bool { return r.Hot.Core }

// Strength multiplies decay, 0–2.
func (r *Row) Strength() float64 { return float64(r.Hot.Strength) }

// UseCount sums the uses on all devices.
func (r *Row) UseCount() int64 { return r.Total().Uses }

// LastUsed is the latest use anywhere, the creation when there was none.
func (r *Row) LastUsed() time.Time { return record.Millis(r.Total().Used) }

// CreatedAt is when the memory was made.
func (r *Row) CreatedAt() time.Time { return record.Millis(r.Hot.Created) }

// UpdatedAt is when a field last changed, the creation when none did.
func (r *Row) UpdatedAt() time.Time { return record.Millis(max(r.Hot.Updated, r.Hot.Created)) }

// Project is where the memory belongs, or "".
func (r *Row) Project() string { return r.Hot.Labels().Project }

// Collection is the memory's collection.
func (r *Row) Collection() string { return r.Hot.Labels().Collection }

// Category is the memory's category, or "".
func (r *Row) Category() string { return r.Hot.Labels().Category }

// Type decodes the memory's type, or "".
func (r *Row) Type() string { return r.textOf("type") }

// Section decodes what the memory is filed under, or "".
func (r *Row) Section() string { return r.textOf("section") }

// Promoted reports whether a note was made of the memory.
func (r *Row) Promoted() bool { return r.Hot.Promoted }

// Tags are the memory's tags. Callers must not change the slice.
func (r *Row) Tags() []string { return r.Hot.Labels().Tags }

// HasTag reports whether the memory carries tag or one nested under it.
func (r *Row) HasTag(tag string) bool {
	return slices.ContainsFunc(r.Hot.Labels().Tags, func(t string) bool {
		return t == tag || len(t) > len(tag) && t[len(tag)] == '/' && strings.HasPrefix(t, tag)
	})
}

// Entities decodes the names of what the memory is about. The caller owns them.
func (r *Row) Entities() []string {
	var names []string
	_ = json.Unmarshal(r.Value("entities"), &names) // what is of another shape names nothing
	return names
}

// SupersededBy is the memory that replaced this one, "" for none. It may not be
// live.
func (r *Row) SupersededBy() memory.ID {
	if !mayHave(r, record.HasSuccessor, `"`+record.SuccessorKey+`"`) {
		return ""
	}
	return memory.ID(r.textOf(record.SuccessorKey))
}

// EntitiesFound reports whether emberd found the entities in the content.
func (r *Row) EntitiesFound() bool { return found(r.JSON()) }

func found(doc []byte) bool { return string(record.Member(doc, entitiesFound)) == "true" }

// Learning is how often the memory was learned, by its provenance chain, and when last:
// when it was made, if no link says more.
func (r *Row) Learning() (times int, last time.Time) {
	chain := memory.Memory{CreatedAt: r.CreatedAt()}
	_ = json.Unmarshal(r.Value("sources"), &chain.Sources) // what is of another shape says nothing
	_ = json.Unmarshal(r.Value("sources_dropped"), &chain.SourcesDropped)
	record.GatherSources(&chain, r.JSON())
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
func (r *Row) Text() string { return searchText(r.JSON()) }

func (r *Row) textOf(key string) string {
	s, _ := record.Text(r.Value(key))
	return s
}

// Size is how many bytes of JSON the memory has, as it is stored.
func (r *Row) Size() int { return len(r.JSON()) }

// Fields returns every key of the memory as it is stored, JSON by name, unknown
// ones included and its id not. The values are shared and must not be changed.
func (r *Row) Fields() map[string]json.RawMessage { return record.Values(r.JSON()) }

// Memory decodes the whole memory, counters included. The caller owns it.
func (r *Row) Memory() (memory.Memory, error) {
	m, err := record.DecodeDocument(r.JSON())
	if err != nil {
		return m, fmt.Errorf("memory %s: %w", r.ID(), err)
	}
	m.ID = r.ID()
	m.UseCount, m.AccessCount = r.UseCount(), r.AccessCount()
	m.LastUsed, m.LastAccessed = r.LastUsed(), r.LastAccessed()
	return m, nil
}

// Live reports whether the memory exists for callers.
func (r *Row) Live() bool {
	if r.Odd == nil {
		return !r.Base.IsZero()
	}
	return r.Odd.Born.After(r.Odd.Tomb)
}

// Changed is when a key was last written or removed, apart from the rest of the
// memory; zero when it was not since the memory was saved.
func (r *Row) Changed(key string) time.Time {
	o := r.Rest()
	for _, reg := range o.Regs {
		if reg.Key == key && reg.Stamp != o.Born { // earlier versions kept the stamps of a text with "null" in it
			return reg.Stamp.Time()
		}
	}
	return time.Time{}
}

// Later reports whether a key was written or removed after another one was.
func (r *Row) Later(key, than string) bool { return r.StampOf(key).After(r.StampOf(than)) }

// ChangedBy is the device that wrote or removed a key last, the zero device for none.
func (r *Row) ChangedBy(key string) record.Device { return r.StampOf(key).Dev }

// Value returns the JSON of a key, nil for none. It is shared and must not be changed.
func (r *Row) Value(key string) json.RawMessage {
	if part := record.PartOf(key); part != 0 && r.Hot.Lacks(part) {
		return nil
	}
	return record.Member(r.JSON(), key)
}

// mayHave is false for nearly every row that lacks a part, and that the bytes of a key of it are not in.
func mayHave(r *Row, part record.Parts, key string) bool {
	return !r.Hot.Lacks(part) && bytes.Contains(r.JSON(), []byte(key)) // which is told faster than by all keys
}

// Has reports whether the memory has a key.
func (r *Row) Has(key string) bool { return r.Value(key) != nil }

// Cold reports whether the text of a live memory is in a note.
func (r *Row) Cold() bool { return r.Live() && r.Stage().Cold() }

// StampOf is when key was last written or removed, zero when never.
func (r *Row) StampOf(key string) record.Stamp {
	for _, reg := range r.Rest().Regs {
		if reg.Key == key {
			return reg.Stamp
		}
	}
	if r.Value(key) != nil {
		return r.Base
	}
	return record.Stamp{}
}

// warm decodes the hot fields from the document.
func warm(r *Row) (err error) {
	if r.Hot, err = record.FacetsOf(r.JSON()); err != nil {
		return fmt.Errorf("memory %s: %w", r.ID(), err)
	}
	return nil
}

// rewarm is warm for a row that differs from before, whose hot fields it has, in
// the keys of set.
func rewarm(r, before *Row, set map[string]json.RawMessage) error {
	if bare(before) {
		return warm(r)
	}
	for key, value := range set {
		if bytes.Equal(value, record.Null) {
			return warm(r) // what is removed is as if it never was
		}
		if err := r.Hot.Take(key, value); err != nil {
			return fmt.Errorf("memory %s: %w", r.ID(), err)
		}
	}
	return nil
}

// Total sums the devices' use onto the imported counts.
func (r *Row) Total() record.UseTotal {
	h := &r.Hot
	sum := record.UseTotal{Uses: int64(h.Uses), Accesses: int64(h.Accesses), Used: max(h.LastUsed, h.Created)}
	if r.Odd == nil {
		return sum
	}
	for _, u := range r.Odd.Use {
		sum.Uses += u.Uses
		sum.Accesses += u.Accesses
		sum.Used = max(sum.Used, u.Used)
		sum.Accessed = max(sum.Accessed, u.Accessed)
		sum.Opened = max(sum.Opened, u.Opened)
	}
	return sum
}

// Imported reports whether the memory came in from another system, or does not say where
// it comes from. Most are told by a look at their bytes.
func (r *Row) Imported() bool {
	chain := r.Value("sources")
	switch said := r.Value("origin"); {
	case chain != nil && !bytes.Contains(r.JSON(), []byte(`"`+memory.FromImport+`"`)):
		return false
	case said == nil && bytes.HasPrefix(chain, []byte(`[{"kind":"`+memory.FromImport+`"`)):
		return true
	}
	m := memory.Memory{Origin: r.textOf("origin")}
	_ = json.Unmarshal(chain, &m.Sources) // what is of another shape says nothing
	if len(m.Sources) > 0 && m.Origin == "" {
		m.Origin = m.Sources[0].Kind
		return m.Origin == memory.FromImport
	}
	return m.Origin == "" || m.Origin == memory.FromImport
}

// KeyRev is the version of one key of a memory: another one each time the key is written
// or removed, "" for a key that never was.
func (r *Row) KeyRev(key string) string {
	if at := r.StampOf(key); !at.IsZero() {
		return at.String()
	}
	return ""
}
