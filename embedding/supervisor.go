package embedding

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"emberd/internal/llamawire"
)

// supervisor does the work of a native in one goroutine, which alone starts and ends
// helpers and decides what an exit means. Only that goroutine uses the fields below, and
// without a lock; it reads native.child without mu, as nothing else changes it, and changes
// it under mu (publish), since callers read it for the status.
type supervisor struct {
	*native
	of     Identity    // of what the child has loaded
	mapped os.FileInfo // the file of that, as it was
	pair   pair        // of the child, or of the last one
	asked  uint64
	deaths []time.Time   // lately
	pause  time.Duration // before the next start
	rested time.Time     // when that pause ends
	again  bool          // the last one died
}

// helperExitedError reports a helper that exited by itself.
type helperExitedError struct {
	why     string        // what it did, and how it ended
	loading bool          // it had not said hello
	outside bool          // ended from outside
	waited  time.Duration // for an answer that did not come, until it was killed
}

func (e *helperExitedError) Error() string { return e.why }

func (s *supervisor) work() {
	defer close(s.done)
	defer s.unload()
	for {
		var idle <-chan time.Time
		var exited <-chan struct{}
		if s.child != nil {
			idle, exited = s.clock.after(s.unloadAfter), s.child.exited
		}
		select {
		case <-s.closing:
			return
		case a := <-s.asks:
			reply, err := s.answer(&a)
			a.answer <- answer{reply, err}
		case <-idle:
			s.unload()
			s.logger.Debug("stopped the idle native runtime", "file", s.path)
		case <-exited:
			s.countDeath(s.reapHelper("ended while idle", false, 0))
		}
	}
}

// unload ends the helper, and its memory with it.
func (s *supervisor) unload() {
	c := s.child
	if c == nil {
		return
	}
	c.end(s.limits.grace)
	s.publish(nil)
	_ = c.release() // was only read from
}

// publish records which child runs, nil for none. It reports false when there is to be none.
func (s *supervisor) publish(c *child) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed && c != nil {
		return false
	}
	s.child, s.greeted, s.status.PID = c, false, 0
	if c == nil {
		return true
	}
	s.status.PID, s.status.Started = c.pid(), c.started
	if s.again {
		s.again = false
		s.status.Restarts++
	}
	return true
}

// tries are how often a text is asked for whose helper dies of it.
const tries = 2

func (s *supervisor) answer(a *ask) (*llamawire.Reply, error) {
	for died, unborn := 0, 0; ; {
		if isOver(a.left) {
			return nil, errLeft
		}
		reply, err := s.once(a)
		dead, is := errors.AsType[*helperExitedError](err)
		if !is {
			return reply, err
		}
		if isOver(s.closing) {
			return nil, ErrClosed
		}
		if err := s.countDeath(dead); err != nil {
			return nil, err
		}
		if dead.loading {
			if unborn++; unborn == s.limits.crashes {
				return nil, fmt.Errorf("the native runtime %w: it %s", ErrAway, dead.why)
			}
		} else if died++; died == tries {
			return nil, fmt.Errorf(
				"the native runtime %s; this happened %d times with the same text, so the text has no embedding",
				dead.why, tries)
		}
	}
}

