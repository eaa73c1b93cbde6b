package engines

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

// mostLinks is how many symbolic links a path may lead through, as on Linux.
const mostLinks = 40

// checkOwner says whether somebody else could change what native code is run from: the file or
// directory of that name, or one on the way to it, where another could take its place. Links on
// the way are followed as the system would.
func checkOwner(name string) error {
	name, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	top, err := holderOf("/")
	if err != nil {
		return err
	}
	at, left, links := "/", parts(name), 0
	for {
		h, err := holderOf(at)
		if err != nil {
			return fmt.Errorf("engine file %s cannot be examined: %w", name, err)
		}
		if fault := h.fault(os.Getuid(), top.uid, len(left) > 0); fault != "" {
			return fmt.Errorf("%s %s", at, fault)
		}
		if h.mode&fs.ModeSymlink != 0 {
			if links++; links > mostLinks {
				return fmt.Errorf("engine file %s cannot be examined: it leads through too many links", name)
			}
			target, err := os.Readlink(at)
			if err != nil {
				return fmt.Errorf("engine file %s cannot be examined: %w", name, err)
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

// A holder is who may change a file or a directory.
type holder struct {
	mode     fs.FileMode
	uid, gid int
}

func holderOf(name string) (holder, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return holder{}, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return holder{}, errors.New("nothing tells whom it belongs to")
	}
	return holder{info.Mode(), int(stat.Uid), int(stat.Gid)}, nil
}

// fault is why others than this user, root and who owns the whole tree could change what is
// there, and empty if they could not. In a sandbox whose users are mapped root is the last of
// these only by its files. On the way to something a directory such as /tmp will do, where
// each may change what is his own (the sticky bit). What root owns and its group may write to
// is the system's own affair, as with /usr/local/lib on Debian, and so is what macOS's
// administrators may, as with Homebrew's; a group with its owner's number has no other member
// by the custom of Debian and Fedora.
func (h holder) fault(me, top int, way bool) string {
	const admin = 80 // the group of macOS's administrators, who may become root
	system := h.uid == 0 || h.uid == top
	ours := system || h.gid == h.uid || runtime.GOOS == "darwin" && h.gid == admin
	switch perm := h.mode.Perm(); {
	case !system && h.uid != me:
		return "belongs to another user, who could change what is run from there: install a copy, or have it belong to root"
	case h.mode&fs.ModeSymlink != 0 || way && h.mode&fs.ModeSticky != 0:
		return ""
	case perm&0o002 != 0:
		return "can be written to by everybody, and native code is run from there: take that away with chmod o-w"
	case perm&0o020 != 0 && !ours:
		return "can be written to by its group, and native code is run from there: take that away with chmod g-w"
	}
	return ""
}
