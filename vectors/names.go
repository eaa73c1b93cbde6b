package vectors

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	suffix     = ".vec"
	tempSuffix = ".tmp"

	maxNumber = 99_999_999
)

// fileName is the name of a device's file: fixed width, so that a listing is in order.
func fileName(device string, number int) string {
	return fmt.Sprintf("%s-%08d%s", device, number, suffix)
}

// tempName is what a compacted file is called until it is whole.
func tempName(device string, number int) string {
	return fmt.Sprintf(".%s-%08d%s", device, number, tempSuffix)
}

// scratchName is what a scratch file is called before it loses its name.
func scratchName(device string) string { return "." + device + "-rows" + tempSuffix }

// parseName reads what fileName wrote.
func parseName(name string) (device string, number int, ok bool) {
	stem, isOurs := strings.CutSuffix(name, suffix)
	device, digits, cut := strings.Cut(stem, "-")
	number, err := strconv.Atoi(digits)
	ok = isOurs && cut && err == nil && number > 0 && validDevice(device) && fileName(device, number) == name
	return device, number, ok
}

// validDevice reports whether a device can be part of a file's name.
func validDevice(device string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
	return device != "" && len(device) <= maxDevice && strings.Trim(device, letters) == ""
}

// isTemp reports whether name is a temporary file of device.
func isTemp(device, name string) bool {
	return strings.HasPrefix(name, "."+device+"-") && strings.HasSuffix(name, tempSuffix)
}

func path(dir, name string) string { return filepath.Join(dir, name) }

// state is what changes when a file is written or another takes its name.
type state struct {
	size, modified int64
	inode          uint64
}

func stateOf(info fs.FileInfo) state {
	s := state{size: info.Size(), modified: info.ModTime().UnixNano()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode = sys.Ino
	}
	return s
}
