package bench

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// typicalText is the length in bytes of the memories that are measured.
const typicalText = 300

// functionWords are the words that English uses most, in that order.
const functionWords = "the of and to in a is that for it as was with be by on not he i this are or his from at which but have an had they you were their one all we can her has there been if more when will would who so no"

// prose writes what looks like English to a word index: function words, and
// behind them made-up words, as unevenly spread as Zipf's law has it.
type prose struct {
	*rand.Rand
	zipf     *rand.Zipf
	function []string
}

// vocabulary is how many different words 100,000 memories of English would
// have: about 44 times the root of their number of words (Heaps' law with the
// constants of Manning, Raghavan and Schütze, 2008).
const vocabulary = 100_000

func newProse(seed uint64) *prose {
	rng := rand.New(rand.NewPCG(seed, 1))
	return &prose{rng, rand.NewZipf(rng, 1.1, 3, vocabulary-1), strings.Fields(functionWords)}
}

// word returns a word and whether it means something.
func (p *prose) word() (word string, content bool) {
	rank := p.zipf.Uint64()
	if n := uint64(len(p.function)); rank >= n {
		return syllables(rank - n), true
	}
	return p.function[rank], false
}

// syllables is a name for a number, the longer the rarer.
func syllables(n uint64) string {
	const consonants, vowels = "bdfghjklmnprstvwz", "aeiou"
	var b strings.Builder
	for n += 85; n > 0; n /= 85 {
		b.WriteByte(consonants[n%17])
		b.WriteByte(vowels[n%85/17])
	}
	return b.String()
}

// text is at least so many bytes long, and at most a word longer.
func (p *prose) text(bytes int) string {
	var b strings.Builder
	for b.Len() < bytes {
		word, _ := p.word()
		b.WriteString(word)
		b.WriteByte(' ')
	}
	return b.String()
}

// question is four to eight words, at least two of which mean something.
func (p *prose) question() string {
	words := make([]string, 0, 8)
	want := 4 + p.IntN(5)
	for meaning := 0; len(words) < want; {
		word, content := p.word()
		if content {
			meaning++
		}
		if content || want-len(words) > 2-meaning {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

func TestQuestionsAskForSomething(t *testing.T) {
	p := newProse(1)
	for range 1000 {
		q := p.question()
		words := strings.Fields(q)
		content := 0
		for _, w := range words {
			if !strings.Contains(" "+functionWords+" ", " "+w+" ") {
				content++
			}
		}
		if len(words) < 4 || len(words) > 8 || content < 2 {
			t.Fatalf("question %q has %d words, %d of them content; want 4 to 8 and 2 or more", q, len(words), content)
		}
	}
}
