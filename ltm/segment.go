package ltm

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/RoaringBitmap/roaring/v2"
	index "github.com/blevesearch/bleve_index_api"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	"github.com/blevesearch/vellum"

	"emberd/internal/durable"
)

// plugin is the format of the segments of the scorch index: documents in the order of their notes
// and parts, postings in blocks. A segment file is checked and mapped.
type plugin struct{}

// Type implements scorch.SegmentPlugin.
func (plugin) Type() string { return "emberd" }

// segmentVersion changes with the files of segments.
const segmentVersion = 1

// Version implements scorch.SegmentPlugin.
func (plugin) Version() uint32 { return segmentVersion }

// New implements scorch.SegmentPlugin.
func (p plugin) New(docs []index.Document) (segment.Segment, uint64, error) {
	return p.NewUsing(docs, nil)
}

// NewUsing implements scorch.SegmentPlugin.
func (p plugin) NewUsing(docs []index.Document, _ map[string]any) (segment.Segment, uint64, error) {
	b, err := buildSegment(docs)
	if err != nil {
		return nil, 0, err
	}
	s, err := parseSegment(b)
	if err != nil {
		return nil, 0, fmt.Errorf("cannot read the new segment of the note index: %w", err)
	}
	return &fresh{s}, uint64(len(b)), nil
}

// Open implements scorch.SegmentPlugin.
func (p plugin) Open(path string) (segment.Segment, error) { return p.OpenUsing(path, nil) }

// OpenUsing implements scorch.SegmentPlugin. What cannot be opened is noted in the
// health that config holds, since Bleve passes over it.
func (p plugin) OpenUsing(path string, config map[string]any) (segment.Segment, error) {
	h, _ := config[healthKey].(*health)
	if h == nil {
		return nil, errors.New("the segment configuration is missing")
	}
	s, err := openMapped(path, h)
	if err != nil {
		err = fmt.Errorf("segment %s: %w", filepath.Base(path), err)
		h.unreadable(err)
		return nil, err
	}
	return s, nil
}

// Merge implements scorch.SegmentPlugin.
func (p plugin) Merge(segments []segment.Segment, drops []*roaring.Bitmap, path string, closing chan struct{},
	r segment.StatsReporter) ([][]uint64, uint64, error) {
	return p.MergeUsing(segments, drops, path, closing, r, nil)
}

// MergeUsing implements scorch.SegmentPlugin. Merged documents stay in order.
func (p plugin) MergeUsing(segments []segment.Segment, drops []*roaring.Bitmap, path string, closing chan struct{},
	_ segment.StatsReporter, config map[string]any) ([][]uint64, uint64, error) {
	m := merging{closing: closing}
	var err error
	damage := readInPlace(func() { err = m.merge(segments, drops, path) })
	if errors.Is(err, syscall.EFAULT) { // a page that the system read to write it elsewhere
		damage = errUnreadable
	}
	if h, _ := config[healthKey].(*health); damage != nil && h != nil {
		h.fail(damage)
		return nil, 0, segment.ErrClosed // an error that Bleve does not try again after
	}
	return m.numbers, uint64(m.size), errors.Join(err, damage)
}

func (m *merging) merge(segments []segment.Segment, drops []*roaring.Bitmap, path string) error {
	for i, s := range segments {
		of, ok := s.(interface{ base() *segmentBase })
		if !ok {
			return fmt.Errorf("cannot merge a segment of unknown kind %T", s)
		}
		m.add(of.base(), drops[i])
	}
	return writeSegment(path, m.write)
}

// ref is the part of the note that a document contains.
type ref struct {
	note uint32
	part uint16
}

// refSize is the length of a document's id: its ref, big-endian.
const refSize = 6

func (r ref) id() string {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, refSize), r.note)
	return string(binary.BigEndian.AppendUint16(b, r.part))
}

// refOf reads an id.
func refOf(id string) ref {
	return ref{binary.BigEndian.Uint32([]byte(id)), binary.BigEndian.Uint16([]byte(id[4:]))}
}

func (r ref) compare(o ref) int {
	return cmp.Or(cmp.Compare(r.note, o.note), cmp.Compare(r.part, o.part))
}

