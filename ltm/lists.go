package ltm

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"emberd/internal/relevance"
)

// look finds the postings of a word in all segments, and completes its statistics unless the query
// contains them.
func (s *searcher) look(w *queryTerm) {
	var lists []postingList
	if n := len(s.lists); n < cap(s.lists) {
		lists = s.lists[:n+1][n][:0] // room of an earlier search
	}
	if w.weak && s.documentsWith(w.text) > s.table.count/2 {
		s.lists = append(s.lists, append(lists, make([]postingList, len(s.view.segments))...))
		return
	}
	lists = s.listsOf(lists, w)
	s.lists = append(s.lists, lists)
	docs := s.query.Docs
	if docs == 0 {
		w.df = s.countNotes(lists)
	}
	w.idf = relevance.IDF(max(docs, s.table.count), w.df)
	w.full = w.weight * w.idf
}

// listsOf appends the postings of a word by segment. Those of terms that count as one are added
// up by part.
func (s *searcher) listsOf(to []postingList, w *queryTerm) []postingList {
	terms := w.terms()
	if len(terms) > 1 {
		terms = slices.Sorted(slices.Values(terms))
	}
	for i := range s.view.segments {
		in := s.view.segments[i].segmentBase
		var list postingList
		if len(terms) == 1 {
			list, _ = in.find(terms[0])
		} else {
			list = s.merged(in, terms)
		}
		to = append(to, list)
	}
	return to
}

// eachOf yields the lists of terms, which are sorted. They mostly begin alike, so that it is faster to
// go over the dictionary than to look each up in it.
func (s *segmentBase) eachOf(terms []string, yield func(l *postingList)) {
	all, err := s.terms.Iterator([]byte(terms[0]), nil)
	for err == nil && len(terms) > 0 {
		term, at := all.Current()
		for len(terms) > 0 && terms[0] < string(term) {
			terms = terms[1:]
		}
		if len(terms) > 0 && terms[0] == string(term) {
			l := readList(s.data[at:])
			yield(&l)
		}
		err = all.Next()
	}
}

// merged returns the postings of terms that count as one, which are sorted.
func (s *searcher) merged(in *segmentBase, terms []string) postingList {
	held, c, count := newBitset(len(in.rows)), s.termScan(0), 0
	s.sums = slices.Grow(s.sums[:0], len(in.rows))[:len(in.rows)]
	in.eachOf(terms, func(l *postingList) {
		for c.reset(l); c.doc() < pastEnd; c.next() {
			doc, packed := c.doc(), c.occurrence()
			if held.has(doc) {
				both := s.index.layout.unpack(s.sums[doc]).plus(s.index.layout.unpack(packed)).capped()
				packed = s.index.layout.pack(both)
			} else {
				count++
			}
			held.add(doc)
			s.sums[doc] = packed
		}
	})
	all := &plainPostings{make([]uint32, 0, count), make([]uint64, 0, count)}
	for doc := held.next(0); doc < pastEnd; doc = held.next(doc + 1) {
		all.docs, all.packed = append(all.docs, doc), append(all.packed, s.sums[doc])
	}
	list := postingList{count: count, notes: count - doubles(all.docs, in.rows), plain: all}
	if count > blockPostings {
		list.limits = new(atomic.Pointer[limits])
	}
	return list
}

// each yields the documents of a list that are there and may be seen.
func (s *searcher) each(segment int, l *postingList, yield func(doc uint32)) {
	in := &s.view.segments[segment]
	c := s.termScan(0)
	for c.reset(l); len(c.docs) > 0; c.load(c.block + 1) {
		for _, doc := range c.docs {
			if in.live(doc) && (s.index.sees == nil || s.table.note(in.rows[doc].note) != nil) {
				yield(doc)
			}
		}
	}
}

// eachNote yields the numbers of the notes that contain a term, one with several parts perhaps more
// than once.
func (s *searcher) eachNote(term string, yield func(number uint32)) {
	for i, l := range s.listsOf(nil, &queryTerm{text: term}) {
		rows := s.view.segments[i].rows
		s.each(i, &l, func(doc uint32) { yield(rows[doc].note) })
	}
}

// countNotes counts the notes that have postings in lists.
func (s *searcher) countNotes(lists []postingList) (n int) {
	for i := range lists {
		if in := &s.view.segments[i]; in.deleted == nil && s.index.sees == nil {
			n += lists[i].notes
			continue
		}
		rows, before := s.view.segments[i].rows, -1
		s.each(i, &lists[i], func(doc uint32) {
			if number := int(rows[doc].note); number != before {
				n, before = n+1, number
			}
		})
	}
	return n
}

// exactTotal is up to how many matching notes a total leaves out those that [Query.Accept] refuses, even if it may
// be loose.
const exactTotal = 256

// count counts the notes that hold a word which is not weak and may be hits, but for the rows of
// phrases. Unless every note may be, it leaves those marked.
func (s *searcher) count() (n int) {
	for len(s.marked) < len(s.view.segments) {
		s.marked = append(s.marked, nil)
	}
	for i := range s.view.segments {
		s.mark(i)
		for _, some := range s.marked[i] {
			n += bits.OnesCount64(some)
		}
	}
	if s.filtered() || s.accept != nil && n <= exactTotal {
		return s.countPassing()
	}
	return n
}

// countPassing leaves those notes marked that pass, and counts them.
func (s *searcher) countPassing() (n int) {
	for i := range s.view.segments {
		for at, some := range s.marked[i] {
			for rest := some; rest != 0; rest &= rest - 1 {
				first := uint32(64*at + bits.TrailingZeros64(rest))
				if !s.passes(s.view.segments[i].rows[first].note) {
					some &^= rest & -rest
				}
			}
			s.marked[i][at] = some
			n += bits.OnesCount64(some)
		}
	}
	return n
}

// filtered reports whether some notes that hold a word may be no hits.
func (s *searcher) filtered() bool {
	return s.index.sees != nil || s.allowed != nil || s.hasPhrases() || len(s.holds)+len(s.lacks) > 0
}

// mark marks the first documents of the notes in a segment that hold a word which is not weak.
func (s *searcher) mark(segment int) {
	in := &s.view.segments[segment]
	marked := append(s.marked[segment][:0], newBitset(len(in.rows))...)
	s.marked[segment] = marked
	for word := range s.words {
		if !s.words[word].weak {
			s.addFirsts(marked, in.segmentBase, &s.lists[word][segment])
		}
	}
	for _, suspects := range s.holds {
		marked.and(suspects[segment])
	}
	for _, suspects := range s.lacks {
		marked.andNot(suspects[segment])
	}
	if in.deleted != nil {
		for it := in.deleted.Iterator(); it.HasNext(); {
			marked.remove(it.Next())
		}
	}
}

// addFirsts adds the first documents of the notes that a list has postings of.
func (s *searcher) addFirsts(to bitset, in *segmentBase, l *postingList) {
	c := s.termScan(0)
	for c.reset(l); len(c.docs) > 0; c.load(c.block + 1) {
		for _, doc := range c.docs {
			to.add(in.first(doc))
		}
	}
}
