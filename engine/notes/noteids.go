package notes

import (
	"maps"
	"slices"
	"sync"

	"emberd/ltm"
	"emberd/memory"
	"emberd/vault"
)

// MemoryIDKey is the property with the ID of a note's memory.
const MemoryIDKey = "memory-id"

// NoteIDs are the notes with a memory ID, as they were last read. It has its own lock, so that
// a follower can use it while it holds another.
type NoteIDs struct {
	mu     sync.RWMutex // guards the fields below; held only within a method
	byID   map[memory.ID][]string
	byPath map[string]memory.ID
}

// newNoteIDs returns the IDs that the index and the archive folder contain.
func newNoteIDs(index *ltm.Index, archive *ArchiveFolder) *NoteIDs {
	c := &NoteIDs{byID: make(map[memory.ID][]string), byPath: make(map[string]memory.ID)}
	for path, text := range index.Having(MemoryIDKey) {
		if id, err := memory.ParseID(text); err == nil {
			c.put(path, id)
		}
	}
	for _, note := range archive.List() {
		if note.ID != "" {
			c.put(note.Path, note.ID)
		}
	}
	return c
}

// record records a note that was read.
func (c *NoteIDs) record(note *vault.Note) {
	id, err := memory.ParseID(note.MemoryID)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(note.Path)
	if err == nil {
		c.put(note.Path, id)
	}
}

// lost removes the note of a path.
func (c *NoteIDs) lost(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(path)
}

// put adds a note. mu must be held, as for drop.
func (c *NoteIDs) put(path string, id memory.ID) {
	c.byPath[path] = id
	at, _ := slices.BinarySearch(c.byID[id], path)
	c.byID[id] = slices.Insert(c.byID[id], at, path)
}

func (c *NoteIDs) drop(path string) {
	id, ok := c.byPath[path]
	if !ok {
		return
	}
	delete(c.byPath, path)
	if rest := slices.DeleteFunc(c.byID[id], func(p string) bool { return p == path }); len(rest) > 0 {
		c.byID[id] = rest
	} else {
		delete(c.byID, id)
	}
}

// At returns the ID of a note.
func (c *NoteIDs) At(path string) (memory.ID, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	id, ok := c.byPath[path]
	return id, ok
}

// IDs returns every ID of a note, in no order.
func (c *NoteIDs) IDs() []memory.ID {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Collect(maps.Keys(c.byID))
}

// len returns how many notes have an ID.
func (c *NoteIDs) len() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.byPath)
}

// Of returns the notes with an ID, sorted by path.
func (c *NoteIDs) Of(id memory.ID) []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Clone(c.byID[id])
}
