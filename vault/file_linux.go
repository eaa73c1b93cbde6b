package vault

import (
	"io/fs"
	"syscall"
	"time"
)

func fileOf(path string, info fs.FileInfo) File {
	f := File{Path: path, Size: info.Size(), ModTime: info.ModTime()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		f.ChangeTime, f.Inode = time.Unix(st.Ctim.Unix()), st.Ino
	}
	return f
}

// evicted reports whether iCloud has evicted a file, which happens on macOS only.
func evicted(fs.FileInfo) bool { return false }
