package wal

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"emberd/compaction"
	"emberd/memory"
	"emberd/stm/device"
	"emberd/stm/extent"
	"emberd/stm/journal"
	"emberd/stm/record"
	"emberd/stm/snapshot"
	"emberd/stm/table"
)

// replacedIn reports which files of a device's folder need not be read, because a
// whole compacted file there stands for them, and forgets where a snapshot says
// that lines of them are. A file that is not as it was when it was folded in is
// read.
func (r *recovery) replacedIn(dir string, entries []fs.DirEntry) map[string]bool {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	replaced := map[string]bool{}
	for _, base := range names {
		for _, name := range compaction.StandsFor(context.Background(), r.s.FS, dir, base, names) {
			replaced[name] = true
			if _, known := r.start[filepath.Join(dir, name)]; known {
				// A snapshot that knew both has the place of a line in both where it was
				// in the one that goes.
				delete(r.start, filepath.Join(dir, base))
			}
		}
	}
	if len(replaced) == 0 {
		return nil
	}
	var known []string
	for name := range replaced {
		known = append(known, filepath.Join(dir, name))
	}
	gone := r.s.Retire(known)
	r.s.Journal.Swap(gone, nil)
	r.s.Table.Moved(gone, nil)
	if filepath.Base(dir) == r.s.Device.String() {
		r.s.dead.begin(0)
	}
	return replaced
}

