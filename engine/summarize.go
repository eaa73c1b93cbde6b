package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"emberd/internal/text"
	"emberd/op"
	"emberd/rekindle"
)

// An Author is a model that writes summaries, and what status tells of it.
type Author struct {
	Write    rekindle.Model // nil: summaries are extracts
	Endpoint string         // where the model is, as it may be shown
	Remote   bool           // on another machine, so that what is summarized leaves this one
}

// Bounds of asking an author, so that no run hangs on one: after so many failures in
// a row it is left alone for a while, and in any hour it is waited for so long.
const (
	authorFailures = 3
	authorRest     = 10 * time.Minute
	authorPeriod   = time.Hour
	authorTime     = 5 * time.Minute
)

var errTimeUsedUp = fmt.Errorf("it was waited for %s within %s, which is as long as may be", authorTime, authorPeriod)

// An author keeps account of how an Author does.
type author struct {
	Author
	extract *rekindle.Summarizer
	log     *slog.Logger
	now     func() time.Time

	mu     sync.Mutex    // guards what follows; it is not held while the author writes
	failed int           // times in a row
	why    error         // it is not asked, or failed last
	again  time.Time     // it is not asked before
	since  time.Time     // when the period began that waited belongs to
	waited time.Duration // for it in this period
}

func newAuthor(o *Options, analyzer *text.Analyzer) *author {
	return &author{Author: o.Author, extract: rekindle.NewSummarizer(analyzer), log: o.Logger, now: o.Now}
}

// summarize makes what stays of a text: the sentence to show, and the terms to search
// by. The author may take long; no lock is to be held.
func (e *Engine) summarize(ctx context.Context, content string, entities []string) (summary string, terms []string) {
	summary, terms = e.author.extract.Remains(content, entities)
	if rekindle.Whole(content) || !e.author.due() {
		return summary, terms
	}
	start := e.author.now()
	written, err := e.author.extract.Ask(ctx, content, terms, e.author.Write)
	if ctx.Err() != nil {
		return summary, terms // it was not the author who failed
	}
	if err == nil && secretIn(e.opt.DetectSecrets, written, content) {
		err = errors.New("its summary holds what looks like a credential and is not in the text")
	}
	e.author.settle(start, err)
	if err == nil {
		summary = written
	}
	return summary, terms
}

// due reports whether the author is to be asked now.
func (a *author) due() bool {
	if a.Write == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if wait := a.again.Sub(now); wait > 0 && wait <= authorPeriod { // more is a clock that was put back
		return false
	}
	if passed := now.Sub(a.since); passed < 0 || passed >= authorPeriod {
		a.since, a.waited = now, 0
	}
	return true
}

// settle takes note of how the author did. Only the first of several failures is
// logged.
func (a *author) settle(start time.Time, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, silent := a.now(), a.why == nil
	a.waited += now.Sub(start)
	switch {
	case err == nil && a.waited >= authorTime:
		a.failed, a.why, a.again = 0, errTimeUsedUp, a.since.Add(authorPeriod)
	case err == nil:
		a.failed, a.why = 0, nil
	default:
		a.failed++
		a.why = err
		if a.failed >= authorFailures || a.waited >= authorTime {
			a.again = now.Add(authorRest)
		}
	}
	switch {
	case a.why == nil && !silent:
		a.log.Info("summaries are written again", "endpoint", a.Endpoint)
	case a.why != nil && silent && !errors.Is(a.why, errTimeUsedUp):
		a.log.Warn("summaries are extracts until the endpoint writes them again", "endpoint", a.Endpoint, "err", a.why)
	}
}

// status tells how the author does; nil without one.
func (a *author) status() *op.AuthorStatus {
	if a.Write == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	st := &op.AuthorStatus{Endpoint: a.Endpoint, Remote: a.Remote}
	if a.why != nil {
		st.Problem = a.why.Error()
	}
	if a.why != nil && a.again.After(a.now()) {
		st.Again = stampTime(a.again)
	}
	return st
}

// authorWarnings is one sentence about an author who does not write.
func authorWarnings(st *op.AuthorStatus) []string {
	if st == nil || st.Problem == "" {
		return nil
	}
	return []string{fmt.Sprintf("the chat endpoint %s does not write summaries: %s; they are extracts meanwhile, and it is asked again by itself", st.Endpoint, st.Problem)}
}
