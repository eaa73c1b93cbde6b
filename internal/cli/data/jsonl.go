package data

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"unicode/utf8"

	"emberd/internal/cli"
	"emberd/memory"
)

// maxLine bounds a line of an import: the longest text with every character
// escaped, the largest meta, and room for what is thrown away.
const maxLine = 4 << 20

// sourceLine is one line of a JSONL file: an object, or what is wrong with it.
type sourceLine struct {
	number int // from 1
	bytes  int // its length with the line break
	object map[string]json.RawMessage
	err    error
}

// jsonLines reads objects line by line. A bad line is told and the next one
// read; only an error of the reader itself ends the walk early.
func jsonLines(r io.Reader) iter.Seq2[sourceLine, error] {
	return func(yield func(sourceLine, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		for number := 1; ; number++ {
			text, n, err := cli.ReadLine(in, maxLine)
			if err != nil && !errors.Is(err, io.EOF) {
				yield(sourceLine{}, fmt.Errorf("cannot read line %d: %w", number, err))
				return
			}
			if l, ok := parseLine(text, number, n); ok && !yield(l, nil) || err != nil {
				return
			}
		}
	}
}

// parseLine reports false for a blank line.
func parseLine(text []byte, number, n int) (sourceLine, bool) {
	l := sourceLine{number: number, bytes: n}
	if number == 1 {
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
	}
	switch {
	case n > maxLine:
		l.err = memory.Errorf(memory.TooLarge, "too many bytes in the line: %d (limit %d, 4 MiB)", n, maxLine)
	case len(bytes.TrimSpace(text)) == 0:
		return l, false
	case !utf8.Valid(text):
		l.err = memory.Errorf(memory.Invalid, "the line is not valid UTF-8; convert the file to UTF-8")
	default:
		l.object, l.err = parseObject(text)
	}
	return l, true
}

var errArray = memory.Errorf(memory.Invalid, "the line is a JSON array, not an object")

func parseObject(text []byte) (map[string]json.RawMessage, error) {
	if bytes.HasPrefix(text, []byte("[")) {
		return nil, errArray
	}
	var object map[string]json.RawMessage
	err := json.Unmarshal(text, &object)
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return nil, memory.Errorf(memory.Invalid, "incomplete JSON object: %v at byte %d", e, e.Offset)
	}
	if err != nil || object == nil {
		return nil, memory.Errorf(memory.Invalid, "not a JSON object")
	}
	return object, nil
}
