package watcher

import (
	"errors"
	"io/fs"
	"syscall"
)

// remoteKinds are file systems that can change without an event, with their
// names: the change is made on another machine, or behind FUSE. The numbers are
// those of statfs(2); overlay, tmpfs and the disk file systems are not here.
var remoteKinds = map[uint32]string{
	0x6969:     "nfs",
	0x517b:     "smb",
	0xff534d42: "cifs",
	0xfe534d42: "smb2",
	0x65735546: "fuse",
	0x01021997: "9p",
	0x00c36400: "ceph",
	0x5346414f: "afs",
	0x73757245: "coda",
	0x786f4256: "vboxsf",
	0xbacbacbc: "vmhgfs",
}

// remote returns the name of the file system at a path if it can change without
// raising events, and else nothing.
func remote(name string) string {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(name, &stat); err != nil {
		return ""
	}
	return remoteKinds[uint32(stat.Type)]
}

func identityOf(info fs.FileInfo) identity {
	stat := info.Sys().(*syscall.Stat_t)
	return identity{dev: stat.Dev, ino: stat.Ino}
}

func fileOf(path string, info fs.FileInfo) File {
	stat := info.Sys().(*syscall.Stat_t)
	return File{
		Path:       path,
		Size:       stat.Size,
		ModTime:    stat.Mtim.Nano(),
		ChangeTime: stat.Ctim.Nano(),
		Inode:      stat.Ino,
	}
}

// exhausted explains an error that says that the system has no watches left;
// other errors it does not.
func exhausted(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "your user has reached the limit of file watches; raise fs.inotify.max_user_watches with sysctl"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "your user has reached the limit of inotify instances or open files; raise " +
			"fs.inotify.max_user_instances with sysctl"
	}
	return ""
}
