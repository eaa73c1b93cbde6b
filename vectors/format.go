package vectors

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

// These are on disk and must never change; see the package documentation.
const (
	magic = "\x89vec\r\n\x1a\n"
	mark  = "\xe5vr\xa7"

	version = 1

	flagBase = 1 << 0 // stands for all files of the device with a lower number

	kindVector byte = 1
	kindDoc    byte = 2
	kindGone   byte = 3
	kindSynced byte = 4

	frameSize = 12 // of a record without its payload
	chunkSize = 20
)

// Bounds of what is written, and of what is believed when it is read.
const (
	// MaxDim is the greatest number of components of a vector.
	MaxDim = 1 << 14
	// MaxName is the greatest length in bytes of a document's name.
	MaxName = 1 << 13
	// MaxChunks is the greatest number of chunks of a document.
	MaxChunks = 1 << 14

	maxIdentity = 1 << 10
	maxDevice   = 32
	maxPayload  = 1 << 19
	maxHeader   = 32 + maxIdentity + maxDevice
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// header is the beginning of a file. seed is its own sum, which those of the records continue.
type header struct {
	base     bool
	dim      int
	salt     [8]byte
	identity string
	device   string
	seed     uint32
}

var (
	errHeader  = errors.New("incomplete file header")
	errVersion = errors.New("written by a later version of emberd")
)

// newHeader returns one with a salt of its own.
func newHeader(identity, device string, dim int, base bool) header {
	h := header{base: base, dim: dim, identity: identity, device: device}
	rand.Read(h.salt[:])
	h.seed = crc32.Checksum(h.body(), castagnoli)
	return h
}

// body is the header without its sum.
func (h *header) body() []byte {
	var flags uint16
	if h.base {
		flags |= flagBase
	}
	b := append([]byte(nil), magic...)
	b = binary.LittleEndian.AppendUint16(b, version)
	b = binary.LittleEndian.AppendUint16(b, flags)
	b = binary.LittleEndian.AppendUint32(b, uint32(h.dim))
	b = append(b, h.salt[:]...)
	for _, s := range []string{h.identity, h.device} {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(s)))
		b = append(b, s...)
	}
	return b
}

func (h *header) encode() []byte { return binary.LittleEndian.AppendUint32(h.body(), h.seed) }

// parseHeader reads the header at the beginning of b and reports how long it is. A header of a later
// version is errVersion, any other that is not whole errHeader.
func parseHeader(b []byte) (h header, size int, err error) {
	if len(b) < 24 || string(b[:8]) != magic {
		return h, 0, errHeader
	}
	if v := binary.LittleEndian.Uint16(b[8:]); v > version {
		return h, 0, errVersion
	}
	h.base = binary.LittleEndian.Uint16(b[10:])&flagBase != 0
	h.dim = int(binary.LittleEndian.Uint32(b[12:]))
	copy(h.salt[:], b[16:])
	rest := b[24:]
	for _, s := range []*string{&h.identity, &h.device} {
		if len(rest) < 2 || len(rest)-2 < int(binary.LittleEndian.Uint16(rest)) {
			return h, 0, errHeader
		}
		n := int(binary.LittleEndian.Uint16(rest))
		*s, rest = string(rest[2:2+n]), rest[2+n:]
	}
	size = len(b) - len(rest) + 4
	if len(rest) < 4 || h.dim < 1 || h.dim > MaxDim {
		return h, 0, errHeader
	}
	h.seed = crc32.Checksum(b[:size-4], castagnoli)
	if binary.LittleEndian.Uint32(rest) != h.seed {
		return h, 0, errHeader
	}
	return h, size, nil
}

// appendRecord appends a record whose payload add appends.
func appendRecord(b []byte, seed uint32, kind byte, add func([]byte) []byte) []byte {
	at := len(b)
	b = append(b, mark...)
	b = append(b, kind, 0, 0, 0, 0, 0, 0, 0)
	b = add(b)
	size := len(b) - at - frameSize
	b[at+5], b[at+6], b[at+7] = byte(size), byte(size>>8), byte(size>>16)
	binary.LittleEndian.PutUint32(b[at+8:], recordSum(seed, b[at:]))
	return b
}

