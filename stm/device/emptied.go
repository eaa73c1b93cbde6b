package device

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"emberd/internal/durable"
)

// emptied begins the names of snapshots of logs in the place of which an empty one was begun.
const emptied = "emptied-"

// KeepSnapshot keeps the snapshot of a log that is gone, beside those that were kept before, and returns its
// name, "" if there is none. A repair of the log looks into it. What had been read of other devices is missed no more.
func KeepSnapshot(fsys durable.FS, state string) (string, error) {
	for n := 1; ; n++ {
		name := filepath.Join(state, "index", fmt.Sprintf("%s%d.snap", emptied, n))
		switch err := fsys.RenameNoReplace(SnapshotIn(state), name); {
		case errors.Is(err, fs.ErrNotExist):
			return "", forgetSeen(fsys, state)
		case errors.Is(err, fs.ErrExist):
		case err != nil:
			return "", fmt.Errorf("cannot keep the snapshot of the missing log: %w", err)
		default:
			return name, errors.Join(forgetSeen(fsys, state), fsys.SyncDir(filepath.Dir(name)))
		}
	}
}

// KeptSnapshots lists what [KeepSnapshot] kept.
func KeptSnapshots(fsys durable.FS, state string) (names []string) {
	dir := filepath.Join(state, "index")
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), emptied) && strings.HasSuffix(e.Name(), ".snap") {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names
}
