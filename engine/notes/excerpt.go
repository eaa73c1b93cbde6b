package notes

import (
	"crypto/sha256"
	"sync"

	"emberd/ltm"
)

// excerpts keeps the parts of notes that were shown last, so that a note is not read and parsed
// again for each search that shows it.
type excerpts struct {
	mu      sync.Mutex
	newer   map[excerptKey]string
	older   map[excerptKey]string // dropped when newer is full and takes its place
	halfway int                   // bytes of newer
}

// excerptKey is a place in a note with these bytes.
type excerptKey struct {
	digest         [sha256.Size]byte
	section, above int
}

// maxExcerpts bounds the bytes of excerpts that are kept.
const maxExcerpts = 4 << 20

// Excerpt returns the passage of a hit as [vault.Vault.Excerpt] does.
func (n *VaultNotes) Excerpt(h *ltm.Hit) (string, error) {
	root, file := n.Root.Load(), FileOf(*h)
	key := excerptKey{h.Cursor.Digest, h.SectionLine, h.Above}
	text, known := n.excerpts.find(key)
	if known && root.Unchanged(file) {
		return text, nil
	}
	text, err := root.Excerpt(file, h.SectionLine, h.Above, PassageBytes)
	if err == nil {
		n.excerpts.add(key, text)
	}
	return text, err
}

func (e *excerpts) find(key excerptKey) (string, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	text, ok := e.newer[key]
	if !ok {
		if text, ok = e.older[key]; ok {
			e.keep(key, text)
		}
	}
	return text, ok
}

func (e *excerpts) add(key excerptKey, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.keep(key, text)
}

func (e *excerpts) clear() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.newer, e.older = nil, nil
}

// keep is called with mu held.
func (e *excerpts) keep(key excerptKey, text string) {
	const overhead = 128 // of an entry beside its text
	if e.halfway += len(text) + overhead; e.newer == nil || e.halfway > maxExcerpts/2 {
		e.older, e.newer, e.halfway = e.newer, make(map[excerptKey]string), len(text)+overhead
	}
	e.newer[key] = text
}
