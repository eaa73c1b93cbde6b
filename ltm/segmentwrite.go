package ltm

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"math"
	"os"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	index "github.com/blevesearch/bleve_index_api"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	"github.com/blevesearch/vellum"
)

// segmentWriter writes a segment: the postings of one term after the other, ascending, then the
// documents.
type segmentWriter struct {
	to         *bufio.Writer
	sum        hash.Hash32
	size       int64 // written so far
	dictionary bytes.Buffer
	terms      *vellum.Builder
	room       []byte
}

func newSegmentWriter(to io.Writer) (w *segmentWriter, err error) {
	w = &segmentWriter{sum: crc32.New(castagnoli)}
	w.to = bufio.NewWriterSize(io.MultiWriter(to, w.sum), 1<<16)
	w.terms, err = vellum.New(&w.dictionary, nil)
	return w, err
}

func (w *segmentWriter) write(b []byte) error {
	n, err := w.to.Write(b)
	w.size += int64(n)
	return err
}

// term writes the postings of a term.
func (w *segmentWriter) term(term []byte, p *plainPostings, rows []row) error {
	if err := w.terms.Insert(term, uint64(w.size)); err != nil {
		return err
	}
	w.room = appendList(w.room[:0], p, doubles(p.docs, rows))
	return w.write(w.room)
}

// doubles counts the documents that are not the first of their note among docs.
func doubles(docs []uint32, rows []row) (n int) {
	for i := 1; i < len(docs); i++ {
		if rows[docs[i]].note == rows[docs[i-1]].note {
			n++
		}
	}
	return n
}

// storedDocument is what a segment stores of a document beside its words.
type storedDocument struct {
	words  []uint16 // of its passages
	record []byte
}

// finish writes the dictionary, the documents and the footer.
func (w *segmentWriter) finish(rows []row, stored []storedDocument) error {
	err := w.terms.Close()
	ends := [4]int64{w.size}
	err = errors.Join(err, w.write(w.dictionary.Bytes()))
	ends[1] = w.size
	for i, r := range rows {
		w.room = appendRow(w.room[:0], r, len(stored[i].words))
		err = errors.Join(err, w.write(w.room))
	}
	for _, d := range stored {
		w.room = w.room[:0]
		for _, words := range d.words {
			w.room = binary.LittleEndian.AppendUint16(w.room, words)
		}
		err = errors.Join(err, w.write(w.room))
	}
	ends[2] = w.size
	end := uint32(0)
	for i := range rows {
		end += uint32(len(stored[i].record))
		err = errors.Join(err, w.write(binary.LittleEndian.AppendUint32(w.room[:0], end)))
	}
	ends[3] = w.size
	for i := range rows {
		err = errors.Join(err, w.write(stored[i].record))
	}
	w.room = w.room[:0]
	for _, end := range ends {
		w.room = binary.LittleEndian.AppendUint32(w.room, uint32(end))
	}
	w.room = binary.LittleEndian.AppendUint32(w.room, uint32(len(rows)))
	w.room = binary.LittleEndian.AppendUint32(w.room, segmentVersion)
	if w.size > maxIndexFile {
		err = errors.Join(err, fmt.Errorf("the index segment is too large: %d bytes", w.size))
	}
	err = errors.Join(err, w.write(w.room), w.to.Flush())
	return errors.Join(err, w.write(binary.LittleEndian.AppendUint32(nil, w.sum.Sum32())), w.to.Flush())
}

// copy writes a whole segment.
func (w *segmentWriter) copy(b []byte) error { return errors.Join(w.write(b), w.to.Flush()) }

// writeSegment writes a file and waits until the disk has it.
func writeSegment(path string, write func(*segmentWriter) error) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	w, err := newSegmentWriter(f)
	if err == nil {
		err = write(w)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path) // Bleve tries again under the same name
	}
	return err
}

// buildSegment encodes documents.
func buildSegment(in []index.Document) ([]byte, error) {
	docs := make([]*document, len(in))
	for i, d := range in {
		docs[i] = d.(*document) // this package makes all of them
	}
	slices.SortFunc(docs, func(a, b *document) int { return a.compare(b.ref) })
	rows, stored := make([]row, len(docs)), make([]storedDocument, len(docs))
	for i, d := range docs {
		rows[i], stored[i] = row{ref: d.ref, size: d.note}, storedDocument{d.words, d.record}
	}
	var b bytes.Buffer
	w, err := newSegmentWriter(&b)
	if err != nil {
		return nil, err
	}
	if err := writeTerms(w, docs, rows); err != nil {
		return nil, err
	}
	err = w.finish(rows, stored)
	return b.Bytes(), err
}

