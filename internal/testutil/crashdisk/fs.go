package crashdisk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"emberd/internal/durable"
)

// place is a name in a directory.
type place struct {
	dir  *node
	name string
}

func (p place) node() *node { return p.dir.entries[p.name] }

// find returns the node that name means now.
func (d *Disk) find(name string) (*node, error) {
	if name == "" {
		return nil, syscall.ENOENT
	}
	n := d.root
	for part := range strings.SplitSeq(strings.Trim(filepath.Clean("/"+name), "/"), "/") {
		switch {
		case part == "": // the root
		case !n.isDir():
			return nil, syscall.ENOTDIR
		case n.entries[part] == nil:
			return nil, syscall.ENOENT
		default:
			n = n.entries[part]
		}
	}
	return n, nil
}

func (d *Disk) findDir(name string) (*node, error) {
	n, err := d.find(name)
	if err == nil && !n.isDir() {
		return nil, syscall.ENOTDIR
	}
	return n, err
}

// findPlace returns where name is or would be.
func (d *Disk) findPlace(name string) (place, error) {
	if name == "" {
		return place{}, syscall.ENOENT
	}
	full := filepath.Clean("/" + name)
	if full == "/" {
		return place{}, syscall.EBUSY
	}
	dir, err := d.findDir(filepath.Dir(full))
	return place{dir, filepath.Base(full)}, err
}

// CreateAppend implements [durable.FS].
func (d *Disk) CreateAppend(name string) (durable.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := &node{}
	if err := d.add(OpCreate, name, n); err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &appendFile{handle{disk: d, node: n, name: name}}, nil
}

// Mkdir implements [durable.FS].
func (d *Disk) Mkdir(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.add(OpMkdir, name, newDir()); err != nil {
		return &fs.PathError{Op: "mkdir", Path: name, Err: err}
	}
	return nil
}

// add gives a new node its name.
func (d *Disk) add(op Op, name string, n *node) error {
	if _, err := d.begin(op, name); err != nil {
		return err
	}
	to, err := d.findPlace(name)
	switch {
	case errors.Is(err, syscall.EBUSY):
		return syscall.EEXIST
	case err != nil:
		return err
	case to.node() != nil:
		return syscall.EEXIST
	}
	d.inodes++
	n.inode, n.modified = d.inodes, d.time()
	d.apply(&change{node: n, to: &to})
	return nil
}

