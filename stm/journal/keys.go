package journal

import (
	"maps"
	"slices"
	"sync"
	"time"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
)

// Replayed is what an idempotency key stood for.
type Replayed struct {
	Entry, Hash string
	IDs         []memory.ID
}

// Keys remembers idempotency keys. They are in the log; this is the index.
type Keys struct {
	Mu    sync.Mutex // guards both
	Known map[string]KeyUse
	swept time.Time
}

func NewIdemKeys() *Keys { return &Keys{Known: map[string]KeyUse{}} }

type KeyUse struct {
	Replayed
	At time.Time
}

// Replay reports what key stood for within the last 24 hours.
func (k *Keys) Replay(key string, now time.Time) (Replayed, bool) {
	k.Mu.Lock()
	defer k.Mu.Unlock()
	use, ok := k.Known[key]
	if !ok {
		use, ok = k.Known[record.PurgedKey(key)]
	}
	return use.Replayed, ok && now.Sub(use.At) < record.KeyLife
}

// Add remembers the key of a line. Its age counts from now where its stamp is
// ahead, as it is for long after a clock that was wrong has been set back.
func (k *Keys) Add(l *record.Line, now time.Time) {
	if l.Key == "" {
		return
	}
	k.Mu.Lock()
	defer k.Mu.Unlock()
	at := l.Stamp.Time()
	if at.After(now) {
		at = now
	}
	if now.Sub(k.swept).Abs() > time.Hour {
		k.swept = now
		for key, use := range k.Known {
			if now.Sub(use.At) > record.KeyLife {
				delete(k.Known, key)
			}
		}
	}
	if use, ok := k.Known[l.Key]; ok && use.At.After(at) {
		return // read out of order
	}
	k.Known[l.Key] = KeyUse{Replayed{Entry: l.Tx.String(), Hash: l.KeyHash, IDs: l.Entry().IDs}, at}
}

// Purge takes what is known of purged memories out of the keys that were used
// before, so that their requests are repeated in vain, and the keys themselves.
func (k *Keys) Purge(which map[[16]byte]table.Purge) {
	k.Mu.Lock()
	defer k.Mu.Unlock()
	for key, use := range maps.Clone(k.Known) {
		at, err := record.ParseStamp(use.Entry)
		left := slices.DeleteFunc(slices.Clone(use.IDs), func(id memory.ID) bool {
			p, ok := which[id.Bytes()]
			return ok && err == nil && !at.After(p.Stamp)
		})
		if len(left) < len(use.IDs) {
			use.IDs, use.Hash = left, ""
			if k.Known[key] = use; len(left) == 0 {
				delete(k.Known, key)
				k.Known[record.PurgedKey(key)] = use
			}
		}
	}
}