// row is what a segment knows of a document beside its words.
type row struct {
	ref
	size         // of the note
	words uint32 // where the lengths of its passages begin in segmentBase.words
}

// segmentBase is the content of a segment. It never changes.
type segmentBase struct {
	data    []byte // the whole file
	rows    []row  // by document
	words   []uint16
	records []byte // of all documents, one behind the other
	ends    []byte // where the record of each document ends, 4 bytes each
	terms   *vellum.FST
	further bitset // documents that are not the first of their note

	ordered func() []uint32 // documents by ref
	limits  *limitTable
}

// A segment file is postings, dictionary, rows of documents, ends of records, records and a footer
// of little-endian numbers: where each of the first four ends, how many documents there are, the
// version, and the CRC-32C of everything before it, 4 bytes each.
const footerSize = 7 * 4

// rowSize is the length of a row: note (4), part (2), body, names, tags and other of the note's size
// (4 each), and of how many passages the words (2 each) are in the section behind the rows (1).
const rowSize = 4 + 2 + 4*4 + 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// parseSegment reads what a file contains. Its checksum is right.
func parseSegment(b []byte) (s *segmentBase, err error) {
	// The checksum holds, but it may have been made over nonsense.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the file contains invalid data: %v", r)
		}
	}()
	footer := b[len(b)-footerSize:]
	number := func(i int) int { return int(binary.LittleEndian.Uint32(footer[4*i:])) }
	if version := number(5); version != segmentVersion {
		return nil, fmt.Errorf("the file has the unsupported version %d", version)
	}
	s = &segmentBase{data: b, limits: newLimitTable()}
	if s.terms, err = vellum.Load(b[number(0):number(1)]); err != nil {
		return nil, err
	}
	s.readRows(b[number(1):number(2)], number(4))
	s.ends, s.records = b[number(2):number(3)], b[number(3):len(b)-footerSize]
	if len(s.ends) != 4*len(s.rows) {
		return nil, errors.New("a document in the index segment has no record")
	}
	s.further = newBitset(len(s.rows) + 1)
	for doc := range s.rows {
		if s.rows[doc].part > 0 {
			s.further.add(uint32(doc))
		}
	}
	s.ordered = sync.OnceValue(s.order)
	return s, nil
}

func (s *segmentBase) readRows(b []byte, count int) {
	s.rows = make([]row, count)
	words := b[rowSize*count:]
	s.words = make([]uint16, len(words)/2)
	for i := range s.words {
		s.words[i] = binary.LittleEndian.Uint16(words[2*i:])
	}
	passages := uint32(0)
	for i := range s.rows {
		r, at := &s.rows[i], b[rowSize*i:]
		r.note, r.part = binary.LittleEndian.Uint32(at), binary.LittleEndian.Uint16(at[4:])
		r.body, r.names = binary.LittleEndian.Uint32(at[6:]), binary.LittleEndian.Uint32(at[10:])
		r.tags, r.other = binary.LittleEndian.Uint32(at[14:]), binary.LittleEndian.Uint32(at[18:])
		r.words = passages
		passages += uint32(at[22])
	}
}

// passages returns how many words each passage of a document has.
func (s *segmentBase) passages(doc uint32) []uint16 {
	if begin := s.rows[doc].words; int(doc)+1 < len(s.rows) {
		return s.words[begin:s.rows[doc+1].words]
	}
	return s.words[s.rows[doc].words:]
}

func appendRow(b []byte, r row, passages int) []byte {
	b = binary.LittleEndian.AppendUint32(b, r.note)
	b = binary.LittleEndian.AppendUint16(b, r.part)
	for _, words := range []uint32{r.body, r.names, r.tags, r.other} {
		b = binary.LittleEndian.AppendUint32(b, words)
	}
	return append(b, byte(passages))
}

func (s *segmentBase) base() *segmentBase { return s }

// stored returns what is stored with a document: the row of the text and the record of a note with
// its first one.
func (s *segmentBase) stored(doc uint32) []byte {
	begin := uint32(0)
	if doc > 0 {
		begin = binary.LittleEndian.Uint32(s.ends[4*(doc-1):])
	}
	return s.records[begin:binary.LittleEndian.Uint32(s.ends[4*doc:])]
}

