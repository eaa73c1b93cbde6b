package search

import (
	"cmp"
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/internal/text/analysis"
	"emberd/memory"
	"emberd/op"
)

// giveReasons says of each hit why it is there, if no word in its snippet is one of the query or
// begins with it, and names the words that were meant by misspelled ones.
func (a *SearchRun) giveReasons() {
	var asked []string // words, folded
	for field := range strings.FieldsSeq(a.Q.Query.Words + " " + strings.Join(a.Q.Query.Must.Phrases, " ")) {
		for _, t := range a.E.Text.Terms(field) {
			if w := a.E.Text.Prefix(field[t.Start:t.End]); w != "" {
				asked = append(asked, w)
			}
		}
	}
	holds := func(marked string) bool {
		marked = a.E.Text.Prefix(marked)
		return slices.ContainsFunc(asked, func(w string) bool { return strings.HasPrefix(marked, w) })
	}
	for i := range a.Res.Hits {
		h := &a.Res.Hits[i]
		var marked []string
		for _, m := range h.Snippet.Marks {
			marked = append(marked, h.Snippet.Text[m[0]:m[1]])
		}
		a.nameMeant(marked)
		if len(asked) > 0 && !slices.ContainsFunc(marked, holds) {
			h.Why = cmp.Or(a.waiting(h, holds), a.reason(h.Explain, marked))
		}
	}
}

// waiting says which review item has the text with a word of the query, if that waits for a decision whether it is
// to be the memory's, and returns "" otherwise.
func (a *SearchRun) waiting(h *op.Hit, holds func(word string) bool) string {
	if h.Memory == nil || h.Undecided == "" {
		return ""
	}
	row, live := a.E.Stm.Get(h.ID)
	if !live {
		return ""
	}
	item := core.Undecided(row)
	has := func(other memory.OtherText) bool {
		return slices.ContainsFunc(a.E.Text.Terms(other.Text),
			func(t analysis.Term) bool { return holds(other.Text[t.Start:t.End]) })
	}
	if !slices.ContainsFunc(item.Texts, has) {
		return ""
	}
	return "matches another text of the memory; to choose one of the texts, run: emberd review show " + item.Short()
}

// nameMeant adds words of a hit to the corrections that they are of.
func (a *SearchRun) nameMeant(marked []string) {
	for i := range a.Res.Respelled {
		r := &a.Res.Respelled[i]
		for _, w := range marked {
			low, of := strings.ToLower(w), core.Distinct(a.E.Text.Terms(w))
			if slices.ContainsFunc(of, func(t string) bool { return slices.Contains(r.Terms, t) }) &&
				!slices.Contains(r.Meant, low) && len(r.Meant) < len(r.Terms) {
				r.Meant = append(r.Meant, low)
			}
		}
	}
}

// reason returns why a hit is there by the parts of its relevance and the marked words.
func (a *SearchRun) reason(x *op.Explain, marked []string) string {
	named, other := false, false
	for _, t := range x.Terms {
		switch {
		case t.For != "" && len(marked) > 0:
			return "corrected: " + t.For + ", here " + strings.ToLower(marked[0])
		case t.Field == "names" || t.Field == "name match":
			named = true
		default:
			other = true
		}
	}
	switch {
	case len(marked) > 0:
		return "other form: " + strings.ToLower(marked[0])
	case named:
		return "has this name"
	case byMeaning(x):
		return "similar meaning"
	case other:
		return "matches another part of the text, or the tags, context or properties"
	case x.Meaning != nil:
		return "same meaning"
	}
	return ""
}
