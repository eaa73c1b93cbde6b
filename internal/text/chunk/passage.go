package chunk

import "emberd/internal/text"

// passageWords is about how many words a passage of a memory has.
const passageWords = 60

// Passages cuts a text that is not Markdown, as a memory's, into passages of some sixty words, and
// returns where each begins, nil for a text that is one. words is where its words begin.
//
// A passage ends with the first sentence after 60 words, or anywhere after 120; what would be
// left with fewer than 30 belongs to it.
func Passages(s string, words []int) (starts []int) {
	if len(words) <= 2*passageWords {
		return nil
	}
	starts = append(starts, 0)
	ends, begun := text.SentenceEnds(s), 0
	for i, at := range words {
		ended := false
		for len(ends) > 0 && ends[0] <= at {
			ended, ends = true, ends[1:]
		}
		n := i - begun
		if len(words)-i >= passageWords/2 && (n >= 2*passageWords || n >= passageWords && ended) {
			starts, begun = append(starts, at), i
		}
	}
	return starts
}
