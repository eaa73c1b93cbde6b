package wal

import (
	"context"
	"emberd/compaction"
	"emberd/memory"
	"emberd/stm/device"
	"emberd/stm/record"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

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
		err = memory.Errorf(code, "cannot remove some compacted files: %s", reason)
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
		documentStore{s}.tidyNext() // what the log has no more is not to be kept there
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
		err = errors.Join(s.own.Forget(filepath.Base(name)), s.FS.Remove(name))
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
