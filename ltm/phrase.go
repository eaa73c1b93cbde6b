package ltm

import (
	"context"
	"slices"

	"emberd/internal/text"
)

// phrase is a text whose terms have to follow one another.
type phrase struct {
	terms    []string // all of them, stop words too
	suspects []bool   // by number: has all of its words; nil for all notes
}

// phrases turns the phrases of a query into conditions: a note has to hold all the words
// of a required one. What only a note's text can tell is left for checkPhrases.
func (s *searcher) phrases(c *condition) error {
	s.required, s.excluded = nil, nil
	for _, p := range s.query.Must.Phrases {
		ph, err := s.phrase(p)
		if err != nil {
			return err
		}
		c.holds = append(c.holds, ph.suspects)
		if len(ph.terms) > 1 {
			s.required = append(s.required, ph)
		}
	}
	for _, p := range s.query.Not.Phrases {
		ph, err := s.phrase(p)
		if err != nil {
			return err
		}
		if len(ph.terms) > 1 {
			s.excluded = append(s.excluded, ph)
			continue
		}
		c.lacks = append(c.lacks, ph.suspects)
	}
	return nil
}

// phrase finds the notes that hold all words of a text. A text without a term has none.
func (s *searcher) phrase(t string) (phrase, error) {
	ph := phrase{terms: texts(s.index.analyzer.Terms(t)), suspects: make([]bool, len(s.table.notes))}
	words := texts(s.index.analyzer.Query(t))
	slices.Sort(words)
	words = slices.Compact(words)
	held := make([]int, len(s.table.notes))
	for i, w := range words {
		list, err := s.view.postings(nil, w)
		if err != nil {
			return ph, err
		}
		for _, p := range list {
			if int(p.note) < len(held) && held[p.note] == i {
				held[p.note]++
			}
		}
	}
	for number, n := range held {
		ph.suspects[number] = len(words) > 0 && n == len(words)
	}
	return ph, nil
}

func texts(terms []text.Term) []string {
	list := make([]string, len(terms))
	for i, t := range terms {
		list[i] = t.Text
	}
	return list
}

func (s *searcher) hasPhrases() bool { return len(s.required)+len(s.excluded) > 0 }

// checkPhrases keeps the candidates whose text has the required phrases and none of the
// excluded ones, and counts them. total is how many there were to choose the candidates
// from; if there were more, the count is partial.
func (s *searcher) checkPhrases(ctx context.Context, found []candidate, total int) (kept []candidate, count int, partial bool) {
	if !s.hasPhrases() {
		return found, total, false
	}
	for _, c := range found {
		if ctx.Err() != nil {
			break
		}
		if s.reads(c.number) {
			kept = append(kept, c)
		}
	}
	return kept, len(kept), total > len(found)
}

// reads reports whether a note's text has the phrases it should and lacks the others.
func (s *searcher) reads(number uint32) bool {
	suspected := slices.ContainsFunc(s.excluded, func(p phrase) bool { return p.suspects[number] })
	if len(s.required) == 0 && !suspected {
		return true
	}
	if s.query.Text == nil {
		return len(s.required) == 0
	}
	body, ok := s.query.Text(s.table.notes[number].path)
	if !ok {
		return false
	}
	terms := texts(s.index.analyzer.Terms(body))
	in := func(p phrase) bool { return follows(terms, p.terms) }
	return every(s.required, in) && !slices.ContainsFunc(s.excluded, in)
}

// follows reports whether the terms of part stand in terms, one right after the other.
func follows(terms, part []string) bool {
	for i := 0; i+len(part) <= len(terms); i++ {
		if slices.Equal(terms[i:i+len(part)], part) {
			return true
		}
	}
	return false
}
