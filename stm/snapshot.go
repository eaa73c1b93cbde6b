package stm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"emberd/internal/durable"
	"emberd/internal/words"
	"emberd/memory"
)

// A snapshot is the table and the word index as they were at one point of the
// log, so that a start reads only what came after. It can be deleted at any
// time. It is used only when every log file it covers is as it was, or, for
// the one that was being written, begins as it did.
const (
	snapshotMagic   = "emberstm"
	snapshotVersion = 5
	// snapshotEvery is after how many changes a running daemon should write one.
	snapshotEvery = 5_000
)

// snapshotState is what the next snapshot needs and status shows.
type snapshotState struct {
	mu    sync.Mutex   // held to write one
	used  string       // what Open made of the one it found
	fresh atomic.Bool  // the one on disk is ours
	saved atomic.Int64 // counters.changes at the last snapshot
	seen  *numbers
	lost  ranges
	taken map[string]bool
	began uint64 // last sequence number before this run
	// marks of files that were read or written to their end and held nothing
	// that a later start may take. Recovery's, then the writer's.
	marks map[string]fileMark
}

func (s *Store) snapshotPath() string { return snapshotIn(s.state) }

func snapshotIn(state string) string { return filepath.Join(state, "index", "stm.snap") }

// SnapshotDue reports whether enough has changed to be worth a snapshot.
func (s *Store) SnapshotDue() bool {
	return s.changes.Load()-s.snapshot.saved.Load() >= snapshotEvery
}

// WriteSnapshot saves the table and the word index under state/. Saves and
// searches go on meanwhile.
func (s *Store) WriteSnapshot(ctx context.Context) error {
	var c cursor
	if err := s.onWriter(ctx, func() { c = s.writer.cursor() }); err != nil || c.files == nil {
		return err
	}
	return s.saveSnapshot(c, func() error { return s.flushUses(ctx) })
}

// flushUses returns nil once every use that was counted is on the disk.
func (s *Store) flushUses(ctx context.Context) error {
	failed := errors.New("the log is closing")
	err := s.onWriter(ctx, func() {
		for failed = nil; failed == nil && s.uses.waiting(); {
			failed = s.writer.commit(nil)
		}
	})
	return errors.Join(err, failed)
}

