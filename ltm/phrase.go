package ltm

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"sync/atomic"

	"emberd/internal/contain"
	"emberd/internal/text/analysis"
)

// How many texts a search looks into for phrases that their rows do not refute: as many as there are
// hits wanted, fewTexts at least, then more until there are hits enough, and no more than
// maxTexts unless more hits are wanted.
const fewTexts, maxTexts = 10, 1000

// phrase is a text whose terms have to follow one another.
type phrase struct {
	terms    []string // all of them, stop words too
	row      []byte   // of the terms
	suspects []bitset // by segment: first documents of the notes that have all of its words
}

// rowOf appends a byte for each term, so that terms that follow one another in a text have their
// bytes follow one another in its row. The bytes are on disk: change them only together with
// format.
func rowOf(b []byte, terms []analysis.Term) []byte {
	for _, t := range terms {
		h := hashOf(t.Text)
		b = append(b, byte(h^h>>8^h>>16^h>>24))
	}
	return b
}

// phrases turns the phrases of a query into conditions: a note must contain all the words of a
// required one. holders checks what only a note's text shows.
func (s *searcher) phrases() {
	s.required, s.excluded, s.holds, s.lacks = nil, nil, nil, nil
	for _, p := range s.query.Must.Phrases {
		ph := s.phrase(p)
		s.holds = append(s.holds, ph.suspects)
		if len(ph.terms) > 1 {
			s.required = append(s.required, ph)
		}
	}
	for _, p := range s.query.Not.Phrases {
		ph := s.phrase(p)
		if len(ph.terms) > 1 {
			s.excluded = append(s.excluded, ph)
			continue
		}
		s.lacks = append(s.lacks, ph.suspects)
	}
}

// phrase finds the notes that hold all words of a text. A text without a term has none.
func (s *searcher) phrase(t string) phrase {
	terms := s.index.analyzer.Terms(t)
	ph := phrase{terms: texts(terms), row: rowOf(nil, terms), suspects: make([]bitset, len(s.view.segments))}
	words := texts(s.index.analyzer.Query(t))
	slices.Sort(words)
	words = slices.Compact(words)
	for i := range ph.suspects {
		in := s.view.segments[i].segmentBase
		for _, w := range words {
			list, _ := in.find(w)
			one := newBitset(len(in.rows))
			if s.addFirsts(one, in, &list); ph.suspects[i] == nil {
				ph.suspects[i] = one
			} else {
				ph.suspects[i].and(one)
			}
		}
		if len(words) == 0 {
			ph.suspects[i] = newBitset(len(in.rows))
		}
	}
	return ph
}

// hasWords reports whether a note has the words of the required phrases and no excluded word.
func (s *searcher) hasWords(segment int, first uint32) bool {
	in := func(suspects []bitset) bool { return suspects[segment].has(first) }
	return every(s.holds, in) && !slices.ContainsFunc(s.lacks, in)
}

func texts(terms []analysis.Term) []string {
	list := make([]string, len(terms))
	for i, t := range terms {
		list[i] = t.Text
	}
	return list
}

func (s *searcher) hasPhrases() bool { return len(s.required)+len(s.excluded) > 0 }

// holders returns the candidates whose text has the required phrases and none of the excluded
// ones, the best first; partial means that it left some out.
func (s *searcher) holders(ctx context.Context) (kept []candidate, partial bool) {
	limit := max(s.query.Limit, 0)
	looked, most := 0, max(maxTexts, limit)
	for n := max(limit, fewTexts); ; n *= 4 {
		found, total := s.candidates(min(n, most))
		kept = append(kept, s.keep(ctx, found[looked:])...)
		looked = len(found)
		if looked == total || looked == most || limit > 0 && len(kept) >= limit || ctx.Err() != nil {
			return kept, looked < total
		}
	}
}

// keep returns those candidates that have the right phrases.
func (s *searcher) keep(ctx context.Context, found []candidate) []candidate {
	fits := make([]bool, len(found))
	var unsure []int
	for i := range found {
		c, sure := &found[i], false
		if !s.place(c) {
			continue
		}
		if fits[i], sure = s.hasRows(c.segment, c.first); !sure {
			unsure = append(unsure, i)
		}
	}
	s.readAll(ctx, unsure, func(l *lookup, i int) { fits[i] = l.fits(found[i].number) })
	var kept []candidate
	for i, c := range found {
		if fits[i] {
			kept = append(kept, c)
		}
	}
	return kept
}

// hasRows decides whether a note has the right phrases, as far as the row of its text tells.
func (s *searcher) hasRows(segment int, first uint32) (fits, sure bool) {
	in := &s.view.segments[segment]
	suspected := slices.ContainsFunc(s.excluded, func(p phrase) bool { return p.suspects[segment].has(first) })
	if len(s.required) == 0 && !suspected {
		return true, true
	}
	if s.query.Text == nil {
		return len(s.required) == 0, true
	}
	text, known := in.text(first)
	if !known {
		return false, false
	}
	may := func(p phrase) bool { return bytes.Contains(text, p.row) }
	if !every(s.required, may) {
		return false, true
	}
	clean := len(s.required) == 0 && !slices.ContainsFunc(s.excluded, may)
	return clean, clean
}

// readAll runs do for each item on several lookups, on all processors, until ctx ends.
func (s *searcher) readAll(ctx context.Context, items []int, do func(l *lookup, item int)) {
	var wanted []string
	for _, p := range slices.Concat(s.required, s.excluded) {
		wanted = append(wanted, p.terms...)
	}
	var next atomic.Int64
	var readers contain.Group
	for range min(runtime.GOMAXPROCS(0), len(items)) {
		readers.Go(func() {
			l := lookup{searcher: s, wanted: wanted}
			reading(func() {
				for ctx.Err() == nil {
					i := int(next.Add(1)) - 1
					if i >= len(items) {
						return
					}
					do(&l, items[i])
				}
			})
		})
	}
	readers.Wait()
}

// lookup searches texts for phrases, one after the other. It keeps its memory for the next.
type lookup struct {
	*searcher
	wanted []string // terms of all phrases
	terms  []analysis.Term
}

// fits reports whether a note's text has the phrases it should and lacks the others.
func (l *lookup) fits(number uint32) bool {
	body, ok := l.query.Text(l.table.notes[number].path)
	if !ok {
		return false
	}
	l.terms = l.index.analyzer.AppendOnly(l.terms[:0], body, l.wanted)
	in := func(p phrase) bool { return follows(l.terms, p.terms) }
	return every(l.required, in) && !slices.ContainsFunc(l.excluded, in)
}

// follows reports whether the terms of part are in terms, one right after the other.
func follows(terms []analysis.Term, part []string) bool {
	same := func(t analysis.Term, p string) bool { return t.Text == p }
	for i := 0; i+len(part) <= len(terms); i++ {
		if slices.EqualFunc(terms[i:i+len(part)], part, same) {
			return true
		}
	}
	return false
}