func isOver(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// once asks a helper that has the model. What was written into a mapped file is in the
// vectors from then on, so that one made in the meantime is of no known model.
func (s *supervisor) once(a *ask) (*llamawire.Reply, error) {
	if s.child != nil && (s.of.SHA256 != a.of.SHA256 || s.of.MaxTokens != a.of.MaxTokens) {
		s.unload()
	}
	for range tries {
		if s.child == nil {
			if err := s.start(a); err != nil {
				return nil, err
			}
		}
		reply, err := s.exchange(a)
		if err != nil || !s.written() {
			return reply, err
		}
		s.unload()
	}
	return nil, s.unread(errors.New("another program is writing to the file"))
}

// written reports whether the mapped file is not as it was. One that another took the place
// of is.
func (s *supervisor) written() bool {
	now, err := os.Stat(s.path)
	return err == nil && os.SameFile(s.mapped, now) && !untouched(s.mapped, now)
}

// exchange asks and receives the answer.
func (s *supervisor) exchange(a *ask) (*llamawire.Reply, error) {
	s.asked++
	a.request.ID = s.asked
	within := s.limits.text
	var reply llamawire.Reply
	err := s.child.write(&a.request, within)
	if err == nil {
		err = s.child.read(&reply, within)
	}
	if err != nil {
		return nil, s.lost(err, "while embedding a text", within, false)
	}
	if reply.Failed != nil && reply.Failed.Of != llamawire.OfText {
		return nil, s.refused(reply.Failed, a.of)
	}
	switch {
	case reply.ID != a.request.ID:
		return nil, s.reapHelper("sent an unexpected reply", false, 0)
	case reply.Failed != nil:
		return nil, fmt.Errorf("the native runtime cannot embed a text: %w", reply.Failed)
	case !a.request.Count && !isVector(reply.Vector, a.of.Dim):
		return nil, s.reapHelper("returned an invalid embedding", false, 0)
	}
	return &reply, nil
}

// isVector reports so many numbers of length one.
func isVector(v []float32, dim int) bool {
	const off = 1e-3
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return len(v) == dim && math.Abs(sum-1) < off // which a NaN is not
}

// start has a helper load the model, after the pause that is due.
func (s *supervisor) start(a *ask) error {
	if err := s.backoff(a); err != nil {
		return err
	}
	key, err := engineKey(s.helper, s.engine)
	if err != nil {
		return unsupportedModelError(err.Error())
	}
	s.of, s.pair = a.of, pair{a.of.SHA256, key}
	if why := s.bad.why(s.pair); why != "" {
		return unsupportedModelError(why)
	}
	mapped, _ := os.Stat(s.path) // before it is read; what is wrong with it shows then
	facts, err := s.describe()
	switch {
	case errors.Is(err, ErrAway):
		return err
	case err != nil:
		return fmt.Errorf("%w: emberd cannot use the model file: %w", ErrChanged, err)
	case facts.SHA256 != a.of.SHA256:
		return s.replaced(a.of)
	}
	s.mapped = mapped
	c, err := startChild(s.helper, helperArgs(s.unconfined, "--engine", s.engine, "--model", s.path, "--max-tokens",
		strconv.Itoa(a.of.MaxTokens))...)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, unix.ENOEXEC):
		return s.disableRuntime("cannot start the native runtime: " + err.Error())
	case err != nil: // such as for want of memory
		return fmt.Errorf("the native runtime %w: %w", ErrAway, err)
	}
	if !s.publish(c) {
		c.end(s.limits.grace)
		return errors.Join(ErrClosed, c.release())
	}
	return s.greet(a.of, s.limits.loading(facts.Size))
}

// backoff waits until the next helper may start.
func (s *supervisor) backoff(a *ask) error {
	wait := s.rested.Sub(s.clock.now())
	if wait <= 0 {
		return nil
	}
	select {
	case <-s.clock.after(wait):
		return nil
	case <-a.left:
		return errLeft
	case <-s.closing:
		return ErrClosed
	}
}

// errLeft reaches no caller.
var errLeft = errors.New("no pending request")

// greet reads the helper's version and what it loaded.
func (s *supervisor) greet(of Identity, within time.Duration) error {
	began := time.Now()
	var hello llamawire.Hello
	if err := s.child.read(&hello, within); err != nil {
		return s.lost(err, "while loading the model", within, true)
	}
	s.mu.Lock()
	s.status.Version, s.status.Release, s.status.System = hello.Version, hello.Engine.Release, hello.Engine.System
	s.status.Warning, s.status.Backends = hello.Engine.Warning, hello.Engine.Backends
	s.mu.Unlock()
	m := hello.Model
	switch {
	case hello.Protocol != llamawire.Protocol:
		return s.disableRuntime("the native runtime's helper " + s.helper +
			" belongs to another version of emberd; install emberd and the helper from one package")
	case hello.Failed != nil:
		return s.refused(hello.Failed, of)
	case m == nil:
		return s.reapHelper("did not report the properties of the model", true, 0)
	case m.SHA256 != of.SHA256:
		s.unload()
		s.found(m.SHA256)
		return s.replaced(of)
	case m.Dim != of.Dim || m.MaxTokens != of.MaxTokens || m.Pooling != of.Pooling:
		return s.disableRuntime(fmt.Sprintf("the native runtime reports a model with %d dimensions, %d "+
			"tokens and %s pooling, but the model file has %d, %d and %s", m.Dim, m.MaxTokens, m.Pooling, of.Dim,
			of.MaxTokens, of.Pooling))
	}
	s.mu.Lock()
	s.greeted = true
	s.mu.Unlock()
	s.logger.Debug("started the native runtime", "file", s.path, "release", hello.Engine.Release, "took",
		time.Since(began).Round(time.Millisecond))
	return nil
}

// refused is what a helper says in order, before it ends.
func (s *supervisor) refused(f *llamawire.Failed, of Identity) error {
	s.unload()
	switch {
	case f.Of == llamawire.OfSandbox:
		s.pair.model = ""
		s.mu.Lock()
		s.status.NoSandbox = f.Text
		s.mu.Unlock()
	case f.Of == llamawire.OfFile:
		return s.unread(f)
	case f.Of != llamawire.OfEngine && s.touched():
		return s.replaced(of)
	case f.Of == llamawire.OfEngine:
		s.pair.model = ""
	}
	return s.disableRuntime("emberd cannot use the native runtime: " + f.Text)
}

// disableRuntime stops further tries of the pair, or of the engine if there is no model.
func (s *supervisor) disableRuntime(why string) error {
	s.unload()
	s.bad.refuse(s.pair, why)
	s.logger.Warn("native runtime skipped", "why", why)
	return unsupportedModelError(why)
}
