package ltm

import (
	"cmp"
	"math/bits"
	"slices"

	"emberd/internal/text"
)

// A search goes over the postings of each word once and adds up, for every note, what
// the note as a whole gets and the most that any passage of it could get. Then it works
// out the exact relevance of the most promising notes only, best bound first, until no
// other note can be among those wanted. The order is the same as if all were worked out.

// scratch contains the sums of a search. It is clean between searches.
type scratch struct {
	notes   []noteSum     // by number
	verdict []verdict     // by number: what the filters said
	touched []uint32      // numbers of the notes that hold a word or are near
	lists   [][]posting   // by word
	extra   []float64     // by passage of one note
	open    candidateHeap // the notes touched
	room    room
}

// noteSum is what the words so far add to a note.
type noteSum struct {
	whole   float64 // the note as a whole
	most    float64 // bound of what a passage gets
	matched float64 // bound of what its names could get
	doc     uint32  // its first part in the view
	touched bool
	named   bool // a word is in the names
	held    bool // a word that is not weak is in it
	near    bool // the query says that it is near
}

type verdict uint8

const (
	unjudged verdict = iota
	accepted
	refused
)

// fit grows the scratch for a table.
func (s *scratch) fit(notes int) {
	if len(s.notes) < notes {
		s.notes = make([]noteSum, notes+notes/8)
		s.verdict = make([]verdict, len(s.notes))
	}
}

// clear cleans what the search has touched.
func (s *searcher) clear() {
	for _, number := range s.touched {
		s.notes[number] = noteSum{}
	}
	s.touched = s.touched[:0]
	s.lists = s.lists[:0]
	clear(s.verdict[:len(s.table.notes)])
}

// postingsOf appends the postings of a word. Those of terms that count as one are added
// up by part.
func (s *searcher) postingsOf(list []posting, w *queryTerm) ([]posting, error) {
	var err error
	for _, term := range w.terms() {
		if list, err = s.view.postings(list, term, &s.room); err != nil {
			return nil, err
		}
	}
	if s.index.sees != nil {
		list = slices.DeleteFunc(list, func(p posting) bool { return s.table.note(p.note) == nil })
	}
	if len(w.of) > 1 {
		list = merged(list)
	}
	return list, nil
}

