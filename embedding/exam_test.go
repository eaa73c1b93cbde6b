package embedding

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// stems are what partners may not share: their first letters, or a Chinese character.
func stems(sentence string) []string {
	const most = 4
	var all []string
	for word := range wordsOf(sentence) {
		if spaceless(word[0]) {
			for _, r := range word {
				all = append(all, string(r))
			}
			continue
		}
		all = append(all, string(word[:min(most, len(word))]))
	}
	return all
}

func TestPartnersShareNoStem(t *testing.T) {
	for _, p := range exam() {
		others := stems(p[1])
		for _, s := range stems(p[0]) {
			if slices.Contains(others, s) {
				t.Errorf("%q and %q share %q", p[0], p[1], s)
			}
		}
	}
}

func TestSentencesAreAboutAsLong(t *testing.T) {
	for _, p := range exam() {
		for _, s := range p {
			low, high, words := 26, 45, len(strings.Fields(s))
			if unicode.Is(unicode.Han, []rune(s)[0]) {
				low, high, words = 8, 10, 6
			}
			if n := utf8.RuneCountInString(s); n < low || n > high || words < 5 || words > 8 {
				t.Errorf("%q has %d letters and %d words; want %d to %d, and 5 to 8", s, n, words, low, high)
			}
		}
	}
}

func TestNoSentenceComesTwice(t *testing.T) {
	seen := make(map[string]bool)
	for _, p := range exam() {
		for _, s := range p {
			if seen[s] {
				t.Errorf("%q comes twice", s)
			}
			seen[s] = true
		}
	}
	if want := 120; len(seen) != want {
		t.Errorf("the exam has %d sentences, want %d", len(seen), want)
	}
}

// What goes by spelling finds hardly a partner, so it says nothing about meaning that a
// vector made of spelling fails.
func TestSpellingDoesNotPass(t *testing.T) {
	var vectors [][]float32
	for _, p := range exam() {
		vectors = append(vectors, spelt(p[0]), spelt(p[1]))
	}
	if g := mark(vectors); g.Score > 0.05 || g.Trust() != 0 {
		t.Errorf("hashed words get the grade %+v and the trust %g, want none", g, g.Trust())
	}
}
