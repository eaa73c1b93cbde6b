package stm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
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
	// If tombstones were dropped, the stamp of the latest and how far each device
	// had been read.
	Floor string            `json:"floor,omitempty"`
	Seen  map[string]uint64 `json:"seen,omitempty"`
	// Since is from when on every superseded line is in this file or a history.
	Since string `json:"since,omitempty"`
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
	name   string // within the folder
	path   string
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

// createSegment makes the next segment of this device the active one: the file
// with its header is on disk, and its name in the directory, before it returns.
// An attempt that fails leaves neither a file nor a used number, if the disk
// lets it, so that failing for months uses up no numbers.
func (w *writer) createSegment() error {
	number := w.lastSegment + 1
	if w.active == nil {
		w.s.unsealed.Store(number)
	}
	// A number that is used again keeps its stamp: a power cut may bring back the
	// file of the first attempt, which is then no clone's.
	stamp, err := ParseStamp(w.dev.Heads[number])
	if err != nil {
		stamp = w.clock.next()
		if err := w.dev.reserve(w.s.fs, number, stamp); err != nil {
			return err
		}
	}
	w.s.reserved.Store(number)
	name := filepath.Join(w.dir, segmentName(number))
	f, err := w.s.fs.CreateAppend(name)
	if errors.Is(err, fs.ErrExist) { // a clone's, that a sync tool brought
		w.lastSegment = number
		w.s.cloned.Store(true)
		return w.createSegment()
	}
	if err != nil {
		return fmt.Errorf("create segment: %w", err)
	}
	now := w.clock.now()
	head := metaLine(opSegment, stamp, header{Dev: w.clock.dev.String(), Segment: number,
		First: w.seq + 1, Format: formatVersion, Created: now.UTC().Format(time.RFC3339), Lost: w.lost})
	if err := w.begin(f, head); err != nil {
		if err := errors.Join(f.Close(), w.s.fs.Remove(name)); err != nil {
			w.lastSegment = number
		}
		return fmt.Errorf("begin segment %s: %w", segmentName(number), err)
	}
	w.lastSegment, w.lost = number, nil
	w.active = &segment{f: f, name: segmentName(number), path: name, number: number, file: w.s.addFile(name), inode: inode(w.s.fs, name), born: now}
	w.active.note(head)
	w.s.bytes.Add(int64(len(head)))
	w.s.activeIn.Store(&w.active.name)
	return nil
}

// begin puts a new segment's first line and its name on the disk.
func (w *writer) begin(f durable.File, head []byte) error {
	if _, err := f.Write(head); err != nil {
		return err
	}
	if err := w.sync(f); err != nil || w.s.durability == None {
		return err
	}
	return w.s.fs.SyncDir(w.dir)
}

func (w *writer) sync(f durable.File) error {
	if w.s.durability == None {
		return nil
	}
	begun := time.Now()
	err := f.Sync()
	w.s.counts.syncs.Observe(time.Since(begun))
	if err != nil {
		w.s.counts.unsynced.Add(1)
	}
	return err
}

// rotate makes sure there is an active segment, with what was in doubt in it. One
// that is due for its successor goes on growing while there can be none.
func (w *writer) rotate() error {
	if err := w.present(); err != nil {
		return err
	}
	s, now := w.active, w.clock.now()
	if s == nil {
		if err := w.createSegment(); err != nil {
			return err
		}
	}
	if err := w.repeat(); err != nil || s == nil {
		return err
	}
	age := now.Sub(s.born)
	jumped := now.Round(0).Sub(s.born.Round(0)) - age // of the wall clock against the monotonic
	if !w.ripe(s.size, age, jumped) || now.Sub(w.unrotated).Abs() < retryAfter {
		return nil
	}
	if err := w.succeed(); err != nil {
		w.unrotated = now
		w.s.log.Warn("no new log segment, the old one goes on", "error", err)
		return nil
	}
	return nil
}

// succeed makes the next segment the active one, and only then seals the one
// that was, if there was any.
func (w *writer) succeed() error {
	s := w.active
	if err := w.createSegment(); err != nil {
		return err
	}
	if s != nil {
		w.seal(s)
		w.s.unsealed.Store(w.active.number)
	}
	return nil
}

// ripe reports whether a segment should end: it is long or old enough, or the
// clock jumped, which would else hide how old it is.
func (w *writer) ripe(size int64, age, jumped time.Duration) bool {
	return size >= w.s.segmentBytes || age >= w.s.segmentAge || jumped.Abs() >= clockJump
}

// errGone says that the log is not where it was.
var errGone = errors.New("deleted or replaced")

// sealActive ends the log of this run.
func (w *writer) sealActive() error {
	s := w.active
	if s == nil {
		return nil
	}
	w.active = nil
	w.s.activeIn.Store(nil)
	return w.close(s)
}

// seal ends a segment that has a successor. A seal that cannot be written is no
// loss: recovery takes a segment without one.
func (w *writer) seal(s *segment) {
	if err := w.close(s); err != nil {
		w.s.log.Warn("log segment left without its seal", "error", err)
	}
}

// close writes the seal and gives the file away.
func (w *writer) close(s *segment) error {
	end := metaLine(opSeal, w.clock.next(), seal{Count: s.lines, Last: w.seq, Sum: fmt.Sprintf("%08x", s.sums)})
	_, err := s.f.Write(end)
	if err == nil {
		err = w.sync(s.f)
	}
	if err == nil {
		w.s.bytes.Add(int64(len(end)))
	}
	if cerr := s.f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("seal segment %s: %w", s.name, err)
	}
	name := filepath.Join(w.dir, s.name)
	if info, err := w.s.fs.Lstat(name); err == nil && info.Size() == s.size+int64(len(end)) && inodeOf(info) == s.inode {
		w.s.snapshot.marks[name] = markOf(name, info)
	}
	return nil
}

func decodeHeader(d []byte) (header, error) {
	var h header
	err := json.Unmarshal(d, &h)
	return h, err
}
