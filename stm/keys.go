package stm

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"sync"
	"time"

	"emberd/memory"
)

// keyLife is how long an idempotency key is remembered.
const keyLife = 24 * time.Hour

// Replayed is what an idempotency key stood for.
type Replayed struct {
	Entry, Hash string
	IDs         []memory.ID
}

// idemKeys remembers idempotency keys. They are in the log; this is the index.
type idemKeys struct {
	mu    sync.Mutex // guards both
	known map[string]keyUse
	swept time.Time
}

type keyUse struct {
	Replayed
	at time.Time
}

// Replay tells what key stood for within the last 24 hours.
func (s *Store) Replay(key string) (Replayed, bool) {
	s.keys.mu.Lock()
	defer s.keys.mu.Unlock()
	use, ok := s.keys.known[key]
	if !ok {
		use, ok = s.keys.known[purgedKey(key)]
	}
	return use.Replayed, ok && s.now().Sub(use.at) < keyLife
}

// add remembers the key of a line. Its age counts from now where its stamp is
// ahead, as it is for long after a clock that was wrong has been set back.
func (k *idemKeys) add(l *line, now time.Time) {
	if l.key == "" {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	at := l.stamp.Time()
	if at.After(now) {
		at = now
	}
	if now.Sub(k.swept).Abs() > time.Hour {
		k.swept = now
		for key, use := range k.known {
			if now.Sub(use.at) > keyLife {
				delete(k.known, key)
			}
		}
	}
	if use, ok := k.known[l.key]; ok && use.at.After(at) {
		return // read out of order
	}
	k.known[l.key] = keyUse{Replayed{Entry: l.tx.String(), Hash: l.keyHash, IDs: l.entry().IDs}, at}
}

// purge takes what is known of purged memories out of the keys that were used
// before, so that their requests are repeated in vain, and the keys themselves.
func (k *idemKeys) purge(which map[[16]byte]purge) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, use := range maps.Clone(k.known) {
		at, err := ParseStamp(use.Entry)
		left := slices.DeleteFunc(slices.Clone(use.IDs), func(id memory.ID) bool {
			p, ok := which[id.Bytes()]
			return ok && err == nil && !at.after(p.stamp)
		})
		if len(left) < len(use.IDs) {
			use.IDs, use.Hash = left, ""
			if k.known[key] = use; len(left) == 0 {
				delete(k.known, key)
				k.known[purgedKey(key)] = use
			}
		}
	}
}

// purgedKey is what is known of a key, which a caller may have made of the text, when all
// that it was used for was purged. That of such a one is another, and means nothing.
func purgedKey(key string) string {
	sum := sha256.Sum256([]byte("purged\x00" + key))
	return "sha256:" + hex.EncodeToString(sum[:16])
}
