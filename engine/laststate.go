package engine

import (
	"errors"
	"io/fs"
	"path/filepath"

	"emberd/internal/durable"
)

// lastState reads a file of the state folder that is replaced as a whole, as the last
// run left it, nil if there is none. Its folder is made, and free of what a crash left.
func lastState(fsys durable.FS, file string) ([]byte, error) {
	dir := filepath.Dir(file)
	if err := durable.MkdirAll(fsys, dir); err != nil {
		return nil, err
	}
	if err := durable.SweepTemps(fsys, dir); err != nil {
		return nil, err
	}
	data, err := durable.ReadAll(fsys, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
