package watcher

import (
	"cmp"
	"path"
	"strings"
)

// tree contains the folders as they were last listed, by path; "." is the root. It describes the
// disk, Watcher.known what the caller has received. Every known path that is not missing is among
// the names of its folder.
type tree map[string]*folder

type folder struct {
	id    identity
	names map[string]struct{} // of notes
	subs  map[string]struct{} // of folders that are not ignored
}

// identity distinguishes a file or folder from every other that exists at the same time.
type identity struct{ dev, ino uint64 }

func newFolder(id identity) *folder {
	return &folder{id: id, names: make(map[string]struct{}), subs: make(map[string]struct{})}
}

// seed enters a path that the caller knows, with the folders above it, so that
// the first listing can miss it.
func (t tree) seed(p string) {
	t.seedFolder(path.Dir(p)).names[path.Base(p)] = struct{}{}
}

func (t tree) seedFolder(dir string) *folder {
	if d := t[dir]; d != nil {
		return d
	}
	d := newFolder(identity{})
	t[dir] = d
	if dir != "." {
		t.seedFolder(path.Dir(dir)).subs[path.Base(dir)] = struct{}{}
	}
	return d
}

// holds reports whether a name is in the folder, as a note or as a folder.
func (d *folder) holds(name string) bool {
	_, note := d.names[name]
	_, sub := d.subs[name]
	return note || sub
}

// holdsFolded reports the same of a name in any case.
func (d *folder) holdsFolded(name string) bool {
	for _, names := range [...]map[string]struct{}{d.names, d.subs} {
		for other := range names {
			if strings.EqualFold(other, name) {
				return true
			}
		}
	}
	return false
}

func comparePaths(a, b File) int { return cmp.Compare(a.Path, b.Path) }
