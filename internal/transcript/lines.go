package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
)

// maxLine bounds the bytes of a line that is read.
const maxLine = 4 << 20

// A textLine is a line of a file without its end.
type textLine struct {
	at    int64 // its place in the file
	text  []byte
	long  bool // it is longer than maxLine; text is empty
	whole bool // a line break ends it
}

// lines returns the lines of r, whose first byte is at a place in the file. The text of a line is valid until
// the next one. An error ends them.
func lines(r *bufio.Reader, at int64) iter.Seq2[textLine, error] {
	return func(yield func(textLine, error) bool) {
		var buffer []byte
		for {
			line, size, err := nextLine(r, buffer[:0])
			line.at = at
			at, buffer = at+size, line.text
			if errors.Is(err, io.EOF) {
				if size > 0 {
					yield(line, nil)
				}
				return
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
}

// nextLine reads a line into a buffer, and returns how many bytes it took.
func nextLine(r *bufio.Reader, buffer []byte) (line textLine, size int64, err error) {
	for {
		part, err := r.ReadSlice('\n')
		size += int64(len(part))
		if line.long = line.long || len(buffer)+len(part) > maxLine; !line.long {
			buffer = append(buffer, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		line.whole = err == nil
		if line.text = bytes.TrimSpace(buffer); line.long {
			line.text = nil
		}
		return line, size, err
	}
}
