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

// functional are words that say nothing of a subject, which a question may share with its passage.
func functional() []string {
	return strings.Fields("a an as at by can do in is of the to d la les pour un une de el se que")
}

func TestQuestionsShareNoContentWordWithTheirPassage(t *testing.T) {
	for _, p := range examPassages() {
		others := stems(p[1])
		for _, s := range stems(p[0]) {
			if slices.Contains(others, s) && !slices.Contains(functional(), s) {
				t.Errorf("%q and its passage share %q", p[0], s)
			}
		}
	}
}

func TestPassagesAreAsLongAsNotes(t *testing.T) {
	seen := make(map[string]bool)
	for _, p := range examPassages() {
		question, passage := len(strings.Fields(p[0])), len(strings.Fields(p[1]))
		if unicode.Is(unicode.Han, []rune(p[0])[0]) { // half as many words as characters
			question, passage = utf8.RuneCountInString(p[0])/2, utf8.RuneCountInString(p[1])*3/5
		}
		if question < 4 || question > 10 || passage < 40 || passage > 80 {
			t.Errorf("%q has %d words and its passage %d; want 4 to 10, and 40 to 80", p[0], question, passage)
		}
		if seen[p[0]] || seen[p[1]] {
			t.Errorf("%q comes twice", p[0])
		}
		seen[p[0]], seen[p[1]] = true, true
	}
	if want := 36; len(examPassages()) != want {
		t.Errorf("the exam has %d questions, want %d", len(examPassages()), want)
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
