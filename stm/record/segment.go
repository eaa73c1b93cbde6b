package record

import (
	"encoding/json"
	"path/filepath"
	"time"

	"emberd/internal/durable"
)

// Header is d of a segment's first line.
type Header struct {
	Dev     string      `json:"dev"`
	Segment uint32      `json:"seg"`
	First   uint64      `json:"first"` // sequence number of the first record
	Format  int         `json:"format"`
	Created string      `json:"created"`
	Lost    [][2]uint64 `json:"lost,omitempty"` // sequence numbers given up, after a failed write or since no file has them
	Kept    []Kept      `json:"kept,omitempty"` // what was written again of other devices' records

	// What follows is of compacted files and of histories only.
	From uint32 `json:"from,omitempty"` // first segment it stands for; seg is the last
	Last uint64 `json:"last,omitempty"` // sequence numbers from first to last are accounted for
	// Missing are those of them that no file of the device had, and that were not given up.
	Missing    [][2]uint64 `json:"missing,omitempty"`
	Generation int         `json:"gen,omitempty"`
	Replaces   []Replaced  `json:"replaces,omitempty"`
	History    int         `json:"history,omitempty"` // lines in the history of the same name
	Oldest     string      `json:"oldest,omitempty"`  // stamps of a history's lines
	Newest     string      `json:"newest,omitempty"`
	// If tombstones were dropped, the stamp of the latest and how far each device
	// had been read.
	Floor string            `json:"floor,omitempty"`
	Seen  map[string]uint64 `json:"seen,omitempty"`
	// Since is from when on every superseded line is in this file or a history.
	Since string `json:"since,omitempty"`
}

// Fits reports whether the header is that of a file of this name, and not of one that took its place.
func (h *Header) Fits(n Name) bool {
	if n.Kind == Raw {
		return true // what its lines say counts, wherever they are
	}
	return h.From == n.From && h.Segment == n.To && h.Generation == n.Gen && (h.Oldest != "") == (n.Kind == History)
}

// Accounted returns the sequence numbers that a compacted file or a history accounts for.
func (h *Header) Accounted() *Ranges {
	var missing, all Ranges
	for _, m := range h.Missing {
		missing.Add(m[0], m[1])
	}
	for _, span := range missing.Gaps(h.Last) {
		if first := max(span[0], h.First, 1); first <= span[1] {
			all.Add(first, span[1])
		}
	}
	return &all
}

// Replaced is a file as it was when it was folded into another.
type Replaced struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	CRC   string `json:"crc"` // CRC-32C of those bytes
}

// Seal is d of the last line of a segment that was closed in order.
type Seal struct {
	Count int    `json:"count"` // lines before this one
	Last  uint64 `json:"last"`  // sequence number of the last record
	Sum   string `json:"sum"`   // CRC-32C over the checksums of those lines, as text
	// CRC is the CRC-32C of all bytes before this line, in compacted files and
	// histories only. Of their lines those without a checksum are not in Sum.
	CRC string `json:"crc,omitempty"`
	// Audit is the seal of the audit log, of segments that the writer closed.
	Audit string `json:"audit,omitempty"`
}

func MetaLine(op string, stamp Stamp, d any) []byte {
	b := append([]byte(nil), `{"v":1`...)
	b = appendText(b, "op", op)
	b = appendText(b, "t", stamp.String())
	return SealLine(appendRaw(b, "d", Encode(d)), 0)
}

func DecodeHeader(d []byte) (Header, error) {
	var h Header
	err := json.Unmarshal(d, &h)
	return h, err
}

// FirstLine decodes the first line of a file, of whatever version.
func FirstLine(fsys durable.FS, name string) (Line, error) {
	f, err := fsys.OpenRead(name)
	if err != nil {
		return Line{}, err
	}
	defer f.Close()
	b, _, _, err := readLines(f, 1<<12).Next()
	if err != nil {
		return Line{}, err
	}
	if b, err = Trim(b); err != nil {
		return Line{}, err
	}
	return Decode(b)
}

// Segment is one file of the log, of this device or another.
type Segment struct {
	Name   string // without its folder
	Device string
	Own    bool
	Kind   Kind
	// From and To are the segment numbers that it stands for, 0 for an odd file.
	From, To   uint32
	Generation int // of compacted files and histories: how often their lines were rewritten at most
	Bytes      int64
	Active     bool // being written
	// Replaced says that a compacted file stands for it and it waits for Unlink.
	Replaced bool
	// Later says that a later version wrote it, so that it cannot be compacted.
	Later bool
	// Created is what its header says, of histories with the stamps of the first
	// and the last line. Zero when it cannot be read.
	Created, Oldest, Newest time.Time
}

// Path is where the file is below the data folder.
func (g Segment) Path() string { return filepath.Join("stm", g.Device, g.Name) }

// HeaderOf decodes the first line of a file.
func HeaderOf(b []byte) (Header, bool) {
	l, ok := metaOf(b, OpSegment)
	if !ok {
		return Header{}, false
	}
	h, err := DecodeHeader(l.Data)
	return h, err == nil
}

// SealOf decodes the last line of a file.
func SealOf(b []byte) (end Seal, ok bool) {
	l, ok := metaOf(b, OpSeal)
	ok = ok && json.Unmarshal(l.Data, &end) == nil
	return end, ok
}

func metaOf(b []byte, op string) (Line, bool) {
	good, err := Trim(b)
	if err != nil {
		return Line{}, false
	}
	l, err := Decode(good)
	return l, err == nil && l.Op == op && l.Version == FormatVersion
}

// HeadLine reads the first line of a log file, if it is a header.
func HeadLine(fsys durable.FS, name string) (Line, bool) {
	l, err := FirstLine(fsys, name)
	return l, err == nil && l.Op == OpSegment
}
