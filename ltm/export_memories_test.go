package ltm

import (
	"emberd/internal/text/analysis"
	index "emberd/internal/words"
)

// CountedLikeAMemory counts the terms of a text as the store of memories does.
func CountedLikeAMemory(a *analysis.Analyzer, text string) (counts []index.TermCount, passages []index.Passage,
	length int) {
	c := passageSplitter{analyzer: a, memories: true}
	n := c.analyze(&Doc{Path: "x", Sections: []Section{{Line: 1, Text: text}}})
	for _, part := range n.parts {
		for term, o := range part {
			counts = append(counts, index.TermCount{Term: term, Count: o.body, Forms: index.Forms(o.forms)})
		}
	}
	for i, p := range c.passages {
		var in []index.TermCount
		for term, o := range n.parts[0] {
			if o.bodyIn>>i&1 == 1 {
				in = append(in, index.TermCount{Term: term, Count: int(o.perPassage() + 0.5)})
			}
		}
		if len(c.passages) > 1 {
			passages = append(passages, index.Passage{Terms: in, Length: p.words})
		}
	}
	return counts, passages, n.record.bodyLen
}