// OpenRead implements [durable.FS].
func (d *Disk) OpenRead(name string) (durable.ReadFile, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, err := d.begin(OpOpen, name)
	var n *node
	if err == nil {
		n, err = d.find(name)
	}
	if err == nil && n.isDir() {
		err = durable.ErrNotRegular
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &readFile{handle: handle{disk: d, node: n, name: name}}, nil
}

// ReadDir implements [durable.FS].
func (d *Disk) ReadDir(name string) ([]fs.DirEntry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, err := d.begin(OpReadDir, name)
	var dir *node
	if err == nil {
		dir, err = d.findDir(name)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	var entries []fs.DirEntry
	for _, base := range names(dir.entries) {
		entries = append(entries, fs.FileInfoToDirEntry(describe(base, dir.entries[base])))
	}
	return entries, nil
}

// Lstat implements [durable.FS].
func (d *Disk) Lstat(name string) (fs.FileInfo, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, err := d.begin(OpLstat, name)
	var n *node
	if err == nil {
		n, err = d.find(name)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return describe(filepath.Base(name), n), nil
}

// Rename implements [durable.FS].
func (d *Disk) Rename(oldname, newname string) error {
	return d.rename(oldname, newname, d.checkReplace)
}

// RenameNoReplace implements [durable.FS].
func (d *Disk) RenameNoReplace(oldname, newname string) error {
	return d.rename(oldname, newname, func(_, to place) error {
		if to.node() != nil {
			return syscall.EEXIST
		}
		return nil
	})
}

// Exchange makes each of two names in one directory mean what the other meant, as one change: a
// crash finds both as they were or both exchanged. It is [durable.Root.Exchange] for this disk.
func (d *Disk) Exchange(a, b string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.exchange(a, b); err != nil {
		return &os.LinkError{Op: "rename", Old: a, New: b, Err: err}
	}
	return nil
}

func (d *Disk) exchange(a, b string) error {
	if _, err := d.begin(OpRename, a, b); err != nil {
		return err
	}
	from, err := d.findPlace(a)
	if err != nil {
		return err
	}
	to, err := d.findPlace(b)
	switch {
	case err != nil:
		return err
	case from.node() == nil, to.node() == nil:
		return syscall.ENOENT
	case from.dir != to.dir:
		return errors.ErrUnsupported
	case from.node() != to.node():
		d.apply(&change{node: from.node(), other: to.node(), from: &from, to: &to})
	}
	return nil
}

// checkReplace refuses what os.Rename refuses.
func (d *Disk) checkReplace(from, to place) error {
	switch target := to.node(); {
	case target == nil:
		return nil
	case target.isDir():
		return syscall.EEXIST
	case from.node().isDir():
		return syscall.ENOTDIR
	}
	return nil
}

func (d *Disk) rename(oldname, newname string, check func(from, to place) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.move(oldname, newname, check); err != nil {
		return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: err}
	}
	return nil
}

func (d *Disk) move(oldname, newname string, check func(from, to place) error) error {
	if _, err := d.begin(OpRename, oldname, newname); err != nil {
		return err
	}
	from, err := d.findPlace(oldname)
	if err != nil {
		return err
	}
	to, err := d.findPlace(newname)
	if err != nil {
		return err
	}
	n := from.node()
	if n == nil {
		return syscall.ENOENT
	}
	if err := check(from, to); err != nil {
		return err
	}
	if n.isDir() && from.dir != to.dir {
		return errors.ErrUnsupported
	}
	if to.node() != n { // two names of one file stay, as in rename(2)
		d.apply(&change{node: n, from: &from, to: &to})
	}
	return nil
}

// Remove implements [durable.FS].
func (d *Disk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.remove(name); err != nil {
		return &fs.PathError{Op: "remove", Path: name, Err: err}
	}
	return nil
}

func (d *Disk) remove(name string) error {
	if _, err := d.begin(OpRemove, name); err != nil {
		return err
	}
	from, err := d.findPlace(name)
	if err != nil {
		return err
	}
	switch n := from.node(); {
	case n == nil:
		return syscall.ENOENT
	case len(n.entries) > 0:
		return syscall.ENOTEMPTY
	default:
		d.apply(&change{node: n, from: &from})
		return nil
	}
}

// SyncFile implements [durable.FS].
func (d *Disk) SyncFile(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, err := d.begin(OpSync, name)
	n, missing := d.find(name)
	switch {
	case errors.Is(err, ErrPowerOff):
	case missing != nil:
		err = missing
	case n.isDir():
		err = durable.ErrNotRegular
	case err != nil:
		n.failSync()
	default:
		n.sync()
	}
	if err != nil {
		return &fs.PathError{Op: "sync", Path: name, Err: err}
	}
	return nil
}

// SyncDir implements [durable.FS].
func (d *Disk) SyncDir(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, err := d.begin(OpSyncDir, name)
	var dir *node
	if err == nil {
		dir, err = d.findDir(name)
	}
	if err != nil {
		return &fs.PathError{Op: "sync", Path: name, Err: err}
	}
	d.settle(dir)
	return nil
}

// Free implements [durable.FS].
func (d *Disk) Free(name string) (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, err := d.begin(OpFree, name)
	if err == nil {
		_, err = d.find(name)
	}
	if err != nil {
		return 0, &fs.PathError{Op: "statfs", Path: name, Err: err}
	}
	return d.free(), nil
}

// fileInfo is a node as it was when asked.
type fileInfo struct {
	name     string
	size     int64
	mode     fs.FileMode
	modified time.Time
	inode    uint64
}

func describe(name string, n *node) fs.FileInfo {
	info := fileInfo{name: name, size: int64(len(n.now.data)), mode: 0o600, modified: time.Unix(int64(n.modified), 0),
		inode: n.inode}
	if n.isDir() {
		info.mode = fs.ModeDir | 0o700
	}
	return info
}

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.size }
func (i fileInfo) Mode() fs.FileMode  { return i.mode }
func (i fileInfo) ModTime() time.Time { return i.modified }
func (i fileInfo) IsDir() bool        { return i.mode.IsDir() }

// Sys is what os.Lstat has there, with the inode number only.
func (i fileInfo) Sys() any { return &syscall.Stat_t{Ino: i.inode} }
