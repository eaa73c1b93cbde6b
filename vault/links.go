package vault

import (
	"iter"
	"path"
	"slices"
	"strings"
	"sync"
)

// Links resolves links between the notes of one vault, as Obsidian does. Each
// note is filed under every end of its path, so that resolving a link takes a
// few look-ups however many notes and links there are. It may be used by several
// goroutines.
type Links struct {
	*named
	sees func(path string) bool // nil for every note, see [Links.Through]
}

// named is what the links of a vault are, whoever looks at them.
type named struct {
	mu      sync.RWMutex
	notes   map[string]*linked   // by path
	folded  map[string]*bucket   // by folded path without .md
	suffix  map[string]*bucket   // by each end of the folded path, without .md: "c", "b/c", "a/b/c"
	aliases map[string]*bucket   // by folded alias
	targets map[string]mentioned // by the last name of the target, folded
}

// linked is a note as the resolver knows it.
type linked struct {
	path    string
	folded  string   // path without .md, folded
	aliases []string // folded
	names   []string // under which its links are in targets
	gone    bool     // removed, or replaced by what the note is now
}

// mentioned are the targets that end in one name, as written, by the note they
// are in.
type mentioned map[*linked][]string

// NewLinks returns a resolver that knows no notes.
func NewLinks() *Links {
	return &Links{named: &named{
		notes:   map[string]*linked{},
		folded:  map[string]*bucket{},
		suffix:  map[string]*bucket{},
		aliases: map[string]*bucket{},
		targets: map[string]mentioned{},
	}}
}

// Len returns the number of notes.
func (l *Links) Len() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return len(l.notes)
}

// Through returns the links as they are to somebody for whom only those notes are there
// that sees accepts. Both know the same notes.
func (l *Links) Through(sees func(path string) bool) *Links { return &Links{l.named, sees} }

// has reports whether a note is there.
func (l *Links) has(path string) bool {
	_, known := l.notes[path]
	return known && (l.sees == nil || l.sees(path))
}

// Add takes in a note, in place of what was known under its path: its aliases and
// the targets of its links, without anchors.
func (l *Links) Add(path string, aliases, targets []string) {
	n := &linked{path: path, folded: fold(trimExtension(path))}
	for _, a := range aliases {
		n.aliases = append(n.aliases, fold(strings.TrimSpace(a)))
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

// places yields where a note is filed.
func (l *Links) places(n *linked) iter.Seq2[map[string]*bucket, string] {
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

// Remove forgets a note and its links. Links to it are then unresolved.
func (l *Links) Remove(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(path)
}

func (l *Links) remove(path string) {
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

func (l *Links) unmention(n *linked) {
	for _, name := range n.names {
		if delete(l.targets[name], n); len(l.targets[name]) == 0 {
			delete(l.targets, name)
		}
	}
	n.names = nil
}

func (l *Links) mention(n *linked, targets []string) {
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

// lastName is the name by which Backlinks looks for a target.
func lastName(target string) string {
	return path.Base(path.Clean(fold(strings.TrimSpace(target))))
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
func (l *Links) Resolve(from, target string) (path string, ok bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.resolve(from, target)
}

func (l *Links) resolve(from, target string) (string, bool) {
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
	folder := folderOf(fold(from))
	short := fold(trimExtension(target))
	for _, b := range []*bucket{l.suffix[short], l.suffix[fold(target)], l.aliases[fold(target)]} {
		if n := b.nearest(folder, l.sees); n != nil {
			return l.twin(n, target), true
		}
	}
	return "", false
}

// rooted turns a target that says where it is into a path from the root, which is
// "" when it lies outside.
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
func (l *Links) exact(target string) (string, bool) {
	if target == "" {
		return "", false
	}
	for _, p := range []string{target, target + ".md"} {
		if l.has(p) {
			return p, true
		}
	}
	for _, p := range []string{trimExtension(target), target} {
		if n := l.folded[fold(p)].nearest("", l.sees); n != nil {
			return n.path, true
		}
	}
	return "", false
}

// twin prefers, of notes beside each other that differ by case or normal form
// only, the one that is written like the target.
func (l *Links) twin(n *linked, target string) string {
	written := path.Base(trimExtension(target))
	if path.Base(trimExtension(n.path)) == written {
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
func (l *Links) Backlinks(to string) []string {
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
