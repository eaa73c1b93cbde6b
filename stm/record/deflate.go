package record

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"sync"
)

// common is what documents of archived memories have in common: the dictionary of DEFLATE, whose end is reached by
// the shortest codes. It is part of the format of the log and of snapshots, and never changes.
const common = `"sources_dropped":"superseded_by":"consolidated_into":"consolidated_at":"promoted_at":"promoted_to":"` +
	`"source":"meta":{"category":"type":"section":"project":"session_id":"aliases":["text_edges":["","\n"],` +
	`"last_accessed_ts":"note_gone":"updated_at":"20"unused for 720h0m0s""note says so"` +
	`{"collection":"knowledge","confidence":1,"created_at":"2026-01-01T00:00:00Z","entities":[""],"tags":["",""],` +
	`"entities_found":true,"importance":0.5,"sources":[{"kind":"agent","kind":"user","kind":"import","at":"2025-` +
	`T00:00:00Z","by":{"via":"mcp","uid":1000,"client":"","session":""}}],"stage":"active","strength":1,` +
	`"strength_found":true,"context":"","archive_reason":"unused for ","archived_at":"2026-0","content":"` +
	`","key_terms":["","` + `"],"note_seen":{"category":"3973e022e93220f9","content":"","stage":"3973e022e93220f9",` +
	`"strength":"3973e022e93220f9","tags":"e3b0c44298fc1c14"},"stage":"archived","stage":"rehydratable",` +
	`"text_digest":"sha256:","vault_path":"Memories/Archive/.md"}`

// deflaters and inflaters are kept for the next document: one takes hundreds of kilobytes to make.
var (
	deflaters = sync.Pool{New: func() any {
		w, err := flate.NewWriterDict(nil, flate.BestCompression, []byte(common))
		if err != nil {
			panic(err) // the level is valid
		}
		return w
	}}
	inflaters = sync.Pool{New: func() any { return flate.NewReaderDict(bytes.NewReader(nil), []byte(common)) }}
)

// Deflate appends a text compressed with the dictionary of archived memories (RFC 1951) to b.
func Deflate(b, text []byte) []byte {
	out := bytes.NewBuffer(b)
	w := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(w)
	w.Reset(out)
	_, _ = w.Write(text) // a bytes.Buffer takes everything
	_ = w.Close()
	return out.Bytes()
}

// Inflate returns the text that Deflate compressed. A text of more than MaxLine bytes is an error.
func Inflate(b []byte) ([]byte, error) {
	r := inflaters.Get().(io.ReadCloser)
	defer inflaters.Put(r)
	if err := r.(flate.Resetter).Reset(bytes.NewReader(b), []byte(common)); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, MaxLine+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot decompress the text: %w", err)
	case len(text) > MaxLine:
		return nil, fmt.Errorf("the decompressed text has more than %d bytes", MaxLine)
	}
	return text, nil
}
