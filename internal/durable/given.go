package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// OpenGiven opens a regular file that the user names, in a setting or on the command line. Links are
// followed. Anything else is refused with [ErrNotRegular] and never waited for: a pipe without a writer
// would make the program wait for good.
func OpenGiven(name string) (*os.File, error) {
	return openGiven(name, func(mode fs.FileMode) bool { return mode.IsRegular() })
}

// OpenGivenOrPipe is [OpenGiven], which also takes the pipe that a shell has made for this program: its
// standard input, or what <(…) stands for. Such a pipe has a writer already.
func OpenGivenOrPipe(name string) (*os.File, error) {
	return openGiven(name, func(mode fs.FileMode) bool {
		return mode.IsRegular() || mode&fs.ModeNamedPipe != 0 && isPassed(name)
	})
}

// isPassed reports whether a path is that of a file which this program was started with.
func isPassed(name string) bool {
	return name == "/dev/stdin" || strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, "/proc/self/fd/")
}

// openGiven asks before it opens, since to open a device may already do something, and once more after
// that, since the name may mean something else by then.
func openGiven(name string, accept func(fs.FileMode) bool) (*os.File, error) {
	info, err := os.Stat(name)
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		at.Op = "open"
	}
	if err != nil {
		return nil, err
	}
	refused := &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	if !accept(info.Mode()) {
		return nil, refused
	}
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil && !accept(info.Mode()) {
		err = refused
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ReadGiven returns the content of a file that [OpenGiven] takes, and [ErrTooLarge] for one of more than
// max bytes, of which it reads one more at most.
func ReadGiven(name string, max int64) ([]byte, error) {
	f, err := OpenGiven(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readOpen(f, name, max)
}

// readOpen reads a file that is open.
func readOpen(f ReadFile, name string, max int64) ([]byte, error) {
	tooLarge := &fs.PathError{Op: "read", Path: name, Err: ErrTooLarge}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > max {
		return nil, tooLarge
	}
	data, err := io.ReadAll(io.LimitReader(f, max+1))
	if err == nil && int64(len(data)) > max {
		return nil, tooLarge
	}
	return data, err
}
