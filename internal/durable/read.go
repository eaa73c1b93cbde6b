package durable

import "errors"

// ErrTooLarge is the error for a file that is larger than its reader accepts.
var ErrTooLarge = errors.New("file is too large")

// maxOwn bounds a file of emberd's own that is read whole: more than any it writes. One that damage
// made longer, such as a hole of 30 GiB, is not read.
const maxOwn = 1 << 30

// ReadAll returns the content of a regular file that emberd wrote. One of more than 1 GiB is
// [ErrTooLarge]. Its other errors are those of [FS.OpenRead] and of reading, as they are.
func ReadAll(fsys FS, name string) ([]byte, error) { return ReadAtMost(fsys, name, maxOwn) }

// ReadAtMost returns the content of a regular file that other programs may write to. For a file
// of more than max bytes, which may grow to that while it is read, it returns [ErrTooLarge] and
// has read max bytes and one at most, or none if the file was larger from the beginning.
func ReadAtMost(fsys FS, name string, max int64) ([]byte, error) {
	f, err := fsys.OpenRead(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readOpen(f, name, max)
}
