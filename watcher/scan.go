package watcher

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// scan is one look at the disk, at some paths or at everything. It updates the tree, and collects
// how the disk differs from what is known.
//
// Each folder is watched before it is listed. So whatever is created in it is either in the
// listing or raises an event, at any depth and however fast: what one scan misses causes another,
// until one finds nothing.
type scan struct {
	*Watcher
	root     *os.Root
	now      time.Time
	changed  map[string]File
	vanished bool              // a file became absent
	refused  string            // why folders could not be watched
	skipped  map[string]string // reasons by path
}

// some looks at paths, and at folders with all below, parents first.
func (s *scan) some(ctx context.Context, todo work) {
	paths := slices.Concat(todo.paths, todo.folders)
	slices.Sort(paths)
	for _, p := range slices.Compact(paths) {
		s.examine(ctx, p)
	}
}

// examine looks at one path, whatever it was and whatever it is now.
func (s *scan) examine(ctx context.Context, p string) {
	dir, name := path.Dir(p), path.Base(p)
	switch {
	case p == ".":
		s.list(ctx, p)
		return
	case s.tree[dir] == nil:
		s.examine(ctx, dir)
		return // if dir is a folder, all of it has been looked at
	}
	info, err := s.root.Lstat(p)
	switch {
	case missing(err) && s.evicted(p):
		s.keep(p)
	case missing(err):
		s.vanish(p)
	case err != nil:
		s.skip(p, err)
	case s.unusual(dir, name) || s.rules.ignores(p, info.IsDir()):
		s.vanish(p)
	case s.renamed(dir, name):
		s.list(ctx, dir)
	case info.IsDir():
		s.absentFile(p, false)
		s.tree[dir].subs[name] = struct{}{}
		s.list(ctx, p)
	case info.Mode().IsRegular() && s.rules.wanted(name):
		s.lose(p)
		s.tree[dir].names[name] = struct{}{}
		s.file(p, info)
	default:
		s.special(p, info.Mode())
		s.vanish(p)
	}
}

// renamed reports whether a name is new to its folder and differs from an old one only in case. If
// the file system ignores case, both lead to the same file, and only a listing tells which is the
// real one.
func (s *scan) renamed(dir, name string) bool {
	return !s.tree[dir].holds(name) && s.tree[dir].holdsFolded(name)
}

// recheck looks once more at absent files before they are reported. Only where
// there certainly is no note they stay absent.
func (s *scan) recheck(ctx context.Context, paths []string) {
	for _, p := range paths {
		_, err := s.root.Lstat(p)
		switch {
		case err == nil:
			s.examine(ctx, p)
		case !missing(err):
			s.absent.postpone(p, s.now)
		case s.evicted(p):
			s.keep(p)
		}
	}
}

// missing reports whether an error means that nothing is at a path. All other errors leave that
// open.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// evicted reports whether a known note is in iCloud but not on this disk.
func (s *scan) evicted(p string) bool {
	if _, ok := s.known[p]; !ok {
		return false
	}
	_, err := s.root.Lstat(path.Join(path.Dir(p), stub(path.Base(p))))
	return err == nil
}

// keep marks a note that is evicted as present and unchanged.
func (s *scan) keep(p string) {
	s.absent.drop(p)
	s.tree.seed(p)
	s.skip(p, errors.New(NotLocal))
}

// stub returns the name of what iCloud leaves in place of an evicted file.
func stub(name string) string { return "." + name + ".icloud" }

// stubbed returns the name of the file that a stub stands for, "" if it is not a stub.
func stubbed(name string) string {
	rest, dot := strings.CutPrefix(name, ".")
	rest, cloud := strings.CutSuffix(rest, ".icloud")
	if !dot || !cloud {
		return ""
	}
	return rest
}

// maxDepth is how many folders deep a followed folder may be. Reaching one takes time
// that grows with its depth, and so walking down such a chain with its square.
const maxDepth = 100

// list looks at a folder and all below.
func (s *scan) list(ctx context.Context, dir string) {
	if ctx.Err() != nil {
		return
	}
	if strings.Count(dir, "/") >= maxDepth {
		s.skip(dir, fmt.Errorf("the folder is more than %d levels deep", maxDepth))
		return
	}
	entries, id, err := s.read(dir)
	if missing(err) && dir != "." {
		s.lose(dir)
		return
	}
	if err != nil {
		s.skip(dir, err) // what is known of it stays as it is
		return
	}
	old, seen := s.tree[dir], newFolder(id)
	if old == nil {
		old = seen
	}
	s.tree[dir] = seen
	for _, entry := range entries {
		s.entry(dir, entry, seen)
	}
	s.compare(dir, old, seen, entries)
	for _, sub := range slices.Sorted(maps.Keys(seen.subs)) {
		s.list(ctx, path.Join(dir, sub))
	}
}

// read watches a folder and lists it. A symbolic link is not a folder, though a Root follows those
// that stay inside.
func (s *scan) read(dir string) ([]fs.DirEntry, identity, error) {
	link, err := s.root.Lstat(dir)
	if err != nil {
		return nil, identity{}, err
	}
	f, err := s.root.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, identity{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, identity{}, err
	}
	if !os.SameFile(link, info) {
		return nil, identity{}, syscall.ENOTDIR
	}
	id := identityOf(info)
	s.watch(dir, id)
	entries, err := f.ReadDir(-1)
	return entries, id, err
}

