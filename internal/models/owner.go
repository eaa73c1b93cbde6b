package models

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// maxLinks is how many symbolic links a path may lead through, as on Linux.
const maxLinks = 40

// checkOwner returns whether another user could change a file or directory of native code, or
// replace a directory on the way to it. It follows links on the way as the system does.
func checkOwner(name string) error {
	name, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	top, err := ownerOf("/")
	if err != nil {
		return err
	}
	at, left, links := "/", parts(name), 0
	for {
		h, err := ownerOf(at)
		if err != nil {
			return fmt.Errorf("cannot check runtime file %s: %w", name, err)
		}
		if fault := h.fault(os.Getuid(), top.uid, len(left) > 0); fault != "" {
			return fmt.Errorf("%s %s", at, fault)
		}
		if h.mode&fs.ModeSymlink != 0 {
			if links++; links > maxLinks {
				return fmt.Errorf("cannot check runtime file %s: the path has too many symbolic links", name)
			}
			target, err := os.Readlink(at)
			if err != nil {
				return fmt.Errorf("cannot check runtime file %s: %w", name, err)
			}
			left = append(parts(target), left...)
			if at = filepath.Dir(at); filepath.IsAbs(target) {
				at = "/"
			}
			continue
		}
		if len(left) == 0 {
			return nil
		}
		at, left = filepath.Join(at, left[0]), left[1:]
	}
}

func parts(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == filepath.Separator })
}

// A fileOwner describes which users can change a file or a directory.
type fileOwner struct {
	mode     fs.FileMode
	uid, gid int
}

func ownerOf(name string) (fileOwner, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return fileOwner{}, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileOwner{}, errors.New("the owner of the file is unknown")
	}
	return fileOwner{info.Mode(), int(stat.Uid), int(stat.Gid)}, nil
}

// fault returns why users other than me, root and top, the owner of the whole tree, could change
// the file, and "" if they could not. In a sandbox that maps users, root's files belong to top. On
// the way to a file a directory such as /tmp is fine, where each user can only change their own
// entries (the sticky bit). A group may write to root's files, as to /usr/local/lib on Debian, and
// macOS's administrators to Homebrew's. A group with its owner's number has no other member by the
// custom of Debian and Fedora.
func (o fileOwner) fault(me, top int, way bool) string {
	const admin = 80 // the group of macOS's administrators, who may become root
	system := o.uid == 0 || o.uid == top
	ours := system || o.gid == o.uid || runtime.GOOS == "darwin" && o.gid == admin
	switch perm := o.mode.Perm(); {
	case !system && o.uid != me:
		return "belongs to another user, who could change the code that emberd runs; install a copy, or change the " +
			"owner to root"
	case o.mode&fs.ModeSymlink != 0 || way && o.mode&fs.ModeSticky != 0:
		return ""
	case perm&0o002 != 0:
		return "is writable by all users, but emberd runs native code from it; remove this permission with chmod o-w"
	case perm&0o020 != 0 && !ours:
		return "is writable by its group, but emberd runs native code from it; remove this permission with chmod g-w"
	}
	return ""
}
