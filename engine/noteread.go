package engine

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"strings"
	"unicode/utf8"

	"emberd/memory"
	"emberd/op"
	"emberd/vault"
)

// Bounds of what is read of a note at once, in characters.
const (
	defaultRead = 50_000
	maxRead     = 200_000

	readAtAll = 1 << 20 // bytes, which is what package vault looks at
)

// noteRead gives the text of a note as it is at this moment.
func (e *Engine) noteRead(ctx context.Context, req *op.NoteReadRequest) (*op.NoteReadResult, error) {
	if err := e.needVault(); err != nil {
		return nil, err
	}
	line, limit := cmp.Or(req.Line, 1), cmp.Or(req.Limit, defaultRead)
	err := firstError(memory.CheckRange("line", float64(line), 1, 1<<20), memory.CheckRange("from", float64(req.From), 0, 1<<20),
		memory.CheckRange("limit", float64(limit), 1, maxRead))
	if err != nil {
		return nil, err
	}
	path, err := e.notePath(ctx, req.Path)
	if err != nil {
		return nil, err
	}
	v := e.notes.vault.Load()
	file, err := v.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	text, err := v.Text(ctx, path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	res := &op.NoteReadResult{Vault: v.Name(), Path: path, Modified: file.ModTime.UTC(), Line: line, From: req.From, Beyond: file.Size > readAtAll}
	if text, err = fromPlace(text, path, line, req.From); err != nil {
		return nil, err
	}
	n := byteOf(text, limit)
	res.Text, res.Left = text[:n], utf8.RuneCountInString(text[n:])
	if res.Left > 0 {
		res.Next = req.From + limit
	}
	return res, nil
}

// fromPlace leaves out the lines before line and so many characters after that.
func fromPlace(text, path string, line, from int) (string, error) {
	for n := 1; n < line; n++ {
		_, rest, ok := strings.Cut(text, "\n")
		if !ok {
			return "", memory.Errorf(memory.NotFound, "the note %q has %d lines, and no line %d", path, n, line).At("line")
		}
		text = rest
	}
	at := byteOf(text, from)
	if from > 0 && at == len(text) {
		return "", memory.Errorf(memory.NotFound, "the note %q ends before character %d from line %d", path, from, line).At("from")
	}
	return text[at:], nil
}

// byteOf is where the character with that number begins, the end of the text if it has
// no more.
func byteOf(text string, number int) int {
	for at := range text {
		if number == 0 {
			return at
		}
		number--
	}
	return len(text)
}

// unreadable says why a note that is named is not read.
func unreadable(path string, err error) error {
	if skipped, ok := errors.AsType[*vault.Skipped](err); ok && !errors.Is(err, fs.ErrNotExist) {
		return memory.Errorf(memory.Conflict, "the note %q is not read: %s", path, skipped.Reason).At("path")
	}
	return memory.Errorf(memory.NotFound, "read the note %q: %w", path, err).At("path")
}
