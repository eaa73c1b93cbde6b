package foreign

import (
	"context"
	"io"

	"emberd/internal/unpack"
)

// readArchive hands the files of an archive that are kept to f, one after the other, and
// returns their names. Of the others nothing is read.
func readArchive(ctx context.Context, archive string, keep func(string) bool, f func(name string, r io.Reader) error) ([]string, error) {
	var held []string
	err := unpack.Read(ctx, archive, unpack.Options{Keep: keep, MostFile: MostBytes, MostBytes: 2 * MostBytes}, func(e unpack.Entry, r io.Reader) error {
		if e.Link != "" {
			return nil
		}
		held = append(held, e.Name)
		return f(e.Name, r)
	})
	return held, err
}
