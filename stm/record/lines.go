package record

import (
	"bufio"
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"math"

	"emberd/internal/durable"
)

// MaxGarbage bounds what a reader passes over in one file of the log: what a line has beyond
// [MaxLine], lines that do not begin as those of a log do, empty lines, and NUL bytes, of which
// each counts as eight, for a sparse file has any number of them and takes no room. Valid lines
// may be any number.
const MaxGarbage = 16 * MaxLine

// ErrGarbage is the cause in the error for a file that is not read any further, since more
// than [MaxGarbage] of it is no log.
var ErrGarbage = errors.New("too many lines are invalid, so emberd does not read the rest of the file")

// LineReader splits a log file into lines in bounded memory, and sums up what
// it has passed, so that a later reader can tell whether a file that was
// replaced still begins the same.
type LineReader struct {
	in  *bufio.Reader
	Off int64  // of the byte to read next
	run uint32 // CRC-32C of all bytes before off
	End int64  // behind the last line that has its LF
	Sum uint32 // CRC-32C of all bytes before end
	buf []byte
	garbage
}

// NewLineReader continues at offset from; sum is the CRC-32C of what is before.
func NewLineReader(f durable.ReadFile, from int64, sum uint32) *LineReader {
	r := readLines(io.NewSectionReader(f, from, math.MaxInt64-from), AtOnce(f, from))
	r.Off, r.run, r.End, r.Sum = from, sum, from, sum
	return r
}

// AtOnce is how much of a file to read at once: what is left of a small one, and a
// quarter of a mebibyte of any other.
func AtOnce(f durable.ReadFile, from int64) int {
	const minimum, maximum = 1 << 12, 1 << 18
	info, err := f.Stat()
	if err != nil {
		return maximum
	}
	return int(min(max(info.Size()-from+1, minimum), maximum))
}

// readLines reads so many bytes at once.
func readLines(from io.Reader, atOnce int) *LineReader {
	return &LineReader{in: bufio.NewReaderSize(from, atOnce)}
}

// Next returns the next line that is not empty, LF included, and where it
// begins; whole says that its LF was there. Of a line longer than MaxLine it
// returns the beginning. The bytes are valid until the call after. The error is
// io.EOF behind the last line, and [ErrGarbage], with the beginning of the line, where
// reading ends early.
func (r *LineReader) Next() (b []byte, at int64, whole bool, err error) {
	r.skipEmpty()
	at = r.Off
	b, err = r.read(r.in, r.buf[:0], r.pass)
	if errors.Is(err, ErrGarbage) {
		return b, at, false, err
	}
	if err != nil && (!errors.Is(err, io.EOF) || len(b) == 0) {
		return nil, at, false, err
	}
	if r.buf = b; err == nil {
		r.End, r.Sum = r.Off, r.run
	}
	return b, at, err == nil, nil
}

// garbage counts what is passed over in a file.
type garbage struct{ bytes int }

// read appends to b what stands up to and with the next LF, of a line longer than MaxLine the
// beginning. All of it is shown to pass.
func (g *garbage) read(in *bufio.Reader, b []byte, pass func(part []byte)) ([]byte, error) {
	for {
		part, err := in.ReadSlice('\n')
		pass(part)
		room := min(len(part), MaxLine+1-len(b))
		b = append(b, part[:room]...)
		g.bytes += 8*bytes.Count(part, []byte{0}) + len(part) - room
		if g.bytes > MaxGarbage {
			return b, ErrGarbage
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if !isLine(b) {
			g.bytes += len(b)
		}
		return b, err
	}
}

// isLine reports whether b begins as every line does, those of later versions too.
func isLine(b []byte) bool {
	start := []byte(`{"v":`)
	return bytes.HasPrefix(b, start) || bytes.HasPrefix(bytes.TrimLeft(b, "\x00\ufeff \t"), start)
}

// skipEmpty skips empty lines, of which a damaged file may hold a billion.
func (r *LineReader) skipEmpty() {
	for {
		_, _ = r.in.Peek(1) // fills the buffer; the next read meets the error
		b, _ := r.in.Peek(r.in.Buffered())
		rest := bytes.TrimLeft(b, "\r\n")
		empty := b[:len(b)-len(rest)]
		r.pass(empty)
		r.garbage.bytes += len(empty)
		if i := bytes.LastIndexByte(empty, '\n'); i >= 0 && i == len(empty)-1 {
			r.End, r.Sum = r.Off, r.run
		}
		_, _ = r.in.Discard(len(empty)) // they are in the buffer
		if len(empty) == 0 || len(rest) > 0 || r.garbage.bytes > MaxGarbage {
			return
		}
	}
}

func (r *LineReader) pass(b []byte) {
	r.Off += int64(len(b))
	r.run = crc32.Update(r.run, Castagnoli, b)
}
