package table

import (
	"bytes"

	"emberd/memory"
	"emberd/stm/docfile"
	"emberd/stm/record"
)

// The document of a row is in memory until a snapshot is written, and then in a file.

// DocFile is a file that documents of rows are in. It may be shared.
type DocFile struct {
	*docfile.File
	// Again finds what a row's file does not hold any more, as the row has it in memory. Nil: it is not looked for.
	Again func(*Row) ([]byte, error)
}

// place is where a document is, the zero place if it is in memory.
type place struct {
	in    *DocFile
	at, n uint32
}

// bare reports a row without a document.
func bare(r *Row) bool { return len(r.Doc) == 0 && r.away.in == nil }

// stored returns the document as it is stored: as it is, or compressed.
func stored(r *Row) ([]byte, error) {
	if r.away.in == nil {
		return r.Doc, nil
	}
	doc, err := r.away.in.Read(r.Key, r.away.at, r.away.n)
	if err == nil || r.away.in.Again == nil {
		return doc, err
	}
	doc, again := r.away.in.Again(r)
	if again != nil {
		return nil, memory.Errorf(memory.Unavailable,
			"cannot read the memory from its document file (%w) or from the log: %w", err, again)
	}
	return doc, nil
}

// Away returns the file that the document of a row is in, and how many bytes its record has there; nil if it is in
// memory, and then its bytes there.
func Away(r *Row) (in *DocFile, bytes int64) {
	if r.away.in == nil {
		return nil, int64(len(r.Doc))
	}
	return r.away.in, docfile.Overhead + int64(r.away.n)
}

// AddTo adds the document to a file that is being written, as it is stored.
func AddTo(w *docfile.Writer, r *Row) (at, n uint32, err error) {
	doc, err := stored(r)
	if err == nil {
		at, err = w.Add(r.Key, doc)
	}
	return at, uint32(len(doc)), err
}

// Leave puts in the cell's row's place one whose document is in a file, where AddTo put it, unless the row is another
// one by now. Only the goroutine that changes the table calls it: what that fetched stays in memory until it is done.
func (c *Cell) Leave(row *Row, in *DocFile, at, n uint32) {
	next := *row
	next.Doc, next.away = nil, place{in, at, n}
	c.Row.CompareAndSwap(row, &next)
}

// Fetch puts the document of the cell's row into memory if it is not there. An error says that it cannot be read.
func (c *Cell) Fetch() error {
	for {
		row := c.Row.Load()
		if row.away.in == nil {
			return nil
		}
		doc, err := stored(row)
		if err != nil {
			return err
		}
		c.Return(row, bytes.Clone(doc))
	}
}

// Fetch puts the documents of the memories that a line changes into memory, where they stay until the goroutine that
// changes the table is done with the line.
func (t *Table) Fetch(l *record.Line) error {
	for i := range l.Changes {
		if c := t.Cell(l.Changes[i].ID.Bytes()); c != nil {
			if err := c.Fetch(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Return puts a document, as it is stored, into the memory of the cell's row, unless that is another one by now.
func (c *Cell) Return(row *Row, doc []byte) {
	next := *row
	next.Doc, next.away = doc, place{}
	c.Row.CompareAndSwap(row, &next)
}