// text returns the row of the text of a note that begins with a document; false if there is none.
// It is not to be kept.
func (s *segmentBase) text(first uint32) ([]byte, bool) {
	row, _ := cutText(s.stored(first))
	return row, len(row) > 0
}

// record returns the record stored with the first document of a note. It is not to be kept.
func (s *segmentBase) record(first uint32) []byte {
	_, record := cutText(s.stored(first))
	return record
}

// appendText appends the row of a text, which comes before the record.
func appendText(b, row []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(row))), row...)
}

func cutText(b []byte) (row, record []byte) {
	length, n := binary.Uvarint(b)
	end := n + int(length)
	return b[n:end], b[end:]
}

// find looks a term up.
func (s *segmentBase) find(term string) (postingList, bool) {
	at, ok, err := s.terms.Get([]byte(term))
	if err != nil || !ok {
		return postingList{}, false // the dictionary is in memory and was read before
	}
	l := readList(s.data[at:])
	if l.table != nil {
		l.limits = s.limits.of(at)
	}
	return l, true
}

// order returns the documents by ref. They are in that order already unless segments were merged.
func (s *segmentBase) order() []uint32 {
	docs := make([]uint32, len(s.rows))
	for i := range docs {
		docs[i] = uint32(i)
	}
	slices.SortFunc(docs, func(a, b uint32) int { return s.rows[a].compare(s.rows[b].ref) })
	return docs
}

// document returns the documents of a part: one, and more that have been deleted.
func (s *segmentBase) documents(r ref) []uint32 {
	docs := s.ordered()
	begin, _ := slices.BinarySearchFunc(docs, r, func(doc uint32, r ref) int { return s.rows[doc].compare(r) })
	end := begin
	for end < len(docs) && s.rows[docs[end]].ref == r {
		end++
	}
	return docs[begin:end]
}

// end returns the document behind the note of which one begins at first.
func (s *segmentBase) end(first uint32) uint32 {
	end := first + 1
	for s.further.has(end) {
		end++
	}
	return end
}

// first returns the first document of the note that one is of.
func (s *segmentBase) first(doc uint32) uint32 {
	if s.further.has(doc) {
		return doc - uint32(s.rows[doc].part)
	}
	return doc
}

// fresh is a segment that is not on the disk yet.
type fresh struct{ *segmentBase }

// Persist implements segment.UnpersistedSegment.
func (f *fresh) Persist(path string) error {
	return writeSegment(path, func(w *segmentWriter) error { return w.copy(f.data) })
}

// mapped is a segment file that is read in place.
type mapped struct {
	*segmentBase
	path   string
	file   []byte
	users  atomic.Int64
	health *health
}

// openMapped maps a segment file and checks it.
func openMapped(path string, h *health) (*mapped, error) {
	file, err := durable.Map(path, maxIndexFile)
	if err != nil {
		return nil, err
	}
	s := &mapped{path: path, file: file, health: h}
	s.users.Store(1)
	h.mapped.Add(int64(len(file)))
	unreadable := readInPlace(func() {
		if err = checkSegment(file); err == nil {
			s.segmentBase, err = parseSegment(file)
		}
	})
	if err = errors.Join(err, unreadable); err != nil {
		return nil, errors.Join(err, s.DecRef())
	}
	return s, nil
}

// checkSegment compares a file with its checksum.
func checkSegment(b []byte) error {
	if len(b) < footerSize {
		return fmt.Errorf("the file is truncated at %d bytes", len(b))
	}
	if crc32.Checksum(b[:len(b)-4], castagnoli) != binary.LittleEndian.Uint32(b[len(b)-4:]) {
		return errors.New("the file does not match its checksum")
	}
	return nil
}

// Path implements segment.PersistedSegment.
func (s *mapped) Path() string { return s.path }

// AddRef implements segment.Segment.
func (s *mapped) AddRef() { s.users.Add(1) }

// DecRef implements segment.Segment. The last user ends the mapping.
func (s *mapped) DecRef() error {
	if s.users.Add(-1) > 0 {
		return nil
	}
	s.health.mapped.Add(-int64(len(s.file)))
	file := s.file
	s.file = nil
	return durable.Unmap(file)
}

// Close implements segment.Segment.
func (s *mapped) Close() error { return s.DecRef() }
