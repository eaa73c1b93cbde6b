package stm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"emberd/memory"
)

// Bounds of what is handed to the writer at once: saves wait for it meanwhile.
const (
	maxArrivalLines = 128
	maxArrivalBytes = 1 << 20
	// maxEntries bounds the entries that an Arrival lists.
	maxEntries = 256
)

// Arrival is what Refresh brought.
type Arrival struct {
	Lines    int       // that were not known
	Memories int       // that were written to, as often as they were
	Entries  []Entry   // what the journal gained, oldest file first; the first 256
	Due      time.Time // when a line that is held back may be taken; zero if none is
}

// Refresh reads what other devices' files have gained since they were read
// last: new files, grown ones, ones that a sync tool has replaced. It decodes and
// analyses on the caller's goroutine and hands the result to the one that
// writes, so saves and searches go on. A file that cannot be read, or holds
// damage, is told in Status and tried again when it looks different. An error
// means that ctx has ended or the store is closing; what was read stays.
func (s *Store) Refresh(ctx context.Context) (Arrival, error) {
	s.others.refreshing.Lock()
	defer s.others.refreshing.Unlock()
	var got Arrival
	s.readPeers()
	names := s.otherFiles()
	var headers recovery
	headers.s = s
	for dir := range names {
		headers.floors(dir)
	}
	present := map[string]bool{}
	for dir, files := range names {
		present[dir] = true
		for _, name := range files {
			present[name] = true
		}
		if err := s.standIn(ctx, dir, files); err != nil {
			return got, err
		}
		for _, name := range files {
			if err := s.pickUp(ctx, name, &got); err != nil {
				return got, err
			}
		}
	}
	if err := s.reconsider(ctx, &got); err != nil {
		return got, err
	}
	s.missing(present)
	got.Due = s.others.due()
	return got, nil
}

// otherFiles lists the log files that this device did not write, by folder.
func (s *Store) otherFiles() map[string][]string {
	root := filepath.Join(s.data, "stm")
	devices, err := s.fs.ReadDir(root)
	if err != nil {
		s.log.Warn("logs of other devices not listed", "error", err)
	}
	found := map[string][]string{}
	for _, d := range devices {
		if !d.IsDir() {
			continue
		}
		dir := filepath.Join(root, d.Name())
		entries, err := s.fs.ReadDir(dir)
		if err != nil {
			if dir != s.writer.dir {
				s.others.unreadable(dir)
			}
			continue
		}
		found[dir] = nil
		if dir != s.ownDir() {
			s.listHistories(dir, entries)
		}
		for _, e := range entries {
			name := filepath.Join(dir, e.Name())
			switch {
			case !isLog(e):
			case !s.ours(name):
				found[dir] = append(found[dir], name)
			case !s.wrote(e.Name()):
				s.cloned.Store(true)
				found[dir] = append(found[dir], name)
			}
		}
	}
	return found
}

// wrote reports whether the number of a segment in our folder was ever reserved.
func (s *Store) wrote(base string) bool {
	return parseFileName(base).to <= s.reserved.Load()
}

// missing flags the files that were there before, and forgets the trouble of
// folders that can be listed again.
func (s *Store) missing(present map[string]bool) {
	s.others.mu.Lock()
	for name, f := range s.others.files {
		switch {
		case !present[name]:
			*f = otherFile{flaw: vanished}
		case filepath.Ext(name) != ".jsonl":
			delete(s.others.files, name)
		}
	}
	s.others.mu.Unlock()
	s.vanished()
}

func (o *others) due() (first time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, f := range o.files {
		if !f.due.IsZero() && (first.IsZero() || f.due.Before(first)) {
			first = f.due
		}
	}
	return first
}

// pickUp reads what is new in one file.
func (s *Store) pickUp(ctx context.Context, name string, got *Arrival) error {
	known := s.others.get(name)
	info, err := s.fs.Lstat(name)
	if err == nil && (known.unchanged(name, info, s.now()) || known.stoodFor(name, info)) {
		return nil
	}
	f, err := s.fs.OpenRead(name)
	if err != nil {
		s.others.unreadable(name)
		return nil
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		s.others.unreadable(name)
		return nil
	}
	now := known.next(f, info.Size(), s.now())
	now.look = markOf(name, info)
	in, read := newLineReader(f, now.end, now.sum), s.newPickup(name, got)
	if err := read.all(ctx, in); err != nil {
		if !errors.Is(err, errUnreadable) {
			return err
		}
		s.others.unreadable(name)
		return nil
	}
	now.end, now.sum, now.due = in.end, in.sum, read.file.due
	now.count = now.count.plus(read.count)
	s.others.set(name, now)
	return read.finish(ctx, &now)
}

