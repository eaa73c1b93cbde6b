package vault

import (
	"bytes"
	"crypto/sha256"
	"path"
	"time"
	"unicode/utf8"

	"emberd/vault/lex"
	"emberd/vault/markdown"
	"emberd/vault/noteedit"
	"emberd/vault/notename"
)

// File is what the file system reports about a note. Two equal Files have, as far as it can tell,
// the same content: compare with ==.
type File struct {
	Path       string // from the vault's root, with slashes, as on the disk
	Size       int64  // in bytes
	ModTime    time.Time
	ChangeTime time.Time // of content or inode, which no program can set
	Inode      uint64
}

// Frontmatter is what became of the block of properties that a note may begin
// with.
type Frontmatter string

// A block that is not closed is none. An invalid one is said why in a [Problem]
// and gives no properties; it must never be rewritten.
const (
	NoFrontmatter      Frontmatter = "none"
	EmptyFrontmatter   Frontmatter = "empty"
	ValidFrontmatter   Frontmatter = "ok"
	InvalidFrontmatter Frontmatter = "invalid"
)

// Note is one note as it was read.
type Note struct {
	File
	Digest [sha256.Size]byte // SHA-256 of all bytes of the file

	Title   string // the property, else the name without folder and .md
	Aliases []string

	// Created and Updated are the properties of that name (or date, modified) where
	// they can be understood, else the time of the last change of the file. A time
	// without a zone is taken as local.
	Created, Updated time.Time

	MemoryID string   // the property memory-id
	Carried  *Carried // nil without it
	// List is the property emberd, which says that the note holds a list that emberd
	// writes of its memories; where properties cannot be read, the region of such a list.
	List        string
	Frontmatter Frontmatter

	// Outline is of frontmatter and text: what is in properties comes first.
	markdown.Outline

	// Text is the beginning of the file, as [Vault.Text] returns it; only [Vault.Read] sets it.
	Text string

	// Copy says that a sync tool made this note of one that was changed on two
	// devices, as its name tells.
	Copy bool
}

// note makes a Note of a file's content.
func (v *Vault) note(c *content) (*Note, error) {
	if !isText(c.data) {
		return nil, &Skipped{Path: c.file.Path, Reason: NotText}
	}
	n := parse(v.markdown.Read, c.file, c.data)
	n.Digest, n.Text = c.digest, c.text()
	return n, nil
}

// isText reports false for UTF-16, by its byte-order mark, and for data with more than a byte in
// ten that is not UTF-8.
func isText(data []byte) bool {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return false
	}
	return len(data) < 64 || invalidBytes(data)*10 <= len(data)
}

func invalidBytes(data []byte) int {
	bad := 0
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n == 1 {
			bad++
		}
		data = data[n:]
	}
	return bad
}

// parse reads a note from the first bytes of its file, its Markdown with read.
func parse(read func(*markdown.Builder), file File, data []byte) *Note {
	n := &Note{File: file, Created: file.ModTime, Updated: file.ModTime, Frontmatter: NoFrontmatter}
	base := path.Base(file.Path)
	n.Title = base[:max(0, len(base)-len(".md"))]
	if n.Copy = notename.IsConflictName(base); n.Copy {
		n.Report(1,
			"this note is a conflict copy that a sync tool made; compare it with the original and delete one of them")
	}
	head := 0
	if bytes.HasPrefix(data, []byte(lex.ByteOrderMark)) {
		head = len(lex.ByteOrderMark)
	}
	src, bad := lex.Normalize(cut(data[head:], file.Size-int64(head)))
	if file.Size > int64(head+len(src)) {
		n.Report(1, "the note has %d bytes, but searches cover only the first %d bytes; split the note", file.Size,
			head+len(src))
	}
	if bad > 0 {
		n.Report(1, "%d bytes are not valid UTF-8, so emberd reads them as ?; save the note as UTF-8", bad)
	}
	o := markdown.NewBuilder(&n.Outline, src, head)
	body := n.readFrontmatter(o, src)
	if n.Carried != nil {
		n.Carried.Body = noteedit.OwnText(data[head+body : head+len(src)])
	}
	if n.Frontmatter == InvalidFrontmatter {
		n.List = noteedit.FirstRegion(src[body:], Lists())
	}
	lex.Blank(src[:body])
	lex.MaskComments(src)
	read(o)
	o.Finish()
	return n
}

// cut ends a note that continues beyond data at its last whole line, or, if it is all one line, at
// a whole letter.
func cut(data []byte, size int64) []byte {
	if int64(len(data)) >= size {
		return data
	}
	if at := bytes.LastIndexByte(data, '\n'); at >= 0 {
		return data[:at+1]
	}
	for range utf8.UTFMax - 1 {
		if r, n := utf8.DecodeLastRune(data); r == utf8.RuneError && n == 1 {
			data = data[:len(data)-1]
		}
	}
	return data
}
