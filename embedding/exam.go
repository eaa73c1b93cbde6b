package embedding

import (
	_ "embed"
	"strings"
)

//go:embed exam.txt
var examText string

// exam returns pairs of sentences with the same meaning, written for this purpose. Within a
// pair no word and no stem comes twice, not even an article, and all sentences of a
// script are about as long, so that neither spelling nor length gives a partner away; the
// words that a sentence shares, it shares with others. Each pair has a subject of its own
// among those of all languages. A test checks these rules.
func exam() [][2]string {
	var pairs [][2]string
	for line := range strings.Lines(examText) {
		if first, second, ok := strings.Cut(strings.TrimSpace(line), " | "); ok {
			pairs = append(pairs, [2]string{first, second})
		}
	}
	return pairs
}
