package table

import (
	"bytes"
	"cmp"

	"emberd/stm/record"
)

// The document of a cold memory is read when a search shows the memory and when it is restored, and hardly ever
// otherwise. A row keeps it compressed, so that an archived memory takes less room than the text that left it.

// packedMark begins a compressed document; a document begins with a brace.
const packedMark = 1

// JSON returns the document of the row: a JSON object of all present keys, unknown ones included, nil if there is
// none. It must not be changed.
func (r *Row) JSON() []byte {
	if len(r.Doc) == 0 || r.Doc[0] != packedMark {
		return r.Doc
	}
	doc, err := record.Inflate(r.Doc[1:])
	if err != nil {
		return nil // not of a row that was packed here, nor of a part of a snapshot whose sums are right
	}
	return doc
}

// Unpacked returns a row whose document is read without decompressing it each time, for who reads it more than once.
func (r *Row) Unpacked() *Row {
	if len(r.Doc) == 0 || r.Doc[0] != packedMark {
		return r
	}
	out := *r
	out.Doc = r.JSON()
	return &out
}

// pack compresses the document of a cold memory and takes down where its note is. No other goroutine may have the row
// yet.
func pack(r *Row) {
	r.Hot.Home = 0
	if !r.Cold() || len(r.Doc) == 0 {
		return
	}
	r.Hot.Home = homeOf(r.JSON())
	if r.Doc[0] == packedMark {
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
