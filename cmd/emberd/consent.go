package main

import (
	"bufio"
	"context"
	"strings"
)

// agreed asks a question on a terminal, and takes anything but yes for no. The error is that
// of ctx.
func (s *state) agreed(ctx context.Context, question string) (bool, error) {
	s.note("%s [y/N]", question)
	line, err := heard(ctx, bufio.NewReader(s.stdin))
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return err == nil && saysYes(line), nil
}

func saysYes(answer string) bool {
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// heard reads a line from a terminal. Interrupted, it does not wait for one: the read, which
// cannot be broken off, ends with the process.
func heard(ctx context.Context, in *bufio.Reader) (string, error) {
	type said struct {
		line string
		err  error
	}
	answers := make(chan said, 1)
	go func() {
		line, err := in.ReadString('\n')
		answers <- said{line, err}
	}()
	select {
	case a := <-answers:
		return a.line, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
