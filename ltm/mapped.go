package ltm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"

	"emberd/internal/contain"
)

// These are the causes in the error of a call that met a damaged index file.
var (
	errUnreadable = errors.New("a part of an index file cannot be read")
	errChanged    = errors.New("an index file does not match its checksum any more")
)

// search calls do with a search of the current state. A page of a segment that cannot be read, or a segment that was
// changed since it was opened, is ErrRebuild.
func (x *Index) search(q *Query, do func(s *searcher) error) error {
	done, err := x.use()
	if err != nil {
		return err
	}
	defer done()
	err = contain.Failures(func() error {
		defer failOnFault()()
		s, err := x.searcher(q)
		if err != nil {
			return err
		}
		defer s.view.close()
		defer s.failIfChanged()
		err = do(s)
		if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && s.changed() {
			err = errChanged
		}
		s.clear()
		x.scratch.Put(s.scratch)
		return err
	})
	if errors.Is(err, errUnreadable) || errors.Is(err, errChanged) {
		x.health.fail(err)
		return fmt.Errorf("%w: %w", ErrRebuild, err)
	}
	return err
}

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

// failIfChanged makes a panic while segments were read a [contain.Failure] if one of them no longer has its checksum.
func (s *searcher) failIfChanged() {
	r := recover()
	if r == nil {
		return
	}
	if s.changed() {
		r = contain.Failure{Err: errChanged}
	}
	panic(r)
}

// changed reports whether a segment does not have its checksum any more.
func (s *searcher) changed() bool {
	return slices.ContainsFunc(s.view.segments, func(in segmentView) bool { return checkSegment(in.data) != nil })
}
