package ltm

import (
	"emberd/internal/text/analysis"
	"emberd/internal/text/chunk"
)

// An index of memories (Options.Memories) has the same files as one of notes. It differs in three things: the text of
// a document is cut like a memory's (package chunk), a posting also has the forms in which the text has the term,
// and the relevance is that of package words. So a memory whose text is in a note and one whose text is in the log
// have the same relevance, but for one thing: what a term adds to the passages of a part of a note is their average.

// memory cuts the text of a memory into passages and counts its terms.
func (c *passageSplitter) memory(d *Doc) analyzedNote {
	n := analyzedNote{record: newRecord(d)}
	c.begin(place{line: 1})
	text := ""
	if len(d.Sections) > 0 {
		text = d.Sections[0].Text
	}
	c.terms = c.analyzer.AppendTerms(c.terms[:0], text)
	terms := c.terms
	starts := chunk.Passages(text, wordStarts(terms))
	for i := range max(1, len(starts)) {
		end := len(terms)
		for j := 0; i+1 < len(starts) && j < end; j++ {
			if terms[j].Start >= starts[i+1] {
				end = j
			}
		}
		if i > 0 && len(c.passages) < maxPassages {
			c.begin(place{line: 1})
		}
		c.body(terms[:end], len(wordStarts(terms[:end])))
		c.forms(text, terms[:end])
		terms = terms[end:]
	}
	c.row = rowOf(c.row[:0], c.terms)
	return c.finish(n)
}

// forms notes in which forms the last part has terms.
func (c *passageSplitter) forms(text string, terms []analysis.Term) {
	part, _ := c.last()
	for _, t := range terms {
		o := part[t.Text]
		o.forms |= uint8(t.FormIn(text))
		part[t.Text] = o
	}
}

// wordStarts is where the words begin that terms lie in.
func wordStarts(terms []analysis.Term) (starts []int) {
	for _, t := range terms {
		if !t.Inner() {
			starts = append(starts, t.Start)
		}
	}
	return starts
}
