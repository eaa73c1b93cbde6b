package ltm

import (
	"errors"

	"github.com/RoaringBitmap/roaring/v2"
	index "github.com/blevesearch/bleve_index_api"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	"github.com/blevesearch/vellum"
)

// What scorch asks of a segment beside its content. It has no fields and no stored values for
// Bleve's own searches, which are not used.

var errNotForBleve = errors.New("cannot search this segment with Bleve")

// DocNumbers implements segment.Segment.
func (s *segmentBase) DocNumbers(ids []string) (*roaring.Bitmap, error) {
	docs := roaring.New()
	for _, id := range ids {
		if len(id) == refSize {
			docs.AddMany(s.documents(refOf(id)))
		}
	}
	return docs, nil
}

// DocID implements segment.Segment.
func (s *segmentBase) DocID(doc uint64) ([]byte, error) { return []byte(s.rows[doc].id()), nil }

// Count implements segment.Segment.
func (s *segmentBase) Count() uint64 { return uint64(len(s.rows)) }

// Size implements segment.Segment.
func (s *segmentBase) Size() int { return len(s.data) }

// Fields implements segment.Segment.
func (s *segmentBase) Fields() []string { return nil }

// VisitStoredFields implements segment.Segment.
func (s *segmentBase) VisitStoredFields(uint64, segment.StoredFieldValueVisitor) error {
	return errNotForBleve
}

// Dictionary implements segment.Segment. All terms are of one field.
func (s *segmentBase) Dictionary(string) (segment.TermDictionary, error) { return dictionary{s}, nil }

// AddRef implements segment.Segment. The memory of a fresh segment is the garbage collector's.
func (s *segmentBase) AddRef() {}

// DecRef implements segment.Segment.
func (s *segmentBase) DecRef() error { return nil }

// Close implements segment.Segment.
func (s *segmentBase) Close() error { return nil }

// BytesRead implements segment.Segment.
func (s *segmentBase) BytesRead() uint64 { return 0 }

// ResetBytesRead implements segment.Segment.
func (s *segmentBase) ResetBytesRead(uint64) {}

// BytesWritten implements segment.Segment.
func (s *segmentBase) BytesWritten() uint64 { return 0 }

// dictionary is the terms of a segment, for looking for prefixes and similar words.
type dictionary struct{ *segmentBase }

// PostingsList implements segment.TermDictionary.
func (d dictionary) PostingsList([]byte, *roaring.Bitmap, segment.PostingsList) (segment.PostingsList, error) {
	return nil, errNotForBleve
}

// AutomatonIterator implements segment.TermDictionary.
func (d dictionary) AutomatonIterator(a segment.Automaton, begin, end []byte) segment.DictionaryIterator {
	i := &dictionaryIterator{segmentBase: d.segmentBase}
	if err := readInPlace(func() { i.terms, i.err = d.terms.Search(a, begin, end) }); err != nil {
		i.err = err
	}
	return i
}

// Contains implements segment.TermDictionary.
func (d dictionary) Contains(term []byte) (bool, error) { return d.terms.Contains(term) }

// Cardinality implements segment.TermDictionary.
func (d dictionary) Cardinality() int { return d.terms.Len() }

type dictionaryIterator struct {
	*segmentBase
	terms *vellum.FSTIterator
	err   error
}

// Next implements segment.DictionaryIterator. The count of an entry is that of its postings.
func (d *dictionaryIterator) Next() (*index.DictEntry, error) {
	if errors.Is(d.err, vellum.ErrIteratorDone) {
		return nil, nil
	}
	if d.err != nil {
		return nil, d.err
	}
	e := &index.DictEntry{}
	err := readInPlace(func() {
		term, at := d.terms.Current()
		l := readList(d.data[at:])
		e.Term, e.Count = string(term), uint64(l.count)
		d.err = d.terms.Next()
	})
	return e, err
}
