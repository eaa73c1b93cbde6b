package mcphttp

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// responder bounds how long each write may take, and keeps a quiet stream of events
// alive: clients and what is between hang up on one that says nothing for minutes.
type responder struct {
	http.ResponseWriter
	// begin, unless nil, is called with the header before anything is written.
	begin func(http.Header)

	mu     sync.Mutex // guards what follows, and writing
	begun  bool
	ended  bool
	ticker *time.Timer // nil unless this is a stream
}

func newResponder(w http.ResponseWriter) *responder { return &responder{ResponseWriter: w} }

// Write implements [http.ResponseWriter].
func (w *responder) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.start()
	w.hurry()
	return w.ResponseWriter.Write(b)
}

// WriteHeader implements [http.ResponseWriter].
func (w *responder) WriteHeader(status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.start()
	w.hurry()
	w.ResponseWriter.WriteHeader(status)
}

// FlushError implements flushing for [http.ResponseController].
func (w *responder) FlushError() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hurry()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

func (w *responder) start() {
	if w.begun {
		return
	}
	w.begun = true
	if w.begin != nil {
		w.begin(w.Header())
	}
	if strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") && !w.ended {
		w.ticker = time.AfterFunc(heartbeat, w.pulse)
	}
}

// hurry gives the next write its time. Where the connection knows no deadlines there
// is nothing to be done.
func (w *responder) hurry() {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(writeTimeout))
}

// pulse writes a comment, which clients pass over. A write that fails ends the
// request's context, and so the stream.
func (w *responder) pulse() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	w.hurry()
	if _, err := w.ResponseWriter.Write([]byte(":\n\n")); err == nil &&
		http.NewResponseController(w.ResponseWriter).Flush() == nil {
		w.ticker.Reset(heartbeat)
	}
}

// end lets go of the response: nothing may be written to it once its handler returned.
func (w *responder) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	if w.ticker != nil {
		w.ticker.Stop()
	}
}