// standIn finds what a whole compacted file of another device stands for by now.
// Such files are not read any more, and their lines are looked up in the
// compacted one, which is read from its beginning. files are paths in dir.
func (s *Log) standIn(ctx context.Context, dir string, files []string) error {
	if dir == s.OwnDir() {
		return nil
	}
	open := s.notStoodFor(files)
	for _, made := range files {
		var old []string
		for _, base := range compaction.StandsFor(ctx, s.FS, dir, filepath.Base(made), open) {
			name := filepath.Join(dir, base)
			if info, err := s.FS.Lstat(name); err == nil {
				s.others.set(name, otherFile{look: snapshot.MarkOf(name, info), problem: replacedBy})
				old = append(old, name)
			}
		}
		if len(old) == 0 {
			continue
		}
		s.others.set(made, otherFile{})
		gone := s.Retire(old)
		s.Journal.Swap(gone, nil)
		s.Table.Moved(gone, nil)
		s.Snapshot.fresh.Store(false)
		for _, name := range old {
			if err := s.deliver(ctx, &arrival{file: name}); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// notStoodFor lists the names of the files but for those that a compacted file
// was found to stand for. One that has changed since gets a new number.
func (s *Log) notStoodFor(files []string) (names []string) {
	for _, name := range files {
		known := s.others.get(name)
		info, err := s.FS.Lstat(name)
		if err == nil && known.stoodFor(name, info) {
			continue
		}
		if known.problem == replacedBy {
			s.others.set(name, otherFile{})
			s.Forget(name)
		}
		names = append(names, filepath.Base(name))
	}
	return names
}

// adopt makes a published file the one that lines are looked up in.
func (s *Log) adopt(ctx context.Context, out *compaction.Output) error {
	name := filepath.Join(s.OwnDir(), out.Output)
	file := s.AddFile(name)
	for i := range out.Lines {
		out.Lines[i].At.File = file
	}
	deletes := make(map[[16]byte]table.TombstoneRef, len(out.Deletes))
	for key, l := range out.Deletes {
		l.At.File = file
		deletes[key] = table.TombstoneRef{Stamp: l.Stamp, Tx: l.Tx, At: l.At}
	}
	if out.History != "" {
		s.Journal.NoteHistory(filepath.Join(s.OwnDir(), out.History))
	}
	old := make([]string, len(out.Inputs))
	for i, base := range out.Inputs {
		old[i] = filepath.Join(s.OwnDir(), base)
	}
	if out.Seen != nil {
		s.Review.raise(&record.Header{Dev: s.Device.String(), Floor: out.Floor.String(), Seen: out.Seen})
	}
	healer{s}.rememberMade(out)
	gone := s.Retire(old)
	s.Journal.Swap(gone, journal.InOrder(out.Lines))
	s.Table.Moved(gone, deletes)
	s.bytes.Add(out.After - out.Before)
	s.dead.folded(gone, out.Before-out.After, out.All)
	s.Snapshot.fresh.Store(false)
	return s.OnWriter(context.WithoutCancel(ctx), func() {
		for _, name := range old {
			delete(s.Snapshot.marks, name)
		}
		if info, err := s.FS.Lstat(name); err == nil && out.Verbatim == 0 {
			s.Snapshot.marks[name] = snapshot.MarkOf(name, info)
		}
		s.Table.Drop(out.Dropped)
	})
}

// rememberMade remembers the files that a compaction made. They have checksums of their own.
func (h healer) rememberMade(out *compaction.Output) {
	for _, base := range []string{out.Output, out.History} {
		if base == "" {
			continue
		}
		info, err := h.FS.Lstat(filepath.Join(h.OwnDir(), base))
		if err == nil {
			made, _ := h.HeaderOf(filepath.Join(h.OwnDir(), base))
			err = h.extents.Note(base, extent.Extent{Bytes: info.Size(), Last: made.Last})
		}
		if err != nil {
			h.Logger.Debug("extent not kept", "file", base, "error", err)
		}
	}
}

// Unlinked reports what Unlink removed.
type Unlinked struct {
	Names []string // in the order of their removal
	Bytes int64
}

// Unlink removes the files that compacted ones made before made stand for, and
// own histories without a line after past. A file goes only if it still is, byte
// for byte, what was folded in, and if the one that replaces it and its history
// are whole. Before, a snapshot is written that does not count on them. A crash
// in between leaves fewer files, of which any mix says the same (K7 to K9).
func (s *Log) Unlink(ctx context.Context, made, past time.Time) (Unlinked, error) {
	if !s.Rewriting.TryLock() {
		return Unlinked{}, errRewriting()
	}
	defer s.Rewriting.Unlock()
	var out Unlinked
	err := s.unlink(ctx, made, past, &out)
	if err != nil && ctx.Err() == nil {
		code, reason := device.Explain(s.Data, err)
		err = memory.Errorf(code, "compacted files were not all removed: %s", reason)
	}
	return out, err
}

func (s *Log) unlink(ctx context.Context, made, past time.Time, out *Unlinked) error {
	dir := s.OwnDir()
	if err := s.FS.SyncDir(dir); err != nil { // what replaces them has its name for good
		return err
	}
	entries, err := s.FS.ReadDir(dir)
	if err != nil {
		return err
	}
	doomed, err := s.replacedBefore(ctx, dir, entries, made)
	if err != nil {
		return err
	}
	if len(doomed) > 0 {
		// Without it the next start reads the whole log, no more.
		err := s.WriteSnapshot(ctx, true)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			s.Logger.Warn("snapshot not written before files are removed", "error", err)
		}
	}
	expired := s.expired(entries, past)
	for _, name := range slices.Concat(doomed, expired) {
		if err := s.unlinkOne(filepath.Join(dir, name), out); err != nil {
			return err
		}
	}
	if len(expired) > 0 {
		s.Journal.Swap(func(uint32) bool { return false }, nil)
	}
	if len(out.Names) == 0 {
		return nil
	}
	return s.FS.SyncDir(dir)
}

func (s *Log) unlinkOne(name string, out *Unlinked) error {
	info, err := s.FS.Lstat(name)
	if err == nil {
		err = errors.Join(s.extents.Forget(filepath.Base(name)), s.FS.Remove(name))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.Forget(name)
	s.Journal.Histories.Drop(name)
	if err == nil {
		out.Names = append(out.Names, filepath.Base(name))
		out.Bytes += info.Size()
	}
	return nil
}

// replacedBefore lists what may go, in the order of names.
func (s *Log) replacedBefore(ctx context.Context, dir string, entries []fs.DirEntry, made time.Time) ([]string, error) {
	var names, doomed []string
	for _, e := range entries {
		if record.IsLogFile(e) {
			names = append(names, e.Name())
		}
	}
	for _, base := range names {
		if record.ParseName(base).Kind != record.Compacted || s.RetiredFile(filepath.Join(dir, base)) {
			continue
		}
		h, err := s.ReadHeader(filepath.Join(dir, base))
		if err != nil {
			continue // start-up counts what is damaged
		}
		if at, err := time.Parse(time.RFC3339, h.Created); err != nil || !at.Before(made) {
			continue
		}
		for _, name := range compaction.StandsFor(ctx, s.FS, dir, base, names) {
			if compaction.IsListed(s.FS, dir, name, h.Replaces) && !s.InUse(filepath.Join(dir, name)) {
				doomed = append(doomed, name)
			}
		}
	}
	slices.Sort(doomed)
	return slices.Compact(doomed), ctx.Err()
}

// expired lists own histories that hold nothing after past.
func (s *Log) expired(entries []fs.DirEntry, past time.Time) []string {
	var names []string
	for _, e := range entries {
		if record.ParseName(e.Name()).Kind != record.History || !record.IsLogFile(e) {
			continue
		}
		h, err := s.ReadHeader(filepath.Join(s.OwnDir(), e.Name()))
		if err != nil {
			continue
		}
		if newest, err := record.ParseStamp(h.Newest); err == nil && newest.Time().Before(past) {
			names = append(names, e.Name())
		}
	}
	return names
}
