package ltm

import (
	"time"

	"emberd/internal/relevance"
)

// hit returns the hit of a candidate.
func (s *searcher) hit(c candidate) (Hit, error) {
	n := s.table.notes[c.number]
	if !s.place(&c) {
		return Hit{}, errMissing
	}
	r, err := decodeShown(s.view.segments[c.segment].record(c.first), len(n.passages))
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
		Near:      s.near[c.number],
	}
	if len(s.query.Terms)+len(s.query.Near) > 0 {
		h.Bonus = s.bonus(c.number)
	}
	if h.Near.Line > 0 && !c.held {
		h.HeadingPath, h.SectionLine, h.Line, h.Above = r.atLine(h.Near.Line)
	} else {
		h.HeadingPath, h.SectionLine, h.Line, h.Above = r.at(c.passage)
	}
	if s.query.Explain && len(s.words) > 0 {
		h.Scores = s.explain(c)
	}
	return h, nil
}

// place finds where the note of a candidate is, if that is not known yet.
func (s *searcher) place(c *candidate) (ok bool) {
	if c.segment >= 0 {
		return true
	}
	c.segment, c.first, ok = s.view.document(ref{note: c.number})
	return ok
}

// explain returns the parts of a note's relevance.
func (s *searcher) explain(c candidate) []Score {
	var scores []Score
	s.readRuns(&c)
	for i := range s.words {
		if run := s.runs[i]; len(run) > 0 {
			scores = append(scores, s.parts(&s.words[i], c, run)...)
		}
	}
	if c.named && s.total > 0 {
		share := relevance.NoteNameShare * nameMatch(s.table.notes[c.number].names, s.words, s.total)
		scores = append(scores, Score{Field: Name, Score: share})
	}
	return scores
}

// parts divides what a word gives to a note among the fields, in proportion to their
// weighted counts.
func (s *searcher) parts(w *queryTerm, c candidate, run []posting) []Score {
	if s.index.memories() {
		return s.memoryParts(w, c, run)
	}
	note, o := s.table.notes[c.number], inWhole(run)
	head := s.norms.head(&s.view.segments[c.segment].rows[c.first].size, o)
	whole := s.norms.whole(head, uint32(note.bodyLen), o)
	tf, above := 0.0, 0 // in the best passage
	for _, p := range run {
		if int(p.part) == c.passage/partPassages {
			in := unpack(p.packed)
			tf, above = in.at(c.passage%partPassages, in.perPassage())
		}
	}
	part := s.norms.part(head, note.passages[c.passage], tf, above)
	wholeUnit := w.full * (1 - relevance.NotePassageShare) / (relevance.NoteK1 + whole.sum())
	partUnit := w.full * relevance.NotePassageShare / (relevance.NotePassageK1 + part.sum())
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
