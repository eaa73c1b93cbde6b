package search

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"emberd/internal/staticmodel"
	"emberd/internal/text/spelling"
	"emberd/ltm"
	"emberd/op"
)

const (
	// maxReplacements is how many words may stand in for a misspelled one.
	maxReplacements = 8
	// MaxMisspelt is for how many words of a query similar words are searched. Each search goes
	// through all known words, and a query may have hundreds.
	MaxMisspelt = 8
	// correctedWeight is the weight of the words that stand in for a misspelled one.
	correctedWeight = 0.8
	// A word that at most so many texts hold may be misspelled, if so many times as many hold its
	// neighbour, which stands beside other words of the query, and it does not.
	fewDocs, rarerBy = 2, 8
	// telling is how many other words of the query tell what a misspelled one means.
	telling = 2
)

// correction is a word of the query that is probably misspelled, and what may have been meant.
type correction struct {
	word  string // as typed
	term  string
	terms []string // known ones, searched for beside it
	idf   float64  // of term
}

func (c *correction) offers(term string) bool { return slices.Contains(c.terms, term) }

// correct returns the words of the query that are probably misspelled: unknown ones, and those rarer
// by far than a neighbour. Where the query has other known words, what was meant stands beside one of them.
func (e *Search) correct(ctx context.Context, q *parsedQuery, c docFrequencies) ([]correction, error) {
	var out []correction
	tried := 0
	for i, t := range q.Terms {
		df := c.inMemories[i] + c.inNotes[t]
		typed, ok := e.misspellable(q, t)
		if df > fewDocs || !ok || tried == MaxMisspelt {
			continue
		}
		tried++
		terms, err := e.meant(ctx, q, c, misspelt{t, typed, df})
		if err != nil {
			return nil, err
		}
		if len(terms) > 0 {
			out = append(out, correction{typed, t, terms, c.idf(q, i)})
		}
	}
	return out, nil
}

// misspellable returns the word of the query from which a term was made, and whether it may be
// misspelled: it is not quoted, no part of a name with signs or digits, and nobody is typing it.
func (e *Search) misspellable(q *parsedQuery, term string) (typed string, ok bool) {
	if slices.Contains(q.required, term) {
		return "", false
	}
	for field := range strings.FieldsSeq(q.Query.Words + " " + q.unquoted) {
		for _, t := range e.Text.Terms(field) {
			if t.Text != term {
				continue
			}
			whole := strings.Trim(field, ".,;:!?()\"'“”„‘’…")
			typing := len(q.begun.words) > 0 && field == lastWord(q.Query.Words)
			typed := field[t.Start:t.End]
			return typed, typed == strings.TrimSuffix(whole, "'s") && isPlainWord(whole) && !typing
		}
	}
	return term, false
}

// isPlainWord reports whether a word has letters only, and capitals as a sentence has them.
func isPlainWord(word string) bool {
	rest := word[min(len(word), utf8.RuneLen([]rune(word + " ")[0])):]
	return !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' }) &&
		strings.ToLower(rest) == rest
}

// misspelt is a word of a query that few texts hold.
type misspelt struct {
	term, typed string
	df          int
}

// meant returns the terms that a word may stand for, those with the fewest edits.
func (e *Search) meant(ctx context.Context, q *parsedQuery, c docFrequencies, w misspelt) ([]string, error) {
	others := q.others(w.term, c)
	if w.df > 0 {
		if len(others) == 0 {
			return nil, nil
		}
		if n, err := e.together(ctx, q, w.term, others); err != nil || n > 0 {
			return nil, err
		}
	}
	near, err := e.nearest(ctx, q, w)
	if err != nil {
		return nil, err
	}
	if staticmodel.Default().Knows(w.typed) {
		near = slices.DeleteFunc(near, func(n spelling.Near) bool { return !extends(n.Word, w.term) })
	}
	if len(others) > 0 && !q.lenient {
		if near, err = e.fitting(ctx, q, near, others); err != nil {
			return nil, err
		}
	}
	return spelling.Nearest(near, maxReplacements), nil
}

// extends reports whether one of two words is the other with one more letter, as forms of a word are: a frequent
// English word is no slip for anything else.
func extends(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	return utf8.RuneCountInString(a) == utf8.RuneCountInString(b)+1 && strings.HasPrefix(a, b)
}

// others returns the rarest known words of the query besides one: common ones stand beside anything.
func (q *parsedQuery) others(term string, c docFrequencies) []string {
	var known []spelling.Near
	for i, t := range q.Terms {
		if df := c.inMemories[i] + c.inNotes[t]; t != term && df > 0 {
			known = append(known, spelling.Near{Word: t, Docs: df})
		}
	}
	slices.SortStableFunc(known, func(a, b spelling.Near) int { return cmp.Compare(a.Docs, b.Docs) })
	var out []string
	for _, n := range known[:min(len(known), telling)] {
		out = append(out, n.Word)
	}
	return append(out, q.begun.words...)
}