// cursor is for the goroutine that owns the log.
func (w *writer) cursor() cursor {
	c := cursor{seq: w.seq, clock: w.clock.last, changes: w.s.changes.Load()}
	c.files = []fileMark{}
	for i, name := range w.s.currentFiles() {
		m, ok := w.s.snapshot.marks[name]
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

// saveSnapshot writes what the table holds now, which is at least what it held
// at c; applying the log after c once more changes nothing. Uses are counted
// before they are in the log; settle puts those that the snapshot shows there
// first, lest they vanish with it.
func (s *Store) saveSnapshot(c cursor, settle func() error) error {
	s.snapshot.mu.Lock()
	defer s.snapshot.mu.Unlock()
	if c.changes == s.snapshot.saved.Load() && s.snapshot.fresh.Load() && s.index.complete.Load() {
		return nil
	}
	e := &encoder{}
	e.b = append(e.b, snapshotMagic...)
	e.uint(snapshotVersion)
	e.text(s.index.analyzer.Identity())
	e.text(s.device.String())
	s.putCursor(e, &c)
	s.putJournal(e, &c)
	s.putKeys(e)
	s.putRows(e)
	s.putGraves(e, &c)
	s.putPurges(e)
	var w bytes.Buffer
	if _, err := s.index.words.Load().WriteTo(&w); err != nil {
		return fmt.Errorf("snapshot of the word index: %w", err)
	}
	for e.uint(uint64(w.Len())); len(e.b)%4 != 0; {
		e.b = append(e.b, 0) // postings are read in place and want alignment
	}
	e.b = append(e.b, w.Bytes()...)
	e.b = appendUint32(e.b, crc32.Checksum(e.b, castagnoli))
	err := settle()
	if err == nil {
		err = s.replaceSnapshot(e.b)
	}
	if err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	s.snapshot.saved.Store(c.changes)
	s.snapshot.fresh.Store(true)
	return nil
}

func (s *Store) replaceSnapshot(b []byte) error {
	if err := durable.MkdirAll(s.fs, filepath.Dir(s.snapshotPath())); err != nil {
		return err
	}
	return durable.ReplaceFile(s.fs, s.snapshotPath(), b)
}

func (s *Store) putCursor(e *encoder, c *cursor) {
	e.uint(c.clock)
	e.uint(c.seq)
	e.uint(uint64(s.dead.sum(everywhere)))
	e.uint(uint64(s.lastUse.Load()))
	files := slices.DeleteFunc(slices.Clone(c.files), func(m fileMark) bool { return m.name == "" })
	e.uint(uint64(len(files)))
	for _, f := range files {
		e.text(f.name)
		e.uint(uint64(f.size))
		e.uint(uint64(f.mtime))
		e.uint(f.inode)
		e.bool(f.growing)
		e.uint(uint64(f.sum))
	}
	seen := s.snapshot.seen.clone()
	if seen[s.device] == nil {
		seen[s.device] = &ranges{}
	}
	if c.seq > s.snapshot.began {
		// Numbers of this run that were given up count as seen: a gap is
		// reported once, by the start that met it.
		seen[s.device].add(s.snapshot.began+1, c.seq)
	}
	e.uint(uint64(len(seen)))
	for dev, r := range seen {
		e.text(dev.String())
		e.spans(r)
	}
	e.spans(&s.snapshot.lost)
	e.uint(uint64(len(s.snapshot.taken)))
	for key := range s.snapshot.taken {
		e.text(key)
	}
}

// putJournal leaves out lines after the cursor: they are met again, in a file
// that may have another number then.
func (s *Store) putJournal(e *encoder, c *cursor) {
	defer s.journal.read()()
	refs := make([]lineRef, 0, len(s.journal.refs))
	for _, r := range s.journal.refs {
		if c.covers(r.at) {
			refs = append(refs, r)
		}
	}
	e.uint(uint64(len(refs)))
	for _, r := range refs {
		e.stamp(r.stamp)
		e.stamp(r.tx)
		e.place(c.written(r.at))
		e.bool(r.undo)
		e.bool(r.cut)
	}
	e.uint(uint64(len(s.journal.undone)))
	for tx, by := range s.journal.undone {
		e.stamp(tx)
		e.stamp(by)
	}
}

func (s *Store) putKeys(e *encoder) {
	s.keys.mu.Lock()
	defer s.keys.mu.Unlock()
	e.uint(uint64(len(s.keys.known)))
	for key, use := range s.keys.known {
		e.text(key)
		e.text(use.Entry)
		e.text(use.Hash)
		e.uint(uint64(use.at.UnixMilli()))
		e.uint(uint64(len(use.IDs)))
		for _, id := range use.IDs {
			e.text(string(id))
		}
	}
}

func (s *Store) putRows(e *encoder) {
	cells := s.table.every()
	e.uint(uint64(len(cells)))
	for _, c := range cells {
		// The document number is read first: should the memory change in
		// between, the number is of a text that is removed from the index,
		// which loading notices.
		doc := c.doc.Load()
		e.row(c.row.Load(), doc)
	}
}

// putGraves leaves out lines after the cursor as putJournal does.
func (s *Store) putGraves(e *encoder, c *cursor) {
	s.table.mu.RLock()
	graves := maps.Clone(s.table.graves)
	s.table.mu.RUnlock()
	maps.DeleteFunc(graves, func(_ [16]byte, g grave) bool { return !c.covers(g.at) })
	e.uint(uint64(len(graves)))
	for key, g := range graves {
		e.b = append(e.b, key[:]...)
		e.stamp(g.stamp)
		e.stamp(g.tx)
		e.place(c.written(g.at))
		e.uint(uint64(len(g.aliases)))
		for _, name := range g.aliases {
			e.text(name)
		}
	}
}

// useSnapshot loads the snapshot if there is one that still fits, and leaves
// the store empty if not.
func (s *Store) useSnapshot(r *recovery) {
	b, err := readSnapshot(s.fs, s.snapshotPath())
	if err == nil {
		err = s.decodeSnapshot(b, r)
	}
	switch {
	case err == nil:
		s.snapshot.used = "used"
		s.snapshot.fresh.Store(true)
		return
	case errors.Is(err, fs.ErrNotExist):
		s.snapshot.used = "absent"
	case errors.Is(err, errStale):
		s.snapshot.used = fmt.Sprintf("stale: %v", err)
	default:
		s.snapshot.used = fmt.Sprintf("damaged: %v", err)
		s.log.Warn("snapshot not used; reading the whole log", "file", s.snapshotPath(), "error", err)
	}
	s.table, s.journal = newTable(), &journal{undone: map[Stamp]Stamp{}}
	s.keys, s.files = &idemKeys{known: map[string]keyUse{}}, nil
	s.dead.begin(0)
	s.lastUse.Store(0)
	s.index.reset()
	*r.clock = hlc{dev: s.device, now: s.now}
	*r = *newRecovery(s, r.clock)
}

func readSnapshot(fsys durable.FS, name string) ([]byte, error) {
	f, err := fsys.OpenRead(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > math.MaxInt32*4 {
		return nil, fmt.Errorf("it has %d bytes", info.Size())
	}
	b := make([]byte, info.Size())
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, err
	}
	return b, nil
}

// CheckSnapshot compares the snapshot in a state folder, if there is one, with its checksum.
// A start does the same and does without one that is damaged.
func CheckSnapshot(fsys durable.FS, state string) error {
	name := snapshotIn(state)
	b, err := readSnapshot(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		_, err = sealed(b)
	}
	if err != nil {
		return fmt.Errorf("the snapshot %s: %w", name, err)
	}
	return nil
}

// sealed is a snapshot without its checksum, if that is right.
func sealed(b []byte) ([]byte, error) {
	n := len(b) - 4
	if n < len(snapshotMagic) || string(b[:len(snapshotMagic)]) != snapshotMagic {
		return nil, errors.New("not a snapshot")
	}
	if d := (&decoder{b: b[n:]}); d.uint32() != crc32.Checksum(b[:n], castagnoli) {
		return nil, errChecksum
	}
	return b[:n:n], nil
}

// decodeSnapshot fills the store from b, which it keeps.
func (s *Store) decodeSnapshot(b []byte, r *recovery) (err error) {
	if b, err = sealed(b); err != nil {
		return err
	}
	d := &decoder{b: b, at: len(snapshotMagic)}
	if v := d.uint(); v != snapshotVersion {
		return fmt.Errorf("%w: version %d", errStale, v)
	}
	if d.text() != s.index.analyzer.Identity() {
		return fmt.Errorf("%w: words are analysed differently now", errStale)
	}
	if d.text() != s.device.String() {
		return fmt.Errorf("%w: it is another device's", errStale)
	}
	if err := s.getCursor(d, r); err != nil {
		return err
	}
	s.getJournal(d)
	s.getKeys(d)
	docs := s.getRows(d)
	s.getGraves(d)
	s.getPurges(d)
	return s.getWords(d, docs)
}

// getCursor checks that the covered files are still what they were.
func (s *Store) getCursor(d *decoder, r *recovery) error {
	r.clock.last, r.upto = d.uint(), d.uint()
	s.dead.begin(int64(d.uint()))
	s.lastUse.Store(int64(d.uint()))
	r.start = map[string]fileMark{}
	for range d.count(6) {
		m := fileMark{name: d.text(), size: int64(d.uint()), mtime: int64(d.uint()),
			inode: d.uint(), growing: d.bool(), sum: uint32(d.uint())}
		if err := m.check(s.fs); err != nil {
			if s.ours(m.name) {
				return err
			}
			// What was merged from it stays, and what it is now is read.
			m.size, m.sum = 0, 0
		}
		r.start[m.name] = m
		s.files = append(s.files, m.name)
	}
	for range d.count(9) {
		dev, _ := parseDevice(d.text())
		r.seen.by[dev] = d.spans()
	}
	r.lost = *d.spans()
	for range d.count(1) {
		r.taken[d.text()] = true
	}
	return d.err
}

func (s *Store) getJournal(d *decoder) {
	n := d.count(37)
	s.journal.refs = make([]lineRef, 0, n)
	for range n {
		s.journal.refs = append(s.journal.refs, lineRef{stamp: d.stamp(), tx: d.stamp(), at: s.getPlace(d), undo: d.bool(), cut: d.bool()})
	}
	for range d.count(32) {
		tx := d.stamp()
		s.journal.undone[tx] = d.stamp()
	}
}

// getPlace reads a place in one of the files that the cursor names.
func (s *Store) getPlace(d *decoder) place {
	at := d.place()
	if int64(at.file) >= int64(len(s.files)) {
		d.err = errors.New("it points to a file that it does not name")
	}
	return at
}

func (s *Store) getKeys(d *decoder) {
	for range d.count(5) {
		key := d.text()
		use := keyUse{Replayed: Replayed{Entry: d.text(), Hash: d.text()}, at: milli(int64(d.uint()))}
		for range d.count(1) {
			use.IDs = append(use.IDs, memory.ID(d.text()))
		}
		s.keys.known[key] = use
	}
}

// getRows fills the table and returns the cells by document number.
func (s *Store) getRows(d *decoder) []*cell {
	n := d.count(16)
	s.table.cells = make(map[[16]byte]*cell, n)
	rows, cells := make([]Row, n), make([]cell, n)
	var byDoc []*cell
	var live, cold int64
	var staged [len(stages)]int64
	for i := range n {
		doc := d.row(&rows[i])
		c := &cells[i]
		c.row.Store(&rows[i])
		s.table.cells[rows[i].key] = c
		if rows[i].live() {
			live++
			staged[rows[i].hot.stage]++
		}
		if rows[i].cold() {
			cold++
		}
		if f := rows[i].rest().forgot; f != nil && !f.at.IsZero() {
			s.table.notePrint(f.print, rows[i].key)
		}
		if doc != 0 && doc <= words.MaxDocs {
			c.doc.Store(doc)
			byDoc = append(byDoc, make([]*cell, max(0, int(doc)-len(byDoc)))...)
			byDoc[doc-1] = c
		}
	}
	s.table.live.Store(live)
	s.table.cold.Store(cold)
	for i, n := range staged {
		s.table.staged[i].Store(n)
	}
	return byDoc
}

func (s *Store) getGraves(d *decoder) {
	for range d.count(48) {
		var key [16]byte
		copy(key[:], d.take(16))
		g := grave{stamp: d.stamp(), tx: d.stamp(), at: s.getPlace(d)}
		for range d.count(1) {
			g.aliases = append(g.aliases, d.text())
		}
		s.table.graves[key] = g
	}
}

// getWords loads the word index and makes it agree with the table: a memory
// whose text is not in it will be indexed again, a text without a memory goes.
func (s *Store) getWords(d *decoder, byDoc []*cell) error {
	n := d.uint()
	for d.at%4 != 0 {
		d.take(1)
	}
	x, err := words.Read(d.take(int(min(n, math.MaxInt32*2))))
	if err = errors.Join(d.err, err); err != nil {
		return err
	}
	byDoc = append(byDoc, make([]*cell, max(0, x.Docs()-len(byDoc)))...)
	indexed := int64(0)
	for doc, c := range byDoc {
		live := x.Live(words.Doc(doc))
		switch {
		case c == nil && live:
			x.Remove(words.Doc(doc))
		case c != nil && (!live || !c.row.Load().live()):
			c.doc.Store(0)
			x.Remove(words.Doc(doc))
		case c != nil:
			indexed++
		}
	}
	s.index.words.Store(x)
	s.index.byDoc.Store(&byDoc)
	s.index.indexed.Store(indexed)
	return nil
}
