package wal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"emberd/internal/contain"
	"emberd/internal/words"
	"emberd/stm/device"
	"emberd/stm/journal"
	"emberd/stm/otherfiles"
	"emberd/stm/record"
	"emberd/stm/snapshot"
	"emberd/stm/table"
)

// A snapshot is worth it after so many changes, in a large store after one for each so many
// memories: a start reads that much of the log in a fraction of the time that it takes to load
// the rest.
const (
	snapshotEvery = 5_000
	snapshotShare = 16
)

// snapshotState is what the next snapshot needs and status shows.
type snapshotState struct {
	mu    sync.Mutex   // held to write one
	used  string       // what Open made of the one it found
	fresh atomic.Bool  // the one on disk is ours
	saved atomic.Int64 // counters.changes at the last snapshot, less what the start read after it
	documents
	Seen *device.Numbers
	lost record.Ranges // own numbers that are given up
	// carried are own numbers that only files of other devices have the effect of, besides this table;
	// missed those that nothing was found to have, and that are not given up.
	carried, missed record.Ranges
	taken           map[string]bool
	began           uint64 // last sequence number before this run
	// marks of files that were read or written to their end and held nothing
	// that a later start may take. Recovery's, then the writer's.
	marks map[string]snapshot.Mark
}

// SnapshotDue reports whether enough has changed to be worth a snapshot; and whether so much that it should not wait:
// until it is written, what changed is in memory, and a start reads it from the log.
func (s *Log) SnapshotDue() (due, now bool) {
	changed := s.changes.Load() - s.Snapshot.saved.Load()
	return changed >= max(snapshotEvery, int64(s.Len()/snapshotShare)),
		changed >= max(4*snapshotEvery, int64(s.Len()/4))
}

// WriteSnapshot saves the table and the word index under state/. Saves and
// searches continue in the meantime, with half of the disk's time at least when it is gentle.
func (s *Log) WriteSnapshot(ctx context.Context, gently bool) error {
	if err := (healer{s}).recover(ctx); err != nil {
		return err
	}
	var c Cursor
	if err := s.OnWriter(ctx, func() { c = s.Writer.Cursor() }); err != nil || c.files == nil {
		return err
	}
	return s.SaveSnapshot(ctx, c, snapshot.Manner{Gently: gently, Settle: func() error { return s.FlushUses(ctx) }})
}

// FlushUses returns nil once every use that was counted is on the disk.
func (s *Log) FlushUses(ctx context.Context) error {
	failed := errors.New("emberd is closing the log")
	err := s.OnWriter(ctx, func() {
		for failed = nil; failed == nil && s.Uses.Waiting(); {
			failed = s.Writer.Commit(nil)
		}
	})
	return errors.Join(err, failed)
}

// SaveSnapshot writes what the table holds now, which is at least what it held
// at c; applying the log after c once more changes nothing. Uses are counted
// before they are in the log; m.Settle puts those that the snapshot shows there
// first, lest they vanish with it. When ctx ends before that, the earlier snapshot stays.
func (s *Log) SaveSnapshot(ctx context.Context, c Cursor, m snapshot.Manner) error {
	s.Snapshot.mu.Lock()
	defer s.Snapshot.mu.Unlock()
	unchanged := c.changes == s.Snapshot.saved.Load() && s.Snapshot.fresh.Load() && s.Words.Complete.Load()
	if unchanged || s.found.pending() {
		return nil
	}
	files, err := documentStore{s}.mover().Move(ctx, s.Snapshot.tidy, m.Gently)
	if err != nil {
		return err
	}
	content := &snapshot.Content{Meta: c.meta(s), Journal: s.Journal, Keys: s.Keys, Table: s.Table,
		Words: s.Words.Words.Load(), Files: files}
	if err := snapshot.Save(ctx, s.FS, s.SnapshotPath(), content, m); err != nil {
		return err
	}
	s.Snapshot.saved.Store(c.changes)
	s.Snapshot.fresh.Store(true)
	s.Snapshot.tidy = false
	documentStore{s}.sweepLater()
	return nil
}

