package ltm

import (
	"iter"
	"time"
)

// nearby works out the notes of the query's Near that pass the filters, and counts those that hold
// none of the terms.
func (s *searcher) nearby(best *ranking) int {
	s.near, s.apart = make(map[uint32]Near, len(s.query.Near)), 0
	for path, near := range s.query.Near {
		number, ok := s.table.paths()[path]
		if !ok || s.table.note(number) == nil {
			continue
		}
		segment, doc, ok := s.view.document(ref{note: number})
		if !ok || !s.fits(segment, doc) {
			continue
		}
		s.near[number] = near
		c := candidate{number: number, segment: segment, first: doc}
		s.readRuns(&c)
		s.work(&c)
		if best.add(c); !c.held {
			s.apart++
		}
	}
	return s.apart
}

// byNearness counts the matches that hold none of the terms: of those found when phrases
// chose them, else of all.
func (s *searcher) byNearness(found []candidate) (n int) {
	if s.hasPhrases() {
		for _, c := range found {
			if _, near := s.near[c.number]; near && !c.held {
				n++
			}
		}
		return n
	}
	return s.apart
}

// bonus returns what the query adds to the relevance of a note that matches.
func (s *searcher) bonus(number uint32) float64 {
	if s.query.Bonus == nil {
		return 0
	}
	n := s.table.notes[number]
	return s.query.Bonus(n.path, time.Unix(0, n.created))
}

// atLine returns, as at does, where a line is.
func (s *shown) atLine(line int) (path []string, section, at, above int) {
	passage := 0
	for i, p := range s.places {
		if p.line <= line {
			passage = i
		}
	}
	path, section, at, _ = s.at(passage)
	at = max(at, line)
	if above = at - section; above > 0 && len(path) > 0 {
		above-- // the first line of the text is below the heading
	}
	return path, section, at, above
}

// Accepting calls do with a function that reports whether the note of a path may be a hit of the
// query, as far as that is known without its words and its text: with the phrases' words, the
// filters and the dates. The function is valid until do returns. If such conditions leave few
// notes, listed has the paths of all that are accepted; else it is nil.
func (x *Index) Accepting(q Query, do func(accept func(path string) bool, listed []string)) error {
	return x.search(&q, func(s *searcher) error {
		s.filter()
		var listed []string
		if s.filtered() {
			listed = s.listPassing(min(len(s.table.notes)/8, maxListed))
		}
		do(func(path string) bool {
			number, ok := s.table.paths()[path]
			return ok && s.passesWith(number)
		}, listed)
		return nil
	})
}

// maxListed is the largest number of notes that Accepting lists, so that looking them up one by one stays short.
const maxListed = 2000

// listPassing returns the paths of the notes that pass, nil if there are more than most.
func (s *searcher) listPassing(most int) []string {
	paths := []string{}
	for number := range mayPass(s) {
		if !s.passesWith(number) {
			continue
		}
		if len(paths) == most {
			return nil
		}
		paths = append(paths, s.table.notes[number].path)
	}
	return paths
}

// mayPass yields the notes that have the words of a required phrase, or all if there is none, each once.
func mayPass(s *searcher) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		if len(s.holds) == 0 {
			for number := range s.table.notes {
				if !yield(uint32(number)) {
					return
				}
			}
			return
		}
		for i, suspects := range s.holds[0] {
			in := &s.view.segments[i]
			for first := suspects.next(0); first != pastEnd; first = suspects.next(first + 1) {
				if in.live(first) && !yield(in.rows[first].note) {
					return
				}
			}
		}
	}
}
