package embedding

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// lost ends a helper that did not take a request or gave no answer to it, and reports how.
func (s *supervisor) lost(err error, while string, within time.Duration, loading bool) *helperExitedError {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		s.child.kill()
		return s.reapHelper("did not answer within "+within.String()+" "+while, loading, within)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, unix.EPIPE),
		errors.Is(err, os.ErrClosed):
		return s.reapHelper("ended "+while, loading, 0)
	}
	return s.reapHelper("sent an unreadable reply "+while, loading, 0)
}

// reapHelper ends a helper that is no longer usable and returns why it exited.
func (s *supervisor) reapHelper(did string, loading bool, waited time.Duration) *helperExitedError {
	c := s.child
	c.end(s.limits.grace)
	why := did + c.ending()
	s.publish(nil)
	_ = c.release() // was only read from
	s.mu.Lock()
	s.status.LastExit, s.status.Output = why, c.printed.output()
	s.mu.Unlock()
	return &helperExitedError{why: why, loading: loading, outside: c.fromOutside() && !c.killed.Load(), waited: waited}
}

// countDeath records that a helper exited. It returns an error if the model is not tried again
// with this engine: after several deaths in a short time, or one while loading that
// did not come from outside.
func (s *supervisor) countDeath(dead *helperExitedError) error {
	now := s.clock.now()
	s.deaths = slices.DeleteFunc(s.deaths, func(at time.Time) bool { return now.Sub(at) > s.limits.window+dead.waited })
	for i := range s.deaths { // waiting is no sign of health
		s.deaths[i] = s.deaths[i].Add(dead.waited)
	}
	if len(s.deaths) == 0 {
		s.pause = 0
	}
	s.deaths = append(s.deaths, now)
	s.pause = cmp.Or(min(2*s.pause, s.limits.mostPause), s.limits.firstPause)
	s.rested = now.Add(s.pause)
	s.again = true
	s.logger.Warn("native runtime stopped", "did", dead.why)
	switch {
	case s.touched(): // which explains it, and says nothing of the file that there was
	case dead.loading && !dead.outside:
		return s.condemn("the native runtime " + dead.why)
	case len(s.deaths) >= s.limits.crashes:
		return s.condemn(fmt.Sprintf("the native runtime crashed %d times within %s; the last time it %s",
			len(s.deaths), s.limits.window, dead.why))
	}
	return nil
}

// condemn remembers that the model brings the engine down.
func (s *supervisor) condemn(why string) error {
	why += "; to retry, run: emberd model resume; for details, run: emberd model runtime selftest"
	s.mu.Lock()
	s.condemned = s.pair
	s.mu.Unlock()
	s.bad.add(IncompatibleModel{Model: s.pair.model, Engine: s.pair.engine, File: s.path, When: s.clock.now().UTC(),
		Why: why})
	s.deaths, s.pause, s.rested = nil, 0, time.Time{}
	return unsupportedModelError(why)
}
