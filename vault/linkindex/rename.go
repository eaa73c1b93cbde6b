package linkindex

import (
	"maps"
	"path"
	"slices"
	"strings"

	"emberd/vault/notename"
)

// Renaming is what the new path of a note means for links: some would lead nowhere or to another note, and links
// to other notes may lead to this one. It belongs to one goroutine.
type Renaming struct {
	From, To      string
	before, after *Index // the notes that the links may mean
	sources       []string
}

// Rename returns what it means to give the note from the path to. It changes nothing.
func (l *Index) Rename(from, to string) *Renaming {
	l.mu.RLock()
	defer l.mu.RUnlock()
	r := &Renaming{From: from, To: to, before: New(), after: New()}
	sources, targets := l.concerned(from, to)
	for n := range l.meant(targets) {
		r.before.Add(n.path, n.aliases, nil)
		if n.path != from {
			r.after.Add(n.path, n.aliases, nil)
		}
	}
	if n := l.notes[from]; n != nil {
		r.before.Add(from, n.aliases, nil)
		r.after.Add(to, n.aliases, nil)
	}
	r.sources = slices.Sorted(maps.Keys(sources))
	return r
}

// concerned returns the notes with links that may change, and the targets of these. mu must be held.
func (l *Index) concerned(from, to string) (sources, targets map[string]bool) {
	sources, targets = map[string]bool{from: true}, map[string]bool{from: true, to: true}
	names := []string{}
	for _, p := range []string{from, to} {
		base := lastName(notename.TrimExtension(p))
		names = append(names, base, base+".md")
	}
	n := l.notes[from]
	if n != nil {
		names = append(names, n.aliases...)
		for _, name := range n.names {
			for _, target := range l.targets[name][n] {
				targets[target] = true
			}
		}
	}
	for _, name := range names {
		for source, all := range l.targets[lastName(name)] {
			sources[source.path] = true
			for _, target := range all {
				targets[target] = true
			}
		}
	}
	return sources, targets
}

// meant returns every note that one of the targets may mean, and those with the same last name. mu must be held.
func (l *Index) meant(targets map[string]bool) map[*linked]bool {
	all := make(map[*linked]bool)
	take := func(b *bucket) {
		for n := range b.all() {
			all[n] = true
		}
	}
	for target := range targets {
		name := lastName(target)
		take(l.suffix[name])
		take(l.suffix[notename.TrimExtension(name)])
		take(l.aliases[notename.Fold(strings.TrimSpace(target))])
	}
	for _, n := range slices.Collect(maps.Keys(all)) {
		take(l.suffix[path.Base(n.folded)])
	}
	return all
}

// all yields the notes of a bucket.
func (b *bucket) all() func(yield func(*linked) bool) {
	return func(yield func(*linked) bool) {
		switch {
		case b == nil || b.count == 0:
		case b.count == 1:
			yield(b.only)
		default:
			for _, n := range b.places[""].heap {
				if !n.gone && !yield(n) {
					return
				}
			}
		}
	}
}

// Sources returns the notes that may have links to change, sorted, among them From.
func (r *Renaming) Sources() []string { return slices.Clone(r.sources) }

// Target returns the target that a link in a note must have to lead where it led before the renaming: the same
// one, if that does, else the shortest of its kind that does. source is the path from before. alias reports that
// the link had an alias for its target. ok is false if no target leads there.
func (r *Renaming) Target(source, target string) (now string, alias, ok bool) {
	led, resolved := r.before.Resolve(source, target)
	if !resolved {
		return target, false, true
	}
	if led == r.From {
		led = r.To
	}
	if source == r.From {
		source = r.To
	}
	if to, _ := r.after.Resolve(source, target); to == led {
		return target, false, true
	}
	for _, form := range r.forms(source, strings.TrimSpace(target), led) {
		if to, _ := r.after.Resolve(source, form); to == led {
			return form, r.isAlias(target), true
		}
	}
	return "", false, false
}

// isAlias reports whether no note that the target may mean is named like it.
func (r *Renaming) isAlias(target string) bool {
	name := lastName(target)
	return r.before.suffix[name] == nil && r.before.suffix[notename.TrimExtension(name)] == nil
}

// forms returns the ways to write a path that are like a target, shortest first.
func (r *Renaming) forms(source, target, led string) (all []string) {
	extended := strings.EqualFold(path.Ext(target), ".md")
	add := func(form string) {
		if bare := notename.TrimExtension(form); !extended {
			all = append(all, bare)
		}
		all = append(all, form)
	}
	switch {
	case strings.HasPrefix(target, "/"):
		add("/" + led)
	case strings.HasPrefix(target, "./"), strings.HasPrefix(target, "../"):
		add(relative(path.Dir(source), led))
	}
	parts := strings.Split(led, "/")
	count := 1 + strings.Count(strings.Trim(target, "/"), "/")
	folded := func(p string) string { return notename.Fold(notename.TrimExtension(p)) }
	if strings.Contains(target, "/") && folded(target) == folded(r.From) {
		count = len(parts)
	}
	for n := min(count, len(parts)); n <= len(parts); n++ {
		add(strings.Join(parts[len(parts)-n:], "/"))
	}
	add("/" + led)
	return all
}

// relative returns the way from a folder to a note, which begins with "./" or "../".
func relative(folder, to string) string {
	up := []string{}
	for folder != "." && !strings.HasPrefix(to, folder+"/") {
		up = append(up, "..")
		folder = path.Dir(folder)
	}
	rest := to
	if folder != "." {
		rest = strings.TrimPrefix(to, folder+"/")
	}
	if len(up) == 0 {
		return "./" + rest
	}
	return strings.Join(up, "/") + "/" + rest
}
