package linkindex

import (
	"cmp"
	"container/heap"
	"iter"
	"slices"
	"strings"

	"emberd/vault/notename"
)

// bucket contains the notes that one name may mean. A nil bucket contains none.
type bucket struct {
	count int
	only  *linked // when count is 1
	// places says, when there are several notes, what lies in and below each folder,
	// "" being the vault.
	places map[string]*place
}

// place contains the notes of a bucket in and below a folder.
type place struct {
	count int
	// heap has the best note on top. Notes that were removed stay below it until
	// they come to the top or are the most, so that removing one takes no search.
	heap byLength
}

// byLength is a heap of notes, the one with the shortest path on top.
type byLength []*linked

func (h byLength) Len() int           { return len(h) }
func (h byLength) Less(i, j int) bool { return shorter(h[i], h[j]) }
func (h byLength) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *byLength) Push(n any)        { *h = append(*h, n.(*linked)) }
func (h *byLength) Pop() any {
	last := len(*h) - 1
	n := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return n
}

func (p *place) add(n *linked) {
	p.count++
	heap.Push(&p.heap, n)
}

// remove removes a note that is gone.
func (p *place) remove() {
	p.count--
	if len(p.heap) > 2*p.count+8 {
		p.heap = slices.DeleteFunc(p.heap, func(n *linked) bool { return n.gone })
		heap.Init(&p.heap)
	}
	for len(p.heap) > 0 && p.heap[0].gone {
		heap.Pop(&p.heap)
	}
}

// nearest returns the note that the name means in a note of a folder: one in or below the folder
// before any other, then the shortest path. If sees is not nil, only notes that it accepts count.
func (b *bucket) nearest(folder string, sees func(path string) bool) *linked {
	switch {
	case b == nil || b.count == 0:
		return nil
	case sees != nil:
		return b.nearestOf(folder, sees)
	case b.count == 1:
		return b.only
	}
	if p, ok := b.places[folder]; ok {
		return p.heap[0]
	}
	return b.places[""].heap[0]
}

// nearestOf checks every note of the bucket.
func (b *bucket) nearestOf(folder string, sees func(path string) bool) *linked {
	if b.count == 1 {
		if sees(b.only.path) {
			return b.only
		}
		return nil
	}
	for _, in := range []string{folder, ""} {
		var best *linked
		if p := b.places[in]; p != nil {
			for _, n := range p.heap {
				if !n.gone && sees(n.path) && (best == nil || shorter(n, best)) {
					best = n
				}
			}
		}
		if best != nil {
			return best
		}
	}
	return nil
}

func shorter(a, b *linked) bool {
	return cmp.Or(cmp.Compare(len(a.path), len(b.path)), strings.Compare(a.path, b.path)) < 0
}

func (b *bucket) add(n *linked) {
	b.count++
	switch {
	case b.count == 1:
		b.only = n
		return
	case b.count == 2:
		b.places = map[string]*place{}
		b.put(b.only)
		b.only = nil
	}
	b.put(n)
}

func (b *bucket) put(n *linked) {
	for folder := range notename.Folders(n.folded) {
		p := b.places[folder]
		if p == nil {
			p = &place{}
			b.places[folder] = p
		}
		p.add(n)
	}
}

// remove removes a note that is gone.
func (b *bucket) remove(n *linked) {
	b.count--
	if b.count == 0 {
		b.only = nil
		return
	}
	for folder := range notename.Folders(n.folded) {
		p := b.places[folder]
		if p.remove(); p.count == 0 {
			delete(b.places, folder)
		}
	}
	if b.count == 1 {
		b.only, b.places = b.places[""].heap[0], nil
	}
}

// ends yields "c", "b/c" and "a/b/c" for a/b/c.
func ends(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for at := len(name); at > 0; {
			at = strings.LastIndexByte(name[:at], '/')
			if !yield(name[at+1:]) {
				return
			}
		}
	}
}

func file(buckets map[string]*bucket, key string, n *linked) {
	b := buckets[key]
	if b == nil {
		b = &bucket{}
		buckets[key] = b
	}
	b.add(n)
}

func unfile(buckets map[string]*bucket, key string, n *linked) {
	b := buckets[key]
	if b == nil {
		return
	}
	if b.remove(n); b.count == 0 {
		delete(buckets, key)
	}
}
