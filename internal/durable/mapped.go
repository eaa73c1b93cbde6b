package durable

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// Map maps a regular file of up to limit bytes for reading. Its pages are the system's: it reads them when they are
// needed and takes them back when it is short of memory. A page that cannot be read, as of a file that was made
// shorter, is a fault, so read the result by [Reading]. Give it to [Unmap] at the end.
func Map(name string, limit int64) ([]byte, error) {
	f, err := OS{}.OpenRead(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // the mapping stays
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() == 0 || info.Size() > limit {
		return nil, fmt.Errorf("cannot map %s: it has %d bytes", name, info.Size())
	}
	b, err := unix.Mmap(int(f.(*os.File).Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("cannot map %d bytes of %s: %w", info.Size(), name, err)
	}
	return b, nil
}

// Unmap ends a mapping. Nothing may use its bytes afterwards.
func Unmap(b []byte) error { return unix.Munmap(b) }

// ErrFault is the error for a page of a mapped file that cannot be read.
var ErrFault = errors.New("a page of a mapped file cannot be read")

// Reading runs fn, which reads a mapping. It returns [ErrFault] if fn met a page that cannot be read: without it, Go
// ends the process. It is for the goroutine of the caller; other panics pass.
func Reading(fn func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch r := recover().(type) {
		case nil:
		case interface {
			runtime.Error
			Addr() uintptr
		}:
			err = ErrFault
		default:
			panic(r)
		}
	}()
	fn()
	return nil
}
