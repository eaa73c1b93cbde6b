package vault

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// bucket holds the notes that one name may mean. A nil bucket holds none.
type bucket struct {
	notes []*linked
	// places says, when there are several notes, what lies in and below each folder,
	// "" being the vault.
	places map[string]place
}

// place is what a bucket has in and below a folder: how many notes, and the one with
// the shortest path.
type place struct {
	count int
	best  *linked
}

// nearest returns the note that the name means in a note of a folder: one in or
// below the folder before any other, then the shortest path.
func (b *bucket) nearest(folder string) *linked {
	switch {
	case b == nil || len(b.notes) == 0:
		return nil
	case len(b.notes) == 1:
		return b.notes[0]
	}
	if p, ok := b.places[folder]; ok {
		return p.best
	}
	return b.places[""].best
}

func shorter(a, b *linked) bool {
	return cmp.Or(cmp.Compare(len(a.path), len(b.path)), strings.Compare(a.path, b.path)) < 0
}

func (b *bucket) add(n *linked) {
	b.notes = append(b.notes, n)
	switch {
	case len(b.notes) == 1:
	case b.places == nil:
		b.places = map[string]place{}
		for _, known := range b.notes {
			b.put(known)
		}
	default:
		b.put(n)
	}
}

func (b *bucket) put(n *linked) {
	for folder := range folders(n.folded) {
		p := b.places[folder]
		p.count++
		if p.best == nil || shorter(n, p.best) {
			p.best = n
		}
		b.places[folder] = p
	}
}

// remove takes a note out. Another best is looked for only where it was the best of
// several.
func (b *bucket) remove(n *linked) {
	at := slices.Index(b.notes, n)
	if at < 0 {
		return
	}
	last := len(b.notes) - 1
	b.notes[at], b.notes[last] = b.notes[last], nil
	if b.notes = b.notes[:last]; last < 2 {
		b.places = nil
		return
	}
	for folder := range folders(n.folded) {
		p := b.places[folder]
		if p.count--; p.count == 0 {
			delete(b.places, folder)
			continue
		}
		if p.best == n {
			p.best = b.best(folder)
		}
		b.places[folder] = p
	}
}

// best looks for the shortest path in and below a folder.
func (b *bucket) best(folder string) *linked {
	var best *linked
	for _, n := range b.notes {
		if (best == nil || shorter(n, best)) && under(n.folded, folder) {
			best = n
		}
	}
	return best
}

func under(name, folder string) bool {
	return folder == "" || len(name) > len(folder) && name[len(folder)] == '/' && name[:len(folder)] == folder
}

// folderOf returns the folder of a path, "" at the root.
func folderOf(name string) string { return name[:max(0, strings.LastIndexByte(name, '/'))] }

// folders yields the folders above a path, from the nearest to "".
func folders(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name != "" {
			if name = folderOf(name); !yield(name) {
				return
			}
		}
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
	if b.remove(n); len(b.notes) == 0 {
		delete(buckets, key)
	}
}
