package table

import (
	"sync"

	"emberd/internal/text/analysis"
	"emberd/internal/text/chunk"
	"emberd/internal/words"
)

// countTerms counts the terms of a text, and those of its passages if it is long.
func countTerms(body string, terms []analysis.Term) TermCounts {
	var t TermCounts
	t.terms, t.length = counted(body, terms)
	starts := chunk.Passages(body, wordStarts(terms, t.length))
	for i := range starts {
		end := len(terms)
		for j := 0; i+1 < len(starts) && j < end; j++ {
			if terms[j].Start >= starts[i+1] {
				end = j
			}
		}
		var p words.Passage
		p.Terms, p.Length = counted(body, terms[:end])
		t.passages = append(t.passages, p)
		terms = terms[end:]
	}
	return t
}

// termPlaces are empty maps for counted, which would else make one for each memory that is saved. A map keeps its size
// when it is cleared, and clearing takes as long as that, so those of long texts are not kept.
var termPlaces = sync.Pool{New: func() any { return make(map[string]int) }}

// maxKeptTerms is how many terms a map has at most that is kept.
const maxKeptTerms = 1000

// counted counts terms in order of first appearance, and those that lie within no other.
func counted(body string, terms []analysis.Term) (counts []words.TermCount, length int) {
	at := termPlaces.Get().(map[string]int)
	defer func() {
		if len(at) <= maxKeptTerms {
			clear(at)
			termPlaces.Put(at)
		}
	}()
	for _, t := range terms {
		if !t.Inner() {
			length++
		}
		i, ok := at[t.Text]
		if !ok {
			i = len(counts)
			at[t.Text] = i
			counts = append(counts, words.TermCount{Term: t.Text})
		}
		counts[i].Count++
		counts[i].Forms |= words.Forms(t.FormIn(body))
	}
	return counts, length
}

// wordStarts is where the words begin that terms lie in.
func wordStarts(terms []analysis.Term, length int) []int {
	starts := make([]int, 0, length)
	for _, t := range terms {
		if !t.Inner() {
			starts = append(starts, t.Start)
		}
	}
	return starts
}
