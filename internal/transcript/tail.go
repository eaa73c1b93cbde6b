package transcript

import (
	"bufio"
	"io"
	"os"

	"emberd/internal/durable"
	"emberd/op"
)

// maxHead bounds the bytes that are read of the first line of a file.
const maxHead = 256 << 10

// Tail reads the last messages of a transcript, from at most max bytes at its end, and what the first line tells
// of the session. A first line without its beginning and a last line without its end are passed over. A
// result of a tool whose call is before those bytes is left out. It refuses what is not a regular file.
func Tail(agent, path string, max int64) (*Session, error) {
	p, err := newParser(agent)
	if err != nil {
		return nil, err
	}
	f, err := durable.OpenGiven(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := readTail(p, f, max)
	if err != nil {
		return nil, err
	}
	s.nameAfter(path)
	return s, nil
}

func readTail(p parser, f *os.File, max int64) (*Session, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := info.Size() - max
	if from <= 0 {
		return readWhole(p, f, info.Size())
	}
	readHead(p, f)
	from-- // the byte before tells whether a line begins there
	r := bufio.NewReader(io.NewSectionReader(f, from, max+1))
	for {
		part, err := r.ReadSlice('\n')
		from += int64(len(part))
		if err == nil || err == io.EOF {
			return readLines(p, r, from)
		}
		if err != bufio.ErrBufferFull {
			return nil, err
		}
	}
}

// readWhole reads a file from its beginning, and no more than it had.
func readWhole(p parser, f *os.File, size int64) (*Session, error) {
	r := bufio.NewReader(io.LimitReader(f, size))
	if p.result().Agent == GeminiCLI && isDocument(r) {
		return readDocument(r)
	}
	return readLines(p, r, 0)
}

// readHead takes what the first line of a file tells of the session, and no message.
func readHead(p parser, f *os.File) {
	for line, err := range lines(bufio.NewReader(io.NewSectionReader(f, 0, maxHead)), 0) {
		if err == nil && line.whole {
			_ = p.line(line.at, line.text) // a broken line tells nothing
		}
		break
	}
	p.result().Messages = nil
}

// LastTurn returns the messages from the last one of a person on, with the answer before it, and all where there is
// none.
func LastTurn(messages []op.SessionMessage) []op.SessionMessage {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role != op.RoleUser {
			continue
		}
		if i > 0 && messages[i-1].Final {
			i-- // what the person answers
		}
		return messages[i:]
	}
	return messages
}
