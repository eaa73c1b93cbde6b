package durable

import (
	"io/fs"
	"syscall"
)

// OthersWrite reports whether users other than the owner can write to a file or folder, by its mode. A group
// with its owner's number has no other member, by the custom of Debian and Fedora.
func OthersWrite(info fs.FileInfo) bool {
	perm := info.Mode().Perm()
	st, ok := info.Sys().(*syscall.Stat_t)
	return perm&0o002 != 0 || perm&0o020 != 0 && (!ok || st.Gid != st.Uid)
}
