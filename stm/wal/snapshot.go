package wal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"emberd/internal/contain"
	"emberd/internal/durable"
	"emberd/internal/words"
	"emberd/memory"
	"emberd/stm/device"
	"emberd/stm/journal"
	"emberd/stm/record"
	"emberd/stm/table"
)

// A snapshot is the table and the word index as they were at one point of the
// log, so that a start reads only what came after. It can be deleted at any
// time. It is used only when every log file it covers is as it was, or, for
// the one that was being written, begins as it did.
//
//	+----------+---------+----------+--------+--------+---------+------+------+--------+--------+
//	| emberstm | version | analyzer | device | cursor | journal | keys | rows | graves | purges |
//	+----------+---------+----------+--------+--------+---------+------+------+--------+--------+
//	+--------+--------------------+------------+--------+
//	| length | zeros up to a      | word index | CRC-32C|
//	|        | multiple of 4 bytes|            |        |
//	+--------+--------------------+------------+--------+
//
// A number is an unsigned varint, a text its length and bytes, a list its length and
// items; a stamp is 8 bytes, little-endian, and the 8 letters of a device. The sum is of
// all bytes before it, little-endian. So the snapshot of an empty log begins with
//
//	65 6d 62 65 72 73 74 6d  05  …                magic, version, identity of the analyzer
//	08 6b 37 71 32 6d 7a 78 61                    device k7q2mzxa
const (
	SnapshotMagic   = "emberstm"
	SnapshotVersion = 5
	// snapshotEvery is after how many changes a running daemon should write one.
	snapshotEvery = 5_000
)

// snapshotState is what the next snapshot needs and status shows.
type snapshotState struct {
	mu    sync.Mutex   // held to write one
	used  string       // what Open made of the one it found
	fresh atomic.Bool  // the one on disk is ours
	saved atomic.Int64 // counters.changes at the last snapshot
	Seen  *device.Numbers
	lost  record.Ranges
	taken map[string]bool
	began uint64 // last sequence number before this run
	// marks of files that were read or written to their end and held nothing
	// that a later start may take. Recovery's, then the writer's.
	marks map[string]fileMark
}

// SnapshotDue reports whether enough has changed to be worth a snapshot.
func (s *Log) SnapshotDue() bool {
	return s.changes.Load()-s.Snapshot.saved.Load() >= snapshotEvery
}

// WriteSnapshot saves the table and the word index under state/. Saves and
// searches continue in the meantime.
func (s *Log) WriteSnapshot(ctx context.Context) error {
	var c Cursor
	if err := s.OnWriter(ctx, func() { c = s.Writer.Cursor() }); err != nil || c.files == nil {
		return err
	}
	return s.SaveSnapshot(c, func() error { return s.FlushUses(ctx) })
}

// FlushUses returns nil once every use that was counted is on the disk.
func (s *Log) FlushUses(ctx context.Context) error {
	failed := errors.New("the log is closing")
	err := s.OnWriter(ctx, func() {
		for failed = nil; failed == nil && s.Uses.Waiting(); {
			failed = s.Writer.Commit(nil)
		}
	})
	return errors.Join(err, failed)
}

// Cursor is for the goroutine that owns the log.
func (w *Writer) Cursor() Cursor {
	c := Cursor{seq: w.seq, clock: w.clock.Last, changes: w.S.changes.Load()}
	c.files = []fileMark{}
	for i, name := range w.S.CurrentFiles() {
		m, ok := w.S.Snapshot.marks[name]
		switch {
		case w.active != nil && w.active.file == uint32(i):
			m = fileMark{name: name, size: w.active.size, growing: true, sum: w.active.sum}
		case !ok:
			m = fileMark{name: name}
		}
		c.files = append(c.files, m)
	}
	return c
}

