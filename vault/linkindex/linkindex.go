// Package linkindex resolves the links between the notes of one vault as Obsidian does, and finds
// the notes that link to a note. A link takes a few look-ups, however many notes and links there
// are; after all notes are removed the index is empty.
package linkindex

import (
	"iter"
	"path"
	"slices"
	"strings"
	"sync"

	"emberd/vault/notename"
)

// Index resolves links between the notes of one vault, as Obsidian does. It files each note under
// every end of its path, so that resolving a link takes a few look-ups however many notes and
// links there are. Several goroutines may use it.
type Index struct {
	*named
	sees func(path string) bool // nil for every note, see [Links.Through]
}

// named contains the notes and links, which all views of an index share. Its lock is held for one
// call, for reading by Resolve and Backlinks.
type named struct {
	mu      sync.RWMutex
	notes   map[string]*linked   // by path
	folded  map[string]*bucket   // by folded path without .md
	suffix  map[string]*bucket   // by each end of the folded path, without .md: "c", "b/c", "a/b/c"
	aliases map[string]*bucket   // by folded alias
	targets map[string]mentioned // by the last name of the target, folded
}

// linked is a note of the index.
type linked struct {
	path    string
	folded  string   // path without .md, folded
	aliases []string // folded
	names   []string // under which its links are in targets
	gone    bool     // removed, or replaced by what the note is now
}

// mentioned contains the targets that end in one name, as written, by the note they are in.
type mentioned map[*linked][]string

// New returns a resolver that knows no notes.
func New() *Index {
	return &Index{named: &named{
		notes:   map[string]*linked{},
		folded:  map[string]*bucket{},
		suffix:  map[string]*bucket{},
		aliases: map[string]*bucket{},
		targets: map[string]mentioned{},
	}}
}

// Len returns the number of notes.
func (l *Index) Len() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return len(l.notes)
}

// Through returns the index restricted to the notes that sees accepts. Both share their notes.
func (l *Index) Through(sees func(path string) bool) *Index { return &Index{l.named, sees} }

// has reports whether a note is there.
func (l *Index) has(path string) bool {
	_, known := l.notes[path]
	return known && (l.sees == nil || l.sees(path))
}

// Add adds a note, or replaces what the index has under its path: its aliases and the targets of
// its links, without anchors. The path is clean and relative to the vault.
func (l *Index) Add(path string, aliases, targets []string) {
	n := &linked{path: path, folded: notename.Fold(notename.TrimExtension(path))}
	for _, a := range aliases {
		n.aliases = append(n.aliases, notename.Fold(strings.TrimSpace(a)))
	}
	slices.Sort(n.aliases)
	n.aliases = slices.Compact(n.aliases)
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.notes[path]; known != nil && slices.Equal(known.aliases, n.aliases) {
		l.unmention(known) // most changes of a note leave its names alone
		l.mention(known, targets)
		return
	}
	l.remove(path)
	l.notes[path] = n
	for buckets, name := range l.places(n) {
		file(buckets, name, n)
	}
	l.mention(n, targets)
}

// places yields the names under which a note is filed.
func (l *Index) places(n *linked) iter.Seq2[map[string]*bucket, string] {
	return func(yield func(map[string]*bucket, string) bool) {
		if !yield(l.folded, n.folded) {
			return
		}
		for end := range ends(n.folded) {
			if !yield(l.suffix, end) {
				return
			}
		}
		for _, a := range n.aliases {
			if !yield(l.aliases, a) {
				return
			}
		}
	}
}

// Remove removes a note and its links. Links to it are then unresolved.
func (l *Index) Remove(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(path)
}

func (l *Index) remove(path string) {
	n := l.notes[path]
	if n == nil {
		return
	}
	delete(l.notes, path)
	n.gone = true
	for buckets, name := range l.places(n) {
		unfile(buckets, name, n)
	}
	l.unmention(n)
}

func (l *Index) unmention(n *linked) {
	for _, name := range n.names {
		if delete(l.targets[name], n); len(l.targets[name]) == 0 {
			delete(l.targets, name)
		}
	}
	n.names = nil
}

func (l *Index) mention(n *linked, targets []string) {
	seen := make(map[string]bool, len(targets))
	for _, target := range targets {
		if target == "" || seen[target] {
			continue
		}
		seen[target] = true
		name := lastName(target)
		if l.targets[name] == nil {
			l.targets[name] = mentioned{}
		}
		if l.targets[name][n] == nil {
			n.names = append(n.names, name)
		}
		l.targets[name][n] = append(l.targets[name][n], target)
	}
}

