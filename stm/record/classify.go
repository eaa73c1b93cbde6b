package record

import (
	"bytes"
	"context"
	"errors"
	"io"

	"emberd/memory"
)

// Class reports what compaction makes of a line.
type Class int

const (
	Empty    Class = iota // nothing, or NUL bytes that a power cut left
	Torn                  // an unfinished last line
	Meta                  // header or seal
	Verbatim              // damaged, of a later version, or a human's: kept as it is
	Counted               // an operation of this device
)

// Classify decodes one line of a file of dev. good is the line without what
// other programs put around it.
func Classify(b []byte, whole bool, dev Device) (l Line, good []byte, is Class) {
	if len(bytes.Trim(b, "\x00\r\n\t ")) == 0 {
		return l, nil, Empty
	}
	good, err := Trim(b)
	if err != nil && !whole {
		return l, good, Torn
	}
	if err == nil {
		l, err = Decode(good)
	}
	if err != nil || l.Version != FormatVersion || l.Stamp.IsZero() || l.Stamp.Dev != dev {
		return l, good, Verbatim
	}
	switch l.Op {
	case OpSegment, OpSeal:
		return l, good, Meta
	case OpPut, OpSet, OpDelete, OpPurge, OpAll, OpUse:
		if l.Applicable() == nil && l.Useful() {
			return l, good, Counted
		}
	}
	return l, good, Verbatim
}

// Applicable returns why a row would not take the line.
func (l *Line) Applicable() error {
	for _, c := range l.Changes {
		if c.IsDelete() {
			continue
		}
		var h Facets
		var bad error
		err := EachField(c.Data, func(name, value []byte) bool {
			if !bytes.Equal(value, Null) {
				bad = h.Take(string(name), value)
			}
			return bad == nil
		})
		if err = errors.Join(err, bad); err != nil {
			return err
		}
	}
	return nil
}

// Useful reports whether the totals of a use line can be read.
func (l *Line) Useful() bool {
	return l.Op != OpUse || DecodeUse(l.Data, l.Stamp.Dev, func([16]byte, UseTotal) {}) == nil
}

// SumText is the checksum of a line without its LF, as text.
func SumText(b []byte) []byte { return b[len(b)-len(`9f8e7d6c"}`) : len(b)-len(`"}`)] }

// ScanLines calls fn for every line that is not empty, with its offset and
// length, and returns how many bytes there were. atOnce is how many to read. A line longer than MaxLine is
// an error.
func ScanLines(ctx context.Context, from io.Reader, atOnce int, fn func(b []byte, at Place, whole bool) error) (int64,
	error) {
	in := readLines(from, atOnce)
	for lines := 0; ; lines++ {
		if lines%1024 == 0 && ctx.Err() != nil {
			return in.Off, context.Cause(ctx)
		}
		b, at, whole, err := in.Next()
		if errors.Is(err, io.EOF) {
			return in.Off, nil
		}
		if err != nil {
			return in.Off, err
		}
		n := in.Off - at
		if n > int64(len(b)) {
			return in.Off, memory.Errorf(memory.Invalid, "the line at byte %d is longer than %d bytes, so emberd did "+
				"not write this file; move the file out of the log folder", at, MaxLine)
		}
		if err := fn(b, Place{Off: at, N: uint32(n)}, whole); err != nil {
			return in.Off, err
		}
	}
}
