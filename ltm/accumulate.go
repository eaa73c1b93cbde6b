package ltm

import (
	"math/bits"
	"slices"

	"emberd/internal/relevance"
)

// scratch is memory of a search, kept for the next.
type scratch struct {
	verdict   []verdict       // by number: what the filters said
	lists     [][]postingList // by word and segment
	termScans []*termScan
	order     []*termScan // of a segment's scan
	limits    []float64   // of the same
	runs      [][]posting // of each word in one note
	extra     []float64   // by passage of one note
	marked    []bitset    // documents by segment
	sums      []uint64    // occurrences by document
}

type verdict uint8

const (
	unjudged verdict = iota
	accepted
	refused
)

// fit grows the scratch for a table.
func (s *scratch) fit(notes int) {
	if len(s.verdict) < notes {
		s.verdict = make([]verdict, notes+notes/8)
	}
}

// clear cleans what the search has touched.
func (s *searcher) clear() {
	clear(s.verdict[:len(s.table.notes)])
	for i := range s.lists {
		clear(s.lists[i]) // they are of segments that may go
	}
	s.lists = s.lists[:0]
}

// termScan returns the i-th cursor of the scratch.
func (s *scratch) termScan(i int) *termScan {
	if i == len(s.termScans) {
		s.termScans = append(s.termScans, new(termScan))
	}
	return s.termScans[i]
}

func (s *scratch) clearRuns() {
	for i := range s.runs {
		s.runs[i] = s.runs[i][:0]
	}
}

// work computes the relevance of a note from its runs, and its best passage.
func (s *searcher) work(c *candidate) {
	if s.index.memories() {
		s.workMemory(c)
		return
	}
	in, note := s.view.segments[c.segment].segmentBase, s.table.notes[c.number]
	size := &in.rows[c.first].size
	s.extra = append(s.extra[:0], make([]float64, len(note.passages))...)
	whole, base, named := 0.0, 0.0, false // base: of a passage that holds none of the words
	for i, run := range s.runs[:len(s.words)] {
		if len(run) == 0 {
			continue
		}
		w := &s.words[i]
		g := s.norms.gain(in, c.first, run)
		whole += w.full * g.whole
		named = named || g.named
		c.held = c.held || !w.weak
		base += s.addPassages(w.full, note, size, run)
	}
	for i, gain := range s.extra {
		if gain > s.extra[c.passage] {
			c.passage = i
		}
	}
	c.relevance = (1-relevance.NotePassageShare)*whole + relevance.NotePassageShare*(base+s.extra[c.passage])
	if named && s.total > 0 {
		c.relevance += relevance.NoteNameShare * nameMatch(note.names, s.words, s.total)
	}
	c.relevance += s.near[c.number].Score + s.bonus(c.number)
	c.named = named
}

// addPassages adds to extra what each passage of a note gets beyond what all get from the
// head of the note, which it returns.
func (s *searcher) addPassages(full float64, note *note, size *size, run []posting) (base float64) {
	head := s.norms.head(size, inWhole(run))
	lone := head.value(relevance.NotePassageK1)
	for _, p := range run {
		o := unpack(p.packed)
		tf := o.perPassage()
		for in := o.bodyIn | o.headingsIn; in != 0; in &= in - 1 {
			bit := bits.TrailingZeros16(in)
			passage := int(p.part)*partPassages + bit
			body, headings := o.at(bit, tf)
			part := s.norms.part(head, note.passages[passage], body, headings)
			s.extra[passage] += full * (part.value(relevance.NotePassageK1) - lone)
		}
	}
	return full * lone
}

// readRuns reads the postings of each word in the note of a candidate.
func (s *searcher) readRuns(c *candidate) {
	s.clearRuns()
	in := &s.view.segments[c.segment]
	end := in.end(c.first)
	for i := range s.words {
		if list := &s.lists[i][c.segment]; list.count > 0 {
			l := s.termScan(0)
			l.reset(list)
			l.seek(c.first)
			s.runs[i] = l.run(s.runs[i], in.segmentBase, end)
		}
	}
}

// nameMatch returns m²/M times the share of the name's terms that the query has, for the name of
// the note for which it is the largest.
func nameMatch(names [][]uint32, query []queryTerm, total float64) float64 {
	best := 0.0
	for _, name := range names {
		matched, terms := 0.0, 0
		for _, q := range query {
			if !q.weak && slices.Contains(name, q.hash) {
				matched += q.full
				terms++
			}
		}
		best = max(best, matched*matched/total*float64(terms)/float64(len(name)))
	}
	return best
}