// SaveSnapshot writes what the table holds now, which is at least what it held
// at c; applying the log after c once more changes nothing. Uses are counted
// before they are in the log; settle puts those that the snapshot shows there
// first, lest they vanish with it.
func (s *Log) SaveSnapshot(c Cursor, settle func() error) error {
	s.Snapshot.mu.Lock()
	defer s.Snapshot.mu.Unlock()
	if c.changes == s.Snapshot.saved.Load() && s.Snapshot.fresh.Load() && s.Words.Complete.Load() {
		return nil
	}
	e, w := &record.Encoder{}, snapshotWriter{s}
	e.B = append(e.B, SnapshotMagic...)
	e.Uint(SnapshotVersion)
	e.Text(s.Words.Analyzer.Identity())
	e.Text(s.Device.String())
	w.putCursor(e, &c)
	w.putJournal(e, &c)
	w.putKeys(e)
	w.putRows(e)
	w.putGraves(e, &c)
	w.putPurges(e)
	var indexed bytes.Buffer
	if _, err := s.Words.Words.Load().WriteTo(&indexed); err != nil {
		return fmt.Errorf("snapshot of the word index: %w", err)
	}
	for e.Uint(uint64(indexed.Len())); len(e.B)%4 != 0; {
		e.B = append(e.B, 0) // postings are read in place and want alignment
	}
	e.B = append(e.B, indexed.Bytes()...)
	e.B = record.AppendUint32(e.B, crc32.Checksum(e.B, record.Castagnoli))
	err := settle()
	if err == nil {
		err = s.replaceSnapshot(e.B)
	}
	if err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	s.Snapshot.saved.Store(c.changes)
	s.Snapshot.fresh.Store(true)
	return nil
}

func (s *Log) replaceSnapshot(b []byte) error {
	if err := durable.MkdirAll(s.FS, filepath.Dir(s.SnapshotPath())); err != nil {
		return err
	}
	return durable.ReplaceFile(s.FS, s.SnapshotPath(), b)
}

func (s snapshotWriter) putCursor(e *record.Encoder, c *Cursor) {
	e.Uint(c.clock)
	e.Uint(c.seq)
	e.Uint(uint64(s.dead.sum(everywhere)))
	e.Uint(uint64(s.lastUse.Load()))
	files := slices.DeleteFunc(slices.Clone(c.files), func(m fileMark) bool { return m.name == "" })
	e.Uint(uint64(len(files)))
	for _, f := range files {
		e.Text(f.name)
		e.Uint(uint64(f.size))
		e.Uint(uint64(f.mtime))
		e.Uint(f.inode)
		e.Bool(f.growing)
		e.Uint(uint64(f.sum))
	}
	seen := s.Snapshot.Seen.Clone()
	if seen[s.Device] == nil {
		seen[s.Device] = &record.Ranges{}
	}
	if c.seq > s.Snapshot.began {
		// Numbers of this run that were given up count as seen: a gap is
		// reported once, by the start that met it.
		seen[s.Device].Add(s.Snapshot.began+1, c.seq)
	}
	e.Uint(uint64(len(seen)))
	for dev, r := range seen {
		e.Text(dev.String())
		e.Spans(r)
	}
	e.Spans(&s.Snapshot.lost)
	e.Uint(uint64(len(s.Snapshot.taken)))
	for key := range s.Snapshot.taken {
		e.Text(key)
	}
}

// putJournal leaves out lines after the cursor: they are met again, in a file
// that may have another number then.
func (s snapshotWriter) putJournal(e *record.Encoder, c *Cursor) {
	defer s.Journal.Read()()
	refs := make([]record.LineRef, 0, len(s.Journal.Refs))
	for _, r := range s.Journal.Refs {
		if c.covers(r.At) {
			refs = append(refs, r)
		}
	}
	e.Uint(uint64(len(refs)))
	for _, r := range refs {
		e.Stamp(r.Stamp)
		e.Stamp(r.Tx)
		e.Place(c.written(r.At))
		e.Bool(r.Undo)
		e.Bool(r.Cut)
	}
	e.Uint(uint64(len(s.Journal.Undone)))
	for tx, by := range s.Journal.Undone {
		e.Stamp(tx)
		e.Stamp(by)
	}
}

func (s snapshotWriter) putKeys(e *record.Encoder) {
	s.Keys.Mu.Lock()
	defer s.Keys.Mu.Unlock()
	e.Uint(uint64(len(s.Keys.Known)))
	for key, use := range s.Keys.Known {
		e.Text(key)
		e.Text(use.Entry)
		e.Text(use.Hash)
		e.Uint(uint64(use.At.UnixMilli()))
		e.Uint(uint64(len(use.IDs)))
		for _, id := range use.IDs {
			e.Text(string(id))
		}
	}
}

func (s snapshotWriter) putRows(e *record.Encoder) {
	cells := s.Table.Every()
	e.Uint(uint64(len(cells)))
	for _, c := range cells {
		// The document number is read first: should the memory change in
		// between, the number is of a text that is removed from the index,
		// which loading notices.
		doc := c.Doc.Load()
		c.Row.Load().Encode(e, doc)
	}
}

