package vault

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"

	"golang.org/x/sys/unix"

	"emberd/internal/durable"
)

// noteDisk is the disk below the vault's root as the writer needs it. The disk in
// memory stands in for it where power cuts are tried.
type noteDisk interface {
	durable.FS
	Exchange(a, b string) error
	Link(oldname, newname string) error
	Export(name, outside string) error
	Import(outside, name string) error
	// dress gives a file mode, owner and extended attributes of another one.
	dress(name, like string) error
	// share gives a file or folder the permissions of a folder.
	share(name, like string) error
}

// rootDisk is the noteDisk of a vault on a real disk.
type rootDisk struct {
	durable.Root
	root *os.Root
}

// namesIn returns the names of what is in a folder. On a real disk it looks at no file, which [os.Root] does at each
// when it lists entries.
func namesIn(d noteDisk, dir string) ([]string, error) {
	if real, ok := d.(rootDisk); ok {
		f, err := real.root.Open(path.Clean(dir))
		if err != nil {
			return nil, err
		}
		names, err := f.Readdirnames(-1)
		return names, errors.Join(err, f.Close())
	}
	entries, err := d.ReadDir(dir)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

// errDress is the cause when mode, owner or attributes of a file cannot be kept.
var errDress = errors.New("cannot preserve the mode, owner or attributes of the file")

func (f rootDisk) dress(name, like string) error {
	to, err := f.OpenRead(name)
	if err != nil {
		return err
	}
	defer to.Close()
	from, err := f.OpenRead(like)
	if err != nil {
		return err
	}
	defer from.Close()
	if err := dress(to.(*os.File), from.(*os.File)); err != nil {
		return fmt.Errorf("%w: %w", errDress, err)
	}
	return nil
}

// dress copies owner, extended attributes and mode, the mode last, because a change of owner
// clears bits of it.
func dress(to, from *os.File) error {
	info, err := from.Stat()
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		if err := chown(to, int(st.Uid), int(st.Gid)); err != nil {
			return err
		}
	}
	names, err := attributes(from)
	for _, name := range names {
		if err == nil {
			err = copyAttribute(to, from, name)
		}
	}
	if err != nil {
		return err
	}
	return to.Chmod(info.Mode().Perm())
}

func chown(f *os.File, uid, gid int) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) == uid && int(st.Gid) == gid {
		return nil
	}
	return f.Chown(uid, gid)
}

// attributes lists the extended attributes; a file system without any has none.
func attributes(f *os.File) ([]string, error) {
	list, err := sized(func(buf []byte) (int, error) { return unix.Flistxattr(int(f.Fd()), buf) })
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOSYS) {
		return nil, nil
	}
	var names []string
	for name := range bytes.SplitSeq(list, []byte{0}) {
		if len(name) > 0 {
			names = append(names, string(name))
		}
	}
	return names, err
}

func copyAttribute(to, from *os.File, name string) error {
	get := func(f *os.File) ([]byte, error) {
		return sized(func(buf []byte) (int, error) { return unix.Fgetxattr(int(f.Fd()), name, buf) })
	}
	want, err := get(from)
	if err != nil {
		return err
	}
	if has, err := get(to); err == nil && bytes.Equal(has, want) {
		return nil // labels that the system sets itself
	}
	return unix.Fsetxattr(int(to.Fd()), name, want, 0)
}

// sized calls for the size first, and then with a buffer of that size.
func sized(call func(buf []byte) (int, error)) ([]byte, error) {
	n, err := call(nil)
	if err != nil || n == 0 {
		return nil, err
	}
	buf := make([]byte, n)
	n, err = call(buf)
	return buf[:max(n, 0)], err
}

// share keeps x for folders only. A file system that gives all files the same
// permissions, as FAT does, refuses to change them, and then they are right already.
func (f rootDisk) share(name, like string) error {
	folder, err := f.root.Stat(like)
	if err != nil {
		return err
	}
	info, err := f.root.Lstat(name)
	if err != nil {
		return err
	}
	mode := folder.Mode().Perm() | 0o600
	if !info.IsDir() {
		mode &= 0o666
	}
	err = f.root.Chmod(name, mode)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// put renames a file to a name that must be free: exclusively if the file system can, otherwise by
// a link, otherwise after it has checked the name. In the last case a file that appears in between
// would be replaced.
func put(f noteDisk, from, to string) error {
	err := f.RenameNoReplace(from, to)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err = f.Link(from, to); err == nil {
		return f.Remove(from)
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := f.Lstat(to); err == nil {
		return &fs.PathError{Op: "rename", Path: to, Err: fs.ErrExist}
	}
	return f.Rename(from, to)
}

// makeFolder makes a folder of the vault and those above it, syncs them, and returns those it
// made, the outermost first.
func makeFolder(f noteDisk, dir string) (made []string, err error) {
	if _, err := f.Lstat(dir); err == nil || dir == "." {
		return nil, err
	}
	parent := path.Dir(dir)
	if made, err = makeFolder(f, parent); err != nil {
		return made, err
	}
	switch err := f.Mkdir(dir); {
	case errors.Is(err, fs.ErrExist):
	case err != nil:
		return made, err
	default:
		made = append(made, dir)
	}
	if err := f.share(dir, parent); err != nil {
		return made, err
	}
	return made, f.SyncDir(parent)
}