// writeTerms writes the postings of all documents, collected term by term.
func writeTerms(w *segmentWriter, docs []*document, rows []row) error {
	numbers := make(map[string]int32)
	var terms []string
	var counts []int
	for _, d := range docs {
		for i := range d.terms {
			t := &d.terms[i]
			number, ok := numbers[t.text]
			if !ok {
				number = int32(len(terms))
				numbers[t.text] = number
				terms, counts = append(terms, t.text), append(counts, 0)
			}
			t.number = number
			counts[number]++
		}
	}
	lists, sum := make([]plainPostings, len(terms)), 0
	for _, n := range counts {
		sum += n
	}
	all := plainPostings{make([]uint32, sum), make([]uint64, sum)}
	for i, n := range counts {
		lists[i] = plainPostings{all.docs[:0:n], all.packed[:0:n]}
		all.docs, all.packed = all.docs[n:], all.packed[n:]
	}
	for doc, d := range docs {
		for _, t := range d.terms {
			l := &lists[t.number]
			l.docs, l.packed = append(l.docs, uint32(doc)), append(l.packed, t.packed)
		}
	}
	slices.Sort(terms)
	for _, term := range terms {
		if err := w.term([]byte(term), &lists[numbers[term]], rows); err != nil {
			return err
		}
	}
	return nil
}

// dropped is the number that Bleve expects for a document that is not in the merged segment.
const dropped = math.MaxUint64

// merging is a merge of segments, the documents of one behind those of the other.
type merging struct {
	from    []*segmentBase
	numbers [][]uint64 // of the documents in the merged segment, or dropped
	rows    []row
	stored  []storedDocument
	size    int64
	closing chan struct{}
	cursor  cursor
}

// add adds the documents of a segment that are not in drop, which may be nil.
func (m *merging) add(s *segmentBase, drop *roaring.Bitmap) {
	numbers := make([]uint64, len(s.rows))
	for doc := range s.rows {
		if drop != nil && drop.Contains(uint32(doc)) {
			numbers[doc] = dropped
			continue
		}
		numbers[doc] = uint64(len(m.rows))
		m.rows = append(m.rows, s.rows[doc])
		m.stored = append(m.stored, storedDocument{s.passages(uint32(doc)), s.stored(uint32(doc))})
	}
	m.from, m.numbers = append(m.from, s), append(m.numbers, numbers)
}

// write writes the merged segment.
func (m *merging) write(w *segmentWriter) error {
	terms := make([]*vellum.FSTIterator, len(m.from))
	for i, s := range m.from {
		var err error
		if terms[i], err = s.terms.Iterator(nil, nil); errors.Is(err, vellum.ErrIteratorDone) {
			terms[i] = nil
		} else if err != nil {
			return err
		}
	}
	var p plainPostings
	var term []byte
	for n := 0; ; n++ {
		if term = first(terms, term[:0]); term == nil {
			break
		}
		if n%1024 == 0 && isClosed(m.closing) {
			return segment.ErrClosed
		}
		p.docs, p.packed = p.docs[:0], p.packed[:0]
		for i := range terms {
			if err := m.take(i, &terms[i], term, &p); err != nil {
				return err
			}
		}
		if len(p.docs) > 0 {
			if err := w.term(term, &p, m.rows); err != nil {
				return err
			}
		}
	}
	err := w.finish(m.rows, m.stored)
	m.size = w.size
	return err
}

// first appends the first of the terms that iterators are at; nil if all are done.
func first(terms []*vellum.FSTIterator, to []byte) []byte {
	var least []byte
	for _, it := range terms {
		if it != nil {
			if term, _ := it.Current(); least == nil || bytes.Compare(term, least) < 0 {
				least = term
			}
		}
	}
	if least == nil {
		return nil
	}
	return append(to, least...)
}

// take appends the postings of a term in one segment, if that is at the term, and goes on there.
func (m *merging) take(from int, terms **vellum.FSTIterator, term []byte, p *plainPostings) error {
	if *terms == nil {
		return nil
	}
	at, offset := (*terms).Current()
	if !bytes.Equal(at, term) {
		return nil
	}
	l := readList(m.from[from].data[offset:])
	begin := len(p.docs)
	p.all(&l, &m.cursor)
	kept := begin
	for i := begin; i < len(p.docs); i++ {
		if number := m.numbers[from][p.docs[i]]; number != dropped {
			p.docs[kept], p.packed[kept] = uint32(number), p.packed[i]
			kept++
		}
	}
	p.docs, p.packed = p.docs[:kept], p.packed[:kept]
	err := (*terms).Next()
	if errors.Is(err, vellum.ErrIteratorDone) {
		*terms, err = nil, nil
	}
	return err
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
