package vault

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
)

// ReadCopy returns the bytes of a copy that a sync tool made of a note, and those of the note, if both may be
// changed now. Otherwise the outcome says why not.
func ReadCopy(ctx context.Context, w *Writer, name, of string) (copied, note []byte, res Result, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one, held, err := readyCopy(ctx, &w.guard, name)
	if held != nil || err != nil {
		return nil, nil, result(held), err
	}
	other, held, err := readyCopy(ctx, &w.guard, of)
	if held != nil || err != nil {
		return nil, nil, result(held), err
	}
	return one.data, other.data, Result{Outcome: Written}, nil
}

// RemoveCopy is [Writer.Remove] for a copy that a sync tool made of a note, which no other method of a writer
// touches. The caller has made sure that nothing in it is a human's alone.
func (w *Writer) RemoveCopy(ctx context.Context, name string, want [sha256.Size]byte) (Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, held, err := readyCopy(ctx, &w.guard, name)
	if held != nil || err != nil {
		return result(held), err
	}
	if s.sum != want {
		return Result{Outcome: Conflict, Reason: HumanChanged}, nil
	}
	return w.remove(name, s)
}

// readyCopy is ready for a note that is a copy, or has one.
func readyCopy(ctx context.Context, g *guard, name string) (*snapshot, *Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, context.Cause(ctx)
	}
	if held := g.folder(name); held != nil {
		return nil, held, nil
	}
	info, err := g.notes.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refuse(Gone), nil
	}
	if err != nil {
		return nil, nil, err
	}
	if held := g.allowed(name, info); held != nil {
		return nil, held, nil
	}
	return g.steady(name, info)
}
