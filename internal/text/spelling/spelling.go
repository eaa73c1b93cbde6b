// Package spelling reports how far apart two words are: for errors that name what was
// probably meant, and for searches in which no word is known as it is spelt.
package spelling

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxBytes bounds the work; names beyond it are compared by their beginning.
const maxBytes = 64

// Distance is the least number of letters to insert, drop, replace or swap with their
// neighbour that makes one name of the other, ignoring case; no letter is edited twice
// (the optimal string alignment distance). Of longer names the first 64 bytes count.
func Distance(a, b string) int {
	edits, _ := From(fold(a), maxBytes)(fold(b))
	return edits
}

func fold(s string) string { return strings.ToLower(s[:min(len(s), maxBytes)]) }

// From measures distances from one word, as Distance does but by the letters as they
// are. What it returns tells the distance of another word, and whether it is at most
// so many edits; beyond them the distance may be too low. It is for one goroutine.
func From(word string, limit int) func(other string) (edits int, ok bool) {
	a := []rune(word)
	letters := lettersOf(word)
	var b []rune
	var rows [3][]int // the one being filled and the two above
	return func(other string) (int, bool) {
		if d := len(a) - utf8.RuneCountInString(other); d > limit || -d > limit {
			return limit + 1, false
		}
		// An edit brings in or takes away one letter at the most, which spares
		// nearly all words the comparison.
		if seen := lettersOf(other); bits.OnesCount64(letters&^seen) > limit ||
			bits.OnesCount64(seen&^letters) > limit {
			return limit + 1, false
		}
		b = b[:0]
		for _, r := range other {
			b = append(b, r)
		}
		for i := range rows {
			rows[i] = slices.Grow(rows[i][:0], len(b)+1)[:len(b)+1]
		}
		edits := align(a, b, &rows, limit)
		return edits, edits <= limit
	}
}

// lettersOf is the set of a word's letters; some share a bit.
func lettersOf(word string) (set uint64) {
	for _, r := range word {
		set |= 1 << (r % 64)
	}
	return set
}

// align fills the table of distances row by row, where row i holds those of the first
// i letters of a from the beginnings of b. It stops once a whole row is beyond limit.
func align(a, b []rune, rows *[3][]int, limit int) int {
	row, above, before := rows[0], rows[1], rows[2]
	for j := range row {
		row[j] = j
	}
	for i := range a {
		row, above, before = before, row, above
		row[0] = i + 1
		minimum := row[0]
		for j := range b {
			d := above[j]
			if a[i] != b[j] {
				d = 1 + min(d, row[j], above[j+1])
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, 1+before[j-1])
			}
			row[j+1] = d
			minimum = min(minimum, d)
		}
		if minimum > limit {
			return minimum
		}
	}
	return row[len(b)]
}

// Edits is how many edits may lie between a misspelt word and the one that was meant:
// none up to three letters, where everything resembles everything, one up to seven, and
// two from eight on.
func Edits(word string) int {
	switch letters := utf8.RuneCountInString(word); {
	case letters < 4:
		return 0
	case letters < 8:
		return 1
	}
	return 2
}

// Slips returns the words from which one slip after the first letter of a word makes it: a letter too
// much, too few, or two swapped; and those where a letter is another one. They are of the letters
// a to z, and none for words of fewer than 5 letters or more than maxBytes.
func Slips(word string) (slips, replaced []string) {
	other := func(r rune) bool { return r < 'a' || r > 'z' }
	if len(word) < 5 || len(word) > maxBytes || strings.ContainsFunc(word, other) {
		return nil, nil
	}
	for i := 1; i <= len(word); i++ {
		head, rest := word[:i], word[i:]
		for c := 'a'; c <= 'z'; c++ {
			if slips = append(slips, head+string(c)+rest); rest != "" {
				replaced = append(replaced, head+string(c)+rest[1:])
			}
		}
		if len(rest) > 0 {
			slips = append(slips, head+rest[1:])
		}
		if len(rest) > 1 {
			slips = append(slips, head+rest[1:2]+rest[:1]+rest[2:])
		}
	}
	return slips, replaced
}

// Meant is the one of some names that was perhaps meant by another, the first of those that
// are nearest, and empty if all are further away than [Edits] has it.
func Meant(name string, names []string) string {
	best, edits := "", Edits(name)+1
	for _, other := range names {
		if d := Distance(name, other); d < edits {
			best, edits = other, d
		}
	}
	return best
}

// Near is a known word, how many edits lie between it and another one, and how many
// documents hold it.
type Near struct {
	Word        string
	Edits, Docs int
}

// Nearest returns the words with the fewest edits, those that most documents hold
// first, at most limit. A word given twice is in the documents of both.
func Nearest(near []Near, limit int) []string {
	near = slices.Clone(near)
	slices.SortFunc(near, func(a, b Near) int { return strings.Compare(a.Word, b.Word) })
	var known []Near
	for _, n := range near {
		if last := len(known) - 1; last >= 0 && known[last].Word == n.Word {
			known[last].Docs += n.Docs
		} else if n.Docs > 0 {
			known = append(known, n)
		}
	}
	slices.SortStableFunc(known, func(a, b Near) int { return cmp.Or(a.Edits-b.Edits, b.Docs-a.Docs) })
	var words []string
	for _, n := range known[:min(limit, len(known))] {
		if n.Edits == known[0].Edits {
			words = append(words, n.Word)
		}
	}
	return words
}
