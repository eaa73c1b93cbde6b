package ltm

import (
	index "github.com/blevesearch/bleve_index_api"
)

// The fields of the scorch index, one letter each.
const (
	termField   = "t" // indexed, with occurrences as frequencies
	recordField = "r" // stored with a note's first part
	idField     = "_id"
)

// document is a part of a note as Bleve takes it: terms and counts are there already, and
// nothing is left to analyse.
type document struct {
	id     string
	terms  index.TokenFrequencies
	record []byte
	size   int
}

// newDocument makes the document of one part.
func newDocument(r ref, terms map[string]occurrence, record []byte) *document {
	d := &document{id: r.id(), record: record, size: len(record)}
	d.terms = make(index.TokenFrequencies, len(terms))
	frequencies := make([]index.TokenFreq, len(terms))
	for term, o := range terms {
		f := &frequencies[len(d.terms)]
		f.SetFrequency(o.pack())
		d.terms[term] = f
		d.size += len(term) + 32
	}
	return d
}

// ID implements index.Document.
func (d *document) ID() string { return d.id }

// Size implements index.Document.
func (d *document) Size() int { return d.size }

// VisitFields implements index.Document.
func (d *document) VisitFields(visit index.FieldVisitor) {
	visit(&field{name: idField, value: []byte(d.id), options: index.IndexField | index.StoreField, length: 1,
		terms: index.TokenFrequencies{d.id: once()}})
	visit(&field{name: termField, options: index.IndexField, length: 1, terms: d.terms})
	if d.record != nil {
		visit(&field{name: recordField, value: d.record, options: index.StoreField})
	}
}

// once is a term that stands once.
func once() *index.TokenFreq {
	f := new(index.TokenFreq)
	f.SetFrequency(1)
	return f
}

// VisitComposite implements index.Document.
func (d *document) VisitComposite(index.CompositeFieldVisitor) {}

// HasComposite implements index.Document.
func (d *document) HasComposite() bool { return false }

// NumPlainTextBytes implements index.Document.
func (d *document) NumPlainTextBytes() uint64 { return 0 }

// AddIDField implements index.Document; VisitFields has it.
func (d *document) AddIDField() {}

// StoredFieldsBytes implements index.Document.
func (d *document) StoredFieldsBytes() uint64 { return uint64(len(d.record)) }

// Indexed implements index.Document.
func (d *document) Indexed() bool { return true }

// field is a field of a document.
type field struct {
	name    string
	value   []byte
	options index.FieldIndexingOptions
	length  int
	terms   index.TokenFrequencies
}

// Name implements index.Field.
func (f *field) Name() string { return f.name }

// Value implements index.Field.
func (f *field) Value() []byte { return f.value }

// ArrayPositions implements index.Field.
func (f *field) ArrayPositions() []uint64 { return nil }

// EncodedFieldType implements index.Field: t for text.
func (f *field) EncodedFieldType() byte { return 't' }

// Analyze implements index.Field.
func (f *field) Analyze() {}

// Options implements index.Field.
func (f *field) Options() index.FieldIndexingOptions { return f.options }

// AnalyzedLength implements index.Field.
func (f *field) AnalyzedLength() int { return f.length }

// AnalyzedTokenFrequencies implements index.Field.
func (f *field) AnalyzedTokenFrequencies() index.TokenFrequencies { return f.terms }

// NumPlainTextBytes implements index.Field.
func (f *field) NumPlainTextBytes() uint64 { return 0 }
