package embedding

import (
	_ "embed"
	"strings"
)

//go:embed exam.txt
var examText string

//go:embed passages.txt
var passagesText string

// exam returns pairs of sentences with the same meaning, written for this purpose. Within a
// pair no word and no stem comes twice, not even an article, and all sentences of a
// script are about as long, so that neither spelling nor length gives a partner away; the
// words that a sentence shares, it shares with others. Each pair has a subject of its own
// among those of all languages. A test checks these rules.
func exam() [][2]string { return pairsIn(examText) }

// examPassages returns questions with passages of 40 to 80 words that answer them in other
// words, written for this purpose. A question shares no content word with its passage, and
// each has a subject of its own.
func examPassages() [][2]string { return pairsIn(passagesText) }

// pairsIn reads a pair of each line with the two texts on either side of a bar.
func pairsIn(lines string) [][2]string {
	var pairs [][2]string
	for line := range strings.Lines(lines) {
		if first, second, ok := strings.Cut(strings.TrimSpace(line), " | "); ok {
			pairs = append(pairs, [2]string{first, second})
		}
	}
	return pairs
}
