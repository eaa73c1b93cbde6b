package ltm

import "time"

// touchNear matches the notes of the query's Near that pass the filters. It comes before the
// words, so that weak ones rank these notes like others.
func (s *searcher) touchNear() error {
	s.near = make(map[uint32]Near, len(s.query.Near))
	for path, near := range s.query.Near {
		number, ok := s.table.paths()[path]
		if !ok || !s.passes(number) {
			continue
		}
		segment, local, err := s.view.document(ref{note: number})
		if err != nil {
			return err
		}
		s.near[number] = near
		s.notes[number] = noteSum{touched: true, near: true, doc: segment.base + local}
		s.touched = append(s.touched, number)
	}
	return nil
}

// byNearness counts the matches that hold none of the terms: of those found when phrases
// chose them, else of all.
func (s *searcher) byNearness(found []candidate) (n int) {
	if s.hasPhrases() {
		for _, c := range found {
			if !s.notes[c.number].held {
				n++
			}
		}
		return n
	}
	for number := range s.near {
		if !s.notes[number].held {
			n++
		}
	}
	return n
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
// filters and the dates. The function is valid until do returns.
func (x *Index) Accepting(q Query, do func(accept func(path string) bool)) error {
	done, err := x.use()
	if err != nil {
		return err
	}
	defer done()
	s, err := x.searcher(&q)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.filter(); err != nil {
		return err
	}
	do(func(path string) bool {
		number, ok := s.table.paths()[path]
		return ok && s.passes(number)
	})
	return nil
}
