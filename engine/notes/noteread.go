package notes

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"strings"
	"unicode/utf8"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/vault"
)

// Limits of one read of a note, in characters.
const (
	defaultRead = 50_000
	maxRead     = 200_000

	readAtAll = 1 << 20 // bytes, the limit of package vault
)

// NoteRead returns the current text of a note.
func (e *Notes) NoteRead(ctx context.Context, req *op.NoteReadRequest) (*op.NoteReadResult, error) {
	if err := e.NeedVault(); err != nil {
		return nil, err
	}
	line, limit := cmp.Or(req.Line, 1), cmp.Or(req.Limit, defaultRead)
	err := core.FirstError(memory.CheckRange("line", float64(line), 1, 1<<20),
		memory.CheckRange("from", float64(req.From), 0, 1<<20),
		memory.CheckRange("limit", float64(limit), 1, maxRead))
	if err != nil {
		return nil, err
	}
	path, err := e.NotePath(ctx, req.Path)
	if err != nil {
		return nil, err
	}
	v := e.Vault.Root.Load()
	file, err := v.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	text, err := v.Text(ctx, path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	res := &op.NoteReadResult{Vault: v.Name(), Path: path, Modified: file.ModTime.UTC(), Line: line, From: req.From,
		Beyond: file.Size > readAtAll}
	if text, err = FromPlace(text, path, line, req.From); err != nil {
		return nil, err
	}
	n := core.ByteOf(text, limit)
	res.Text, res.Left = text[:n], utf8.RuneCountInString(text[n:])
	if res.Left > 0 {
		res.Next = req.From + limit
	}
	return res, nil
}

// FromPlace drops the lines before line, and then as many characters as from says.
func FromPlace(text, path string, line, from int) (string, error) {
	for n := 1; n < line; n++ {
		_, rest, ok := strings.Cut(text, "\n")
		if !ok {
			return "", memory.Errorf(memory.NotFound, "line %d of note %q is out of range (1 to %d)", line, path,
				n).At("line")
		}
		text = rest
	}
	at := core.ByteOf(text, from)
	if from > 0 && at == len(text) {
		return "", memory.Errorf(memory.NotFound,
			"note %q ends before character %d, counted from the start of line %d; use a smaller number", path, from,
			line).At("from")
	}
	return text[at:], nil
}

// unreadable returns the error for a named note that emberd does not read.
func unreadable(path string, err error) error {
	if skipped, ok := errors.AsType[*vault.Skipped](err); ok && !errors.Is(err, fs.ErrNotExist) {
		return memory.Errorf(memory.Conflict, "cannot read note %q: %s", path, skipped.Reason).At("path")
	}
	return memory.Errorf(memory.NotFound, "cannot read note %q: %w", path, err).At("path")
}
