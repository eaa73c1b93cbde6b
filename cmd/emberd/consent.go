package main

import (
	"bufio"
	"context"
	"io"
	"strings"
)

// agreed asks a question on a terminal, and takes anything but yes for no. The error is that
// of ctx.
func (s *state) agreed(ctx context.Context, question string) (bool, error) {
	s.note("%s [y/N]", question)
	line, err := bufio.NewReader(s.input(ctx)).ReadString('\n')
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return err == nil && saysYes(line), nil
}

func saysYes(answer string) bool {
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// input is stdin for as long as ctx lasts. Interrupted, it does not wait for what nobody types:
// the read, which cannot be broken off, ends with the process.
func (s *state) input(ctx context.Context) io.Reader {
	type heard struct {
		n   int
		err error
	}
	buf, answers := make([]byte, 64<<10), make(chan heard, 1)
	return readerFunc(func(p []byte) (int, error) {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		into := buf[:min(len(p), len(buf))]
		go func() {
			n, err := s.stdin.Read(into)
			answers <- heard{n, err}
		}()
		select {
		case a := <-answers:
			return copy(p, into[:a.n]), a.err
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	})
}

// readerFunc is an [io.Reader] that is a function.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
