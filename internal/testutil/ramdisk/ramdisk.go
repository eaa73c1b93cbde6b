// Package ramdisk keeps the files of tests in memory, where creating and syncing them costs next to nothing. A package
// whose tests import it has its temporary folders in /dev/shm, if that is a tmpfs with room. Benchmarks have theirs on
// the disk. With TMPDIR set they are where that says: TMPDIR=/tmp go test ./engine tests on the disk, as does all of
// make but make test.
package ramdisk

import (
	"os"
	"slices"
	"strings"
)

const (
	folder = "/dev/shm"
	least  = 2 << 30 // bytes that must be free
)

func init() {
	if os.Getenv("TMPDIR") != "" || measures(os.Args) || free(folder) < least {
		return
	}
	if err := os.Setenv("TMPDIR", folder); err != nil {
		panic(err)
	}
}

// measures reports whether a program of tests with these arguments runs benchmarks.
func measures(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-test.bench=") })
}
