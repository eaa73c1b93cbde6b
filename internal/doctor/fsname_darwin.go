package doctor

import "golang.org/x/sys/unix"

// fsName names the kind of a file system.
func fsName(st *unix.Statfs_t) string { return unix.ByteSliceToString(st.Fstypename[:]) }
