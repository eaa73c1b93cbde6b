package doctor

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// Bounds of free space, in bytes: below the first nothing is saved (package stm has the same),
// below the second that is near.
const (
	NoRoom     = 16 << 20
	LittleRoom = 256 << 20
)

// remote are file systems that change without an event: on another machine, or behind FUSE.
var remote = []string{"nfs", "smb", "cifs", "smb2", "fuse", "9p", "ceph", "vboxsf", "smbfs", "webdav", "macfuse",
	"osxfuse"}

// modeless reports whether all files of such a file system have the same mode.
func modeless(kind string) bool {
	return slices.Contains([]string{"vfat", "exfat", "msdos", "ntfs", "cifs", "smb2", "smbfs", "9p", "vboxsf"}, kind)
}

// Disk looks at how much room there is where memories are written. wipe is the command that
// makes room.
func Disk(dir, wipe string) []Finding {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return nil // another finding says that it is missing
	}
	return room(dir, uint64(st.Bavail)*uint64(st.Bsize), uint64(st.Files), uint64(st.Ffree), wipe)
}

// room judges the bytes and the number of files that are free. A file system that counts no
// files has 0 of 0.
func room(dir string, free, files, filesFree uint64, wipe string) []Finding {
	f := Finding{Area: "disk", Severity: Warning, Next: wipe}
	switch {
	case free < NoRoom:
		f.Severity, f.Code = Error, "disk-full"
		f.Text = fmt.Sprintf("the disk of %s has %s free; below %s, emberd does not save memories; free some space",
			dir, mebibytes(free), mebibytes(NoRoom))
	case free < LittleRoom:
		f.Code = "disk-low"
		f.Text = fmt.Sprintf("the disk of %s has %s free; below %s, emberd does not save memories", dir,
			mebibytes(free), mebibytes(NoRoom))
	case files > 0 && filesFree < 100:
		f.Severity, f.Code = Error, "disk-files"
		f.Text = fmt.Sprintf("the disk of %s has space for only %d more files; remove some files", dir, filesFree)
	default:
		return []Finding{{Area: "disk", Severity: OK, Text: mebibytes(free) + " free"}}
	}
	return []Finding{f}
}

func mebibytes(n uint64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
