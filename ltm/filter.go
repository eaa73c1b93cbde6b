package ltm

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"emberd/internal/text"
)

// filterMatcher is a query's filters, compiled for checking notes.
type filterMatcher struct {
	must, not     Filter // folded, without phrases
	after, before int64  // of creation
	modified      int64
	accept        func(path string) bool
}

// filter prepares the query's conditions. Without any, all notes pass.
func (s *searcher) filter() {
	c := filterMatcher{must: folded(s.query.Must), not: folded(s.query.Not), accept: s.query.Accept}
	c.after, c.before, c.modified = bound(s.query.After), bound(s.query.Before), bound(s.query.Modified)
	s.phrases()
	timeless := c.after == 0 && c.before == 0 && c.modified == 0
	s.allowed, s.accept = nil, nil
	if c.must.empty() && c.not.empty() && timeless && (c.accept == nil || s.query.LooseTotal) {
		s.accept = c.accept
		return
	}
	s.allowed = func(number uint32) bool { return c.accepts(s.table.notes[number]) }
}

// bound is a moment as notes have it, 0 for none.
func bound(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// passes checks once in a search what is known of a note without its words.
func (s *searcher) passes(number uint32) bool {
	if s.verdict[number] == unjudged {
		s.verdict[number] = refused
		if n := s.table.note(number); n != nil && (s.allowed == nil || s.allowed(number)) &&
			(s.accept == nil || s.accept(n.path)) {
			s.verdict[number] = accepted
		}
	}
	return s.verdict[number] == accepted
}

// passesWith is passes with the words of phrases.
func (s *searcher) passesWith(number uint32) bool {
	if !s.passes(number) {
		return false
	}
	if len(s.holds)+len(s.lacks) == 0 {
		return true
	}
	segment, first, ok := s.view.document(ref{note: number})
	return ok && s.hasWords(segment, first)
}

func (c *filterMatcher) accepts(n *note) bool {
	if c.after != 0 && n.created < c.after || c.before != 0 && n.created >= c.before || c.modified != 0 &&
		n.modified < c.modified {
		return false
	}
	return c.must.all(n) && !c.not.any(n) && (c.accept == nil || c.accept(n.path))
}

// folded returns the filter with its texts made comparable.
func folded(f Filter) Filter {
	fold := newFolder()
	list := func(values []string) []string {
		var out []string
		for _, v := range values {
			out = append(out, fold.text(v))
		}
		return out
	}
	out := Filter{Tags: list(f.Tags), Paths: list(f.Paths), Files: list(f.Files)}
	for _, p := range f.Properties {
		out.Properties = append(out.Properties, Property{fold.text(p.Key), fold.text(p.Value)})
	}
	return out
}

func (f *Filter) empty() bool {
	return len(f.Tags)+len(f.Paths)+len(f.Files)+len(f.Properties) == 0
}

// all reports whether every condition of the filter holds for the note.
func (f *Filter) all(n *note) bool {
	return every(f.Tags, n.hasTag) && every(f.Paths, n.isUnder) && every(f.Files, n.isCalled) &&
		every(f.Properties, n.hasProperty)
}

// any reports whether one of them does.
func (f *Filter) any(n *note) bool {
	return slices.ContainsFunc(f.Tags, n.hasTag) || slices.ContainsFunc(f.Paths, n.isUnder) ||
		slices.ContainsFunc(f.Files, n.isCalled) || slices.ContainsFunc(f.Properties, n.hasProperty)
}

func every[T any](list []T, holds func(T) bool) bool {
	return !slices.ContainsFunc(list, func(v T) bool { return !holds(v) })
}

// hasTag reports whether the note has the tag or one nested in it.
func (n *note) hasTag(tag string) bool {
	return slices.ContainsFunc(n.tags, func(t string) bool {
		rest, ok := strings.CutPrefix(t, tag)
		return ok && (rest == "" || rest[0] == '/')
	})
}

func (n *note) isUnder(prefix string) bool { return strings.HasPrefix(n.folded, prefix) }

func (n *note) isCalled(part string) bool { return strings.Contains(n.file(), part) }

func (n *note) hasProperty(want Property) bool {
	return slices.ContainsFunc(n.properties, func(p Property) bool {
		return p.Key == want.Key && holdsWords(p.Value, want.Value)
	})
}

// holdsWords reports whether part is in s with no letter or digit right before or behind it that
// would make it part of a longer word.
func holdsWords(s, part string) bool {
	for at := 0; ; {
		i := strings.Index(s[at:], part)
		if i < 0 {
			return false
		}
		i += at
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[i+len(part):])
		if part == "" || !text.IsWord(before) && !text.IsWord(after) {
			return true
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		at = i + size
	}
}
