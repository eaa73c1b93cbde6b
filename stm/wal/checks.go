package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"emberd/internal/durable"
)

// CountQuarantined counts the lines that [Store.Quarantine] of the store with this state folder
// would list. It opens no store, and only reads.
func CountQuarantined(fsys durable.FS, state string) (n int, err error) {
	entries, err := fsys.ReadDir(filepath.Join(state, "quarantine"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("list the quarantine: %w", err)
	}
	for _, e := range entries {
		if damagedName.MatchString(e.Name()) {
			n++
		}
	}
	return n, nil
}
