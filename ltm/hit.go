package ltm

import "time"

// hit returns the hit of a candidate.
func (s *searcher) hit(c candidate) (Hit, error) {
	n := s.table.notes[c.number]
	stored, err := s.stored(c.number)
	if err != nil {
		return Hit{}, err
	}
	r, err := decodeShown(stored, len(n.passages))
	if err != nil {
		return Hit{}, err
	}
	h := Hit{
		Path:      n.path,
		Cursor:    n.cursor,
		Title:     r.title,
		MemoryID:  r.memoryID,
		Created:   time.Unix(0, n.created),
		Modified:  time.Unix(0, n.modified),
		Relevance: c.relevance,
	}
	if s.notes[c.number].near {
		h.Near = s.near[c.number]
	}
	if s.notes[c.number].touched {
		h.Bonus = s.bonus(c.number)
	}
	if h.Near.Line > 0 && !s.notes[c.number].held {
		h.HeadingPath, h.SectionLine, h.Line, h.Above = r.atLine(h.Near.Line)
	} else {
		h.HeadingPath, h.SectionLine, h.Line, h.Above = r.at(c.passage)
	}
	if s.query.Explain && len(s.words) > 0 {
		h.Scores = s.explain(c)
	}
	return h, nil
}

// stored returns the record of a note. Where the first part of one that holds a word lies
// is known already.
func (s *searcher) stored(number uint32) ([]byte, error) {
	if sum := &s.notes[number]; sum.touched {
		segment, local := s.view.place(sum.doc)
		return segment.stored(local)
	}
	segment, local, err := s.view.document(ref{note: number})
	if err != nil {
		return nil, err
	}
	return segment.stored(local)
}

// explain returns the parts of a note's relevance.
func (s *searcher) explain(c candidate) []Score {
	var scores []Score
	for i := range s.words {
		if run := s.runOf(i, c.number); len(run) > 0 {
			scores = append(scores, s.parts(&s.words[i], c, run)...)
		}
	}
	if s.notes[c.number].named {
		share := nameShare * nameMatch(s.table.notes[c.number].names, s.words, s.total)
		scores = append(scores, Score{Field: Name, Score: share})
	}
	return scores
}

// parts divides what a word gives to a note among the fields, in proportion to their
// weighted counts.
func (s *searcher) parts(w *queryTerm, c candidate, run []posting) []Score {
	note, o := s.table.notes[c.number], inWhole(run)
	head := s.norms.head(&s.table.sizes[c.number], o)
	whole := s.norms.whole(head, uint32(note.bodyLen), o)
	tf, above := 0.0, 0 // in the best passage
	for _, p := range run {
		if int(p.part) == c.passage/partPassages {
			in := unpack(p.packed)
			tf, above = in.at(c.passage%partPassages, in.perPassage())
		}
	}
	part := s.norms.part(head, note.passages[c.passage], tf, above)
	wholeUnit := w.full * (1 - passageShare) / (noteK1 + whole.sum())
	partUnit := w.full * passageShare / (passageK1 + part.sum())
	return nonZero(w, []Score{
		{Field: Names, TF: o.names, Score: wholeUnit*whole.names + partUnit*part.names},
		{Field: Tags, TF: o.tags, Score: wholeUnit*whole.tags + partUnit*part.tags},
		{Field: Other, TF: o.other, Score: wholeUnit*whole.other + partUnit*part.other},
		{Field: Headings, TF: o.headings, Score: wholeUnit*whole.headings + partUnit*part.headings},
		{Field: Body, TF: o.body, Score: wholeUnit * whole.body},
		{Field: Passage, TF: int(tf + 0.5), Score: partUnit * part.body},
	})
}

// nonZero keeps the scores that are not zero and completes them.
func nonZero(w *queryTerm, scores []Score) []Score {
	kept := scores[:0]
	for _, score := range scores {
		if score.Score != 0 {
			score.Term, score.DF, score.Weight, score.IDF = w.text, w.df, w.weight, w.idf
			kept = append(kept, score)
		}
	}
	return kept
}
