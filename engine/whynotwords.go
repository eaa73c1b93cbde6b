package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"emberd/internal/spelling"
	"emberd/internal/text"
)

// mostTelling is how many of its own words are named at most.
const mostTelling = 3

// quoted lists words for a sentence.
func quoted(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(out, ", ")
}

// typed returns the words of the query that terms were made of.
func (d *doubt) typed(terms []string) []string {
	out := make([]string, len(terms))
	for i, t := range terms {
		out[i] = d.e.asTyped(d.req.Query, t)
	}
	return out
}

// held returns the words of the query that a text holds.
func (d *doubt) held(q *question, content string) []string {
	terms := distinct(d.e.text.Terms(content))
	return d.typed(slices.DeleteFunc(slices.Clone(q.terms), func(t string) bool {
		_, ok := slices.BinarySearch(terms, t)
		return !ok
	}))
}

// searched is the text that searches look into: of a note its names as well.
func (d *doubt) searched(ctx context.Context) string {
	if d.row != nil {
		return d.row.Text()
	}
	body, _ := d.e.notes.textOf(ctx, d.path) // without it there is less to suggest
	if d.note != nil {
		body += "\n" + d.note.Title + "\n" + strings.Join(d.note.Aliases, "\n")
	}
	return body
}

// near returns those of its own words that those of the query are nearly spelt like, or
// begin like.
func (d *doubt) near(ctx context.Context, q *question) (out []string) {
	own := d.searched(ctx)
	terms := d.e.text.Query(own)
	for _, asked := range q.terms {
		best := -1
		least := max(spelling.Edits(asked), 1) + 1
		for i, t := range terms {
			n := spelling.Distance(asked, t.Text)
			if n >= least && alike(asked, t.Text) {
				n = least - 1 // a relative, where nothing is nearer
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

// alike reports whether two terms begin alike for so long that they are probably forms
// or parts of one word.
func alike(a, b string) bool {
	const least = 4
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n >= least && 3*n >= 2*min(len(a), len(b))
}

// telling returns those of its own words that fewest others hold.
func (d *doubt) telling(ctx context.Context) []string {
	own := d.searched(ctx)
	first := make(map[string]text.Term)
	for _, t := range d.e.text.Query(own) {
		if _, ok := first[t.Text]; !ok && len(t.Text) > 2 {
			first[t.Text] = t
		}
	}
	q := &question{in: &d.e.stm.Memories}
	for t := range first {
		q.terms = append(q.terms, t)
	}
	slices.Sort(q.terms)
	c, err := d.e.corpus(ctx, q)
	if err != nil {
		return nil
	}
	holders := func(term string) int {
		i, _ := slices.BinarySearch(q.terms, term)
		return c.inMemories[i] + c.inNotes[term]
	}
	order := slices.Clone(q.terms)
	slices.SortFunc(order, func(a, b string) int {
		return cmp.Or(cmp.Compare(holders(a), holders(b)), cmp.Compare(first[a].Start, first[b].Start))
	})
	var out []string
	for _, t := range order[:min(len(order), mostTelling)] {
		out = append(out, own[first[t].Start:first[t].End])
	}
	return out
}
