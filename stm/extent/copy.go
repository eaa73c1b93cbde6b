package extent

import (
	"errors"
	"fmt"
	"io"

	"emberd/internal/durable"
)

// Copy puts a log file in the place of another, if it begins byte for byte with what the extent tells, and
// reports whether it did.
func Copy(fsys durable.FS, from, to string, was Extent) (bool, error) {
	if was.Sum == 0 || Sum(fsys, from, was.Bytes) != was.Sum {
		return false, nil
	}
	err := durable.ReplaceFileBy(fsys, to, func(w io.Writer) error {
		in, err := fsys.OpenRead(from)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, io.LimitReader(in, was.Bytes))
		return errors.Join(err, in.Close())
	})
	if err != nil {
		return false, fmt.Errorf("cannot restore a log file: %w", err)
	}
	return true, nil
}
