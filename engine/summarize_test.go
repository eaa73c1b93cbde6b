package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/memory"
	"emberd/stm"
)

const (
	decision = "We decided on Monday to use PostgreSQL for the billing service. The old MySQL server is switched off in May, after the audit."
	extract  = "The old MySQL server is switched off in May, after the audit."
)

// writer is a model that a test leads, and the clock it takes its time of.
type writer struct {
	*clock
	takes  time.Duration
	answer string
	err    error

	mu    sync.Mutex
	asked int
}

func (w *writer) write(context.Context, string, int) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	w.advance(w.takes)
	return w.answer, w.err
}

// authored is an engine whose summaries w writes.
func authored(t *testing.T) (*house, *engine.Engine, *writer) {
	h := newHouse(t)
	h.Durability = stm.Full // else status warns of it
	w := &writer{clock: h.clock, answer: "PostgreSQL it is."}
	h.Author = core.Author{Write: w.write, Endpoint: "http://127.0.0.1:8080"}
	return h, h.open(t), w
}

func wantSummary(t *testing.T, e *engine.Engine, content, want string) {
	t.Helper()
	got, terms := e.Lifecycle.Summarize(t.Context(), content, nil)
	if got != want {
		t.Errorf("summary is %q, want %q", got, want)
	}
	if len(terms) == 0 {
		t.Error("there are no key terms")
	}
}

func TestSummariesAreExtractsWithoutAnAuthor(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	wantSummary(t, e, decision, extract)
	if st := status(t, e); st.Author != nil {
		t.Errorf("status tells of the author %+v", st.Author)
	}
}

func TestAnAuthorWritesSummaries(t *testing.T) {
	t.Parallel()
	_, e, w := authored(t)
	wantSummary(t, e, decision, "PostgreSQL it is.")
	wantSummary(t, e, "The port is 5432.", "The port is 5432.")
	if w.asked != 1 {
		t.Errorf("the author was asked %d times, want once: a short text is its own summary", w.asked)
	}
	if st := status(t, e); st.Health != "ok" || st.Author == nil || st.Author.Endpoint != "http://127.0.0.1:8080" || st.Author.Problem != "" {
		t.Errorf("health is %q, author %+v", st.Health, st.Author)
	}
}

func TestAFailingAuthorIsLeftAlone(t *testing.T) {
	t.Parallel()
	h, e, w := authored(t)
	w.err = errors.New("connection refused")
	for range 10 {
		wantSummary(t, e, decision, extract)
	}
	if w.asked != lifecycle.AuthorFailures {
		t.Errorf("asked %d times, want %d", w.asked, lifecycle.AuthorFailures)
	}
	st := status(t, e)
	if len(st.Warnings) != 1 || !strings.Contains(st.Warnings[0], "http://127.0.0.1:8080 does not write summaries: cannot summarize the text with the model: connection refused") {
		t.Errorf("warnings are %q", st.Warnings)
	}
	if want := h.clock.Now().Add(lifecycle.AuthorRest); !st.Author.Again.Equal(want) {
		t.Errorf("asked again at %s, want %s", st.Author.Again, want)
	}
	if n := strings.Count(h.log.String(), "level=WARN"); n != 1 {
		t.Errorf("%d warnings are logged, want one:\n%s", n, h.log)
	}

	h.advance(lifecycle.AuthorRest)
	w.err = nil
	wantSummary(t, e, decision, "PostgreSQL it is.")
	if st := status(t, e); st.Health != "ok" || !strings.Contains(h.log.String(), "summary endpoint available again") {
		t.Errorf("health is %q after the author is back; the log:\n%s", st.Health, h.log)
	}
}

func TestAFailureNowAndThenIsNoReasonToStopAsking(t *testing.T) {
	t.Parallel()
	_, e, w := authored(t)
	for i := range 20 {
		w.err = nil
		if i%3 > 0 {
			w.err = errors.New("overloaded")
		}
		e.Lifecycle.Summarize(t.Context(), decision, nil)
	}
	if w.asked != 20 {
		t.Errorf("asked %d times, want 20", w.asked)
	}
}

func TestASlowAuthorHasSoMuchTimeAnHour(t *testing.T) {
	t.Parallel()
	h, e, w := authored(t)
	w.takes = 2 * time.Minute
	for range 10 {
		e.Lifecycle.Summarize(t.Context(), decision, nil)
	}
	if w.asked != 3 {
		t.Errorf("asked %d times, want 3: after %s the rest is extracted", w.asked, lifecycle.AuthorTime)
	}
	if st := status(t, e); len(st.Warnings) != 1 || !strings.Contains(st.Warnings[0], "5m0s per 1h0m0s") {
		t.Errorf("warnings are %q", st.Warnings)
	}
	h.advance(lifecycle.AuthorPeriod)
	wantSummary(t, e, decision, "PostgreSQL it is.")
}

func TestAClockThatIsPutBackKeepsNoAuthorAway(t *testing.T) {
	t.Parallel()
	h, e, w := authored(t)
	w.err = errors.New("connection refused")
	for range lifecycle.AuthorFailures {
		e.Lifecycle.Summarize(t.Context(), decision, nil)
	}
	h.advance(-1000 * time.Hour)
	w.err = nil
	wantSummary(t, e, decision, "PostgreSQL it is.")
}

func TestWhoGivesUpWaitingIsNotTheAuthorsFault(t *testing.T) {
	t.Parallel()
	_, e, w := authored(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.err = ctx.Err()
	if got, _ := e.Lifecycle.Summarize(ctx, decision, nil); got != extract {
		t.Errorf("summary is %q, want the extract", got)
	}
	if st := status(t, e); st.Author.Problem != "" {
		t.Errorf("the author is blamed: %s", st.Author.Problem)
	}
}

// A model that takes its time writes the summaries of several memories at once, each for its own memory.
func TestSeveralSummariesAreWrittenAtOnce(t *testing.T) {
	t.Parallel()
	d := &desk{house: vaultHouse(t, nil), t: t}
	var running atomic.Int64
	together := make(chan struct{})
	d.Author = core.Author{Endpoint: "http://127.0.0.1:8080", Write: func(_ context.Context, text string, _ int) (string, error) {
		if n := running.Add(1); n == 4 {
			close(together)
		}
		select {
		case <-together:
			return strings.Fields(text)[0] + " it is.", nil
		case <-time.After(time.Minute):
			return "", errors.New("the summaries are written one after the other")
		}
	}}
	d.start()
	var ids []memory.ID
	for _, town := range []string{"Lisbon", "Oban", "Turin", "Bergen"} {
		ids = append(ids, save(t, d.Engine, town+" has a harbour. "+decision).ID)
	}
	d.archived(ids...)
	for i, want := range []string{"Lisbon it is.", "Oban it is.", "Turin it is.", "Bergen it is."} {
		if got := d.memory(ids[i]).Content; got != want {
			t.Errorf("the summary is %q, want %q", got, want)
		}
	}
}
