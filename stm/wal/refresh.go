package wal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"emberd/internal/contain"
	"emberd/memory"
	"emberd/stm/otherfiles"
	"emberd/stm/record"
	"emberd/stm/snapshot"
	"emberd/stm/table"
)

// Bounds of what is handed to the writer at once: saves wait for it in the meantime.
const (
	maxArrivalLines = 128
	maxArrivalBytes = 1 << 20
	// maxEntries bounds the entries that an Arrival lists.
	maxEntries = 256
)

// ForeignChange is what Refresh brought.
type ForeignChange struct {
	Lines    int            // that were not known
	Memories int            // that were written to, as often as they were
	Entries  []record.Entry // what the journal gained, oldest file first; the first 256
	Due      time.Time      // when a line that is held back may be taken; zero if none is
}

// Refresh reads what other devices' files have gained since they were read
// last: new files, grown ones, ones that a sync tool has replaced. It decodes and
// analyses on the caller's goroutine and hands the result to the one that
// writes, so saves and searches continue. A file that cannot be read, or holds
// damage, is told in Status and tried again when it looks different. An error
// means that ctx has ended or the store is closing; what was read stays.
func (s *Log) Refresh(ctx context.Context) (ForeignChange, error) {
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	var got ForeignChange
	s.Peers.ReadPeers()
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
	s.others.Missing(present)
	s.vanished()
	s.before.Saw(s.Home, s.Snapshot.Seen)
	got.Due = s.others.Due()
	return got, healer{s}.afterRefresh(ctx, &got)
}

