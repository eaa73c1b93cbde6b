package vault

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode/utf8"
)

// File is what the file system knows about a note. Two equal Files are, as far as
// it can tell, the same content: compare with ==.
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

// Note is one note as read.
type Note struct {
	File
	Digest [sha256.Size]byte // SHA-256 of all bytes of the file

	Title   string // the property, else the name without folder and .md
	Aliases []string
	Tags    []Tag // of frontmatter and text, each once, in order

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
	Properties  []Property // all others, and inline fields, in order

	Sections []Section
	Links    []Link  // every mention, those in properties first
	Blocks   []Block // ids that links can point at
	Problems []Problem

	// Copy says that a sync tool made this note of one that was changed on two
	// devices, as its name tells.
	Copy bool

	// LineByLine says that the Markdown parser was not let near this note; which
	// limit it is above is among the Problems.
	LineByLine bool
}

// Tag is a tag without its "#".
type Tag struct {
	Name string // as written first
	Key  string // for comparing: NFC, case-folded; parts of a nested tag are separated by "/"
}

// Property is a property or an inline field. A list is joined by ", ", a nested
// value is its YAML text.
type Property struct {
	Key, Value string
	Line       int
}

// Section is a heading with the text down to the next heading of any level. Text
// before the first heading is a section of level 0. Headings in quotes and lists
// begin none, as in Obsidian's outline.
type Section struct {
	Heading    string
	Path       []string // the headings above, outermost first, and Heading itself
	Level      int      // 1 to 6, or 0
	Line       int      // of the heading or, at level 0, of the first text; from 1
	Start, End int      // bytes of the file, with the heading
	Text       string   // without the heading and without markup
}

// Link is a wikilink, an embed, or a Markdown link that is not a URL.
type Link struct {
	Target  string // as written, without anchor; "" is the note itself
	Heading string // after "#"; headings of a path are separated by "#"
	Block   string // after "^"
	Text    string // shown instead of the target, "" if nothing is
	Embed   bool
	Line    int
}

// Block is the id of a paragraph, list item or other block: ^id at its end.
type Block struct {
	ID   string
	Line int
}

// Problem is something in a note that the reader should know: one sentence
// without the note's text.
type Problem struct {
	Line int
	Text string
}

func (n *Note) problem(line int, format string, args ...any) {
	n.Problems = append(n.Problems, Problem{Line: line, Text: fmt.Sprintf(format, args...)})
}

// note makes a Note of a file's content.
func (v *Vault) note(c *content) (*Note, error) {
	if !isText(c.data) {
		return nil, &Skipped{Path: c.file.Path, Reason: NotText}
	}
	n := parse(v.markdown.read, c.file, c.data)
	n.Digest = c.digest
	return n, nil
}

// isText refuses UTF-16, which its byte-order mark betrays, and what has more
// than a byte in ten that is not UTF-8.
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

// byteOrderMark is U+FEFF in UTF-8.
const byteOrderMark = "\xef\xbb\xbf"

// parse reads a note from the first bytes of its file, its Markdown with read.
func parse(read func(*outline), file File, data []byte) *Note {
	n := &Note{File: file, Created: file.ModTime, Updated: file.ModTime, Frontmatter: NoFrontmatter}
	base := path.Base(file.Path)
	n.Title = base[:max(0, len(base)-len(".md"))]
	if n.Copy = conflicted(base); n.Copy {
		n.problem(1, "this is a copy that a sync tool made of a note changed on two devices; compare the two and delete one")
	}
	head := 0
	if bytes.HasPrefix(data, []byte(byteOrderMark)) {
		head = len(byteOrderMark)
	}
	src, bad := normalize(cut(data[head:], file.Size-int64(head)))
	if file.Size > int64(head+len(src)) {
		n.problem(1, "the note has %d bytes and only the first %d are searchable; split it", file.Size, head+len(src))
	}
	if bad > 0 {
		n.problem(1, "%d bytes are not UTF-8 and read as ?; save the note as UTF-8", bad)
	}
	o := newOutline(n, src, head)
	body := n.readFrontmatter(o)
	if n.Carried != nil {
		n.Carried.Body = trimBody(string(withoutRegions(plain(data[head+body : head+len(src)]))))
	}
	if n.Frontmatter == InvalidFrontmatter {
		n.List = listIn(src[body:])
	}
	blank(src[:body])
	maskComments(src)
	read(o)
	o.finish()
	return n
}

// cut ends a note that goes on beyond data at its last whole line, or, if it is
// all one line, at a whole letter.
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

// normalize returns a copy of the same length, so that offsets stay true, in
// which lines end in LF and only spaces, tabs and letters are left. bad counts
// the bytes that are not UTF-8.
func normalize(data []byte) (src []byte, bad int) {
	src = bytes.Clone(data)
	for i := 0; i < len(src); {
		if src[i] < utf8.RuneSelf {
			src[i] = plainByte(src, i)
			i++
			continue
		}
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			src[i] = '?'
			bad++
		}
		i += n
	}
	return src, bad
}

func plainByte(src []byte, i int) byte {
	switch c := src[i]; {
	case c == '\n' || c == '\t':
		return c
	case c == '\r' && (i+1 == len(src) || src[i+1] != '\n'):
		return '\n'
	case c < ' ' || c == 0x7f:
		return ' '
	default:
		return c
	}
}

// blank overwrites a span with spaces and keeps its lines.
func blank(b []byte) {
	for i, c := range b {
		if c != '\n' {
			b[i] = ' '
		}
	}
}

// trimExtension takes .md off the end of a name.
func trimExtension(name string) string {
	if at := len(name) - len(".md"); at > 0 && strings.EqualFold(name[at:], ".md") {
		return name[:at]
	}
	return name
}
