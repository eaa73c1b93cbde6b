package cli

import (
	"bufio"
	"context"
	"io"
	"strings"
)

// Agreed asks a question on a terminal, and takes anything but yes for no. The error is that
// of ctx.
func (s *App) Agreed(ctx context.Context, question string) (bool, error) {
	s.Note("%s [y/N]", question)
	line, err := bufio.NewReader(s.Input(ctx)).ReadString('\n')
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return err == nil && SaysYes(line), nil
}

func SaysYes(answer string) bool {
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// Input is stdin for as long as ctx lasts. Interrupted, it does not wait for what nobody types:
// the read, which cannot be broken off, ends with the process.
func (s *App) Input(ctx context.Context) io.Reader { return Interruptible(ctx, s.Stdin) }

// Interruptible reads from what may never answer, until ctx ends.
func Interruptible(ctx context.Context, from io.Reader) io.Reader {
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
			n, err := from.Read(into)
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
