package engine

import (
	"maps"
	"slices"
	"sync"

	"emberd/ltm"
	"emberd/memory"
	"emberd/vault"
)

// memoryIDKey is the property that says which memory a note is of.
const memoryIDKey = "memory-id"

// carriers are the notes that carry the id of a memory, as they were read last.
type carriers struct {
	mu     sync.RWMutex // guards what follows
	byID   map[memory.ID][]string
	byPath map[string]memory.ID
}

// newCarriers begins with what the index and the archive folder know.
func newCarriers(index *ltm.Index, archive *archiveFolder) *carriers {
	c := &carriers{byID: make(map[memory.ID][]string), byPath: make(map[string]memory.ID)}
	for path, text := range index.Having(memoryIDKey) {
		if id, err := memory.ParseID(text); err == nil {
			c.put(path, id)
		}
	}
	for _, note := range archive.list() {
		if note.ID != "" {
			c.put(note.Path, note.ID)
		}
	}
	return c
}

// saw takes in a note as it was read.
func (c *carriers) saw(note *vault.Note) {
	id, err := memory.ParseID(note.MemoryID)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(note.Path)
	if err == nil {
		c.put(note.Path, id)
	}
}

// lost takes in that there is no note of that path any more.
func (c *carriers) lost(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(path)
}

// put and drop are called with mu held.
func (c *carriers) put(path string, id memory.ID) {
	c.byPath[path] = id
	at, _ := slices.BinarySearch(c.byID[id], path)
	c.byID[id] = slices.Insert(c.byID[id], at, path)
}

func (c *carriers) drop(path string) {
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

// at returns which id a note carries.
func (c *carriers) at(path string) (memory.ID, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	id, ok := c.byPath[path]
	return id, ok
}

// ids returns every id that a note carries, in no order.
func (c *carriers) ids() []memory.ID {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Collect(maps.Keys(c.byID))
}

// len counts the notes that carry an id.
func (c *carriers) len() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.byPath)
}

// of returns the notes that carry an id, sorted by path.
func (c *carriers) of(id memory.ID) []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Clone(c.byID[id])
}
