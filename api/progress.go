package api

import (
	"context"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"time"

	"emberd/op"
)

// headerProgress of a request asks for progress, whatever it says. Answers of status 102
// (RFC 2518, section 10.1) then come before the one that counts, with how far the
// operation is in this header: "done/total", total 0 if unknown.
const headerProgress = "Emberd-Progress"

// progressPause is the shortest time between two of them, unless the second says that
// all is done.
const progressPause = 100 * time.Millisecond

// progressWriter tells the client of one request how far it is.
type progressWriter struct {
	mu   sync.Mutex // guards w and what follows
	w    http.ResponseWriter
	last time.Time
	over bool
}

// newProgressWriter returns the context for an operation and what to call before it is answered.
func newProgressWriter(w http.ResponseWriter, r *http.Request) (ctx context.Context, end func()) {
	if r.Header.Get(headerProgress) == "" {
		return r.Context(), func() {}
	}
	t := &progressWriter{w: w}
	return op.WithProgress(r.Context(), t.tell), t.end
}

func (t *progressWriter) tell(done, total int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if t.over || now.Sub(t.last) < progressPause && done != total {
		return
	}
	t.last = now
	_ = http.NewResponseController(t.w).SetWriteDeadline(now.Add(writeTimeout))
	t.w.Header().Set(headerProgress, strconv.Itoa(done)+"/"+strconv.Itoa(total))
	t.w.WriteHeader(http.StatusProcessing)
}

func (t *progressWriter) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	t.w.Header().Del(headerProgress)
}

// parseProgress reads the header of an answer that is not the last.
func parseProgress(text string) (done, total int, ok bool) {
	a, b, _ := strings.Cut(text, "/")
	done, err := strconv.Atoi(a)
	if err != nil {
		return 0, 0, false
	}
	total, err = strconv.Atoi(b)
	return done, total, err == nil
}

// idleWatchdog ends a context once nothing has come from the daemon for a while.
type idleWatchdog struct {
	timer *time.Timer
	most  time.Duration

	mu   sync.Mutex // held while progress is reported
	over bool
}

// newIdleWatchdog returns ctx bounded by most, which starts again with each call of reset.
// After the end it reports no progress: the rest of a canceled call can arrive later.
func newIdleWatchdog(ctx context.Context, most time.Duration) (context.Context, *idleWatchdog, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	p := &idleWatchdog{most: most, timer: time.AfterFunc(most, func() { cancel(context.DeadlineExceeded) })}
	return ctx, p, func() {
		p.timer.Stop()
		cancel(nil)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.over = true
	}
}

func (p *idleWatchdog) reset() { p.timer.Reset(p.most) }

// listen passes on what comes before the answer.
func (p *idleWatchdog) listen(tell func(done, total int)) func(int, textproto.MIMEHeader) error {
	return func(_ int, h textproto.MIMEHeader) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.over {
			return nil
		}
		p.reset()
		if done, total, ok := parseProgress(h.Get(headerProgress)); ok {
			tell(done, total)
		}
		return nil
	}
}
