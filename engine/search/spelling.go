package search

import (
	"context"
	"slices"

	"emberd/internal/text/spelling"
	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
)

// maxReplacements is how many words may replace a misspelled one.
const maxReplacements = 8

// MaxMisspelt is for how many words of a query similar words are searched. Each search goes
// through all known words, and a query may have hundreds.
const MaxMisspelt = 16

// respell replaces terms that no memory or note contains by the nearest known words, and
// returns the replacements. If there are none, it changes nothing.
func (e *Search) respell(ctx context.Context, q *parsedQuery, typed string) ([]op.Respelling, error) {
	c, err := e.DocFrequencies(ctx, q)
	if err != nil {
		return nil, memory.Errorf(memory.Internal, "search the note index: %w", err)
	}
	var out []op.Respelling
	var terms []string
	tried := 0
	for i, t := range q.Terms {
		near := []string{t}
		if tried < MaxMisspelt && c.inMemories[i]+c.inNotes[t] == 0 {
			tried++
			if near, err = e.nearest(q, t); err != nil {
				return nil, memory.Errorf(memory.Internal, "search the note index: %w", err)
			}
			if len(near) > 0 {
				out = append(out, op.Respelling{Word: e.asTyped(typed, t), Terms: near})
			}
		}
		terms = append(terms, near...)
	}
	if len(out) == 0 {
		return nil, nil
	}
	slices.Sort(terms)
	q.Terms = slices.Compact(terms)
	q.Query.Prefix = false
	return out, nil
}

// nearest returns the likely words for a misspelled one, from the tiers that are searched.
func (e *Search) nearest(q *parsedQuery, term string) ([]string, error) {
	edits := spelling.Edits(term)
	if edits == 0 {
		return nil, nil
	}
	var near []spelling.Near
	if q.memories {
		near = q.set.Similar(term, edits)
	}
	if q.notes {
		err := e.Notes.Vault.Ask(func(index *ltm.Index) error {
			more, err := index.Similar(term, edits)
			near = append(near, more...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return spelling.Nearest(near, maxReplacements), nil
}

// asTyped returns the word of the query from which a term was made.
func (e *Search) asTyped(typed, term string) string {
	for _, t := range e.Text.Terms(typed) {
		if t.Text == term {
			return typed[t.Start:t.End]
		}
	}
	return term
}

// markReplaced records in terms which word each of them replaced.
func markReplaced(terms []op.TermExplain, respelled []op.Respelling) {
	for i := range terms {
		for _, r := range respelled {
			if slices.Contains(r.Terms, terms[i].Term) {
				terms[i].For = r.Word
			}
		}
	}
}