// fitting returns the words that stand beside one of the others in any text.
func (e *Search) fitting(ctx context.Context, q *parsedQuery, near []spelling.Near,
	others []string) (fit []spelling.Near, err error) {
	slices.SortStableFunc(near, func(a, b spelling.Near) int { return cmp.Compare(a.Edits, b.Edits) })
	for _, n := range near {
		if len(fit) > 0 && n.Edits > fit[0].Edits || n.Edits > 2 {
			break
		}
		together, err := e.together(ctx, q, n.Word, others)
		if err != nil {
			return nil, err
		}
		if together > 0 {
			fit = append(fit, n)
		}
	}
	return fit, nil
}

// together counts the texts that hold a word and one of the others, in the tiers that are searched.
func (e *Search) together(ctx context.Context, q *parsedQuery, term string, others []string) (n int, err error) {
	if q.memories {
		n = q.set.Together(term, others)
	}
	if ask := e.askNotes(q); ask != nil {
		err = ask(func(index *ltm.Index) error {
			more, err := index.Together(ctx, term, others)
			n += more
			return err
		})
	}
	return n, err
}

// askNotes returns how the indexes of notes are asked that a query searches, nil for none.
func (e *Search) askNotes(q *parsedQuery) func(func(*ltm.Index) error) error {
	archive := q.memories && q.hasArchive(e)
	switch {
	case q.notes && archive:
		return e.Notes.Vault.AskAll
	case q.notes:
		return e.Notes.Vault.Ask
	case archive:
		return e.Notes.Vault.AskArchive
	}
	return nil
}

// nearest returns the known words near a misspelled one, from the tiers that are searched.
func (e *Search) nearest(ctx context.Context, q *parsedQuery, w misspelt) ([]spelling.Near, error) {
	edits := spelling.Edits(w.typed)
	if w.df > 0 {
		edits = min(edits, 1)
	}
	if edits == 0 {
		return nil, nil
	}
	cost := e.slips(w.typed)
	slips := slices.Sorted(maps.Keys(cost))
	var near []spelling.Near
	add := func(found []spelling.Near, df func(i int) int) {
		for _, n := range found {
			if _, ok := slices.BinarySearch(slips, n.Word); !ok {
				n.Edits *= 2 // letters of terms say less than those of words
				near = append(near, n)
			}
		}
		for i, t := range slips {
			near = append(near, spelling.Near{Word: t, Edits: cost[t], Docs: df(i)})
		}
	}
	if q.memories {
		_, df := q.set.Frequencies(slips)
		add(q.set.Similar(w.term, edits), func(i int) int { return df[i] })
	}
	if ask := e.askNotes(q); ask != nil {
		err := ask(func(index *ltm.Index) error {
			_, df, err := index.Frequencies(ctx, slips)
			if err != nil {
				return err
			}
			found, err := index.Similar(w.term, edits)
			add(found, func(i int) int { return df[slips[i]] })
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(near, func(n spelling.Near) bool {
		return n.Docs == 0 || n.Word == w.term || n.Word[0] != w.term[0] || n.Docs < rarerBy*w.df
	}), nil
}

// slips returns the terms of the words that one slip makes a word of, with what the slip counts: the
// stemmer does not know a misspelled ending, so the term of the word may be far from them.
func (e *Search) slips(typed string) map[string]int {
	cost := map[string]int{}
	slips, replaced := spelling.Slips(strings.ToLower(typed))
	for i, words := range [][]string{replaced, slips} {
		for _, w := range words {
			if t := e.Text.Terms(w); len(t) == 1 {
				cost[t[0].Text] = 2 - i
			}
		}
	}
	return cost
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

// respellings returns what was searched for beside words of the query.
func (q *parsedQuery) respellings() (out []op.Respelling) {
	for _, c := range q.corrected {
		out = append(out, op.Respelling{Word: c.word, Terms: c.terms})
	}
	return out
}

// corrections returns the terms that are searched for beside those of the query, each once.
func (q *parsedQuery) corrections() (out []string) {
	for _, c := range q.corrected {
		for _, t := range c.terms {
			if !q.asks(t) && !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out
}

// markReplaced records in terms which word each of them stands in for.
func (q *parsedQuery) markReplaced(terms []op.TermExplain) {
	for i := range terms {
		for _, c := range q.corrected {
			if c.offers(terms[i].Term) {
				terms[i].For = c.word
			}
		}
	}
}
