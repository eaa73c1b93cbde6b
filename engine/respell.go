package engine

import (
	"context"
	"slices"

	"emberd/internal/spelling"
	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
)

// mostRespelt is how many words may stand for a misspelt one.
const mostRespelt = 8

// mostMisspelt is of how many words of a query others are looked for, each of which goes
// through all that are known: a query has room for hundreds.
const mostMisspelt = 16

// respell puts the nearest known words in the place of those that no memory and no
// note holds, and tells which. It is empty, and nothing is changed, when there are none.
func (e *Engine) respell(ctx context.Context, q *question, typed string) ([]op.Respelling, error) {
	c, err := e.corpus(ctx, q)
	if err != nil {
		return nil, memory.Errorf(memory.Internal, "search the note index: %w", err)
	}
	var out []op.Respelling
	var terms []string
	tried := 0
	for i, t := range q.terms {
		near := []string{t}
		if tried < mostMisspelt && c.inMemories[i]+c.inNotes[t] == 0 {
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
	q.terms = slices.Compact(terms)
	q.prefix, q.guesses, q.query.Prefix = "", nil, false
	return out, nil
}

// nearest returns the words that a misspelt one probably means, of the tiers that
// are asked.
func (e *Engine) nearest(q *question, term string) ([]string, error) {
	edits := spelling.Edits(term)
	if edits == 0 {
		return nil, nil
	}
	var near []spelling.Near
	if q.memories {
		near = q.in.Similar(term, edits)
	}
	if q.notes {
		err := e.notes.ask(func(index *ltm.Index) error {
			more, err := index.Similar(term, edits)
			near = append(near, more...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return spelling.Nearest(near, mostRespelt), nil
}

// asTyped returns the word of the query that a term was made of.
func (e *Engine) asTyped(typed, term string) string {
	for _, t := range e.text.Terms(typed) {
		if t.Text == term {
			return typed[t.Start:t.End]
		}
	}
	return term
}

// attribute says of terms which word they were searched for in place of.
func attribute(terms []op.TermExplain, respelled []op.Respelling) {
	for i := range terms {
		for _, r := range respelled {
			if slices.Contains(r.Terms, terms[i].Term) {
				terms[i].For = r.Word
			}
		}
	}
}
