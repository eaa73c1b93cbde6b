package wal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path/filepath"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm/device"
	"emberd/stm/extent"
	"emberd/stm/record"
	"emberd/stm/snapshot"
)

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
	s.sum = crc32.Update(s.sum, record.Castagnoli, b)
	for len(b) > 0 {
		n := bytes.IndexByte(b, '\n') + 1
		s.sums = crc32.Update(s.sums, record.Castagnoli, b[n-len(`9f8e7d6c"}`)-1:n-len(`"}`)-1])
		s.lines++
		s.size += int64(n)
		b = b[n:]
	}
}

// CreateSegment makes the next segment of this device the active one: the file
// with its header is on disk, and its name in the directory, before it returns.
// An attempt that fails leaves neither a file nor a used number, if the disk
// lets it, so that failing for months uses up no numbers.
func (w *Writer) CreateSegment() error {
	number := w.lastSegment + 1
	if w.active == nil {
		w.S.unsealed.Store(number)
	}
	// A number that is used again keeps its stamp: a power cut may bring back the
	// file of the first attempt, which is then no clone's.
	stamp, err := record.ParseStamp(w.Dev.Heads[number])
	if err != nil {
		stamp = w.clock.Next()
		if err := w.Dev.Reserve(w.S.FS, number, stamp); err != nil {
			return err
		}
	}
	w.S.reserved.Store(number)
	name := filepath.Join(w.Dir, record.SegmentName(number))
	f, err := w.S.FS.CreateAppend(name)
	if errors.Is(err, fs.ErrExist) { // a clone's, that a sync tool brought
		w.lastSegment = number
		w.S.cloned.Store(true)
		return w.CreateSegment()
	}
	if err != nil {
		return fmt.Errorf("create segment: %w", err)
	}
	now := w.clock.Now()
	head := record.MetaLine(record.OpSegment, stamp, record.Header{Dev: w.clock.Dev.String(), Segment: number,
		First: w.seq + 1, Format: record.FormatVersion, Created: now.UTC().Format(time.RFC3339), Lost: w.lost,
		Kept: w.kept})
	if err := w.begin(f, head); err != nil {
		if err := errors.Join(f.Close(), w.S.FS.Remove(name)); err != nil {
			w.lastSegment = number
		}
		return fmt.Errorf("cannot begin log segment %s: %w", record.SegmentName(number), err)
	}
	w.lastSegment, w.lost, w.kept = number, nil, nil
	w.active = &segment{f: f, name: record.SegmentName(number), path: name, number: number, file: w.S.AddFile(name),
		inode: device.Inode(w.S.FS, name), born: now}
	w.active.note(head)
	w.S.bytes.Add(int64(len(head)))
	w.S.activeIn.Store(&w.active.name)
	return nil
}

// begin puts a new segment's first line and its name on the disk.
func (w *Writer) begin(f durable.File, head []byte) error {
	if _, err := f.Write(head); err != nil {
		return err
	}
	if err := w.sync(f); err != nil || w.S.Durability == None {
		return err
	}
	return w.S.FS.SyncDir(w.Dir)
}

func (w *Writer) sync(f durable.File) error {
	if w.S.Durability == None {
		return nil
	}
	begun := time.Now()
	err := f.Sync()
	w.S.counts.syncs.Observe(time.Since(begun))
	if err != nil {
		w.S.counts.unsynced.Add(1)
	}
	return err
}

// errOtherFile is damage to a segment that another file took the name of.
var errOtherFile = errors.New("another file has the name of the log segment")

// activeDamage says what became of the active segment since it was written last, nil for nothing, as far
// as can be seen.
func (w *Writer) activeDamage() error {
	if w.active == nil {
		return nil
	}
	info, err := w.S.FS.Lstat(w.active.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("the segment is missing")
	case err != nil:
		return nil
	case device.InodeOf(info) != w.active.inode:
		return errOtherFile
	case info.Size() != w.active.size:
		return fmt.Errorf("the segment has %d bytes instead of %d", info.Size(), w.active.size)
	}
	return nil
}