// lastName returns the name by which Backlinks searches for a target.
func lastName(target string) string {
	return path.Base(path.Clean(notename.Fold(strings.TrimSpace(target))))
}

// Resolve returns the note that a link in the note from leads to. target is
// without anchor, with or without .md; "" is from itself. It tries in turn:
//
//  1. for a target that begins with ./ or ../ the path from the folder of from, for
//     one that begins with / that from the root, and nothing else;
//  2. the path from the root as written, then in any case and normal form;
//  3. the notes whose paths end in target, those in from's folder and below
//     first, among them the shortest path;
//  4. the notes with that alias, in the same order.
//
// Of two paths of the same length the first in byte order is taken. Attachments
// are not notes: a link to one is not resolved.
func (l *Index) Resolve(from, target string) (path string, ok bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.resolve(from, target)
}

func (l *Index) resolve(from, target string) (string, bool) {
	target = strings.TrimSpace(target)
	if target == "" {
		return from, l.has(from)
	}
	if anchored, ok := rooted(from, target); ok {
		return l.exact(anchored)
	}
	if found, ok := l.exact(target); ok {
		return found, true
	}
	folder := notename.FolderOf(notename.Fold(from))
	short := notename.Fold(notename.TrimExtension(target))
	for _, b := range []*bucket{l.suffix[short], l.suffix[notename.Fold(target)], l.aliases[notename.Fold(target)]} {
		if n := b.nearest(folder, l.sees); n != nil {
			return l.twin(n, target), true
		}
	}
	return "", false
}

// Meanings returns the notes that a name may mean at the root, sorted: one for a path from the root, else all whose
// paths end in the name, else all with that alias. [Index.Resolve] takes one of them.
func (l *Index) Meanings(name string) []string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	name = strings.TrimSpace(name)
	if anchored, ok := rooted("", name); ok {
		name = anchored
	}
	if found, ok := l.exact(name); ok || name == "" {
		return slices.DeleteFunc([]string{found}, func(path string) bool { return path == "" })
	}
	short := notename.Fold(notename.TrimExtension(name))
	for _, b := range []*bucket{l.suffix[short], l.suffix[notename.Fold(name)], l.aliases[notename.Fold(name)]} {
		var paths []string
		for n := range b.all() {
			if l.has(n.path) {
				paths = append(paths, n.path)
			}
		}
		if len(paths) > 0 {
			return slices.Sorted(slices.Values(paths))
		}
	}
	return nil
}

// rooted turns a target that contains its place into a path from the root, which is "" if it lies
// outside.
func rooted(from, target string) (string, bool) {
	switch {
	case strings.HasPrefix(target, "/"):
		return strings.TrimLeft(target, "/"), true
	case strings.HasPrefix(target, "./"), strings.HasPrefix(target, "../"):
		joined := path.Join(path.Dir(from), target)
		base := path.Base(target)
		if base == "." || base == ".." || joined == ".." || strings.HasPrefix(joined, "../") {
			return "", true
		}
		return joined, true
	}
	return "", false
}

// exact finds a note by its whole path.
func (l *Index) exact(target string) (string, bool) {
	if target == "" {
		return "", false
	}
	for _, p := range []string{target, target + ".md"} {
		if l.has(p) {
			return p, true
		}
	}
	for _, p := range []string{notename.TrimExtension(target), target} {
		if n := l.folded[notename.Fold(p)].nearest("", l.sees); n != nil {
			return n.path, true
		}
	}
	return "", false
}

// twin returns, of notes beside each other that differ by case or normal form only, the one that
// is written like the target.
func (l *Index) twin(n *linked, target string) string {
	written := path.Base(notename.TrimExtension(target))
	if path.Base(notename.TrimExtension(n.path)) == written {
		return n.path
	}
	exact := path.Join(path.Dir(n.path), written) + ".md"
	if t := l.notes[exact]; l.has(exact) && t.folded == n.folded {
		return exact
	}
	return n.path
}

// Backlinks returns the notes that link to a note, sorted. It costs as much as
// there are links with the last name of the note's path or one of its aliases.
func (l *Index) Backlinks(to string) []string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	n := l.notes[to]
	if !l.has(to) {
		return nil
	}
	var from []string
	for _, name := range append([]string{n.folded, n.folded + ".md"}, n.aliases...) {
		for source, targets := range l.targets[lastName(name)] {
			if l.has(source.path) && slices.ContainsFunc(targets, func(t string) bool {
				found, ok := l.resolve(source.path, t)
				return ok && found == to
			}) {
				from = append(from, source.path)
			}
		}
	}
	slices.Sort(from)
	return slices.Compact(from)
}