// putGraves leaves out lines after the cursor as putJournal does.
func (s snapshotWriter) putGraves(e *record.Encoder, c *Cursor) {
	s.Table.Mu.RLock()
	graves := maps.Clone(s.Table.Graves)
	s.Table.Mu.RUnlock()
	maps.DeleteFunc(graves, func(_ [16]byte, g table.TombstoneRef) bool { return !c.covers(g.At) })
	e.Uint(uint64(len(graves)))
	for key, g := range graves {
		e.B = append(e.B, key[:]...)
		e.Stamp(g.Stamp)
		e.Stamp(g.Tx)
		e.Place(c.written(g.At))
		e.Uint(uint64(len(g.Aliases)))
		for _, name := range g.Aliases {
			e.Text(name)
		}
	}
}

// useSnapshot loads the snapshot if there is one that still fits, and leaves
// the store empty if not.
func (s *Log) useSnapshot(r *recovery) {
	b, err := readSnapshot(s.FS, s.SnapshotPath())
	if err == nil {
		err = contain.Do(s.Logger, contain.Line, "snapshot", func() error { return s.DecodeSnapshot(b, r) })
	}
	switch {
	case err == nil:
		s.Snapshot.used = "used"
		s.Snapshot.fresh.Store(true)
		return
	case errors.Is(err, fs.ErrNotExist):
		s.Snapshot.used = "absent"
	case errors.Is(err, table.ErrStale):
		s.Snapshot.used = fmt.Sprintf("stale: %v", err)
	default:
		s.Snapshot.used = fmt.Sprintf("damaged: %v", err)
		s.Logger.Warn("snapshot not used; reading the whole log", "file", s.SnapshotPath(), "error", err)
	}
	s.Table, s.Keys, s.Files = table.NewTable(), journal.NewIdemKeys(), nil
	s.Journal.Reset()
	s.dead.begin(0)
	s.lastUse.Store(0)
	s.Words.Reset()
	*r.clock = record.Clock{Dev: s.Device, Now: s.Now}
	*r = *NewRecovery(s, r.clock)
}

// DecodeSnapshot fills the store from b, which it keeps.
func (s *Log) DecodeSnapshot(b []byte, r *recovery) (err error) {
	if b, err = sealed(b); err != nil {
		return err
	}
	in := snapshotReader{s}
	d := &record.Decoder{B: b, At: len(SnapshotMagic)}
	if v := d.Uint(); v != SnapshotVersion {
		return fmt.Errorf("%w: version %d", table.ErrStale, v)
	}
	if d.Text() != s.Words.Analyzer.Identity() {
		return fmt.Errorf("%w: words are analysed differently now", table.ErrStale)
	}
	if d.Text() != s.Device.String() {
		return fmt.Errorf("%w: it is another device's", table.ErrStale)
	}
	if err := in.getCursor(d, r); err != nil {
		return err
	}
	in.getJournal(d)
	in.getKeys(d)
	docs := in.getRows(d)
	in.getGraves(d)
	in.getPurges(d)
	return in.getWords(d, docs)
}

// getCursor checks that the covered files are still what they were.
func (s snapshotReader) getCursor(d *record.Decoder, r *recovery) error {
	r.clock.Last, r.upto = d.Uint(), d.Uint()
	s.dead.begin(int64(d.Uint()))
	s.lastUse.Store(int64(d.Uint()))
	r.start = map[string]fileMark{}
	for range d.Count(6) {
		m := fileMark{name: d.Text(), size: int64(d.Uint()), mtime: int64(d.Uint()),
			inode: d.Uint(), growing: d.Bool(), sum: uint32(d.Uint())}
		if err := m.check(s.FS); err != nil {
			if s.Ours(m.name) {
				return err
			}
			// What was merged from it stays, and what it is now is read.
			m.size, m.sum = 0, 0
		}
		r.start[m.name] = m
		s.Files = append(s.Files, m.name)
	}
	for range d.Count(9) {
		dev, _ := record.ParseDevice(d.Text())
		r.seen.By[dev] = d.Spans()
	}
	r.lost = *d.Spans()
	for range d.Count(1) {
		r.taken[d.Text()] = true
	}
	return d.Err
}

func (s snapshotReader) getJournal(d *record.Decoder) {
	n := d.Count(37)
	s.Journal.Refs = make([]record.LineRef, 0, n)
	for range n {
		s.Journal.Refs = append(s.Journal.Refs, record.LineRef{Stamp: d.Stamp(), Tx: d.Stamp(), At: s.getPlace(d),
			Undo: d.Bool(), Cut: d.Bool()})
	}
	for range d.Count(32) {
		tx := d.Stamp()
		s.Journal.Undone[tx] = d.Stamp()
	}
}

