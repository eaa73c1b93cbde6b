package doctor

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// socketName is what the sockets of daemons are called, unless a setting says otherwise.
const socketName = "emberd.sock"

// Sockets returns the paths of sockets of this user that daemons seem to listen on, other than
// the one at own. Those that a setting gives another name are not among them.
func Sockets(own string) []string {
	return slices.DeleteFunc(listening(), func(path string) bool { return path == own || !ours(path) })
}

// ours reports whether a socket belongs to this user. Answers on another user's socket are not
// trusted, because doctor suggests to end the process that they name.
func ours(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// parseSockets finds the paths in a listing that has one at the end of each line, as proc_net(5)
// and netstat -f unix of a Mac do.
func parseSockets(listing []byte) []string {
	var paths []string
	for lines := bufio.NewScanner(bytes.NewReader(listing)); lines.Scan(); {
		line := lines.Text()
		at := strings.IndexByte(line, '/')
		if at < 0 {
			continue
		}
		if path := strings.TrimSpace(line[at:]); filepath.Base(path) == socketName && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}
