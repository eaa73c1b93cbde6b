package importer

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"os"
	"syscall"

	"emberd/internal/unpack"
	"emberd/memory"
)

// readExport hands the files of an archive, or of a folder that one was unpacked into, that
// are kept to f.
func readExport(ctx context.Context, where string, keep func(string) bool, f func(name string,
	r io.Reader) error) ([]string, error) {
	info, err := os.Stat(where)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return readFolder(ctx, where, keep, f)
	}
	return readArchive(ctx, where, keep, f)
}

// readFolder looks at no more than mostListed names, and follows no link.
func readFolder(ctx context.Context, folder string, keep func(string) bool, f func(name string,
	r io.Reader) error) (held []string, err error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	met, left := 0, int64(2*MaxBytes)
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if met++; err == nil && met > maxListed {
			err = memory.Errorf(memory.TooLarge,
				"the folder has more than %d files; pass the folder of the unpacked export", maxListed)
		}
		if err = cmp.Or(err, ctx.Err()); err != nil || !d.Type().IsRegular() || !keep(name) {
			return err
		}
		size, err := readOne(root, name, left, f)
		held, left = append(held, name), left-size
		return err
	})
	return held, err
}

// maxListed is how many files and folders an export may have.
const maxListed = 100_000

// readOne hands one file to f and returns how much was read of it.
func readOne(root *os.Root, name string, most int64, f func(name string, r io.Reader) error) (int64, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	r := &bounded{file, most}
	if info, err := file.Stat(); err == nil && info.Size() > MaxBytes {
		return 0, errTooLarge() // none of it is read
	}
	err = f(name, r)
	return most - r.left, err
}

// readArchive hands the files of an archive that are kept to f, one after the other, and
// returns their names. Of the others nothing is read.
func readArchive(ctx context.Context, archive string, keep func(string) bool, f func(name string,
	r io.Reader) error) ([]string, error) {
	var held []string
	err := unpack.Read(ctx, archive, unpack.Options{Keep: keep, MaxFile: MaxBytes, MaxBytes: 2 * MaxBytes},
		func(e unpack.Entry, r io.Reader) error {
			if e.Link != "" {
				return nil
			}
			held = append(held, e.Name)
			return f(e.Name, r)
		})
	return held, err
}

// kindOfExport returns what an error calls the place of an export.
func kindOfExport(where string) string {
	if info, err := os.Stat(where); err == nil && info.IsDir() {
		return "folder"
	}
	return "archive"
}
