// Package contain catches a panic at the edge of one input, so that a note, a request, a line of
// the log, a tool call or a run of background work that meets a fault of emberd fails alone.
//
// A caller passes the work on one input to [Do]. After a panic, the input is refused: its writer
// gets an error with an ID, and the log has the same ID with the stack. [Measure] counts panics
// by place. Deferred calls run as usual, so locks must be released by defer.
//
// Not contained, on purpose: the goroutine that writes the log. If it panics between the sync and
// the table, memory and disk may differ, so the process ends and its service manager starts it
// again. Also not contained: fatal errors of Go's runtime, such as running out of memory.
package contain

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"emberd/internal/metrics"
)

// Place is the kind of input that a panic is contained to. It labels the metric.
type Place string

// The places.
const (
	Note    Place = "note"    // one note: reading, indexing, syncing or embedding it
	Request Place = "request" // one operation, by HTTP or MCP
	Line    Place = "line"    // one line of a log, of this device or another
	Text    Place = "text"    // the words of one memory
	Task    Place = "task"    // one run of background work
)

// Panic is the error of a contained panic.
type Panic struct {
	ID    string // of 8 hexadecimal digits, as in the log
	Place Place
}

func (p *Panic) Error() string {
	return fmt.Sprintf("an internal error occurred; to see the details, search the daemon log for fault %s", p.ID)
}

// Of returns the contained panic that an error wraps, or nil.
func Of(err error) *Panic {
	p, _ := errors.AsType[*Panic](err)
	return p
}

var counts metrics.Counts

// Measure adds the number of contained panics by place.
func Measure(p *metrics.Exposition) {
	p.Counter("emberd_panics_total",
		"Panics that ended the work on only one note, request, log line, memory text or task run.", "place")
	p.Counts(&counts)
}

// Do calls fn and returns its error. If fn panics, Do logs the stack under a new ID, counts the
// panic and returns a [*Panic]. name tells in the log what the input was; it is never its text. A nil log discards.
// Do is safe for concurrent use. It does not catch panics of goroutines that fn starts, unless fn
// starts them by a [Group].
func Do(log *slog.Logger, place Place, name string, fn func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = caught(log, place, name, r)
		}
	}()
	return fn()
}

// Failure is the value of a panic that is no fault of emberd's own: what is to be read cannot be read. Do returns Err,
// and logs it.
type Failure struct{ Err error }

// Failures calls fn and returns its error, or that of a panic with a [Failure]. Other panics go on.
func Failures(fn func() error) (err error) {
	defer func() {
		r := recover()
		f, ok := r.(Failure)
		if c, child := r.(*child); child {
			f, ok = c.value.(Failure)
		}
		switch {
		case ok:
			err = f.Err
		case r != nil:
			panic(r)
		}
	}()
	return fn()
}

func caught(log *slog.Logger, place Place, name string, r any) error {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	stack := debug.Stack()
	if c, ok := r.(*child); ok {
		r, stack = c.value, c.stack
	}
	if f, ok := r.(Failure); ok {
		log.Error("work stopped: cannot read required data", "place", string(place), "name", name, "error", f.Err)
		return f.Err
	}
	var id [4]byte
	_, _ = rand.Read(id[:]) // never fails, see its documentation
	p := &Panic{ID: hex.EncodeToString(id[:]), Place: place}
	counts.Add(metrics.By(string(place)), 1)
	log.Error("panic contained", "fault", p.ID, "place", string(place), "name", name, "panic", describe(r),
		"stack", string(stack))
	return p
}

// describe returns the value of a panic for the log. Errors of the runtime contain no text of a
// memory; of any other value the log has only the type, and the stack shows the place.
func describe(r any) string {
	if err, ok := r.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("%T", r)
}

// A Group is a [sync.WaitGroup] whose Wait passes on the first panic of its goroutines, so that it
// reaches the Do around them. The zero value is ready.
type Group struct {
	all   sync.WaitGroup
	once  sync.Once
	first *child
}

// child is a panic of a goroutine with its stack.
type child struct {
	value any
	stack []byte
}

// Go runs fn in a goroutine. After a panic of fn the others run to their end.
func (g *Group) Go(fn func()) { g.all.Go(func() { g.guard(fn) }) }

// guard runs fn and keeps its panic for Wait.
func (g *Group) guard(fn func()) {
	defer func() {
		if r := recover(); r != nil {
			c := &child{r, debug.Stack()}
			g.once.Do(func() { g.first = c })
		}
	}()
	fn()
}

// Wait waits for all goroutines, and panics if one of them did.
func (g *Group) Wait() {
	g.all.Wait()
	if g.first != nil {
		panic(g.first)
	}
}

// Each runs fn for each number below n, atOnce of them at a time, and returns when all have ended. A panic of one is
// passed on as [Group.Wait] does.
func Each(n, atOnce int, fn func(i int)) {
	var all Group
	var next atomic.Int64
	for range min(n, atOnce) {
		all.all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				all.guard(func() { fn(i) })
			}
		})
	}
	all.Wait()
}
