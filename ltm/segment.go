package ltm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"

	"github.com/RoaringBitmap/roaring/v2"
	index "github.com/blevesearch/bleve_index_api"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v17"

	"emberd/internal/durable"
)

// plugin is Bleve's own segment format, zap 17, with two differences: the documents of a
// segment lie in the order of their notes and parts, and a segment file is checked
// and read into memory instead of being mapped. The files are the same.
type plugin struct{ zap.ZapPlugin }

// Type implements scorch.SegmentPlugin.
func (plugin) Type() string { return "emberd" }

// Version implements scorch.SegmentPlugin.
func (plugin) Version() uint32 { return zap.Version }

// New implements scorch.SegmentPlugin.
func (p plugin) New(docs []index.Document) (segment.Segment, uint64, error) {
	return p.NewUsing(docs, nil)
}

// NewUsing implements scorch.SegmentPlugin.
func (p plugin) NewUsing(docs []index.Document, config map[string]any) (segment.Segment, uint64, error) {
	slices.SortFunc(docs, func(a, b index.Document) int { return compareIDs(a.ID(), b.ID()) })
	seg, size, err := p.ZapPlugin.NewUsing(docs, config)
	if err != nil {
		return nil, 0, err
	}
	base, ok := seg.(*zap.SegmentBase)
	if !ok {
		return nil, 0, fmt.Errorf("new segment is a %T", seg)
	}
	in, err := documentsOf(base)
	return &fresh{base, in}, size, err
}

// Open implements scorch.SegmentPlugin.
func (p plugin) Open(path string) (segment.Segment, error) { return p.OpenUsing(path, nil) }

// OpenUsing implements scorch.SegmentPlugin. What cannot be opened is noted in the
// health that config holds, since Bleve passes over it.
func (p plugin) OpenUsing(path string, config map[string]any) (segment.Segment, error) {
	h, _ := config[healthKey].(*health)
	if h == nil {
		return nil, errors.New("segment is not opened by this package")
	}
	s, err := openHeld(path, config, h)
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
	r segment.StatsReporter, config map[string]any) ([][]uint64, uint64, error) {
	bases := make([]segment.Segment, len(segments))
	for i, s := range segments {
		switch s := s.(type) {
		case *fresh:
			bases[i] = s.SegmentBase
		case *held:
			bases[i] = s.SegmentBase
		default:
			return nil, 0, fmt.Errorf("merge a segment of unknown kind %T", s)
		}
	}
	return p.ZapPlugin.MergeUsing(bases, drops, path, closing, r, config)
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

func compareIDs(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// documents are the documents of a segment, by number there.
type documents struct {
	refs    []ref
	further *roaring.Bitmap // those that are not the first part of their note
}

// documentsOf reads the ids of all documents of a segment.
func documentsOf(s *zap.SegmentBase) (documents, error) {
	d := documents{make([]ref, s.Count()), roaring.New()}
	for i := range d.refs {
		id, err := s.DocID(uint64(i))
		if err != nil {
			return d, err
		}
		if len(id) != refSize {
			return d, fmt.Errorf("document id of %d bytes", len(id))
		}
		d.refs[i] = ref{binary.BigEndian.Uint32(id), binary.BigEndian.Uint16(id[4:])}
		if d.refs[i].part > 0 {
			d.further.Add(uint32(i))
		}
	}
	return d, nil
}

// fresh is a segment that is not on the disk yet.
type fresh struct {
	*zap.SegmentBase
	in documents
}

func (f *fresh) documents() documents { return f.in }

// held is a segment file in memory.
type held struct {
	*zap.SegmentBase
	in     documents
	path   string
	memory []byte
	users  atomic.Int64
	health *health
}

// openHeld reads a segment file into memory and checks it.
func openHeld(path string, config map[string]any, h *health) (*held, error) {
	memory, err := readApart(path)
	if err != nil {
		return nil, err
	}
	s := &held{path: path, memory: memory, health: h}
	s.users.Store(1)
	h.held.Add(int64(len(memory)))
	if err := s.parse(config); err != nil {
		return nil, errors.Join(err, s.DecRef())
	}
	return s, nil
}

// A zap file ends with a footer, all numbers big-endian (zapx, v17/write.go):
// an id of a writer callback, none here, its length (4), documents (8), offset of the
// stored fields (8), offset of the sections (8), chunk mode (4), version (4), and the
// CRC-32 of everything before it (4).
const footerSize = 4 + 8 + 8 + 8 + 4 + 4 + 4

func (s *held) parse(config map[string]any) (err error) {
	if len(s.memory) < footerSize {
		return fmt.Errorf("is cut off at %d bytes", len(s.memory))
	}
	body, footer := s.memory[:len(s.memory)-footerSize], s.memory[len(s.memory)-footerSize:]
	if crc32.ChecksumIEEE(s.memory[:len(s.memory)-4]) != binary.BigEndian.Uint32(footer[40-4:]) {
		return errors.New("does not match its checksum")
	}
	if version := binary.BigEndian.Uint32(footer[32:]); version != zap.Version {
		return fmt.Errorf("has version %d", version)
	}
	if binary.BigEndian.Uint32(footer) != 0 {
		return errors.New("was written through a callback")
	}
	// The checksum holds, but it may have been made over nonsense.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("cannot be read: %v", r)
		}
	}()
	stats, _ := config[segment.StatsKey].(*segment.Stats)
	if stats == nil {
		stats = new(segment.Stats)
	}
	s.SegmentBase, err = zap.InitSegmentBase(body, binary.BigEndian.Uint32(footer[36:]),
		binary.BigEndian.Uint32(footer[28:]),
		binary.BigEndian.Uint64(footer[4:]), binary.BigEndian.Uint64(footer[12:]), binary.BigEndian.Uint64(footer[20:]),
		config, stats)
	if err == nil {
		s.in, err = documentsOf(s.SegmentBase)
	}
	return err
}

func (s *held) documents() documents { return s.in }

// Path implements segment.PersistedSegment.
func (s *held) Path() string { return s.path }

// AddRef implements segment.Segment.
func (s *held) AddRef() { s.users.Add(1) }

// DecRef implements segment.Segment. The last user gives the memory back.
func (s *held) DecRef() error {
	if s.users.Add(-1) > 0 {
		return nil
	}
	if s.SegmentBase != nil {
		_ = s.SegmentBase.Close() // drops caches
	}
	s.health.held.Add(-int64(len(s.memory)))
	memory := s.memory
	s.memory = nil
	return syscall.Munmap(memory)
}

// Close implements segment.Segment.
func (s *held) Close() error { return s.DecRef() }

// readApart reads a file into memory of its own, which the garbage collector does not
// count, so that the heap may not grow by as much again before the next collection.
func readApart(path string) ([]byte, error) {
	f, err := durable.OS{}.OpenRead(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() == 0 || info.Size() > maxIndexFile {
		return nil, fmt.Errorf("has %d bytes", info.Size())
	}
	memory, err := syscall.Mmap(-1, 0, int(info.Size()), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("get %d bytes of memory: %w", info.Size(), err)
	}
	if _, err := io.ReadFull(f, memory); err != nil {
		return nil, errors.Join(err, syscall.Munmap(memory))
	}
	return memory, nil
}
