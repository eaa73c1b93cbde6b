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

// document is a part of a note as Bleve takes it: terms and counts are there already,
// and nothing is left to analyze.
type document struct {
	id     string
	fields []index.Field
	size   int
}

// newDocument makes the document of one part, all but its id.
func newDocument(terms map[string]occurrence, record []byte) *document {
	d := &document{size: len(record)}
	in := make(index.TokenFrequencies, len(terms))
	frequencies := make([]index.TokenFreq, len(terms))
	for term, o := range terms {
		f := &frequencies[len(in)]
		f.SetFrequency(o.pack())
		in[term] = f
		d.size += len(term) + termSize
	}
	d.fields = append(d.fields, &field{name: termField, options: index.IndexField, terms: in})
	if record != nil {
		d.fields = append(d.fields, &field{name: recordField, options: index.StoreField, value: record})
	}
	return d
}

// termSize is about what a term takes beside its text.
const termSize = 64

// named completes the document.
func (d *document) named(r ref) *document {
	d.id = r.id()
	once := new(index.TokenFreq)
	once.SetFrequency(1)
	d.fields = append(d.fields, &field{name: idField, options: index.IndexField | index.StoreField, value: []byte(d.id),
		terms: index.TokenFrequencies{d.id: once}})
	return d
}

// ID implements index.Document.
func (d *document) ID() string { return d.id }

// Size implements index.Document.
func (d *document) Size() int { return d.size }

// VisitFields implements index.Document.
func (d *document) VisitFields(visit index.FieldVisitor) {
	for _, f := range d.fields {
		visit(f)
	}
}

// VisitComposite implements index.Document.
func (d *document) VisitComposite(index.CompositeFieldVisitor) {}

// HasComposite implements index.Document.
func (d *document) HasComposite() bool { return false }

// NumPlainTextBytes implements index.Document.
func (d *document) NumPlainTextBytes() uint64 { return 0 }

// AddIDField implements index.Document; named has added it.
func (d *document) AddIDField() {}

// StoredFieldsBytes implements index.Document.
func (d *document) StoredFieldsBytes() uint64 { return 0 }

// Indexed implements index.Document.
func (d *document) Indexed() bool { return true }

// field is a field of a document.
type field struct {
	name    string
	value   []byte
	options index.FieldIndexingOptions
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

// AnalyzedLength implements index.Field. It is not used, but zero would keep zap from
// writing terms that stand in one document in less room.
func (f *field) AnalyzedLength() int { return 1 }

// AnalyzedTokenFrequencies implements index.Field.
func (f *field) AnalyzedTokenFrequencies() index.TokenFrequencies { return f.terms }

// NumPlainTextBytes implements index.Field.
func (f *field) NumPlainTextBytes() uint64 { return 0 }
