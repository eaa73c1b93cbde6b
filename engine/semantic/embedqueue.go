package semantic

import (
	prio "container/heap"
	"time"
)

// EmbedQueue is the queue of documents without embeddings, newest first, and the number of
// those with them.
type EmbedQueue struct {
	open    map[string]due
	order   dueHeap
	Aside   int // number of postponed documents in open
	Covered int
}

// due is a document to embed.
type due struct {
	at    time.Time
	aside bool
}

// Clear empties the queue.
func (t *EmbedQueue) Clear() { *t = EmbedQueue{open: make(map[string]due)} }

// Total returns how many documents there are.
func (t *EmbedQueue) Total() int { return t.Covered + len(t.open) }

// Left returns how many documents can be embedded now.
func (t *EmbedQueue) Left() int { return len(t.open) - t.Aside }

// Add queues a document; had is true if it had its embeddings before.
func (t *EmbedQueue) Add(name string, at time.Time, had bool) {
	before, is := t.open[name]
	switch {
	case before.aside:
		t.Aside--
	case !is && had:
		t.Covered--
	}
	t.open[name] = due{at: at}
	prio.Push(&t.order, dueAt{name, at})
}

// First returns the newest document to embed.
func (t *EmbedQueue) First() (name string, ok bool) {
	for len(t.order) > 0 {
		top := t.order[0]
		if d, ok := t.open[top.name]; ok && !d.aside && d.at.Equal(top.at) {
			return top.name, true
		}
		prio.Pop(&t.order)
	}
	return "", false
}

// Done removes an embedded document from the queue.
func (t *EmbedQueue) Done(name string) {
	if t.drop(name) {
		t.Covered++
	}
}

// Postpone keeps a document for later.
func (t *EmbedQueue) Postpone(name string) {
	if d, ok := t.open[name]; ok && !d.aside {
		t.open[name] = due{at: d.at, aside: true}
		t.Aside++
	}
}

// drop removes a document from the queue and reports whether it was queued.
func (t *EmbedQueue) drop(name string) bool {
	d, ok := t.open[name]
	if ok && d.aside {
		t.Aside--
	}
	delete(t.open, name)
	if len(t.open) == 0 { // a map and a heap keep the room for all that they ever held
		t.open, t.order = make(map[string]due), nil
	}
	return ok
}

// Gone removes a deleted document; had is true if it had its embeddings.
func (t *EmbedQueue) Gone(name string, had bool) {
	if !t.drop(name) && had {
		t.Covered--
	}
}

// dueAt is an entry of the heap. An entry with an older time than the document's is ignored.
type dueAt struct {
	name string
	at   time.Time
}

// dueHeap is a heap with the newest entry on top.
type dueHeap []dueAt

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].at.After(h[j].at) }
func (h dueHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *dueHeap) Push(x any)        { *h = append(*h, x.(dueAt)) }
func (h *dueHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
