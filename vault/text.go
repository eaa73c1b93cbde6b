package vault

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"emberd/vault/lex"
	"emberd/vault/markdown"
)

// What searches show of notes is read here: at once, without waiting for an editor that
// is in the middle of saving; without the digest; and with the line reader, which makes do
// with the part that is asked for.

// Text returns the beginning of a note, at most 1 MiB, as it is written at this
// moment, for looking something up in it. Bytes that are not UTF-8 read as "?". Its
// errors are those of [Vault.Read].
func (v *Vault) Text(ctx context.Context, path string) (string, error) {
	c, err := v.glance(ctx, path)
	if err != nil {
		return "", err
	}
	return c.text(), nil
}

func (c *content) text() string { return strings.ToValidUTF8(string(c.data), "?") }

// Skim reads a note as it is at this moment like [Vault.Read], but for its digest, and
// line by line.
func (v *Vault) Skim(ctx context.Context, path string) (*Note, error) {
	c, err := v.glance(ctx, path)
	if err != nil {
		return nil, err
	}
	if !isText(c.data) {
		return nil, &Skipped{Path: path, Reason: NotText}
	}
	return parse(markdown.ReadLines, c.file, c.data), nil
}

// ErrChanged is the error for a note that is not in the state that the caller knows.
var ErrChanged = errors.New("the note has changed; read it again")

// Excerpt returns part of the text of a section, as [Section.Text] has it: what is below
// so many lines of it, or its beginning where there are fewer, and most bytes of that at
// most. The section is the one of this Line in the note as it was when it was this File;
// if it is another by now the error is [ErrChanged]. Other errors are those of the file
// system.
func (v *Vault) Excerpt(file File, line, above, most int) (string, error) {
	data, err := v.readSame(file)
	if err != nil {
		return "", err
	}
	text := markdown.SectionText(bytes.TrimPrefix(data, []byte(lex.ByteOrderMark)), line, above, most)
	rest := text
	for range above {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	if rest == "" {
		rest = text
	}
	return strings.ToValidUTF8(rest[:min(len(rest), most)], ""), nil
}

// Unchanged reports whether a note is the same file in the same state, without opening it.
func (v *Vault) Unchanged(file File) bool {
	info, err := v.root.Lstat(file.Path)
	return err == nil && file.same(info)
}

// readSame reads the beginning of a note that is still the same file in the same state. A
// symbolic link need not be looked for on the way, since no other file is read.
func (v *Vault) readSame(file File) ([]byte, error) {
	f, err := v.open(file.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := file.check(f); err != nil {
		return nil, err
	}
	c := content{file: file}
	if _, err := c.begin(f); err != nil {
		return nil, err
	}
	return c.data, file.check(f)
}

// check returns an error unless opened is the file in the same state.
func (f File) check(opened *os.File) error {
	info, err := opened.Stat()
	if err == nil && !f.same(info) {
		return ErrChanged
	}
	return err
}

// same reports whether info is of the file in the same state.
func (f File) same(info fs.FileInfo) bool {
	now := fileOf(f.Path, info)
	return info.Mode().IsRegular() && now.Size <= MaxSize && now.Size == f.Size && now.Inode == f.Inode &&
		now.ModTime.Equal(f.ModTime) && now.ChangeTime.Equal(f.ChangeTime)
}

// glance reads the beginning of a note once, without a digest.
func (v *Vault) glance(ctx context.Context, path string) (*content, error) {
	if err := v.checkName(path); err != nil {
		return nil, err
	}
	return v.load(ctx, path, false)
}
