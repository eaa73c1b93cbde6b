package stm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"emberd/memory"
)

// The provenance chain that a memory is saved with is its key sources. Each link that is
// learned later is a key of its own: source., the device that wrote it, a dot, and a
// number below memory.MaxSources. So a link costs the log no more than itself, two
// devices that learn at the same time lose neither, and undo takes back one link. A full
// device writes over its oldest link, and the new one counts how often that was learned.
// Keys that only look like one are kept, and are none.
const sourcePrefix = "source."

// heldSource is the value of such a key.
type heldSource struct {
	memory.Source
	Dropped int64 `json:"dropped,omitempty"`
}

// IsSourceKey reports whether a key is where a link of the provenance chain belongs, well
// formed or not.
func IsSourceKey(key string) bool { return strings.HasPrefix(key, sourcePrefix) }

// ParseSource reads a key of a memory that holds a link. The caller owns the result.
func ParseSource(key string, value []byte) (memory.Source, error) {
	if _, _, ok := slotOf(key); !ok {
		return memory.Source{}, fmt.Errorf("%.60q does not hold a source", key)
	}
	var held heldSource
	err := json.Unmarshal(value, &held)
	return held.Source, err
}

// ParseFirstSource reads the first link of the chain that a memory was saved with, the
// value of its key sources, but for the time, which may be implied. The caller owns it.
func ParseFirstSource(value []byte) (memory.Source, error) {
	var m memory.Memory
	err := json.Unmarshal(value, &m.Sources)
	if err != nil || len(m.Sources) == 0 {
		return memory.Source{}, err
	}
	gatherSources(&m, nil)
	return m.Sources[0], nil
}

// slotOf takes the name of a key apart.
func slotOf(key string) (dev Device, n int, ok bool) {
	name, ok := strings.CutPrefix(key, sourcePrefix)
	device, number, dotted := strings.Cut(name, ".")
	if dev, known := parseDevice(device); ok && dotted && known {
		n, err := strconv.Atoi(number)
		return dev, n, err == nil && n >= 0 && n < memory.MaxSources && strconv.Itoa(n) == number
	}
	return dev, 0, false
}

func slotKey(dev Device, n int) string { return sourcePrefix + dev.String() + "." + strconv.Itoa(n) }

// Learned returns the key of a live memory that is to be set when it is learned once
// more, and its value: [Change] writes them. The row has to be locked, or two that learn
// at the same time are one.
func (s *Store) Learned(r *Row, link memory.Source) (key string, value json.RawMessage) {
	return s.learnedBy(r.doc, link)
}

// LearnedAnew is [Store.Learned] for a memory with these fields that comes back from the
// trash and is learned once more in doing so.
func (s *Store) LearnedAnew(fields map[string]json.RawMessage, link memory.Source) (key string, value json.RawMessage) {
	return s.learnedBy(encode(fields), link)
}

func (s *Store) learnedBy(doc []byte, link memory.Source) (key string, value json.RawMessage) {
	own := slots(doc, s.device)
	n := slices.IndexFunc(own, func(h *heldSource) bool { return h != nil && h.Equal(link) })
	if n < 0 {
		n = slices.Index(own, nil)
	}
	if n < 0 {
		n = oldestSlot(own)
	}
	return slotKey(s.device, n), encode(own[n].learned(link))
}

// learned is what a slot holds, nil for nothing, after a link was learned.
func (h *heldSource) learned(link memory.Source) heldSource {
	var m memory.Memory
	var next heldSource
	switch {
	case h == nil:
	case h.Equal(link):
		next.Dropped = h.Dropped
		m.Learn(h.Source)
	default:
		next.Dropped = h.Dropped + h.Count()
	}
	m.Learn(link)
	next.Source = m.Sources[0]
	return next
}

// slots are what a device learned of a document's memory, nil where there is nothing.
func slots(doc []byte, dev Device) []*heldSource {
	own := make([]*heldSource, memory.MaxSources)
	eachSource(doc, func(of Device, n int, held *heldSource) {
		if of == dev {
			own[n] = held
		}
	})
	return own
}

func oldestSlot(own []*heldSource) int {
	oldest := 0
	for n, h := range own {
		if h.At.Before(own[oldest].At) {
			oldest = n
		}
	}
	return oldest
}

// eachSource calls fn with the links of a document that are keys of their own.
func eachSource(doc []byte, fn func(dev Device, n int, held *heldSource)) {
	if !bytes.Contains(doc, []byte(`"`+sourcePrefix)) {
		return
	}
	_ = eachField(doc, func(name, value []byte) bool { // it was walked before
		if !bytes.HasPrefix(name, []byte(sourcePrefix)) {
			return true
		}
		var held heldSource
		if dev, n, ok := slotOf(string(name)); ok && json.Unmarshal(value, &held) == nil {
			fn(dev, n, &held)
		}
		return true
	})
}

// gatherSources completes the provenance chain of a memory by what was learned since it
// was saved, and by what [Implied] left out.
func gatherSources(m *memory.Memory, doc []byte) {
	if len(m.Sources) > 0 {
		first := &m.Sources[0]
		if first.At.IsZero() {
			first.At = m.CreatedAt
		}
		if first.Kind == "" && first.By != nil {
			first.Kind = first.By.Origin()
		}
		m.Origin = cmp.Or(m.Origin, first.Kind)
	}
	type slot struct {
		*heldSource
		dev Device
		n   int
	}
	var later []slot
	eachSource(doc, func(dev Device, n int, held *heldSource) { later = append(later, slot{held, dev, n}) })
	slices.SortFunc(later, func(a, b slot) int {
		return cmp.Or(a.At.Compare(b.At), bytes.Compare(a.dev[:], b.dev[:]), cmp.Compare(a.n, b.n))
	})
	for _, s := range later {
		m.Learn(s.Source)
		m.SourcesDropped += s.Dropped
	}
}

// Imported reports whether the memory came in from another system, or does not say where
// it comes from. Most are told by a look at their bytes.
func (r *Row) Imported() bool {
	chain := r.value("sources")
	switch said := r.value("origin"); {
	case chain != nil && !bytes.Contains(r.doc, []byte(`"`+memory.FromImport+`"`)):
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

// Implied takes out of a memory that is to be stored what is the same for nearly all: the
// time of the first link where it is that of the memory, an origin that is the kind of
// that link, and a kind that follows from who wrote it ([memory.Actor.Origin]). The
// memory's chain is copied.
func Implied(m *memory.Memory) {
	if len(m.Sources) == 0 {
		return
	}
	m.Sources = slices.Clone(m.Sources)
	first := &m.Sources[0]
	if first.At.Equal(m.CreatedAt) {
		first.At = time.Time{}
	}
	if m.Origin == first.Kind {
		m.Origin = ""
	}
	if first.By != nil && first.Kind == first.By.Origin() {
		first.Kind = ""
	}
}
