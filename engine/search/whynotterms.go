package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/internal/text/analysis"
	"emberd/internal/text/spelling"
)

// maxSuggested is how many of the item's own words are suggested.
const maxSuggested = 3

// quoted lists words for a sentence.
func quoted(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(out, ", ")
}

// queryWords returns the words of the query from which terms were made.
func (d *exclusion) queryWords(terms []string) []string {
	out := make([]string, len(terms))
	for i, t := range terms {
		out[i] = d.e.asTyped(d.req.Query, t)
	}
	return out
}

// held returns the words of the query that a text contains.
func (d *exclusion) held(q *parsedQuery, content string) []string {
	terms := core.Distinct(d.e.Text.Terms(content))
	return d.queryWords(slices.DeleteFunc(slices.Clone(q.Terms), func(t string) bool {
		_, ok := slices.BinarySearch(terms, t)
		return !ok
	}))
}

// searched returns the text that searches use; for a note it includes its names.
func (d *exclusion) searched(ctx context.Context) string {
	if d.row != nil {
		return d.row.Text()
	}
	body, _ := d.e.Notes.Vault.TextOf(ctx, d.path) // without it there is less to suggest
	if d.note != nil {
		body += "\n" + d.note.Title + "\n" + strings.Join(d.note.Aliases, "\n")
	}
	return body
}

// similarWords returns the item's words that are spelled or begin similarly to those of the query.
func (d *exclusion) similarWords(ctx context.Context, q *parsedQuery) (out []string) {
	own := d.searched(ctx)
	terms := d.e.Text.Query(own)
	for _, asked := range q.Terms {
		best := -1
		least := max(spelling.Edits(asked), 1) + 1
		for i, t := range terms {
			n := spelling.Distance(asked, t.Text)
			if n >= least && shareStem(asked, t.Text) {
				n = least - 1 // a related word, if none is nearer
			}
			if n < least {
				least, best = n, i
			}
		}
		if best >= 0 {
			out = append(out, own[terms[best].Start:terms[best].End])
		}
	}
	return out
}

// shareStem reports whether two terms have a beginning so long that they are probably forms or
// parts of one word.
func shareStem(a, b string) bool {
	const least = 4
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n >= least && 3*n >= 2*min(len(a), len(b))
}

// rarestWords returns the item's words that the fewest others contain.
func (d *exclusion) rarestWords(ctx context.Context) []string {
	own := d.searched(ctx)
	first := make(map[string]analysis.Term)
	for _, t := range d.e.Text.Query(own) {
		if _, ok := first[t.Text]; !ok && len(t.Text) > 2 {
			first[t.Text] = t
		}
	}
	q := &parsedQuery{set: &d.e.Stm.MemorySet}
	for t := range first {
		q.Terms = append(q.Terms, t)
	}
	slices.Sort(q.Terms)
	c, err := d.e.DocFrequencies(ctx, q)
	if err != nil {
		return nil
	}
	holders := func(term string) int {
		i, _ := slices.BinarySearch(q.Terms, term)
		return c.inMemories[i] + c.inNotes[term]
	}
	order := slices.Clone(q.Terms)
	slices.SortFunc(order, func(a, b string) int {
		return cmp.Or(cmp.Compare(holders(a), holders(b)), cmp.Compare(first[a].Start, first[b].Start))
	})
	var out []string
	for _, t := range order[:min(len(order), maxSuggested)] {
		out = append(out, own[first[t].Start:first[t].End])
	}
	return out
}