// next says where to go on reading: behind the last whole line if the file
// still begins as it did, else at the beginning, which does no harm.
func (f *otherFile) next(r io.ReaderAt, size int64, now time.Time) otherFile {
	begins := fileMark{size: f.end, sum: f.sum}
	switch {
	case size < f.end:
		return otherFile{flaw: shorter}
	case f.end == 0 || f.isDue(now) || begins.sumOf(r) != f.sum:
		return otherFile{}
	}
	next := *f
	next.flaw, next.count.TornTail, next.count.NulTail = sound, 0, 0 // the end is read again
	return next
}

// errUnreadable marks an error of the file in contrast to one of the store.
var errUnreadable = errors.New("log file of another device cannot be read")

// pickup collects the lines of one file for the writer.
type pickup struct {
	recovery
	name    string
	got     *Arrival
	arrival *arrival
	bytes   int
}

func (s *Store) newPickup(name string, got *Arrival) *pickup {
	p := &pickup{name: name, got: got, arrival: &arrival{}}
	p.recovery = recovery{s: s, clock: &hlc{dev: s.device, now: s.now}, seen: s.snapshot.seen, live: p}
	return p
}

// all reads to the end of the file, handing over as it goes.
func (p *pickup) all(ctx context.Context, in *lineReader) error {
	file := p.s.fileOf(p.name)
	for {
		b, at, whole, err := in.next()
		if errors.Is(err, io.EOF) {
			return p.handOver(ctx)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("%w: %w", errUnreadable, err), p.handOver(ctx))
		}
		p.line(bytes.Clone(b), place{file: file, off: at, n: uint32(len(b))}, whole)
		if p.bytes += len(b); len(p.arrival.lines) >= maxArrivalLines || p.bytes >= maxArrivalBytes {
			if err := p.handOver(ctx); err != nil {
				return err
			}
		}
	}
}

// add takes a line whose checksum holds. Totals of use are merged at once, which
// any goroutine may do.
func (p *pickup) add(l *line) {
	if l.op == opUse {
		if err := p.merge(l); err != nil {
			p.unexpected(l, err)
			return
		}
	}
	p.arrival.lines = append(p.arrival.lines, *l)
}

// handOver waits until the writer has taken what was collected. The memories
// are locked meanwhile, so that no transaction is based on what they were.
func (p *pickup) handOver(ctx context.Context) error {
	a := p.arrival
	p.arrival, p.bytes = &arrival{}, 0
	if len(a.lines) == 0 {
		return nil
	}
	release, err := p.s.locks.acquire(ctx, a.memories())
	if err != nil {
		return err
	}
	a.analyze(p)
	err = p.s.deliver(ctx, a)
	release()
	if err == nil {
		p.got.add(a)
	}
	return err
}

// finish marks the file as read, for the snapshot.
func (p *pickup) finish(ctx context.Context, f *otherFile) error {
	a := &arrival{file: p.name}
	if m, ok := f.mark(p.name); ok && !slices.Contains(p.s.review.files(), p.s.fileOf(p.name)) {
		a.mark = &m
	}
	p.covered(p.name, f)
	return p.s.deliver(ctx, a)
}

// deliver gives an arrival to the writer and waits until it is merged.
func (s *Store) deliver(ctx context.Context, a *arrival) error {
	a.done = make(chan struct{})
	select {
	case s.writer.arrivals <- a:
		<-a.done
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.writer.stop:
		return memory.Errorf(memory.Unavailable, "emberd is stopping")
	}
}

// reconsider merges what waited for review and is no longer in doubt.
func (s *Store) reconsider(ctx context.Context, got *Arrival) error {
	for lines := s.review.released(s.table); len(lines) > 0; lines = s.review.released(s.table) {
		p := s.newPickup("", got)
		p.arrival.lines = lines
		if err := p.handOver(ctx); err != nil {
			return err
		}
	}
	return nil
}

