package engine

import (
	prio "container/heap"
	"time"
)

// todo is which documents have no vectors yet, newest first, and how many have.
type todo struct {
	open    map[string]due
	order   dueHeap
	aside   int // of the open ones, that are left for later
	covered int
}

// due is a document that needs vectors.
type due struct {
	at    time.Time
	aside bool
}

// clear forgets everything.
func (t *todo) clear() { *t = todo{open: make(map[string]due)} }

func (t *todo) total() int { return t.covered + len(t.open) }

// left counts what can be done now.
func (t *todo) left() int { return len(t.open) - t.aside }

// add has a document wait, which had its vectors or not.
func (t *todo) add(name string, at time.Time, had bool) {
	before, is := t.open[name]
	switch {
	case before.aside:
		t.aside--
	case !is && had:
		t.covered--
	}
	t.open[name] = due{at: at}
	prio.Push(&t.order, dueAt{name, at})
}

// first is the newest that waits.
func (t *todo) first() (name string, ok bool) {
	for len(t.order) > 0 {
		top := t.order[0]
		if d, ok := t.open[top.name]; ok && !d.aside && d.at.Equal(top.at) {
			return top.name, true
		}
		prio.Pop(&t.order)
	}
	return "", false
}

// done says that a document has its vectors.
func (t *todo) done(name string) {
	if t.drop(name) {
		t.covered++
	}
}

// putAside leaves a document that waits for later.
func (t *todo) putAside(name string) {
	if d, ok := t.open[name]; ok && !d.aside {
		t.open[name] = due{at: d.at, aside: true}
		t.aside++
	}
}

// drop says that a document need not wait, and reports whether it did.
func (t *todo) drop(name string) bool {
	d, ok := t.open[name]
	if ok && d.aside {
		t.aside--
	}
	delete(t.open, name)
	return ok
}

// gone says that there is no such document any more, which had its vectors or not.
func (t *todo) gone(name string, had bool) {
	if !t.drop(name) && had {
		t.covered--
	}
}

// dueAt is an entry of the order. One of an earlier time than the document's counts for nothing.
type dueAt struct {
	name string
	at   time.Time
}

// dueHeap has the newest on top.
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
