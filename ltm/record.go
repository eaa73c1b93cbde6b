package ltm

import (
	"encoding/binary"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// The record of the note a/Tea.md with the tag x and one section "# Tea", without its digest
// and times, which the dots stand for:
//
//	5b  08 "a/Tea.md"  …             91 bytes up to the title; the path
//	02 01 01 00  01 02               words of body, names, tags, other; one passage of two
//	01 01 "x"  00                    one tag; no properties
//	01 01 b401e629                   one name of one term, by its hash
//	03 "Tea"  00                     title; no memory ID
//	01  00 01 03 "Tea"  00 04        one heading path; the passage: section 0, line 4
//
// Every number is a uvarint unless its size is in the diagram, and every string and list begins
// with its length:
//
//	+--------+------+-----------+------+-------+-----------------------------------------+
//	| length | path | digest    | size | inode | mtime, ctime, created, modified         |
//	|        |      | 32 bytes  |      |       | nanoseconds, 8 bytes big-endian each    |
//	+--------+------+-----------+------+-------+-----------------------------------------+
//	| words of body, names, tags, other | passages: words of each                        |
//	+-----------------------------------+------------------------------------------------+
//	| tags | properties: key, value | names: hashes of the terms, 4 bytes big-endian each |
//	+------+------------------------+----------------------------------------------------+
//	|                 length counts the bytes up to here; below is read for hits only    |
//	+-------+-----------+----------------------------------------+-----------------------+
//	| title | memory ID | heading paths: headings shared with    | passages: section and |
//	|       |           | the path before, then the others       | line of each          |
//	+-------+-----------+----------------------------------------+-----------------------+

// record is what the index stores of a note: what filters and scores need, which Open reads
// into memory, and what a hit shows, which is read for hits only.
type record struct {
	note
	shown
}

// shown is the part of a record that only hits need.
type shown struct {
	title    string
	memoryID string
	headings [][]string
	places   []place // of the passages
}

// at returns where a passage begins: under which headings, in which line their section and
// itself, and how many lines of the section's text are above it.
func (s *shown) at(passage int) (path []string, section, line, above int) {
	at := s.places[passage]
	first := passage
	for first > 0 && s.places[first-1].section == at.section {
		first--
	}
	section, line = s.places[first].line, at.line
	if at.section < len(s.headings) {
		path = s.headings[at.section]
	}
	if above = line - section; above > 0 && len(path) > 0 {
		above-- // the first line of the text is below the heading
	}
	return path, section, line, above
}

// note is the part of a record that is kept in memory. It never changes.
type note struct {
	path              string
	folded            string // path for comparing
	cursor            Cursor
	created, modified int64 // nanoseconds since 1970

	passages                             []uint16 // length of each in words
	bodyLen, namesLen, tagsLen, otherLen int      // in words
	tags                                 []string
	properties                           []Property // folded
	names                                [][]uint32 // sorted hashes of the terms of each
}

// place is where a passage begins.
type place struct{ section, line int }

// parts is how many documents of the scorch index the note is.
func (n *note) parts() int { return (len(n.passages) + partPassages - 1) / partPassages }

// maxFiltered bounds in bytes what of a property's value a filter can see.
const maxFiltered = 256

// newRecord makes the record of a note, without what analysis adds.
func newRecord(d *Doc) record {
	fold := newFolder()
	r := record{
		note: note{
			path:     d.Path,
			folded:   fold.text(d.Path),
			cursor:   d.Cursor,
			created:  d.Created.UnixNano(),
			modified: d.Modified.UnixNano(),
		},
		shown: shown{title: d.Title, memoryID: d.MemoryID},
	}
	for _, t := range d.Tags {
		r.tags = append(r.tags, fold.text(t))
	}
	for _, p := range d.Properties {
		value := fold.text(p.Value)
		r.properties = append(r.properties,
			Property{Key: fold.text(p.Key), Value: value[:min(len(value), maxFiltered)]})
	}
	for _, s := range d.Sections {
		r.headings = append(r.headings, s.HeadingPath)
	}
	return r
}

// folder makes texts comparable without regard to case and normal form. It is not for
// concurrent use.
type folder struct{ caser cases.Caser }

func newFolder() folder { return folder{cases.Fold()} }

func (f folder) text(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 || r >= 'A' && r <= 'Z' }) < 0 {
		return s
	}
	return norm.NFC.String(f.caser.String(norm.NFC.String(s)))
}

// encode appends the record to b.
func (r *record) encode(b []byte) []byte {
	kept := r.note.encode(nil)
	b = append(binary.AppendUvarint(b, uint64(len(kept))), kept...)
	return r.shown.encode(b)
}

