package record

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
// devices that learn at the same time lose neither, and undo reverts one link. A full
// device writes over its oldest link, and the new one counts how often that was learned.
// Keys that only look like one are kept, and are none.
const sourcePrefix = "source."

// HeldSource is the value of such a key.
type HeldSource struct {
	memory.Source
	Dropped int64 `json:"dropped,omitempty"`
}

// IsSourceKey reports whether a key is where a link of the provenance chain belongs, well
// formed or not.
func IsSourceKey(key string) bool { return strings.HasPrefix(key, sourcePrefix) }

// ParseSource reads a key of a memory that holds a link. The caller owns the result.
func ParseSource(key string, value []byte) (memory.Source, error) {
	if _, _, ok := slotOf(key); !ok {
		return memory.Source{}, fmt.Errorf("invalid source %.60q", key)
	}
	var held HeldSource
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
	GatherSources(&m, nil)
	return m.Sources[0], nil
}

// slotOf takes the name of a key apart.
func slotOf(key string) (dev Device, n int, ok bool) {
	name, ok := strings.CutPrefix(key, sourcePrefix)
	device, number, dotted := strings.Cut(name, ".")
	if dev, known := ParseDevice(device); ok && dotted && known {
		n, err := strconv.Atoi(number)
		return dev, n, err == nil && n >= 0 && n < memory.MaxSources && strconv.Itoa(n) == number
	}
	return dev, 0, false
}

func SlotKey(dev Device, n int) string { return sourcePrefix + dev.String() + "." + strconv.Itoa(n) }

// Learned is what a slot holds, nil for nothing, after a link was learned.
func (h *HeldSource) Learned(link memory.Source) HeldSource {
	var m memory.Memory
	var next HeldSource
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

// Slots are what a device learned of a document's memory, nil where there is nothing.
func Slots(doc []byte, dev Device) []*HeldSource {
	own := make([]*HeldSource, memory.MaxSources)
	eachSource(doc, func(of Device, n int, held *HeldSource) {
		if of == dev {
			own[n] = held
		}
	})
	return own
}

func OldestSlot(own []*HeldSource) int {
	oldest := 0
	for n, h := range own {
		if h.At.Before(own[oldest].At) {
			oldest = n
		}
	}
	return oldest
}

// eachSource calls fn with the links of a document that are keys of their own.
func eachSource(doc []byte, fn func(dev Device, n int, held *HeldSource)) {
	if !bytes.Contains(doc, []byte(`"`+sourcePrefix)) {
		return
	}
	_ = EachField(doc, func(name, value []byte) bool { // it was walked before
		if !bytes.HasPrefix(name, []byte(sourcePrefix)) {
			return true
		}
		var held HeldSource
		if dev, n, ok := slotOf(string(name)); ok && json.Unmarshal(value, &held) == nil {
			fn(dev, n, &held)
		}
		return true
	})
}

// GatherSources completes the provenance chain of a memory by what was learned since it
// was saved, and by what [Implied] left out.
func GatherSources(m *memory.Memory, doc []byte) {
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
		*HeldSource
		dev Device
		n   int
	}
	var later []slot
	eachSource(doc, func(dev Device, n int, held *HeldSource) { later = append(later, slot{held, dev, n}) })
	slices.SortFunc(later, func(a, b slot) int {
		return cmp.Or(a.At.Compare(b.At), bytes.Compare(a.dev[:], b.dev[:]), cmp.Compare(a.n, b.n))
	})
	for _, s := range later {
		m.Learn(s.Source)
		m.SourcesDropped += s.Dropped
	}
}

// Implied takes out of a memory that is to be stored what is the same for nearly all: the
// time of the first link where it is that of the memory, an origin that is the kind of
// that link, and a kind that follows from its actor ([memory.Actor.Origin]). The
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
