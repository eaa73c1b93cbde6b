package metrics

import "os"

// system is what macOS tells without C: the files that are open.
type system struct{}

func (*system) open() {}

func (*system) close() error { return nil }

func (*system) resident() (bytesInUse int64, ok bool) { return 0, false }

func (*system) files() (n int, ok bool) {
	names, err := os.ReadDir("/dev/fd")
	return len(names) - 1, err == nil // the folder itself is open for the moment
}
