package wal

import (
	"context"
	"io/fs"
	"path/filepath"

	"emberd/compaction"
	"emberd/stm/otherfiles"
	"emberd/stm/snapshot"
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
				s.others.Set(name, otherfiles.File{Look: snapshot.MarkOf(name, info), Problem: otherfiles.Replaced})
				old = append(old, name)
			}
		}
		if len(old) == 0 {
			continue
		}
		s.others.Set(made, otherfiles.File{})
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
		known := s.others.Get(name)
		info, err := s.FS.Lstat(name)
		if err == nil && known.StoodFor(name, info) {
			continue
		}
		if known.Problem == otherfiles.Replaced {
			s.others.Set(name, otherfiles.File{})
			s.Forget(name)
		}
		names = append(names, filepath.Base(name))
	}
	return names
}