// entry adds one entry of a folder to what was seen there.
func (s *scan) entry(dir string, entry fs.DirEntry, seen *folder) {
	p, name := path.Join(dir, entry.Name()), entry.Name()
	if s.unusual(dir, name) || s.rules.ignores(p, entry.IsDir()) {
		return
	}
	switch {
	case entry.IsDir():
		seen.subs[name] = struct{}{}
	case entry.Type().IsRegular():
		if !s.rules.wanted(name) {
			return
		}
		info, err := entry.Info()
		if missing(err) {
			return
		}
		seen.names[name] = struct{}{}
		if err != nil {
			s.skip(p, err)
			return
		}
		s.file(p, info)
	default:
		s.special(p, entry.Type())
	}
}

// unusual reports, and adds to the skipped paths, names that are not UTF-8 and the stubs of notes
// that are not on this disk.
func (s *scan) unusual(dir, name string) bool {
	if !utf8.ValidString(name) {
		s.skip(path.Join(dir, name), errors.New(BadName))
		return true
	}
	if note := path.Join(dir, stubbed(name)); note != dir && s.rules.wanted(note) && !s.rules.hides(note) {
		s.skip(note, errors.New(NotLocal))
		return true
	}
	return false
}

// compare finds what a folder held before and does not hold now.
func (s *scan) compare(dir string, old, seen *folder, entries []fs.DirEntry) {
	var stubs map[string]struct{} // made when first needed
	for name := range old.names {
		if _, ok := seen.names[name]; ok {
			continue
		}
		if stubs == nil {
			stubs = namesOf(entries)
		}
		if _, ok := stubs[stub(name)]; ok {
			seen.names[name] = struct{}{}
			continue
		}
		s.absentFile(path.Join(dir, name), false)
	}
	for name := range old.subs {
		if _, ok := seen.subs[name]; !ok {
			s.lose(path.Join(dir, name))
		}
	}
}

func namesOf(entries []fs.DirEntry) map[string]struct{} {
	names := make(map[string]struct{}, len(entries))
	for _, entry := range entries {
		names[entry.Name()] = struct{}{}
	}
	return names
}

// vanish marks a path as holding neither note nor folder.
func (s *scan) vanish(p string) {
	s.absentFile(p, false)
	s.lose(p)
}

// lose removes a folder that no longer exists, its watches and all below.
func (s *scan) lose(dir string) {
	s.unwatch(dir)
	s.forget(dir)
	if above := s.tree[path.Dir(dir)]; above != nil {
		delete(above.subs, path.Base(dir))
	}
}

func (s *scan) forget(dir string) {
	d := s.tree[dir]
	if d == nil {
		return
	}
	for name := range d.subs {
		s.forget(path.Join(dir, name))
	}
	for name := range d.names {
		s.absentFile(path.Join(dir, name), true)
	}
	delete(s.tree, dir)
}

// absentFile marks a path as no file, or no longer one.
func (s *scan) absentFile(p string, whole bool) {
	delete(s.held, p)
	delete(s.changed, p)
	if d := s.tree[path.Dir(p)]; d != nil {
		delete(d.names, path.Base(p))
	}
	if f, ok := s.known[p]; ok {
		s.absent.add(f, whole, s.now)
		s.vanished = true
	}
}

// emptyFor is how long a file that had content may be empty before that is
// believed. Editors that save by truncating write the new content within
// milliseconds, sync clients over a slow link within a second.
const emptyFor = 2 * time.Second

// file compares a note with what is known of it.
func (s *scan) file(p string, info fs.FileInfo) {
	s.absent.drop(p)
	f := fileOf(p, info)
	known, ok := s.known[p]
	if ok && f.Size == 0 && known.Size > 0 {
		since, held := s.held[p]
		if !held {
			s.held[p] = s.now
		}
		if !held || s.now.Sub(since) < emptyFor {
			return
		}
	}
	delete(s.held, p)
	if known != f {
		s.changed[p] = f
	}
}

// special adds to the skipped paths what looks like a note, or like a folder, and is neither.
func (s *scan) special(p string, mode fs.FileMode) {
	switch {
	case mode&fs.ModeSymlink != 0:
		s.skip(p, errors.New(Symlink))
	case s.rules.wanted(p):
		s.skip(p, errors.New(NotRegular))
	}
}

// maxSkips bounds what Status lists.
const maxSkips = 10_000

func (s *scan) skip(p string, err error) {
	if len(s.skipped) < maxSkips {
		s.skipped[p] = reason(err)
	}
}

// mergeSkips replaces the reasons of the paths that were looked at.
func (s *scan) mergeSkips(todo work) {
	if todo.all {
		s.state.skipped = s.skipped
		return
	}
	looked := make(map[string]bool, len(todo.paths)+len(todo.folders))
	for _, p := range slices.Concat(todo.paths, todo.folders) {
		looked[p] = true
	}
	merged := s.skipped // a new map: the old one belongs to Status
	for p, why := range s.state.skipped {
		if !within(looked, p) && len(merged) < maxSkips {
			merged[p] = why
		}
	}
	s.state.skipped = merged
}

// within reports whether paths contains a path, or a folder above it.
func within(paths map[string]bool, p string) bool {
	for ; p != "."; p = path.Dir(p) {
		if paths[p] {
			return true
		}
	}
	return false
}

// reason returns the message of an error without the operation and the path in it.
func reason(err error) string { return cause(err).Error() }

func cause(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}
