package ltm

import (
	"fmt"
	"time"
)

// hit makes the hit of a candidate.
func (s *searcher) hit(c candidate) (Hit, error) {
	segment, local, err := s.view.find(ref{note: c.number})
	if err != nil {
		return Hit{}, err
	}
	stored, err := segment.stored(local)
	if err != nil {
		return Hit{}, err
	}
	r, err := decodeRecord(stored)
	if err != nil {
		return Hit{}, err
	}
	h := Hit{
		Path:      r.path,
		Title:     r.title,
		MemoryID:  r.memoryID,
		Created:   time.Unix(0, r.created),
		Modified:  time.Unix(0, r.modified),
		Relevance: c.relevance,
	}
	passage := 0
	if s.notes[c.number].touched {
		passage = s.best(c.number)
	}
	if passage >= len(r.places) {
		return Hit{}, fmt.Errorf("%w: passage %d of %d", errRecord, passage, len(r.places))
	}
	at := r.places[passage]
	h.Line = at.line
	if at.section < len(r.headings) {
		h.HeadingPath = r.headings[at.section]
	}
	if s.query.Explain && len(s.words) > 0 {
		h.Scores, err = s.explain(c.number)
	}
	return h, err
}

// explain takes the relevance of a note apart.
func (s *searcher) explain(number uint32) ([]Score, error) {
	var scores []Score
	best := s.best(number)
	for i := range s.words {
		w := &s.words[i]
		list, err := s.postingsOf(w)
		if err != nil {
			return nil, err
		}
		if run := runOf(list, number); len(run) > 0 {
			scores = append(scores, s.parts(w, number, run, best)...)
		}
	}
	if s.notes[number].named {
		share := nameShare * likeness(s.table.notes[number].names, s.words, s.total)
		scores = append(scores, Score{Field: Name, Score: share})
	}
	return scores, nil
}

// runOf returns the postings of one note.
func runOf(list []posting, number uint32) []posting {
	for start := range list {
		if list[start].note != number {
			continue
		}
		end := start
		for end < len(list) && list[end].note == number {
			end++
		}
		return list[start:end]
	}
	return nil
}

// parts divides what a word gives to a note among the fields, in proportion to their
// weighted counts.
func (s *searcher) parts(w *weighed, number uint32, run []posting, best int) []Score {
	note := s.table.notes[number]
	head, whole := s.saturate(note, run)
	tf, above := 0.0, 0 // in the best passage
	for _, p := range run {
		if int(p.part) == best/partPassages {
			tf, above = p.at(best%partPassages, p.perPassage())
		}
	}
	part := s.norms.part(head, note.passages[best], tf, above)
	wholeUnit := w.full * (1 - passageShare) / (noteK1 + whole.sum())
	partUnit := w.full * passageShare / (passageK1 + part.sum())
	var first occurrence
	if run[0].part == 0 {
		first = run[0].occurrence
	}
	body, headings := inWhole(run)
	return nonZero(w, []Score{
		{Field: Names, TF: first.names, Score: wholeUnit*whole.names + partUnit*part.names},
		{Field: Tags, TF: first.tags, Score: wholeUnit*whole.tags + partUnit*part.tags},
		{Field: Other, TF: first.other, Score: wholeUnit*whole.other + partUnit*part.other},
		{Field: Headings, TF: headings, Score: wholeUnit*whole.headings + partUnit*part.headings},
		{Field: Body, TF: body, Score: wholeUnit * whole.body},
		{Field: Passage, TF: int(tf + 0.5), Score: partUnit * part.body},
	})
}

// nonZero keeps the scores that are not zero and completes them.
func nonZero(w *weighed, scores []Score) []Score {
	kept := scores[:0]
	for _, score := range scores {
		if score.Score != 0 {
			score.Term, score.DF, score.Weight, score.IDF = w.text, w.df, w.weight, w.idf
			kept = append(kept, score)
		}
	}
	return kept
}
