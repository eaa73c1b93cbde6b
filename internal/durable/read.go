package durable

import "io"

// ReadAll returns the content of a regular file, however long. Its errors are those of
// [FS.OpenRead] and of reading, as they are.
func ReadAll(fsys FS, name string) ([]byte, error) {
	f, err := fsys.OpenRead(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
