package ltm

import (
	"errors"

	"emberd/internal/contain"
	"emberd/internal/durable"
)

// These are the causes in the error of a call that met a damaged index file.
var (
	errUnreadable = errors.New("a part of an index file cannot be read")
	errChanged    = errors.New("an index file no longer matches its checksum")
)

// reading runs fn, which reads segments, and makes a page that cannot be read a [contain.Failure].
func reading(fn func()) {
	if durable.Reading(fn) != nil {
		panic(contain.Failure{Err: errUnreadable})
	}
}

// readInPlace runs fn, which reads a segment for Bleve, in a goroutine of its own as it does. Every panic is damage.
func readInPlace(fn func()) (err error) {
	defer func() {
		if recover() != nil {
			err = errUnreadable
		}
	}()
	reading(fn)
	return nil
}
