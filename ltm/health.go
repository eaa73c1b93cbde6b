package ltm

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"

	"emberd/internal/durable"
)

// healthKey is where the health of an index lies in the configuration that Bleve hands
// to the segment plugin.
const healthKey = "emberd"

// retryPause is how long a failed write waits for the next try. Bleve has no pause.
const retryPause = time.Second

// health is what is known about the state of an open index. Bleve's goroutines report
// to it.
type health struct {
	dir     string
	closing chan struct{} // closed by Close
	failed  chan struct{} // closed when nothing can be written any more
	mapped  atomic.Int64  // bytes of segments
	merges  *pacer

	mu      sync.Mutex // guards the fields below; nothing is called under it
	ready   bool       // opened has been called
	unread  error      // the first segment that could not be opened
	broke   bool       // failed is closed
	trouble string     // the last failure
}

func newHealth(dir string) *health {
	return &health{dir: dir, closing: make(chan struct{}), failed: make(chan struct{}), merges: newPacer()}
}

// opened returns why a segment could not be opened until now. From now on such a
// segment is damage to a running index.
func (h *health) opened() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ready = true
	return h.unread
}

// unreadable notes a segment that cannot be opened.
func (h *health) unreadable(err error) {
	h.mu.Lock()
	ready := h.ready
	if h.unread == nil {
		h.unread = err
	}
	h.mu.Unlock()
	if ready {
		h.fail(err)
	}
}

// asyncError is called by Bleve's goroutines that write and merge, with an error after
// which they try again, or when they have ended in a panic.
func (h *health) asyncError(err error, _ string) {
	if e, ok := errors.AsType[*scorch.ScorchError](err); ok && errors.Is(e, scorch.ErrAsyncPanic) {
		h.fail(err)
		return
	}
	h.mu.Lock()
	h.trouble = err.Error()
	h.mu.Unlock()
	pause := time.NewTimer(retryPause)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-h.closing:
	case <-h.failed:
	}
}

// event is called by the same goroutines before and after their work. It makes a fault
// in the mapped snapshot file (all that Bleve maps here) a panic, which they catch,
// instead of the end of the process. Merges wait in it.
func (h *health) event(e scorch.Event) bool {
	switch e.Kind {
	case scorch.EventKindPurgerCheck, scorch.EventKindPersisterProgress:
		debug.SetPanicOnFault(true)
	case scorch.EventKindPreMergeCheck:
		debug.SetPanicOnFault(true)
		return h.merges.pace(h.closing, h.failed)
	}
	return true
}

// fail notes that the files of the index are beyond use, here and beside them.
func (h *health) fail(err error) {
	h.mu.Lock()
	h.trouble = err.Error()
	first := !h.broke
	h.broke = true
	h.mu.Unlock()
	if !first {
		return
	}
	close(h.failed)
	if err := durable.ReplaceFile(durable.OS{}, filepath.Join(h.dir, damagedFile), []byte(err.Error())); err != nil {
		h.mu.Lock()
		h.trouble = fmt.Sprintf("%s; %v", h.trouble, err)
		h.mu.Unlock()
	}
}

// wrote notes that a batch has reached the disk.
func (h *health) wrote() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.broke {
		h.trouble = ""
	}
}

func (h *health) broken() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.broke
}

func (h *health) problem() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.trouble
}
