package ltm

import (
	"cmp"
	"math/bits"
	"slices"
)

// scratch is what a search adds up in. It is clean between searches.
type scratch struct {
	notes   []noteSum // by number
	extra   []float64 // by passage, partPassages a document: what it gives beyond the head of its note
	touched []uint32  // numbers of the notes that hold a term
	buffer  []posting
	verdict []verdict // by number: what the filters said
}

// noteSum is what the terms so far give to a note.
type noteSum struct {
	whole   float64 // the note as a whole
	head    float64 // a passage that holds none of the terms
	start   int     // of its passages in extra
	touched bool
	named   bool // a term is in the names
}

type verdict uint8

const (
	unjudged verdict = iota
	accepted
	refused
)

// fit makes room for a table and a view.
func (s *scratch) fit(notes, docs int) {
	if len(s.notes) < notes {
		s.notes = make([]noteSum, notes+notes/8)
		s.verdict = make([]verdict, len(s.notes))
	}
	if len(s.extra) < docs*partPassages {
		s.extra = make([]float64, (docs+docs/8)*partPassages)
	}
}

// clear cleans what the search has touched.
func (s *searcher) clear() {
	for _, number := range s.touched {
		start := s.notes[number].start
		clear(s.extra[start : start+len(s.table.notes[number].passages)])
		s.notes[number] = noteSum{}
	}
	s.touched = s.touched[:0]
	clear(s.verdict[:len(s.table.notes)])
}

// postingsOf returns the postings of a word in the scratch's buffer. Those of terms that
// count as one are added up by passage.
func (s *searcher) postingsOf(w *weighed) ([]posting, error) {
	list := s.buffer[:0]
	var err error
	for _, term := range w.terms() {
		if list, err = s.view.postings(list, term); err != nil {
			return nil, err
		}
	}
	if len(w.of) > 1 {
		list = merged(list)
	}
	s.buffer = list
	return list, nil
}

// merged sorts postings by document and adds up those of the same.
func merged(list []posting) []posting {
	slices.SortFunc(list, func(a, b posting) int { return cmp.Compare(a.doc, b.doc) })
	kept := list[:0]
	for _, p := range list {
		if n := len(kept); n > 0 && kept[n-1].doc == p.doc {
			kept[n-1].occurrence = kept[n-1].plus(p.occurrence)
			continue
		}
		kept = append(kept, p)
	}
	return kept
}

// notesIn counts the notes that postings are of; those of a note follow one another.
func notesIn(list []posting) int {
	n := 0
	for i := range list {
		if i == 0 || list[i].note != list[i-1].note {
			n++
		}
	}
	return n
}

// frequency returns how many notes hold a term.
func (s *searcher) frequency(term string) (int, error) {
	list, err := s.postingsOf(&weighed{text: term})
	return notesIn(list), err
}

// weigh completes a word's statistics from its postings, unless the query brings them.
func (s *searcher) weigh(w *weighed, list []posting) {
	docs := s.query.Docs
	if docs == 0 || w.of != nil {
		w.df = notesIn(list)
	}
	w.idf = inverse(max(docs, s.table.count), w.df)
	w.full = w.weight * w.idf
}

// score adds what a word gives to every note that holds it and passes the filters.
func (s *searcher) score(w *weighed) error {
	list, err := s.postingsOf(w)
	if err != nil {
		return err
	}
	s.weigh(w, list)
	for len(list) > 0 {
		number := list[0].note
		n := 1
		for n < len(list) && list[n].note == number {
			n++
		}
		if s.passes(number) {
			s.add(w, number, list[:n])
		}
		list = list[n:]
	}
	return nil
}

// add adds what a word gives to one note, whose postings are run.
func (s *searcher) add(w *weighed, number uint32, run []posting) {
	sum, note := &s.notes[number], s.table.notes[number]
	if !sum.touched {
		sum.touched = true
		sum.start = (int(run[0].doc) - int(run[0].part)) * partPassages
		s.touched = append(s.touched, number)
	}
	head, whole := s.saturate(note, run)
	lone := head.value(passageK1)
	sum.whole += w.full * whole.value(noteK1)
	sum.head += w.full * lone
	sum.named = sum.named || head.names > 0
	for _, p := range run {
		tf := p.perPassage()
		for in := p.bodyIn | p.headingsIn; in != 0; in &= in - 1 {
			bit := bits.TrailingZeros16(in)
			passage := int(p.part)*partPassages + bit
			body, headings := p.at(bit, tf)
			part := s.norms.part(head, note.passages[passage], body, headings)
			s.extra[sum.start+passage] += w.full * (part.value(passageK1) - lone)
		}
	}
}

// saturate weighs the postings of one note.
func (s *searcher) saturate(note *note, run []posting) (head, whole saturation) {
	if run[0].part == 0 {
		head = s.norms.head(note, run[0].occurrence)
	}
	body, headings := inWhole(run)
	return head, s.norms.whole(head, note, body, headings)
}

// relevance is the relevance of a touched note.
func (s *searcher) relevance(number uint32) float64 {
	sum := &s.notes[number]
	r := (1-passageShare)*sum.whole + passageShare*(sum.head+s.extra[sum.start+s.best(number)])
	if sum.named {
		r += nameShare * likeness(s.table.notes[number].names, s.words, s.total)
	}
	return r
}

// inWhole returns how often a term stands in the body of a note, and in the headings
// above one passage at most.
func inWhole(run []posting) (body, headings int) {
	for _, p := range run {
		body += p.body
		headings = max(headings, p.headings)
	}
	return body, headings
}

// best returns the number of the note's best passage.
func (s *searcher) best(number uint32) int {
	start := s.notes[number].start
	extra := s.extra[start : start+len(s.table.notes[number].passages)]
	best := 0
	for i, gain := range extra {
		if gain > extra[best] {
			best = i
		}
	}
	return best
}
