package stm

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"emberd/memory"
)

// replacedIn says which files of a device's folder need not be read, because a
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
		for _, name := range r.s.standsFor(context.Background(), dir, base, names) {
			replaced[name] = true
			if _, known := r.start[filepath.Join(dir, name)]; known {
				// A snapshot that knew both says of a line in both where it was
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
	gone := r.s.retire(known)
	r.s.journal.swap(gone, nil)
	r.s.table.moved(gone, nil)
	if filepath.Base(dir) == r.s.device.String() {
		r.s.dead.begin(0)
	}
	return replaced
}

// standIn finds what a whole compacted file of another device stands for by now.
// Such files are not read any more, and their lines are looked up in the
// compacted one, which is read from its beginning. files are paths in dir.
func (s *Store) standIn(ctx context.Context, dir string, files []string) error {
	if dir == s.ownDir() {
		return nil
	}
	open := s.notStoodFor(files)
	for _, made := range files {
		var old []string
		for _, base := range s.standsFor(ctx, dir, filepath.Base(made), open) {
			name := filepath.Join(dir, base)
			if info, err := s.fs.Lstat(name); err == nil {
				s.others.set(name, otherFile{look: markOf(name, info), flaw: replacedBy})
				old = append(old, name)
			}
		}
		if len(old) == 0 {
			continue
		}
		s.others.set(made, otherFile{})
		gone := s.retire(old)
		s.journal.swap(gone, nil)
		s.table.moved(gone, nil)
		s.snapshot.fresh.Store(false)
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
func (s *Store) notStoodFor(files []string) (names []string) {
	for _, name := range files {
		known := s.others.get(name)
		info, err := s.fs.Lstat(name)
		if err == nil && known.stoodFor(name, info) {
			continue
		}
		if known.flaw == replacedBy {
			s.others.set(name, otherFile{})
			s.forget(name)
		}
		names = append(names, filepath.Base(name))
	}
	return names
}

// standsFor returns which of the names in dir the compacted file base replaces,
// nothing if it, or the history that belongs to it, is not whole.
func (s *Store) standsFor(ctx context.Context, dir, base string, names []string) []string {
	n := parseFileName(base)
	if n.kind != Compacted {
		return nil
	}
	covered := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		o := parseFileName(name)
		return o.kind != Odd && !n.covers(o)
	})
	if len(covered) == 0 {
		return nil
	}
	h, err := s.inspect(ctx, filepath.Join(dir, base))
	if err == nil && h.History > 0 {
		_, err = s.inspect(ctx, filepath.Join(dir, n.companion().String()))
	}
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(covered, func(name string) bool { return !s.folded(dir, name, h.Replaces) })
}

// folded reports whether a file is as it was when it was folded in. One that is
// not listed was folded into a file that is.
func (s *Store) folded(dir, name string, list []replaced) bool {
	odd := parseFileName(name).kind == Odd
	i := slices.IndexFunc(list, func(r replaced) bool { return r.Name == name })
	if i < 0 {
		return !odd
	}
	info, err := s.fs.Lstat(filepath.Join(dir, name))
	if err != nil || info.Size() != list[i].Bytes {
		return false
	}
	return !odd || s.hasCRC(filepath.Join(dir, name), list[i].CRC)
}

func (s *Store) hasCRC(name, want string) bool {
	f, err := s.fs.OpenRead(name)
	if err != nil {
		return false
	}
	defer f.Close()
	crc := crc32.New(castagnoli)
	_, err = io.Copy(crc, f)
	return err == nil && fmt.Sprintf("%08x", crc.Sum32()) == want
}

// commit makes a published file the one that the store looks lines up in.
func (r *rewrite) commit(v *verified) error {
	name := filepath.Join(r.s.ownDir(), r.name.String())
	file := r.s.addFile(name)
	for i := range v.refs {
		v.refs[i].at.file = file
	}
	for key, g := range v.graves {
		g.at.file = file
		v.graves[key] = g
	}
	if r.got.History != "" {
		r.s.noteHistory(filepath.Join(r.s.ownDir(), r.got.History))
	}
	old := make([]string, len(r.inputs))
	for i, in := range r.inputs {
		old[i] = filepath.Join(r.s.ownDir(), in.base)
	}
	if r.fold.seen != nil {
		r.s.review.raise(&header{Dev: r.s.device.String(), Floor: r.fold.floor.String(), Seen: r.fold.seen})
	}
	gone := r.s.retire(old)
	r.s.journal.swap(gone, inOrder(v.refs))
	r.s.table.moved(gone, v.graves)
	r.s.bytes.Add(r.got.After - r.got.Before)
	r.s.dead.folded(gone, r.got.Before-r.got.After, r.beginsWithFirst())
	r.s.snapshot.fresh.Store(false)
	return r.s.onWriter(context.WithoutCancel(r.ctx), func() {
		for _, name := range old {
			delete(r.s.snapshot.marks, name)
		}
		if info, err := r.s.fs.Lstat(name); err == nil && r.got.Verbatim == 0 {
			r.s.snapshot.marks[name] = markOf(name, info)
		}
		r.s.table.drop(r.dropped)
	})
}

// Unlinked tells what Unlink removed.
type Unlinked struct {
	Names []string // in the order of their removal
	Bytes int64
}

// Unlink removes the files that compacted ones made before made stand for, and
// own histories without a line after past. A file goes only if it still is, byte
// for byte, what was folded in, and if the one that replaces it and its history
// are whole. Before, a snapshot is written that does not count on them. A crash
// in between leaves fewer files, of which any mix says the same (K7 to K9).
func (s *Store) Unlink(ctx context.Context, made, past time.Time) (Unlinked, error) {
	if !s.rewriting.TryLock() {
		return Unlinked{}, errRewriting()
	}
	defer s.rewriting.Unlock()
	var out Unlinked
	err := s.unlink(ctx, made, past, &out)
	if err != nil && ctx.Err() == nil {
		code, reason := explain(s.data, err)
		err = memory.Errorf(code, "compacted files were not all removed: %s", reason)
	}
	return out, err
}

func (s *Store) unlink(ctx context.Context, made, past time.Time, out *Unlinked) error {
	dir := s.ownDir()
	if err := s.fs.SyncDir(dir); err != nil { // what replaces them has its name for good
		return err
	}
	entries, err := s.fs.ReadDir(dir)
	if err != nil {
		return err
	}
	doomed, err := s.replacedBefore(ctx, dir, entries, made)
	if err != nil {
		return err
	}
	if len(doomed) > 0 {
		// Without it the next start reads the whole log, no more.
		if err := s.WriteSnapshot(ctx); err != nil {
			s.log.Warn("snapshot not written before files are removed", "error", err)
		}
	}
	expired := s.expired(entries, past)
	for _, name := range slices.Concat(doomed, expired) {
		if err := s.unlinkOne(filepath.Join(dir, name), out); err != nil {
			return err
		}
	}
	if len(expired) > 0 {
		s.journal.swap(func(uint32) bool { return false }, nil)
	}
	if len(out.Names) == 0 {
		return nil
	}
	return s.fs.SyncDir(dir)
}

func (s *Store) unlinkOne(name string, out *Unlinked) error {
	info, err := s.fs.Lstat(name)
	if err == nil {
		err = s.fs.Remove(name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.forget(name)
	s.histories.drop(name)
	if err == nil {
		out.Names = append(out.Names, filepath.Base(name))
		out.Bytes += info.Size()
	}
	return nil
}

// replacedBefore lists what may go, in the order of names.
func (s *Store) replacedBefore(ctx context.Context, dir string, entries []fs.DirEntry, made time.Time) ([]string, error) {
	var names, doomed []string
	for _, e := range entries {
		if isLogFile(e) {
			names = append(names, e.Name())
		}
	}
	for _, base := range names {
		if parseFileName(base).kind != Compacted || s.retiredFile(filepath.Join(dir, base)) {
			continue
		}
		h, err := s.readHeader(filepath.Join(dir, base))
		if err != nil {
			continue // start-up counts what is damaged
		}
		if at, err := time.Parse(time.RFC3339, h.Created); err != nil || !at.Before(made) {
			continue
		}
		for _, name := range s.standsFor(ctx, dir, base, names) {
			if s.listed(dir, name, h.Replaces) && !s.inUse(filepath.Join(dir, name)) {
				doomed = append(doomed, name)
			}
		}
	}
	slices.Sort(doomed)
	return slices.Compact(doomed), ctx.Err()
}

// listed reports whether a file is, to the last byte, one that was folded in.
func (s *Store) listed(dir, name string, list []replaced) bool {
	i := slices.IndexFunc(list, func(r replaced) bool { return r.Name == name })
	return i >= 0 && s.hasCRC(filepath.Join(dir, name), list[i].CRC)
}

// expired lists own histories that hold nothing after past.
func (s *Store) expired(entries []fs.DirEntry, past time.Time) []string {
	var names []string
	for _, e := range entries {
		if parseFileName(e.Name()).kind != History || !isLogFile(e) {
			continue
		}
		h, err := s.readHeader(filepath.Join(s.ownDir(), e.Name()))
		if err != nil {
			continue
		}
		if newest, err := ParseStamp(h.Newest); err == nil && newest.Time().Before(past) {
			names = append(names, e.Name())
		}
	}
	return names
}
