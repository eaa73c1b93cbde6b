package ltm

import (
	"errors"
	"runtime"
	"runtime/debug"

	"emberd/internal/contain"
)

// These are the causes in the error of a call that met a damaged index file.
var (
	errUnreadable = errors.New("a part of an index file cannot be read")
	errChanged    = errors.New("an index file no longer matches its checksum")
)

// failOnFault makes a fault in the goroutine of the caller, until what it returns is deferred, a [contain.Failure]. Go
// ends the process otherwise: no handler of a signal can give the page that the disk did not.
func failOnFault() func() {
	was := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(was)
		switch r := recover().(type) {
		case nil:
		case interface {
			runtime.Error
			Addr() uintptr
		}:
			panic(contain.Failure{Err: errUnreadable})
		default:
			panic(r)
		}
	}
}

// readInPlace runs fn, which reads a segment for Bleve, in a goroutine of its own as it does. Every panic is damage.
func readInPlace(fn func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = errUnreadable
		}
	}()
	fn()
	return nil
}
