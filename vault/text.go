package vault

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
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
	return strings.ToValidUTF8(string(c.data), "?"), nil
}

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
	return parse(readLines, c.file, c.data), nil
}

// ErrChanged is returned for a note that is not in the state that it was known in.
var ErrChanged = errors.New("note has changed")

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
	text := sectionText(bytes.TrimPrefix(data, []byte(byteOrderMark)), line, above, most)
	rest := text
	for range above {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	if rest == "" {
		rest = text
	}
	return strings.ToValidUTF8(rest[:min(len(rest), most)], ""), nil
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

// check is an error unless opened is the file in the same state.
func (f File) check(opened *os.File) error {
	info, err := opened.Stat()
	if err != nil {
		return err
	}
	now := fileOf(f.Path, info)
	if !info.Mode().IsRegular() || now.Size != f.Size || now.Inode != f.Inode ||
		!now.ModTime.Equal(f.ModTime) || !now.ChangeTime.Equal(f.ChangeTime) {
		return ErrChanged
	}
	return nil
}

func (v *Vault) glance(ctx context.Context, path string) (*content, error) {
	if err := v.admit(path); err != nil {
		return nil, err
	}
	return v.load(ctx, path, false)
}

// Markup may make a text this much longer, in bytes, and so may blank lines and code
// fences in lines.
const markupShare = 2

// maxExcerpt bounds in bytes what is read for one excerpt.
const maxExcerpt = 64 << 10

// sectionText returns the text of the section that begins at a line, at least most bytes of
// it below so many lines, unless it ends there or is beyond all bounds.
func sectionText(data []byte, line, above, most int) string {
	data = data[skipLines(data, line-1):]
	size := skipLines(data, markupShare*above) + markupShare*most
	src, _ := normalize(data[:min(len(data), size, maxExcerpt)])
	maskComments(src)
	o := newOutline(new(Note), src, 0)
	r := &lineReader{outline: o}
	for at := 0; at < len(src) && len(o.note.Sections) == 0 && (above > 0 || len(o.text) < most); {
		next := lineAt(src, at)
		r.take(next, at)
		at += len(next)
	}
	r.flush()
	o.finish()
	if len(o.note.Sections) == 0 {
		return ""
	}
	return o.note.Sections[0].Text
}

// skipLines returns the offset behind n lines, which end in LF, CRLF or CR.
func skipLines(data []byte, n int) int {
	at := 0
	for ; n > 0 && at < len(data); n-- {
		end := bytes.IndexAny(data[at:], "\r\n")
		if end < 0 {
			return len(data)
		}
		if at += end + 1; bytes.HasPrefix(data[at-1:], []byte("\r\n")) {
			at++
		}
	}
	return at
}