// pickUpFrom reads what is new in the files of one folder.
func pickUpFrom(ctx context.Context, s *Log, dir string) error {
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	entries, err := s.FS.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("cannot list the log files: %w", err)
	}
	s.Journal.ListHistories(dir, entries)
	var names []string
	for _, e := range entries {
		if record.IsReadAtStart(e) {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	if err := s.standIn(ctx, dir, names); err != nil {
		return err
	}
	for _, name := range names {
		if err := s.pickUp(ctx, name, &ForeignChange{}); err != nil {
			return err
		}
	}
	return nil
}

// otherFiles lists the log files that this device did not write, by folder.
func (s *Log) otherFiles() map[string][]string {
	root := filepath.Join(s.Data, "stm")
	devices, err := s.FS.ReadDir(root)
	if err != nil {
		s.Logger.Warn("logs of other devices not listed", "error", err)
	}
	found := map[string][]string{}
	for _, d := range devices {
		if !d.IsDir() {
			continue
		}
		dir := filepath.Join(root, d.Name())
		entries, err := s.FS.ReadDir(dir)
		if err != nil {
			if dir != s.Writer.Dir {
				s.others.SetUnreadable(dir)
			}
			continue
		}
		found[dir] = nil
		if dir != s.OwnDir() {
			s.Journal.ListHistories(dir, entries)
		}
		for _, e := range entries {
			name := filepath.Join(dir, e.Name())
			switch {
			case !record.IsReadAtStart(e):
			case !s.Ours(name):
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
func (s *Log) wrote(base string) bool {
	return record.ParseName(base).To <= s.reserved.Load()
}

// pickUp reads what is new in one file.
func (s *Log) pickUp(ctx context.Context, name string, got *ForeignChange) error {
	known := s.others.Get(name)
	info, err := s.FS.Lstat(name)
	if err == nil && (known.Unchanged(name, info, s.Now()) || known.StoodFor(name, info)) {
		return nil
	}
	f, err := s.FS.OpenRead(name)
	if err != nil {
		s.others.SetUnreadable(name)
		return nil
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		s.others.SetUnreadable(name)
		return nil
	}
	now := known.Next(f, info.Size(), s.Now())
	if now.HasLost() {
		s.others.Lose(s.Now())
	}
	now.Look = snapshot.MarkOf(name, info)
	in, read := record.NewLineReader(f, now.End, now.Sum), s.newPickup(name, got)
	if err := read.all(ctx, in); err != nil {
		if !errors.Is(err, errUnreadable) {
			return err
		}
		s.others.SetUnreadable(name)
		return nil
	}
	now.End, now.Sum, now.Due = in.End, in.Sum, read.file.due
	now.Count = now.Count.Plus(read.count)
	read.file.tell(&now)
	s.others.Set(name, now)
	return read.finish(ctx, &now)
}

// errUnreadable marks an error of the file in contrast to one of the store.
var errUnreadable = errors.New("cannot read the log file of another device")

// pickup collects the lines of one file for the writer.
type pickup struct {
	recovery
	name    string
	got     *ForeignChange
	arrival *arrival
	bytes   int
}

func (s *Log) newPickup(name string, got *ForeignChange) *pickup {
	p := &pickup{name: name, got: got, arrival: &arrival{}}
	p.recovery = recovery{s: s, clock: &record.Clock{Dev: s.Device, Now: s.Now}, seen: s.Snapshot.Seen, live: p}
	return p
}

// all reads to the end of the file, handing over as it goes.
func (p *pickup) all(ctx context.Context, in *record.LineReader) error {
	file := p.s.FileOf(p.name)
	for {
		b, at, whole, err := in.Next()
		place := record.Place{File: file, Off: at, N: uint32(len(b))}
		if errors.Is(err, record.ErrGarbage) {
			p.stop(b, place)
			err = io.EOF
		}
		if errors.Is(err, io.EOF) {
			return p.handOver(ctx)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("%w: %w", errUnreadable, err), p.handOver(ctx))
		}
		p.Line(bytes.Clone(b), place, whole)
		if p.bytes += len(b); len(p.arrival.lines) >= maxArrivalLines || p.bytes >= maxArrivalBytes {
			if err := p.handOver(ctx); err != nil {
				return err
			}
		}
	}
}

// add takes a line whose checksum holds. Totals of use are merged at once, which
// any goroutine may do.
func (p *pickup) add(l *record.Line) {
	if l.Op == record.OpUse {
		if err := p.merge(l); err != nil {
			p.unexpected(l, err)
			return
		}
	}
	p.arrival.lines = append(p.arrival.lines, *l)
}

// handOver waits until the writer has taken what was collected. The memories
// are locked in the meantime, so that no transaction is based on what they were.
func (p *pickup) handOver(ctx context.Context) error {
	a := p.arrival
	p.arrival, p.bytes = &arrival{}, 0
	if len(a.lines) == 0 {
		return nil
	}
	release, err := p.s.Locks.Acquire(ctx, a.memories())
	if err != nil {
		return err
	}
	defer release()
	a.analyze(p)
	if err = p.s.deliver(ctx, a); err == nil {
		p.got.add(a)
	}
	return err
}

// finish marks the file as read, for the snapshot.
func (p *pickup) finish(ctx context.Context, f *otherfiles.File) error {
	a := &arrival{file: p.name}
	if f.HasLost() {
		a.file = ""
	}
	if m, ok := f.Mark(p.name); ok && !slices.Contains(p.s.Review.files(), p.s.FileOf(p.name)) {
		a.mark = &m
	}
	p.covered(p.name, f)
	return p.s.deliver(ctx, a)
}

// deliver gives an arrival to the writer and waits until it is merged.
func (s *Log) deliver(ctx context.Context, a *arrival) error {
	a.done = make(chan struct{})
	select {
	case s.Writer.arrivals <- a:
		<-a.done
		return a.err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.Writer.stop:
		return memory.Errorf(memory.Unavailable, "the daemon is stopping")
	}
}

// reconsider merges what waited for review and is no longer in doubt.
func (s *Log) reconsider(ctx context.Context, got *ForeignChange) error {
	for lines := s.Review.released(s.Table); len(lines) > 0; lines = s.Review.released(s.Table) {
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
	lines []record.Line
	texts map[[16]byte]table.Analysed
	file  string // set with the last one of a file
	mark  *snapshot.Mark
	done  chan struct{}
	write bool // they are to be written to this device's log first
	err   error

	merged []*record.Line // by the writer: those that were new
}

func (a *arrival) memories() (names []string) {
	for _, l := range a.lines {
		for _, c := range l.Changes {
			names = append(names, string(c.ID))
		}
	}
	return names
}

// analyze works out what the memories will hold, so that the writer need not.
func (a *arrival) analyze(p *pickup) {
	rows := map[[16]byte]*table.Row{}
	for i := range a.lines {
		l := &a.lines[i]
		if err := contained(p.s, l, func() error { return p.s.Table.Preview(l, rows) }); err != nil {
			p.unexpected(l, err)
		}
	}
	var texts []table.Analysed
	for key, row := range rows {
		cell := p.s.Table.Cell(key)
		if !row.Live() || cell != nil && table.SameDoc(row, cell.Row.Load()) {
			continue
		}
		if doc, err := row.Document(); err == nil { // else the writer refuses the arrival
			texts = append(texts, table.Analysed{Key: key, Doc: doc})
		}
	}
	p.s.Words.AnalyzeAll(texts)
	a.texts = make(map[[16]byte]table.Analysed, len(texts))
	for _, t := range texts {
		a.texts[t.Key] = t
	}
}

// contained calls fn for a line that another device wrote.
func contained(s *Log, l *record.Line, fn func() error) error {
	return contain.Do(s.Logger, contain.Line, l.Stamp.String(), fn)
}

func (g *ForeignChange) add(a *arrival) {
	g.Lines += len(a.merged)
	for _, l := range a.merged {
		g.Memories += len(l.Changes)
		if len(l.Changes) > 0 && len(g.Entries) < maxEntries {
			g.Entries = append(g.Entries, l.Entry())
		}
	}
}

// receive merges an arrival. Only the writer calls it.
func (w *Writer) receive(a *arrival) {
	defer close(a.done)
	for i := range a.lines {
		if a.err = w.S.Table.Fetch(&a.lines[i]); a.err != nil {
			return
		}
	}
	if a.write {
		if a.err = w.append(a); a.err != nil {
			return
		}
	}
	before := map[*table.Cell]*table.Row{}
	for i := range a.lines {
		if l := &a.lines[i]; w.apply(l, before) {
			a.merged = append(a.merged, l)
		}
	}
	for cell, old := range before {
		row := cell.Row.Load()
		if table.SameDoc(row, old) && row.Live() == old.Live() {
			continue
		}
		text := a.texts[row.Key]
		if !bytes.Equal(text.Doc, row.JSON()) {
			text.Terms = w.S.Words.AnalyzeContained(row.JSON())
		}
		w.S.Words.Update(cell, row, text.Terms)
	}
	w.tell(a)
	w.S.changes.Add(int64(len(a.lines)))
	w.S.Rewritten.Add(1)
	switch {
	case a.mark != nil:
		w.S.Snapshot.marks[a.file] = *a.mark
	case a.file != "":
		delete(w.S.Snapshot.marks, a.file)
	}
}

// tell reports the lines of this device that an arrival wrote, as those of a transaction are.
func (w *Writer) tell(a *arrival) {
	if !a.write || w.S.committed == nil {
		return
	}
	for i := range a.lines {
		if l := &a.lines[i]; l.Stamp.Dev == w.S.Device {
			w.S.committed(l.Entry())
		}
	}
}

// apply merges one line and reports whether it was new. The rows of its memories
// as they were go into before.
func (w *Writer) apply(l *record.Line, before map[*table.Cell]*table.Row) bool {
	isNew := l.Seq > 0 && w.S.Snapshot.Seen.Add(l.Stamp.Dev, l.Seq, l.Seq)
	w.clock.Observe(l.Stamp)
	w.S.newest.Store(w.clock.Last)
	w.S.Peers.Heard(l.Stamp)
	if l.Op == record.OpUse {
		return isNew
	}
	if w.S.Review.holds(w.S.Table, l) {
		return false
	}
	for i := range l.Changes {
		cell := w.S.Table.Claim(l.Changes[i].ID.Bytes())
		if _, ok := before[cell]; !ok {
			before[cell] = cell.Row.Load()
		}
	}
	// What no table can hold was counted when the arrival was analysed.
	err := contained(w.S, l, func() error { return w.S.merge(l, func(*table.Cell) {}) })
	return err == nil && isNew
}