// rotate makes sure there is an active segment, with what was in doubt in it. One
// that is due for its successor continues growing while there can be none.
func (w *Writer) rotate() error {
	if err := w.present(); err != nil {
		return err
	}
	s, now := w.active, w.clock.Now()
	if s == nil {
		if err := w.CreateSegment(); err != nil {
			return err
		}
	}
	if err := w.repeat(); err != nil || s == nil {
		return err
	}
	age := now.Sub(s.born)
	jumped := now.Round(0).Sub(s.born.Round(0)) - age // of the wall clock against the monotonic
	if !w.Ripe(s.size, age, jumped) || now.Sub(w.unrotated).Abs() < RetryAfter {
		return nil
	}
	if err := w.succeed(); err != nil {
		w.unrotated = now
		w.S.Logger.Warn("cannot start a new log segment; continuing with the old one", "error", err)
		return nil
	}
	return nil
}

// succeed makes the next segment the active one, and only then seals the one
// that was, if there was any.
func (w *Writer) succeed() error {
	s := w.active
	if err := w.CreateSegment(); err != nil {
		return err
	}
	if s != nil {
		w.seal(s)
		w.S.unsealed.Store(w.active.number)
	}
	LookAtFiles(w.S)
	return nil
}

// Ripe reports whether a segment should end: it is long or old enough, or the
// clock jumped, which would else hide how old it is.
func (w *Writer) Ripe(size int64, age, jumped time.Duration) bool {
	return size >= w.S.SegmentBytes || age >= w.S.SegmentAge || jumped.Abs() >= clockJump
}

// sealActive ends the log of this run.
func (w *Writer) sealActive() error {
	s := w.active
	if s == nil {
		return nil
	}
	damage := w.activeDamage()
	w.active = nil
	w.S.activeIn.Store(nil)
	if damage != nil { // a seal would stand behind half a line, or in no file
		return s.f.Close()
	}
	return w.close(s)
}

// seal ends a segment that has a successor. A seal that cannot be written is no
// loss: recovery takes a segment without one.
func (w *Writer) seal(s *segment) {
	if err := w.close(s); err != nil {
		w.S.Logger.Warn("log segment not sealed", "error", err)
	}
}

// close writes the seal and gives the file away.
func (w *Writer) close(s *segment) error {
	at, seal := w.clock.Next(), record.Seal{Count: s.lines, Last: w.seq, Sum: fmt.Sprintf("%08x", s.sums)}
	if w.S.sign != nil {
		seal.Audit = w.S.sign(&record.Entry{Tx: at.String(), Verb: record.OpSeal, Seq: w.seq, Stamp: at})
	}
	end := record.MetaLine(record.OpSeal, at, seal)
	_, err := s.f.Write(end)
	if err == nil {
		err = w.sync(s.f)
	}
	if err == nil {
		w.S.bytes.Add(int64(len(end)))
	}
	if cerr := s.f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("cannot seal log segment %s: %w", s.name, err)
	}
	w.note1(s.name, extent.Extent{Bytes: s.size + int64(len(end)), Sum: crc32.Update(s.sum, record.Castagnoli, end),
		Last: w.S.LastSeq.Load(), Change: w.changed, At: at})
	name := filepath.Join(w.Dir, s.name)
	if info, err := w.S.FS.Lstat(name); err == nil && info.Size() == s.size+int64(len(end)) &&
		device.InodeOf(info) == s.inode {
		w.S.Snapshot.marks[name] = snapshot.MarkOf(name, info)
	}
	return nil
}

// sealNow begins a new segment, so that all others can be rewritten.
func (s *Log) sealNow(ctx context.Context) error {
	err := error(memory.Errorf(memory.Unavailable, "the daemon is stopping"))
	if gaveUp := s.OnWriter(ctx, func() { err = s.Writer.nextSegment() }); gaveUp != nil {
		return gaveUp
	}
	return err
}

// nextSegment ends the active segment, if the log is still where it was.
func (w *Writer) nextSegment() error {
	if err := w.present(); err != nil {
		return err
	}
	return w.succeed()
}
