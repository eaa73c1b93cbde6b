package ltm

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"

	"emberd/internal/contain"
	"emberd/internal/text/analysis"
)

// phrase is a text whose terms have to follow one another.
type phrase struct {
	terms    []string // all of them, stop words too
	rows     []uint64 // of the terms, for phrase filters
	suspects []bool   // by number: has all of its words
}

// phrases turns the phrases of a query into conditions: a note must contain all the words of a
// required one. holders checks what only a note's text shows.
func (s *searcher) phrases(c *filterMatcher) {
	s.required, s.excluded = nil, nil
	for _, p := range s.query.Must.Phrases {
		ph := s.phrase(p)
		c.holds = append(c.holds, ph.suspects)
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
		c.lacks = append(c.lacks, ph.suspects)
	}
}

// phrase finds the notes that hold all words of a text. A text without a term has none.
func (s *searcher) phrase(t string) phrase {
	terms := s.index.analyzer.Terms(t)
	ph := phrase{terms: texts(terms), rows: s.index.texts.rows(nil, terms), suspects: make([]bool, len(s.table.notes))}
	words := texts(s.index.analyzer.Query(t))
	slices.Sort(words)
	words = slices.Compact(words)
	held := make([]int, len(s.table.notes))
	for i, w := range words {
		s.eachNote(w, func(number uint32) {
			if held[number] == i {
				held[number]++
			}
		})
	}
	for number, n := range held {
		ph.suspects[number] = len(words) > 0 && n == len(words)
	}
	return ph
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
	found, total := s.candidates(max(maxTexts, limit))
	looked := 0
	for n := fewTexts; looked < len(found) && (limit == 0 || len(kept) < limit); n *= 2 {
		next := found[looked:min(looked+n, len(found))]
		kept = append(kept, s.keep(ctx, next)...)
		looked += len(next)
	}
	return kept, looked < total
}

// keep returns those candidates that have the right phrases.
func (s *searcher) keep(ctx context.Context, found []candidate) []candidate {
	fits := make([]bool, len(found))
	var unsure []int
	for i, c := range found {
		sure := false
		if fits[i], sure = s.judge(c.number); !sure {
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

// judge decides whether a note fits, as far as that is known without its text.
func (s *searcher) judge(number uint32) (fits, sure bool) {
	suspected := slices.ContainsFunc(s.excluded, func(p phrase) bool { return p.suspects[number] })
	if len(s.required) == 0 && !suspected {
		return true, true
	}
	if s.query.Text == nil {
		return len(s.required) == 0, true
	}
	known := s.index.texts.find(number, s.table.notes[number])
	if known == nil {
		return false, false
	}
	may := func(p phrase) bool { return known.may(p.rows) }
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
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(items) {
					return
				}
				do(&l, items[i])
			}
		})
	}
	readers.Wait()
}

// lookup searches texts for phrases, one after the other. It keeps its memory for the next.
type lookup struct {
	*searcher
	wanted []string // terms of all phrases
	terms  []analysis.Term
	rows   []uint64
}

// fits reports whether a note's text has the phrases it should and lacks the others, and remembers
// a filter of the text.
func (l *lookup) fits(number uint32) bool {
	note := l.table.notes[number]
	body, ok := l.query.Text(note.path)
	if !ok {
		return false
	}
	if texts := l.index.texts; texts.find(number, note) != nil {
		l.terms = l.index.analyzer.AppendOnly(l.terms[:0], body, l.wanted)
	} else {
		l.terms = l.index.analyzer.AppendTerms(l.terms[:0], body)
		l.rows = texts.rows(l.rows[:0], l.terms)
		texts.add(number, knownFilter{note, newPhraseFilter(len(l.terms), l.rows)})
	}
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
