package device

import (
	"slices"
	"sync"

	"emberd/stm/record"
)

// Numbers are the sequence numbers met, by device.
type Numbers struct {
	mu sync.Mutex // guards by
	By map[record.Device]*record.Ranges
}

func NewNumbers() *Numbers { return &Numbers{By: map[record.Device]*record.Ranges{}} }

// Of returns the numbers of one device. It is for recovery, which is alone.
func (n *Numbers) Of(dev record.Device) *record.Ranges {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.By[dev] == nil {
		n.By[dev] = &record.Ranges{}
	}
	return n.By[dev]
}

// Add takes note of lo to hi and reports whether any of them is new.
func (n *Numbers) Add(dev record.Device, lo, hi uint64) bool {
	r := n.Of(dev)
	n.mu.Lock()
	defer n.mu.Unlock()
	return r.Add(lo, hi)
}

// Clone copies all.
func (n *Numbers) Clone() map[record.Device]*record.Ranges {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := make(map[record.Device]*record.Ranges, len(n.By))
	for dev, r := range n.By {
		out[dev] = &record.Ranges{Spans: slices.Clone(r.Spans)}
	}
	return out
}

// Contiguous returns for every device the highest number up to which none is
// missing.
func (n *Numbers) Contiguous() map[record.Device]uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := make(map[record.Device]uint64, len(n.By))
	for dev, r := range n.By {
		out[dev] = r.Unbroken()
	}
	return out
}
