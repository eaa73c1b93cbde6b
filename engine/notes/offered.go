package notes

import (
	"sync"
	"time"

	"emberd/memory"
)

// Offered remembers which archived memories searches found relevant, so that opening or using one soon after
// rekindles it. It is for many goroutines. The zero value is empty.
type Offered struct {
	mu sync.Mutex
	at map[memory.ID]time.Time
}

// A memory is remembered for offeredFor, and at most maxOffered are.
const (
	offeredFor = 24 * time.Hour
	maxOffered = 4096
)

// Add remembers memories. When too many are, it forgets all that were added before.
func (o *Offered) Add(now time.Time, ids ...memory.ID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.at == nil || len(o.at)+len(ids) > maxOffered {
		o.at = make(map[memory.ID]time.Time)
	}
	for _, id := range ids {
		o.at[id] = now
	}
}

// Has reports whether a memory was added in the last day.
func (o *Offered) Has(now time.Time, id memory.ID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	at, ok := o.at[id]
	return ok && now.Sub(at) < offeredFor
}
