package stm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"time"

	"emberd/internal/durable"
)

// header is d of a segment's first line.
type header struct {
	Dev     string      `json:"dev"`
	Segment uint32      `json:"seg"`
	First   uint64      `json:"first"` // sequence number of the first record
	Format  int         `json:"format"`
	Created string      `json:"created"`
	Lost    [][2]uint64 `json:"lost,omitempty"` // sequence numbers given up after a failed write

	// What follows is of compacted files and of histories only.
	From       uint32     `json:"from,omitempty"` // first segment it stands for; seg is the last
	Last       uint64     `json:"last,omitempty"` // all sequence numbers from first to last are accounted for
	Generation int        `json:"gen,omitempty"`
	Replaces   []replaced `json:"replaces,omitempty"`
	History    int        `json:"history,omitempty"` // lines in the history of the same name
	Oldest     string     `json:"oldest,omitempty"`  // stamps of a history's lines
	Newest     string     `json:"newest,omitempty"`
}

// replaced is a file as it was when it was folded into another.
type replaced struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	CRC   string `json:"crc"` // CRC-32C of those bytes
}

// seal is d of the last line of a segment that was closed in order.
type seal struct {
	Count int    `json:"count"` // lines before this one
	Last  uint64 `json:"last"`  // sequence number of the last record
	Sum   string `json:"sum"`   // CRC-32C over the checksums of those lines, as text
	// CRC is the CRC-32C of all bytes before this line, in compacted files and
	// histories only. Of their lines those without a checksum are not in Sum.
	CRC string `json:"crc,omitempty"`
}

// segment is the file being appended to. One goroutine owns it.
type segment struct {
	f      durable.File
	name   string
	number uint32
	file   uint32 // index into Store.files
	size   int64  // bytes known to be good
	lines  int
	sums   uint32
	sum    uint32 // CRC-32C of the good bytes
	inode  uint64
	born   time.Time
}

// note takes account of good lines that end at the end of b.
func (s *segment) note(b []byte) {
	s.sum = crc32.Update(s.sum, castagnoli, b)
	for len(b) > 0 {
		n := bytes.IndexByte(b, '\n') + 1
		s.sums = crc32.Update(s.sums, castagnoli, b[n-len(`9f8e7d6c"}`)-1:n-len(`"}`)-1])
		s.lines++
		s.size += int64(n)
		b = b[n:]
	}
}

func metaLine(op string, stamp Stamp, d any) []byte {
	b := append([]byte(nil), `{"v":1`...)
	b = appendText(b, "op", op)
	b = appendText(b, "t", stamp.String())
	return sealLine(appendRaw(b, "d", encode(d)), 0)
}

// createSegment makes the next segment of this device: the file with its
// header is on disk, and its name in the directory, before it returns.
func (w *writer) createSegment() (err error) {
	number := w.lastSegment + 1
	if err := w.dev.reserve(w.fs, number); err != nil {
		return err
	}
	w.lastSegment = number
	name := filepath.Join(w.dir, segmentName(number))
	f, err := w.fs.CreateAppend(name)
	if err != nil {
		return fmt.Errorf("create segment: %w", err)
	}
	now := w.clock.now()
	head := metaLine(opSegment, w.clock.next(), header{Dev: w.clock.dev.String(), Segment: number,
		First: w.seq + 1, Format: formatVersion, Created: now.UTC().Format(time.RFC3339), Lost: w.lost})
	if _, err = f.Write(head); err == nil {
		err = w.sync(f)
	}
	if err == nil && w.durability != None {
		err = w.fs.SyncDir(w.dir)
	}
	if err != nil {
		f.Close()
		return fmt.Errorf("begin segment %s: %w", segmentName(number), err)
	}
	w.lost = nil
	w.active = &segment{f: f, name: segmentName(number), number: number, file: w.addFile(name), inode: inode(w.fs, name), born: now}
	w.active.note(head)
	w.bytes.Add(int64(len(head)))
	w.activeIn.Store(&w.active.name)
	return nil
}

func (w *writer) sync(f durable.File) error {
	if w.durability == None {
		return nil
	}
	return f.Sync()
}

// closeSegment seals the active segment. A seal that cannot be written is no
// loss: recovery takes a segment without one.
func (w *writer) closeSegment() error {
	s := w.active
	if s == nil {
		return nil
	}
	w.active = nil
	w.activeIn.Store(nil)
	end := metaLine(opSeal, w.clock.next(), seal{Count: s.lines, Last: w.seq, Sum: fmt.Sprintf("%08x", s.sums)})
	_, err := s.f.Write(end)
	if err == nil {
		err = w.sync(s.f)
	}
	if err == nil {
		w.bytes.Add(int64(len(end)))
	}
	if cerr := s.f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("seal segment %s: %w", s.name, err)
	}
	name := filepath.Join(w.dir, s.name)
	if info, err := w.fs.Lstat(name); err == nil && info.Size() == s.size+int64(len(end)) && inodeOf(info) == s.inode {
		w.snapshot.marks[name] = markOf(name, info)
	}
	return nil
}

func decodeHeader(d []byte) (header, error) {
	var h header
	err := json.Unmarshal(d, &h)
	return h, err
}
