package doctor

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// kinds are the numbers of statfs(2) for the file systems that people keep notes on.
var kinds = map[uint32]string{
	0xef53: "ext4", 0x9123683e: "btrfs", 0x58465342: "xfs", 0x2fc12fc1: "zfs", 0xf2f52010: "f2fs", 0x01021994: "tmpfs",
	0x794c7630: "overlay",
	0x6969:     "nfs", 0x517b: "smb", 0xff534d42: "cifs", 0xfe534d42: "smb2", 0x65735546: "fuse", 0x01021997: "9p",
	0x00c36400: "ceph",
	0x786f4256: "vboxsf", 0x4d44: "vfat", 0x2011bab0: "exfat", 0x5346544e: "ntfs", 0x7366746e: "ntfs3",
	0xca451a4e: "bcachefs",
}

// fsName names the kind of a file system.
func fsName(st *unix.Statfs_t) string {
	if name, ok := kinds[uint32(st.Type)]; ok {
		return name
	}
	return fmt.Sprintf("file system %#x", uint32(st.Type))
}
