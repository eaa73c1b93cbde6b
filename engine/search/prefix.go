package search

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/internal/relevance"
	"emberd/internal/text/spelling"
	"emberd/ltm"
	"emberd/memory"
)

const (
	// maxPrefixTerms and maxPrefixDocs bound what the beginning of a word stands for: the rarest
	// words that begin so, and how many texts hold them together.
	maxPrefixTerms = 1000
	maxPrefixDocs  = 50_000
	// prefixWeight is the weight of words that begin with the last word, relative to the word.
	prefixWeight = 0.5
)

// prefixGroup is the last word of a query as the beginning of others, which count as one word.
type prefixGroup struct {
	name              string   // for explanations
	words             []string // nil for none
	inMemories, notes int      // about how many hold one of the words
	term              string   // the last word's own term, and its IDF
	idf               float64
	partial           bool // some words that begin so are left out
}

// prepare looks the query's terms up in both tiers, and finds what its last word begins and which
// of its words are misspelled.
func (e *Search) prepare(ctx context.Context, q *parsedQuery) (docFrequencies, error) {
	if q.whole = q.whole || q.isMessage(); q.Query.Prefix && !q.whole {
		q.leaveStops(e)
	}
	q.corrected = nil
	c, err := e.DocFrequencies(ctx, q)
	if err == nil {
		q.begun, err = e.expandPrefix(ctx, q, c)
	}
	if err == nil {
		q.corrected, err = e.correct(ctx, q, c)
	}
	if err == nil && len(q.corrected) > 0 {
		c, err = e.DocFrequencies(ctx, q)
	}
	if err != nil {
		err = memory.Errorf(memory.Internal, "cannot search the note index: %w", err)
	}
	return c, err
}

// expandPrefix returns the words that begin with the last word as typed, so that while a user types,
// every hit of more letters is among those of fewer, if no words are left out by maxPrefixTerms and
// maxPrefixDocs. A whole question is expanded only if no text contains its last word.
func (e *Search) expandPrefix(ctx context.Context, q *parsedQuery, c docFrequencies) (g prefixGroup, err error) {
	typed := lastWord(q.Query.Words)
	prefix := e.Text.Prefix(typed)
	if !q.Query.Prefix || prefix == "" || q.whole && q.known(e.Text.Query(typed), c) {
		return prefixGroup{}, nil
	}
	g.name = typed + "*"
	if own := e.Text.Terms(typed); len(own) > 0 {
		g.term = own[len(own)-1].Text
		if i, found := slices.BinarySearch(q.Terms, g.term); found {
			g.idf = c.idf(q, i)
		}
	}
	stops := !q.asksBefore(e, typed)
	refused := func(t string) bool { return q.asks(t) || !stops && e.Text.StopTerm(t) }
	near, inMemories, err := e.begins(ctx, q, prefix)
	if err != nil {
		return prefixGroup{}, err
	}
	near = slices.DeleteFunc(near, func(n spelling.Near) bool { return n.Docs == 0 || refused(n.Word) })
	slices.SortFunc(near, func(a, b spelling.Near) int {
		return cmp.Or(cmp.Compare(a.Docs, b.Docs), strings.Compare(a.Word, b.Word))
	})
	for docs, i := 0, 0; i < min(len(near), maxPrefixTerms); i++ {
		if docs += near[i].Docs; docs > maxPrefixDocs && i > 0 {
			break
		}
		g.words = append(g.words, near[i].Word)
		g.inMemories += inMemories[near[i].Word]
		g.notes += near[i].Docs - inMemories[near[i].Word]
	}
	g.partial = len(g.words) < len(near)
	return g, nil
}

// weight returns the weight of the group, so that it never adds more than half of what the word does.
func (g *prefixGroup) weight(c *docFrequencies) float64 {
	docs := c.memories + c.notes
	own := relevance.IDF(docs, min(docs, g.inMemories+g.notes))
	if g.idf == 0 || own <= g.idf {
		return prefixWeight
	}
	return prefixWeight * g.idf / own
}

// begins returns the terms of words that begin with prefix, with about how many memories and
// notes hold each, and how many memories do.
func (e *Search) begins(ctx context.Context, q *parsedQuery, prefix string) ([]spelling.Near, map[string]int, error) {
	docs, inMemories := map[string]int{}, map[string]int{}
	for _, n := range q.set.Expand(prefix) {
		inMemories[n.Word] += n.Docs
	}
	stems := e.Text.Stems(prefix)
	if len(stems) > 0 {
		_, df := q.set.Frequencies(stems)
		for i, t := range stems {
			inMemories[t] = df[i]
		}
	}
	maps.Copy(docs, inMemories)
	if e.Notes.Vault != nil {
		ask := e.Notes.Vault.Ask
		if q.hasArchive(e) {
			ask = e.Notes.Vault.AskAll
		}
		err := ask(func(index *ltm.Index) error {
			near, err := index.Expand(prefix)
			if err != nil {
				return err
			}
			_, df, err := index.Frequencies(ctx, stems)
			for _, n := range near {
				docs[n.Word] += n.Docs
			}
			for t, n := range df {
				docs[t] += n
			}
			return err
		})
		if err != nil {
			return nil, nil, err
		}
	}
	near := make([]spelling.Near, 0, len(docs))
	for t, n := range docs {
		near = append(near, spelling.Near{Word: t, Docs: n})
	}
	return near, inMemories, nil
}

// asksBefore reports whether the query has a word that is no stop word before its last one. Else
// stop words count as words that begin so, since they are all that is asked.
func (q *parsedQuery) asksBefore(e *Search, last string) bool {
	terms := e.Text.Query(strings.TrimSuffix(q.Query.Words, last))
	return len(q.required) > 0 || len(terms) > 0 && !terms[0].Stop()
}

// leaveStops lets the stop words of a query that ends within a word rank only, as before that word
// was there. Of stop words alone the last one counts.
func (q *parsedQuery) leaveStops(e *Search) {
	last := lastWord(q.Query.Words)
	others := q.asksBefore(e, last)
	own := core.Distinct(e.Text.Terms(last))
	q.Terms = slices.DeleteFunc(q.Terms, func(t string) bool {
		stops := e.Text.StopTerm(t) && !slices.Contains(q.required, t) && slices.Contains(own, t) == others
		if stops {
			q.weak = append(q.weak, t)
		}
		return stops
	})
}

func lastWord(s string) string {
	words := strings.Fields(s)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}
