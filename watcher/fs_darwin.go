package watcher

import (
	"errors"
	"io/fs"
	"syscall"
)

// mntLocal is MNT_LOCAL of sys/mount.h: the file system is stored locally.
const mntLocal = 0x1000

// remote returns the name of the file system at a path if it can change without
// raising events, and else nothing.
func remote(name string) string {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(name, &stat); err != nil || stat.Flags&mntLocal != 0 {
		return ""
	}
	kind := make([]byte, 0, len(stat.Fstypename))
	for _, c := range stat.Fstypename {
		if c == 0 {
			break
		}
		kind = append(kind, byte(c))
	}
	return string(kind)
}

func identityOf(info fs.FileInfo) identity {
	stat := info.Sys().(*syscall.Stat_t)
	return identity{dev: uint64(stat.Dev), ino: stat.Ino}
}

func fileOf(path string, info fs.FileInfo) File {
	stat := info.Sys().(*syscall.Stat_t)
	return File{
		Path:       path,
		Size:       stat.Size,
		ModTime:    stat.Mtimespec.Nano(),
		ChangeTime: stat.Ctimespec.Nano(),
		Inode:      stat.Ino,
	}
}

// exhausted explains an error that says that the system has no watches left;
// other errors it does not. kqueue holds a file open for each file it watches.
func exhausted(err error) string {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return "this process has reached its limit of open files; raise kern.maxfilesperproc with sysctl, and ulimit -n"
	}
	return ""
}
