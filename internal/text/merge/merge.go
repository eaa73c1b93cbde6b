// Package merge joins two edits of one text that were made apart.
//
// A merge is by line, as git does it: what one side changed is taken, and where both changed
// the same lines, or lines with none between them, the two are compared sentence by sentence.
// It guarantees that a merged text has every change of both sides and nothing else, that it is
// the same whichever side comes first, and that it never has marks of a conflict.
//
// All functions are pure and may be called from any goroutine.
package merge

import (
	"slices"
	"strings"
	"unicode"

	"github.com/aymanbagabas/go-udiff/lcs"

	"emberd/internal/text"
)

// Texts returns base with the changes of a and of b, and whether the two can be merged: ok is
// false if both changed the same sentence in different ways. Then merged is "".
func Texts(base, a, b string) (merged string, ok bool) {
	if merged, ok = Lines(base, a, b); ok {
		return merged, true
	}
	return join(pieces(base), pieces(a), pieces(b), apart)
}

// Lines is [Texts] by line only. It merges what `git merge-file` merges.
func Lines(base, a, b string) (merged string, ok bool) {
	switch {
	case a == b || b == base:
		return a, true
	case a == base:
		return b, true
	}
	// The end of the last line is a change of its own: appending a line is no edit of the one before.
	end := ended(a)
	if end == ended(base) {
		end = ended(b)
	}
	merged, ok = join(lines(base), lines(a), lines(b), separated)
	if !end {
		merged = strings.TrimSuffix(merged, "\n")
	}
	return merged, ok
}

func ended(s string) bool { return strings.HasSuffix(s, "\n") }

// lines returns the lines of s, each with an LF.
func lines(s string) []string {
	if s == "" {
		return nil
	}
	if !ended(s) {
		s += "\n"
	}
	return slices.Collect(strings.Lines(s))
}

// pieces returns the sentences of s and the white space between them.
func pieces(s string) []string {
	var out []string
	for piece := range text.SplitSentences(s) {
		sentence := strings.TrimRightFunc(piece, unicode.IsSpace)
		for _, p := range []string{sentence, piece[len(sentence):]} {
			if p != "" {
				out = append(out, p)
			}
		}
	}
	return out
}

// separated reports whether two changes have a line of the base between them.
func separated(x, y lcs.Diff) bool { return x.End < y.Start || y.End < x.Start }

// apart reports whether two changes replace different parts of the base. What is inserted where the other
// side changed something has no certain place.
func apart(x, y lcs.Diff) bool {
	return separated(x, y) || x.Start < x.End && y.Start < y.End && (x.End == y.Start || y.End == x.Start)
}

// A side is one of the two edits of a base.
type side struct {
	parts []string   // of its text
	diffs []lcs.Diff // what is left of its changes, in the order of the base
}

// join merges by part. Changes of the two sides that are not clear of each other are a conflict, unless
// both sides have the same there.
func join(base, a, b []string, clear func(x, y lcs.Diff) bool) (string, bool) {
	x := side{a, lcs.DiffLines(base, a)}
	y := side{b, lcs.DiffLines(base, b)}
	var out strings.Builder
	at := 0
	for len(x.diffs) > 0 || len(y.diffs) > 0 {
		from, mine, theirs := x.region(&y, clear)
		ours, other := x.within(base, mine, from), y.within(base, theirs, from)
		switch {
		case len(theirs) == 0:
		case len(mine) == 0:
			ours = other
		case ours != other:
			return "", false
		}
		out.WriteString(strings.Join(base[at:from.Start], ""))
		out.WriteString(ours)
		at = from.End
	}
	out.WriteString(strings.Join(base[at:], ""))
	return out.String(), true
}

// region takes the first changes of both sides that are not clear of each other, and returns the part of
// the base that they cover.
func (x *side) region(y *side, clear func(x, y lcs.Diff) bool) (all lcs.Diff, mine, theirs []lcs.Diff) {
	first := x
	if len(x.diffs) == 0 || len(y.diffs) > 0 && before(y.diffs[0], x.diffs[0]) {
		first = y
	}
	all = first.diffs[0]
	for take := true; take; {
		var more, others []lcs.Diff
		more, all = x.touching(all, x == first && mine == nil, clear)
		others, all = y.touching(all, y == first && theirs == nil, clear)
		mine, theirs = append(mine, more...), append(theirs, others...)
		take = len(more)+len(others) > 0
	}
	return all, mine, theirs
}

// touching takes the changes of a side that are not clear of a part, the first one whether or not it is, and
// returns the part with them.
func (x *side) touching(part lcs.Diff, first bool, clear func(x, y lcs.Diff) bool) (got []lcs.Diff, all lcs.Diff) {
	for len(x.diffs) > 0 && (first || !clear(part, x.diffs[0])) {
		d := x.diffs[0]
		part.Start, part.End = min(part.Start, d.Start), max(part.End, d.End)
		got, x.diffs, first = append(got, d), x.diffs[1:], false
	}
	return got, part
}

func before(x, y lcs.Diff) bool { return x.Start < y.Start || x.Start == y.Start && x.End < y.End }

// within returns a part of the base with the changes of one side.
func (x *side) within(base []string, diffs []lcs.Diff, part lcs.Diff) string {
	var out strings.Builder
	at := part.Start
	for _, d := range diffs {
		out.WriteString(strings.Join(base[at:d.Start], ""))
		out.WriteString(strings.Join(x.parts[d.ReplStart:d.ReplEnd], ""))
		at = d.End
	}
	out.WriteString(strings.Join(base[at:part.End], ""))
	return out.String()
}

// Changed returns how many sentences, and spaces between them, two texts do not have in common: 0 for the
// same text.
func Changed(a, b string) (n int) {
	for _, d := range lcs.DiffLines(pieces(a), pieces(b)) {
		n += d.End - d.Start + d.ReplEnd - d.ReplStart
	}
	return n
}

// Has reports whether a text has what another one changed of a base: each line that the other one added, and
// none that it removed. Empty lines do not count.
func Has(base, text, other string) bool {
	was, has, is := lineSet(base), lineSet(text), lineSet(other)
	for line := range is {
		if !has[line] && !was[line] {
			return false
		}
	}
	for line := range was {
		if has[line] && !is[line] {
			return false
		}
	}
	return true
}

func lineSet(s string) map[string]bool {
	set := make(map[string]bool)
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			set[line] = true
		}
	}
	return set
}
