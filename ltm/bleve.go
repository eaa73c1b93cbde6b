package ltm

import index "github.com/blevesearch/bleve_index_api"

// termField is the name under which scorch asks for the terms of segments.
const termField = "t"

// document is a part of a note as Bleve takes it. It has no fields: terms and counts are there
// already, and the segment takes them as they are.
type document struct {
	ref
	note   size
	words  []uint16 // of its passages
	terms  []documentTerm
	record []byte // nil in parts but the first
	bytes  int
}

// documentTerm is a term of a document.
type documentTerm struct {
	text   string
	packed uint64 // occurrence
	number int32  // among the terms of the segment that is built
}

// termSize is about what a term takes beside its text.
const termSize = 32

// newDocument makes the document of one part, all but its ref.
func newDocument(l layout, terms map[string]occurrence, record []byte, note size, words []uint16) *document {
	d := &document{note: note, words: words, record: record, bytes: len(record)}
	d.terms = make([]documentTerm, 0, len(terms))
	for term, o := range terms {
		d.terms = append(d.terms, documentTerm{text: term, packed: l.pack(o)})
		d.bytes += len(term) + termSize
	}
	return d
}

// named completes the document.
func (d *document) named(r ref) *document {
	d.ref = r
	return d
}

// ID implements index.Document.
func (d *document) ID() string { return d.id() }

// Size implements index.Document.
func (d *document) Size() int { return d.bytes }

// VisitFields implements index.Document.
func (d *document) VisitFields(index.FieldVisitor) {}

// VisitComposite implements index.Document.
func (d *document) VisitComposite(index.CompositeFieldVisitor) {}

// HasComposite implements index.Document.
func (d *document) HasComposite() bool { return false }

// NumPlainTextBytes implements index.Document.
func (d *document) NumPlainTextBytes() uint64 { return 0 }

// AddIDField implements index.Document.
func (d *document) AddIDField() {}

// StoredFieldsBytes implements index.Document.
func (d *document) StoredFieldsBytes() uint64 { return 0 }

// Indexed implements index.Document.
func (d *document) Indexed() bool { return true }