// merged sorts postings by document and adds up those of the same document.
func merged(list []posting) []posting {
	slices.SortFunc(list, func(a, b posting) int { return cmp.Compare(a.doc, b.doc) })
	kept := list[:0]
	for _, p := range list {
		if n := len(kept); n > 0 && kept[n-1].doc == p.doc {
			sum := unpack(kept[n-1].packed).plus(unpack(p.packed)).capped()
			kept[n-1].packed = uint64(sum.pack())
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

// weigh completes a word's statistics from its postings, unless the query contains them.
func (s *searcher) weigh(w *queryTerm, list []posting) {
	docs := s.query.Docs
	if docs == 0 {
		w.df = notesIn(list)
	}
	w.idf = text.IDF(max(docs, s.table.count), w.df)
	w.full = w.weight * w.idf
}

// score adds what a word gives to every note that contains it and passes the filters.
func (s *searcher) score(w *queryTerm) error {
	var list []posting
	if n := len(s.lists); n < cap(s.lists) {
		list = s.lists[:n+1][n][:0] // room of an earlier search
	}
	spared, err := s.spared(w)
	if err == nil && !spared {
		list, err = s.postingsOf(list, w)
	}
	s.lists = append(s.lists, list)
	if err != nil || spared {
		return err
	}
	s.weigh(w, list)
	for len(list) > 0 {
		number := list[0].note
		n := 1
		for n < len(list) && list[n].note == number {
			n++
		}
		if s.notes[number].touched || !w.weak && s.passes(number) {
			s.add(w, number, list[:n])
		}
		list = list[n:]
	}
	return nil
}

// spared reports whether a weak word is left out: too many notes contain it, or there is none that
// it could rank.
func (s *searcher) spared(w *queryTerm) (bool, error) {
	if !w.weak {
		return false, nil
	}
	documents, err := s.documentsWith(w.text)
	return len(s.touched) == 0 || documents > s.table.count/2, err
}

// add adds what a word gives to one note, whose postings are run.
func (s *searcher) add(w *queryTerm, number uint32, run []posting) {
	sum, size := &s.notes[number], &s.table.sizes[number]
	if !sum.touched {
		sum.touched = true
		sum.doc = run[0].doc - uint32(run[0].part)
		s.touched = append(s.touched, number)
	}
	sum.held = sum.held || !w.weak
	if body, passages, ok := inBodies(run[0].packed); ok && len(run) == 1 {
		// Nearly all postings: the sums below, without what is zero in them.
		sum.whole += w.full * s.norms.wholeBody(size.body, float64(body))
		sum.most += w.full * s.norms.partBody(size.shortest, float64(body)/float64(passages))
		return
	}
	o := inWhole(run)
	var head saturation
	if o.names+o.tags+o.other > 0 {
		head = s.norms.head(size, o)
		if o.names > 0 {
			sum.named = true
			sum.matched += w.full
		}
	}
	sum.whole += w.full * s.norms.whole(head, size.body, o).value(noteK1)
	sum.most += w.full * s.norms.part(head, size.shortest, o.most, o.headings).value(passageK1)
}

// inNote is a word in a whole note.
type inNote struct {
	occurrence         // body and what is in the first part are those of the note
	most       float64 // in the body of a passage
}

// inWhole sums up the postings of one note.
func inWhole(run []posting) inNote {
	o := inNote{occurrence: unpack(run[0].packed)}
	o.most = o.perPassage()
	for _, p := range run[1:] {
		q := unpack(p.packed)
		o.most = max(o.most, q.perPassage())
		o.body += q.body
		o.headings = max(o.headings, q.headings)
		o.names, o.tags, o.other = o.names+q.names, o.tags+q.tags, o.other+q.other
	}
	return o
}

// bound returns the most that the relevance of a touched note can be.
func (s *searcher) bound(number uint32) float64 {
	sum := &s.notes[number]
	u := (1-passageShare)*sum.whole + passageShare*sum.most
	if sum.named {
		u += nameShare * sum.matched
	}
	if sum.near {
		u += s.near[number].Score
	}
	return u + s.bonus(number)
}

// relevance computes the relevance of a touched note, and its best passage.
func (s *searcher) relevance(number uint32) (relevance float64, passage int) {
	sum, note := &s.notes[number], s.table.notes[number]
	s.extra = append(s.extra[:0], make([]float64, len(note.passages))...)
	base := 0.0 // of a passage that holds none of the words
	for i := range s.words {
		if run := s.runOf(i, number); len(run) > 0 {
			base += s.addPassages(s.words[i].full, number, run)
		}
	}
	for i, gain := range s.extra {
		if gain > s.extra[passage] {
			passage = i
		}
	}
	relevance = (1-passageShare)*sum.whole + passageShare*(base+s.extra[passage])
	if sum.named {
		relevance += nameShare * nameMatch(note.names, s.words, s.total)
	}
	if sum.near {
		relevance += s.near[number].Score
	}
	return relevance + s.bonus(number), passage
}

// addPassages adds to extra what each passage of a note gets beyond what all get from the
// head of the note, which it returns.
func (s *searcher) addPassages(full float64, number uint32, run []posting) (base float64) {
	note, head := s.table.notes[number], s.norms.head(&s.table.sizes[number], inWhole(run))
	lone := head.value(passageK1)
	for _, p := range run {
		o := unpack(p.packed)
		tf := o.perPassage()
		for in := o.bodyIn | o.headingsIn; in != 0; in &= in - 1 {
			bit := bits.TrailingZeros16(in)
			passage := int(p.part)*partPassages + bit
			body, headings := o.at(bit, tf)
			part := s.norms.part(head, note.passages[passage], body, headings)
			s.extra[passage] += full * (part.value(passageK1) - lone)
		}
	}
	return full * lone
}

// runOf returns the postings of the i-th word in a touched note.
func (s *searcher) runOf(i int, number uint32) []posting {
	list := s.lists[i]
	start, _ := slices.BinarySearchFunc(list, s.notes[number].doc, func(p posting, doc uint32) int {
		return cmp.Compare(p.doc, doc)
	})
	end := start
	for end < len(list) && list[end].note == number {
		end++
	}
	return list[start:end]
}