// recordSum is the sum of a whole record.
func recordSum(seed uint32, record []byte) uint32 {
	sum := crc32.Update(seed, castagnoli, record[4:8])
	return crc32.Update(sum, castagnoli, record[frameSize:])
}

// recordSize is the length that the record at the beginning of b claims, 0 if it is none. b has
// at least frameSize bytes.
func recordSize(b []byte) int {
	size := int(b[5]) | int(b[6])<<8 | int(b[7])<<16
	if string(b[:4]) != mark || size > maxPayload {
		return 0
	}
	return frameSize + size
}

// whole reports whether b is one record with the right sum.
func whole(seed uint32, b []byte) bool {
	return len(b) >= frameSize && recordSize(b) == len(b) && binary.LittleEndian.Uint32(b[8:]) == recordSum(seed, b)
}

// vectorSize is the length of a vector's record.
func vectorSize(dim int) int { return frameSize + len(Key{}) + 4*dim }

func appendVector(b []byte, seed uint32, e Entry) []byte {
	return appendRecord(b, seed, kindVector, func(b []byte) []byte {
		b = append(b, e.Key[:]...)
		for _, x := range e.Vector {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		return b
	})
}

// decodeFloats sets v to the components at the beginning of b.
func decodeFloats(v []float32, b []byte) {
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
}

func appendDoc(b []byte, seed uint32, d *Doc) []byte {
	return appendRecord(b, seed, kindDoc, func(b []byte) []byte {
		b = append(b, d.Digest[:]...)
		b = binary.LittleEndian.AppendUint16(b, uint16(len(d.Name)))
		b = append(b, d.Name...)
		for _, c := range d.Chunks {
			b = append(b, c.Key[:]...)
			b = binary.LittleEndian.AppendUint32(b, uint32(c.Line))
		}
		return b
	})
}

func appendGone(b []byte, seed uint32, name string) []byte {
	return appendRecord(b, seed, kindGone, func(b []byte) []byte { return append(b, name...) })
}

func appendSynced(b []byte, seed uint32) []byte {
	return appendRecord(b, seed, kindSynced, func(b []byte) []byte { return b })
}

// parseDoc reads the payload of a document's record.
func parseDoc(b []byte) (*Doc, bool) {
	if len(b) < 18 {
		return nil, false
	}
	d := &Doc{Digest: [16]byte(b)}
	n, rest := int(binary.LittleEndian.Uint16(b[16:])), b[18:]
	if n > MaxName || n > len(rest) || (len(rest)-n)%chunkSize != 0 || (len(rest)-n)/chunkSize > MaxChunks {
		return nil, false
	}
	d.Name, rest = string(rest[:n]), rest[n:]
	d.Chunks = make([]Chunk, 0, len(rest)/chunkSize)
	for ; len(rest) > 0; rest = rest[chunkSize:] {
		line := binary.LittleEndian.Uint32(rest[16:])
		if line > math.MaxInt32 {
			return nil, false
		}
		d.Chunks = append(d.Chunks, Chunk{Key: Key(rest), Line: int(line)})
	}
	return d, true
}

// checkDoc refuses what cannot be written.
func checkDoc(d *Doc) error {
	switch {
	case d.Name == "" || len(d.Name) > MaxName:
		return fmt.Errorf("cannot store a document: name length in bytes %d is out of range (1 to %d)", len(d.Name),
			MaxName)
	case len(d.Chunks) > MaxChunks:
		return fmt.Errorf("too many chunks in %q: %d (limit %d)", d.Name, len(d.Chunks), MaxChunks)
	}
	for _, c := range d.Chunks {
		if c.Line < 0 || c.Line > math.MaxInt32 {
			return fmt.Errorf("cannot store %q: line number %d of a chunk is out of range", d.Name, c.Line)
		}
	}
	return nil
}

// nextMark is where in b the next record may begin, len(b) if nowhere; the beginning of a mark at
// the end counts.
func nextMark(b []byte) int {
	if i := bytes.Index(b, []byte(mark)); i >= 0 {
		return i
	}
	for n := min(len(mark)-1, len(b)); n > 0; n-- {
		if string(b[len(b)-n:]) == mark[:n] {
			return len(b) - n
		}
	}
	return len(b)
}
