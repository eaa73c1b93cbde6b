package table

import (
	"bytes"
	"cmp"
	"fmt"

	"emberd/internal/contain"
	"emberd/stm/record"
)

// The document of a cold memory is read when a search shows the memory and when it is restored, and hardly ever
// otherwise. A row keeps it compressed, so that an archived memory takes less room than the text that left it.

// packedMark begins a compressed document; a document begins with a brace.
const packedMark = 1

// JSON returns the document of the row: a JSON object of all present keys, unknown ones included, nil if there is
// none. It must not be changed.
//
// A document that is away and cannot be read is found again from the log. If that has not got it either, JSON
// panics with a [contain.Failure], lest it count as empty; [Row.Document] returns the error.
func (r *Row) JSON() []byte {
	doc, err := r.Document()
	if err != nil {
		panic(contain.Failure{Err: err})
	}
	return doc
}

// Document is [Row.JSON] with an error for a document that is lost.
func (r *Row) Document() ([]byte, error) {
	doc, err := stored(r)
	switch {
	case err != nil:
		return nil, fmt.Errorf("memory %s: %w", r.ID(), err)
	case len(doc) == 0 || doc[0] != packedMark:
		return doc, nil
	}
	if doc, err = record.Inflate(doc[1:]); err != nil {
		return nil, nil // not of a row that was packed here, nor of what has the right sum
	}
	return doc, nil
}

// Unpacked returns a row whose document is in memory and not compressed, for a caller that reads it more than once.
func (r *Row) Unpacked() *Row {
	if r.away.in == nil && (len(r.Doc) == 0 || r.Doc[0] != packedMark) {
		return r
	}
	out := *r
	out.Doc, out.away = r.JSON(), place{}
	return &out
}

// pack compresses the document of a cold memory and takes down where its note is. No other goroutine may have the row
// yet.
func pack(r *Row) {
	r.Hot.Home = 0
	if !r.Cold() || bare(r) {
		return
	}
	r.Hot.Home = homeOf(r.JSON())
	if r.away.in != nil || r.Doc[0] == packedMark {
		return
	}
	if short := record.Deflate([]byte{packedMark}, r.Doc); len(short) < len(r.Doc) {
		r.Doc = bytes.Clone(short)
	}
}

// homeKeys are the keys that say where the note of a memory is.
func homeKeys() []string { return []string{"promoted_to", "vault_path", "note_gone"} }

// homeOf returns the hash of the path of a memory's note, 0 for none.
func homeOf(doc []byte) uint64 {
	var home [3]string
	for i, key := range homeKeys() {
		home[i], _ = record.Text(record.Member(doc, key)) // what is of another shape is no path
	}
	if home[2] != "" {
		return 0
	}
	return hashOf(cmp.Or(home[0], home[1]))
}

func hashOf(path string) uint64 {
	if path == "" {
		return 0
	}
	h := uint64(14695981039346656037) // FNV-1a, without the copy of the path that hash/fnv needs
	for i := range len(path) {
		h = (h ^ uint64(path[i])) * 1099511628211
	}
	return h
}

// MayBeAt reports whether the note of a cold memory is at a path, without reading its document. It is never wrong when
// it says no, and says yes for another path once in 2^64 times.
func (r *Row) MayBeAt(path string) bool { return r.Hot.Home != 0 && r.Hot.Home == hashOf(path) }