// meta is what the snapshot of a log tells of it at the cursor.
func (c *Cursor) meta(s *Log) snapshot.Meta {
	seen := s.Snapshot.Seen.Clone()
	if seen[s.Device] == nil {
		seen[s.Device] = &record.Ranges{}
	}
	seen[s.Device].AddAll(&s.Snapshot.carried)
	if c.seq > s.Snapshot.began {
		// Numbers of this run that were given up count as seen: a gap is
		// reported once, by the start that met it.
		seen[s.Device].Add(s.Snapshot.began+1, c.seq)
	}
	return snapshot.Meta{Analyzer: s.Words.Analyzer.Identity(), Device: s.Device, Clock: c.clock, Seq: c.seq,
		Dead: s.dead.sum(everywhere), LastUse: s.lastUse.Load(), Files: c.files, Seen: seen, Lost: s.Snapshot.lost,
		Taken: s.Snapshot.taken}
}

// useSnapshot loads the snapshot if there is one that still fits, and leaves
// the store empty if not.
func (r *recovery) useSnapshot() {
	s := r.s
	f, in, err := snapshot.Open(s.FS, s.SnapshotPath())
	if err == nil {
		err = contain.Do(s.Logger, contain.Line, "snapshot", func() error { return r.Load(f) })
		_ = in.Close() // it was only read
	}
	switch {
	case err == nil:
		s.Snapshot.used = "used"
		r.noteAltered()
		s.Snapshot.fresh.Store(true)
		return
	case errors.Is(err, fs.ErrNotExist):
		s.Snapshot.used = "absent"
	case errors.Is(err, snapshot.ErrStale):
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

// Load fills the store from a snapshot, if that fits the log and what reads it. After an error the
// store holds some of it.
func (r *recovery) Load(f *snapshot.File) error {
	s := r.s
	m, err := f.Meta()
	switch {
	case err != nil:
		return err
	case m.Analyzer != s.Words.Analyzer.Identity():
		return fmt.Errorf("%w: another version of emberd split the texts of the snapshot into words", snapshot.ErrStale)
	case m.Device != s.Device:
		return fmt.Errorf("%w: the snapshot belongs to another device", snapshot.ErrStale)
	}
	if err := r.continueFrom(m); err != nil {
		return err
	}
	var (
		index    *words.Index
		unworded error
		beside   contain.Group // the words take as long as all else
	)
	beside.Go(func() { index, unworded = f.Words() })
	byDoc, cold, err := r.loadTable(f)
	beside.Wait()
	if err = errors.Join(err, unworded); err != nil {
		return err
	}
	s.Words.Restore(index, byDoc, cold)
	return nil
}

// loadTable fills the store but for its words, and returns what [snapshot.File.Table] does.
func (r *recovery) loadTable(f *snapshot.File) (byDoc, cold []*table.Cell, err error) {
	s := r.s
	if err := errors.Join(f.Journal(s.Journal, len(s.Files)), f.Keys(s.Keys)); err != nil {
		return nil, nil, err
	}
	return f.Table(s.Table, len(s.Files), documentStore{s}.findAgain)
}

// noteAltered flags the files of others that do not hold what the snapshot had read of them.
func (r *recovery) noteAltered() {
	for _, m := range r.altered {
		info, err := r.s.FS.Lstat(m.Name)
		if err != nil {
			continue // vanished finds it
		}
		f := otherfiles.File{Problem: otherfiles.Altered, Had: otherfiles.Had{End: m.Size, Sum: m.Sum}}
		if info.Size() < m.Size {
			f.Problem = otherfiles.Shorter
		}
		r.s.others.Set(m.Name, f)
		r.s.Snapshot.marks[m.Name] = m
	}
}

// continueFrom checks that the covered files are still what they were.
func (r *recovery) continueFrom(m *snapshot.Meta) error {
	s := r.s
	r.clock.Last, r.upto = m.Clock, m.Seq
	s.dead.begin(m.Dead)
	s.lastUse.Store(m.LastUse)
	r.start = map[string]snapshot.Mark{}
	for _, f := range m.Files {
		if !strings.HasPrefix(f.Name, s.Data+string(filepath.Separator)) {
			return fmt.Errorf("%w: the snapshot belongs to the log in %s", snapshot.ErrStale, f.Name)
		}
		if err := f.Check(s.FS); err != nil {
			if s.Ours(f.Name) {
				return err
			}
			// What was merged from it stays, and what it is now is read.
			r.altered = append(r.altered, f)
			f.Size, f.Sum = 0, 0
		}
		r.start[f.Name] = f
		s.Files = append(s.Files, f.Name)
	}
	r.seen.By, r.lost, r.taken = m.Seen, m.Lost, m.Taken
	return nil
}