func (n *note) encode(b []byte) []byte {
	b = appendString(b, n.path)
	b = append(b, n.cursor.Digest[:]...)
	b = binary.AppendUvarint(b, uint64(n.cursor.Size))
	b = binary.AppendUvarint(b, n.cursor.Inode)
	for _, t := range []int64{n.cursor.ModTime.UnixNano(), n.cursor.ChangeTime.UnixNano(), n.created, n.modified} {
		b = binary.BigEndian.AppendUint64(b, uint64(t))
	}
	for _, size := range []int{n.bodyLen, n.namesLen, n.tagsLen, n.otherLen, len(n.passages)} {
		b = binary.AppendUvarint(b, uint64(size))
	}
	for _, words := range n.passages {
		b = binary.AppendUvarint(b, uint64(words))
	}
	b = appendStrings(b, n.tags)
	b = binary.AppendUvarint(b, uint64(len(n.properties)))
	for _, p := range n.properties {
		b = appendString(appendString(b, p.Key), p.Value)
	}
	b = binary.AppendUvarint(b, uint64(len(n.names)))
	for _, set := range n.names {
		b = binary.AppendUvarint(b, uint64(len(set)))
		for _, h := range set {
			b = binary.BigEndian.AppendUint32(b, h)
		}
	}
	return b
}

func (s *shown) encode(b []byte) []byte {
	b = appendString(appendString(b, s.title), s.memoryID)
	b = binary.AppendUvarint(b, uint64(len(s.headings)))
	var before []string
	for _, path := range s.headings {
		shared := 0
		for shared < min(len(path), len(before)) && path[shared] == before[shared] {
			shared++
		}
		b = binary.AppendUvarint(b, uint64(shared))
		b = appendStrings(b, path[shared:])
		before = path
	}
	for _, p := range s.places {
		b = binary.AppendUvarint(b, uint64(p.section))
		b = binary.AppendUvarint(b, uint64(p.line))
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendStrings(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = appendString(b, s)
	}
	return b
}

var errRecord = errors.New("the note index contains a damaged record")

// decodeNote reads the part of a record that is kept in memory. It keeps nothing of b.
func decodeNote(b []byte, fold folder) (*note, error) {
	r := reader{rest: b}
	kept := reader{rest: r.bytes(r.count(1)), err: r.err}
	n := kept.note(fold)
	return n, kept.err
}

// decodeShown reads the other part, of a note with so many passages. It keeps nothing of b.
func decodeShown(b []byte, passages int) (*shown, error) {
	r := reader{rest: b}
	r.bytes(r.count(1))
	s := shown{title: r.string(), memoryID: r.string()}
	var before []string
	for range r.count(2) {
		shared := min(r.number(), len(before))
		before = append(slices.Clip(before[:shared]), r.strings()...)
		s.headings = append(s.headings, before)
	}
	for range passages {
		p := place{r.number(), r.number()}
		if p.section >= max(len(s.headings), 1) {
			r.fail()
		}
		if r.err != nil {
			break
		}
		s.places = append(s.places, p)
	}
	return &s, r.err
}

// decodeRecord reads a whole record.
func decodeRecord(b []byte) (*record, error) {
	n, err := decodeNote(b, newFolder())
	if err != nil {
		return nil, err
	}
	s, err := decodeShown(b, len(n.passages))
	return &record{*n, *s}, err
}

// reader reads values from the front of a record. After the first failure it returns zeros.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) fail() { r.rest, r.err = nil, errRecord }

func (r *reader) note(fold folder) *note {
	n := &note{path: r.string()}
	copy(n.cursor.Digest[:], r.bytes(len(n.cursor.Digest)))
	n.cursor.Size, n.cursor.Inode = int64(r.uvarint()), r.uvarint()
	n.cursor.ModTime, n.cursor.ChangeTime = time.Unix(0, r.nanoseconds()), time.Unix(0, r.nanoseconds())
	n.created, n.modified = r.nanoseconds(), r.nanoseconds()
	n.bodyLen, n.namesLen, n.tagsLen, n.otherLen = r.number(), r.number(), r.number(), r.number()
	for range r.count(1) {
		n.passages = append(n.passages, uint16(r.number()))
	}
	n.tags = r.strings()
	for range r.count(2) {
		n.properties = append(n.properties, Property{r.string(), r.string()})
	}
	for range r.count(1) {
		set := make([]uint32, 0, r.count(4))
		for range cap(set) {
			if b := r.bytes(4); b != nil {
				set = append(set, binary.BigEndian.Uint32(b))
			}
		}
		n.names = append(n.names, set)
	}
	n.folded = fold.text(n.path)
	if len(n.passages) == 0 || len(n.passages) > maxPassages {
		r.fail()
	}
	return n
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// number reads a number that fits in 31 bits.
func (r *reader) number() int {
	v := r.uvarint()
	if v >= 1<<31 {
		r.fail()
		return 0
	}
	return int(v)
}

// count reads the length of a list whose items take at least size bytes each.
func (r *reader) count(size int) int {
	n := r.number()
	if n > len(r.rest)/size {
		r.fail()
		return 0
	}
	return n
}

func (r *reader) bytes(n int) []byte {
	if n > len(r.rest) {
		r.fail()
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) string() string { return string(r.bytes(r.count(1))) }

func (r *reader) strings() []string {
	var list []string
	for range r.count(1) {
		list = append(list, r.string())
	}
	return list
}

func (r *reader) nanoseconds() int64 {
	b := r.bytes(8)
	if b == nil {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}

// file returns the last element of the note's path, for comparing.
func (n *note) file() string { return path.Base(n.folded) }
