package search

import (
	"slices"
	"strings"

	"emberd/op"
)

// raiseCopied moves each memory of the answer directly above the first note that shows the same text.
// A note never fades, so a copy of an old memory in a note would else rank above the memory, although
// only the memory has a source and can be confirmed, corrected or superseded.
func (a *SearchRun) raiseCopied() {
	hits := a.Res.Hits
	for at := range hits {
		if hits[at].Memory != nil {
			continue
		}
		below := slices.IndexFunc(hits[at:], func(h op.Hit) bool {
			return h.Memory != nil && h.SupersededBy == "" && showSame(&h, &hits[at])
		})
		if below < 0 {
			continue
		}
		h := hits[at+below]
		if h.Explain != nil {
			x := *h.Explain
			x.Copy = hits[at].Note.Path
			h.Explain = &x
		}
		h.Rank = hits[at].Rank
		copy(hits[at+1:at+below+1], hits[at:at+below])
		hits[at] = h
	}
}

func showSame(a, b *op.Hit) bool {
	text := strings.TrimSpace(a.Snippet.Text)
	return text != "" && text == strings.TrimSpace(b.Snippet.Text)
}
