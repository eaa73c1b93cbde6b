package stm

import (
	"bufio"
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"math"

	"emberd/internal/durable"
)

// lineReader splits a log file into lines in bounded memory, and sums up what
// it has passed, so that a later reader can tell whether a file that was
// replaced still begins the same.
type lineReader struct {
	in  *bufio.Reader
	off int64  // of the byte to read next
	run uint32 // CRC-32C of all bytes before off
	end int64  // behind the last line that has its LF
	sum uint32 // CRC-32C of all bytes before end
	buf []byte
}

// newLineReader continues at offset from; sum is the CRC-32C of what is before.
func newLineReader(f durable.ReadFile, from int64, sum uint32) *lineReader {
	r := readLines(io.NewSectionReader(f, from, math.MaxInt64-from), atOnce(f, from))
	r.off, r.run, r.end, r.sum = from, sum, from, sum
	return r
}

// atOnce is how much of a file to read at once: what is left of a small one, and a
// quarter of a mebibyte of any other.
func atOnce(f durable.ReadFile, from int64) int {
	const least, most = 1 << 12, 1 << 18
	info, err := f.Stat()
	if err != nil {
		return most
	}
	return int(min(max(info.Size()-from+1, least), most))
}

// readLines reads so many bytes at once.
func readLines(from io.Reader, atOnce int) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(from, atOnce)}
}

// next returns the next line that is not empty, LF included, and where it
// begins; whole says that its LF was there. Of a line longer than MaxLine it
// returns the beginning. The bytes are valid until the call after. The error is
// io.EOF behind the last line.
func (r *lineReader) next() (b []byte, at int64, whole bool, err error) {
	r.skipEmpty()
	at = r.off
	b, err = readBounded(r.in, r.buf[:0], r.pass)
	if err != nil && (!errors.Is(err, io.EOF) || len(b) == 0) {
		return nil, at, false, err
	}
	if r.buf = b; err == nil {
		r.end, r.sum = r.off, r.run
	}
	return b, at, err == nil, nil
}

// readBounded appends to b what stands up to and with the next LF, of a line
// longer than MaxLine the beginning. All of it is shown to pass.
func readBounded(in *bufio.Reader, b []byte, pass func(part []byte)) ([]byte, error) {
	for {
		part, err := in.ReadSlice('\n')
		pass(part)
		if room := MaxLine + 1 - len(b); room > 0 {
			b = append(b, part[:min(len(part), room)]...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return b, err
		}
	}
}

// skipEmpty skips empty lines, of which a damaged file may hold a billion.
func (r *lineReader) skipEmpty() {
	for {
		_, _ = r.in.Peek(1) // fills the buffer; the next read meets the error
		b, _ := r.in.Peek(r.in.Buffered())
		rest := bytes.TrimLeft(b, "\r\n")
		empty := b[:len(b)-len(rest)]
		r.pass(empty)
		if i := bytes.LastIndexByte(empty, '\n'); i >= 0 && i == len(empty)-1 {
			r.end, r.sum = r.off, r.run
		}
		_, _ = r.in.Discard(len(empty)) // they are in the buffer
		if len(empty) == 0 || len(rest) > 0 {
			return
		}
	}
}

func (r *lineReader) pass(b []byte) {
	r.off += int64(len(b))
	r.run = crc32.Update(r.run, castagnoli, b)
}