// getPlace reads a place in one of the files that the cursor names.
func (s snapshotReader) getPlace(d *record.Decoder) record.Place {
	at := d.Place()
	if int64(at.File) >= int64(len(s.Files)) {
		d.Err = errors.New("it points to a file that it does not name")
	}
	return at
}

func (s snapshotReader) getKeys(d *record.Decoder) {
	for range d.Count(5) {
		key := d.Text()
		use := journal.KeyUse{Replayed: journal.Replayed{Entry: d.Text(), Hash: d.Text()},
			At: record.Millis(int64(d.Uint()))}
		for range d.Count(1) {
			use.IDs = append(use.IDs, memory.ID(d.Text()))
		}
		s.Keys.Known[key] = use
	}
}

// getRows fills the table and returns the cells by document number.
func (s snapshotReader) getRows(d *record.Decoder) []*table.Cell {
	n := d.Count(16)
	s.Table.Cells = make(map[[16]byte]*table.Cell, n)
	rows, cells := make([]table.Row, n), make([]table.Cell, n)
	var byDoc []*table.Cell
	var live, cold int64
	var staged [len(record.Stages)]int64
	for i := range n {
		doc := table.DecodeRow(d, &rows[i])
		c := &cells[i]
		c.Row.Store(&rows[i])
		s.Table.Cells[rows[i].Key] = c
		if rows[i].Live() {
			live++
			staged[rows[i].Hot.Stage]++
		}
		if rows[i].Cold() {
			cold++
		}
		if f := rows[i].Rest().Forgot; f != nil && !f.At.IsZero() {
			s.Table.NotePrint(f.Print, rows[i].Key)
		}
		if doc != 0 && doc <= words.MaxDocs {
			c.Doc.Store(doc)
			byDoc = append(byDoc, make([]*table.Cell, max(0, int(doc)-len(byDoc)))...)
			byDoc[doc-1] = c
		}
	}
	s.Table.Live.Store(live)
	s.Table.Cold.Store(cold)
	for i, n := range staged {
		s.Table.Staged[i].Store(n)
	}
	return byDoc
}

func (s snapshotReader) getGraves(d *record.Decoder) {
	for range d.Count(48) {
		var key [16]byte
		copy(key[:], d.Take(16))
		g := table.TombstoneRef{Stamp: d.Stamp(), Tx: d.Stamp(), At: s.getPlace(d)}
		for range d.Count(1) {
			g.Aliases = append(g.Aliases, d.Text())
		}
		s.Table.Graves[key] = g
	}
}

// getWords loads the word index and makes it agree with the table: a memory
// whose text is not in it will be indexed again, a text without a memory goes.
func (s snapshotReader) getWords(d *record.Decoder, byDoc []*table.Cell) error {
	n := d.Uint()
	for d.At%4 != 0 {
		d.Take(1)
	}
	x, err := words.Read(d.Take(int(min(n, math.MaxInt32*2))))
	if err = errors.Join(d.Err, err); err != nil {
		return err
	}
	byDoc = append(byDoc, make([]*table.Cell, max(0, x.Docs()-len(byDoc)))...)
	indexed := int64(0)
	for doc, c := range byDoc {
		live := x.Live(words.Doc(doc))
		switch {
		case c == nil && live:
			x.Remove(words.Doc(doc))
		case c != nil && (!live || !c.Row.Load().Live()):
			c.Doc.Store(0)
			x.Remove(words.Doc(doc))
		case c != nil:
			indexed++
		}
	}
	s.Words.Words.Store(x)
	s.Words.ByDoc.Store(&byDoc)
	s.Words.Indexed.Store(indexed)
	return nil
}

func (s snapshotWriter) putPurges(e *record.Encoder) {
	s.Table.Mu.RLock()
	purges := maps.Clone(s.Table.Purges)
	s.Table.Mu.RUnlock()
	e.Uint(uint64(len(purges)))
	for key, p := range purges {
		e.B = append(e.B, key[:]...)
		e.Stamp(p.Stamp)
		e.Bool(p.Due)
	}
}

func (s snapshotReader) getPurges(d *record.Decoder) {
	for range d.Count(33) {
		var key [16]byte
		copy(key[:], d.Take(16))
		s.Table.Purges[key] = table.Purge{Stamp: d.Stamp(), Due: d.Bool()}
	}
}

// snapshotWriter encodes the parts of a snapshot, each under the locks of its own.
type snapshotWriter struct{ *Log }

// snapshotReader decodes the parts of a snapshot into a log that nothing else uses yet.
type snapshotReader struct{ *Log }
