package vault

import (
	"io/fs"
	"syscall"
	"time"
)

func fileOf(path string, info fs.FileInfo) File {
	f := File{Path: path, Size: info.Size(), ModTime: info.ModTime()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		f.ChangeTime, f.Inode = time.Unix(st.Ctimespec.Unix()), st.Ino
	}
	return f
}

// dataless is SF_DATALESS of <sys/stat.h>: since macOS 14 an evicted file keeps
// its name and size, and reading it would wait for the download.
const dataless = 0x40000000

func evicted(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Flags&dataless != 0
}
