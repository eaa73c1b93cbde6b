package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"emberd/internal/durable"
	"emberd/stm/device"
)

// CheckSnapshot compares the snapshot in a state folder, if there is one, with its checksum.
// A start does the same and does without one that is damaged.
func CheckSnapshot(fsys durable.FS, state string) error {
	name := device.SnapshotIn(state)
	b, err := readSnapshot(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		_, err = sealed(b)
	}
	if err != nil {
		return fmt.Errorf("the snapshot %s: %w", name, err)
	}
	return nil
}

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
