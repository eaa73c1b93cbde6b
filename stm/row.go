package stm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"emberd/memory"
)

// Row is one memory as the table holds it. A Row never changes: an update
// makes a new one. It is safe to share and cheap to read; only Content and
// Memory decode JSON.
type Row struct {
	key  [16]byte
	doc  []byte // JSON object of all present keys, unknown ones included
	base Stamp  // of every key of doc that regs does not name
	regs []register
	tomb Stamp // hides every key with an older stamp
	born Stamp // latest put: the memory lives while born is after tomb
	rev  Stamp // latest of all of the above
	hot  hot
	use  []useTotal
	sum  useTotal // over all devices, imported base included
}

// register is the stamp of one key that was written apart from the rest.
type register struct {
	key   string
	stamp Stamp
}

// hot holds what ranking and filters read, decoded once.
type hot struct {
	tags                          []string
	project, collection, category string
	stage                         memory.Stage
	strength                      float64
	core, promoted                bool
	created, updated, lastUsed    int64 // Unix milliseconds
	uses, accesses                int64 // imported base
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

// Rev changes with every change of content or fields, not with use.
func (r *Row) Rev() string { return r.rev.String() }

// Stage is how far the memory has faded.
func (r *Row) Stage() memory.Stage { return r.hot.stage }

// Core memories never fade.
func (r *Row) Core() bool { return r.hot.core }

// Strength multiplies decay, 0–2.
func (r *Row) Strength() float64 { return r.hot.strength }

// UseCount sums the uses on all devices.
func (r *Row) UseCount() int64 { return r.sum.uses }

// AccessCount sums the tracked searches that returned the memory.
func (r *Row) AccessCount() int64 { return r.sum.accesses }

// LastUsed is the latest use anywhere, the creation when there was none.
func (r *Row) LastUsed() time.Time { return milli(r.sum.used) }

// LastAccessed is the latest tracked search that returned the memory, or zero.
func (r *Row) LastAccessed() time.Time { return milli(r.sum.accessed) }

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

// Content decodes the memory's text.
func (r *Row) Content() string { return r.textOf("content") }

func (r *Row) textOf(key string) string {
	s, _ := textValue(r.value(key))
	return s
}

// Memory decodes the whole memory, counters included. The caller owns it.
func (r *Row) Memory() (memory.Memory, error) {
	m, err := decodeMemory(r.doc)
	if err != nil {
		return m, fmt.Errorf("memory %s: %w", r.ID(), err)
	}
	m.ID = r.ID()
	m.UseCount, m.AccessCount = r.sum.uses, r.sum.accesses
	m.LastUsed, m.LastAccessed = r.LastUsed(), r.LastAccessed()
	return m, nil
}

func decodeMemory(doc []byte) (memory.Memory, error) {
	m := memory.Memory{Confidence: 1, Importance: 0.5, Strength: 1,
		Collection: memory.DefaultCollection, Stage: memory.Active}
	err := json.Unmarshal(doc, &m)
	return m, err
}

func milli(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// live reports whether the memory exists for callers.
func (r *Row) live() bool { return !r.born.IsZero() && r.born.after(r.tomb) }

// value returns the raw JSON of one key, nil when absent.
func (r *Row) value(key string) []byte {
	var found []byte
	// A document that was applied has been walked before.
	_ = eachField(r.doc, func(name, value []byte) bool {
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
	for _, reg := range r.regs {
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
func (r *Row) warm() error {
	h := hot{stage: memory.Active, collection: memory.DefaultCollection, strength: 1}
	if len(r.doc) == 0 {
		r.hot = h
		r.total()
		return nil
	}
	var bad error
	err := eachField(r.doc, func(name, value []byte) bool {
		bad = h.take(string(name), value)
		return bad == nil
	})
	if err == nil {
		err = bad
	}
	if err != nil {
		return fmt.Errorf("memory %s: %w", r.ID(), err)
	}
	r.hot = h
	r.total()
	return nil
}

func (h *hot) take(name string, value []byte) (err error) {
	switch name {
	case "tags":
		err = json.Unmarshal(value, &h.tags)
	case "project":
		h.project, err = textValue(value)
	case "collection":
		h.collection, err = textValue(value)
	case "category":
		h.category, err = textValue(value)
	case "stage":
		var s string
		s, err = textValue(value)
		h.stage = memory.Stage(s)
	case "strength":
		h.strength, err = strconv.ParseFloat(string(value), 64)
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
		h.uses, err = strconv.ParseInt(string(value), 10, 64)
	case "access_count":
		h.accesses, err = strconv.ParseInt(string(value), 10, 64)
	}
	if err != nil {
		return fmt.Errorf("field %s: %w", name, err)
	}
	return nil
}

func milliField(value []byte) (int64, error) {
	if len(value) < 2 {
		return 0, errSyntax
	}
	t, err := time.Parse(time.RFC3339Nano, string(value[1:len(value)-1]))
	return t.UnixMilli(), err
}

// total sums the devices' use onto the imported base.
func (r *Row) total() {
	r.sum = useTotal{uses: r.hot.uses, accesses: r.hot.accesses, used: max(r.hot.lastUsed, r.hot.created)}
	for _, u := range r.use {
		r.sum.uses += u.uses
		r.sum.accesses += u.accesses
		r.sum.used = max(r.sum.used, u.used)
		r.sum.accessed = max(r.sum.accessed, u.accessed)
	}
}