// arrival is a batch of lines of another device, or the mark of a file that was
// read to its end.
type arrival struct {
	lines []line
	texts map[[16]byte]analysed
	file  string // set with the last one of a file
	mark  *fileMark
	done  chan struct{}

	merged []*line // by the writer: those that were new
}

// analysed is the text of a memory as the arrival leaves it, and its terms.
type analysed struct {
	key   [16]byte
	doc   []byte
	terms termCounts
}

func (a *arrival) memories() (names []string) {
	for _, l := range a.lines {
		for _, c := range l.changes {
			names = append(names, string(c.id))
		}
	}
	return names
}

// analyze works out what the memories will hold, so that the writer need not.
func (a *arrival) analyze(p *pickup) {
	rows := map[[16]byte]*Row{}
	for i := range a.lines {
		l := &a.lines[i]
		for j := range l.changes {
			key := l.changes[j].id.Bytes()
			row := rows[key]
			if row == nil {
				if row = (&Row{key: key}); p.s.table.cell(key) != nil {
					row = p.s.table.cell(key).row.Load()
				}
			}
			next, err := merged(row, &l.changes[j], l.stamp)
			if err != nil {
				p.unexpected(l, err)
				break
			}
			rows[key] = next
		}
	}
	var texts []analysed
	for key, row := range rows {
		if cell := p.s.table.cell(key); row.live() && (cell == nil || !sameDoc(row, cell.row.Load())) {
			texts = append(texts, analysed{key: key, doc: row.doc})
		}
	}
	p.s.index.analyzeAll(texts)
	a.texts = make(map[[16]byte]analysed, len(texts))
	for _, t := range texts {
		a.texts[t.key] = t
	}
}

// analyzeAll fills in the terms, on two processors.
func (x *index) analyzeAll(texts []analysed) {
	half := len(texts) / 2
	var wg sync.WaitGroup
	for _, part := range [][]analysed{texts[:half], texts[half:]} {
		wg.Go(func() {
			for i := range part {
				part[i].terms = x.analyze(part[i].doc)
			}
		})
	}
	wg.Wait()
}

func (g *Arrival) add(a *arrival) {
	g.Lines += len(a.merged)
	for _, l := range a.merged {
		g.Memories += len(l.changes)
		if len(l.changes) > 0 && len(g.Entries) < maxEntries {
			g.Entries = append(g.Entries, l.entry())
		}
	}
}

// receive merges an arrival. Only the writer calls it.
func (w *writer) receive(a *arrival) {
	defer close(a.done)
	before := map[*cell]*Row{}
	for i := range a.lines {
		if l := &a.lines[i]; w.take(l, before) {
			a.merged = append(a.merged, l)
		}
	}
	for cell, old := range before {
		row := cell.row.Load()
		if sameDoc(row, old) && row.live() == old.live() {
			continue
		}
		text := a.texts[row.key]
		if !bytes.Equal(text.doc, row.doc) {
			text.terms = w.s.index.analyze(row.doc)
		}
		w.s.index.update(cell, row, text.terms)
	}
	w.s.changes.Add(int64(len(a.lines)))
	w.s.rewritten.Add(1)
	switch {
	case a.mark != nil:
		w.s.snapshot.marks[a.file] = *a.mark
	case a.file != "":
		delete(w.s.snapshot.marks, a.file)
	}
}

// take merges one line and reports whether it was new. The rows of its memories
// as they were go into before.
func (w *writer) take(l *line, before map[*cell]*Row) bool {
	isNew := w.s.snapshot.seen.add(l.stamp.Dev, l.seq, l.seq)
	w.clock.observe(l.stamp)
	w.s.newest.Store(w.clock.last)
	w.s.peers.heard(l.stamp)
	if l.op == opUse {
		return isNew
	}
	if w.s.review.holds(w.s.table, l) {
		return false
	}
	for i := range l.changes {
		cell := w.s.table.claim(l.changes[i].id.Bytes())
		if _, ok := before[cell]; !ok {
			before[cell] = cell.row.Load()
		}
	}
	// What no table can hold was counted when the arrival was analysed.
	return w.s.merge(l, func(*cell) {}) == nil && isNew
}

// sameDoc reports whether two rows hold the same bytes, which rows that differ
// in their counters alone share.
func sameDoc(a, b *Row) bool {
	return len(a.doc) == len(b.doc) && (len(a.doc) == 0 || &a.doc[0] == &b.doc[0])
}
