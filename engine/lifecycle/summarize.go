package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"emberd/engine/core"
	"emberd/internal/entity"
	"emberd/internal/text/analysis"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
)

// Limits for the author, so that no run hangs: after so many failures in a row it is not
// called for a while, and runs wait for it so long in any hour.
const (
	AuthorFailures = 3
	AuthorRest     = 10 * time.Minute
	AuthorPeriod   = time.Hour
	AuthorTime     = 5 * time.Minute
)

var errTimeUsedUp = fmt.Errorf("the time limit for summaries, %s per %s, is used up", AuthorTime, AuthorPeriod)

// AuthorStats counts successes and failures of an Author.
type AuthorStats struct {
	core.Author
	extract *rekindle.Summarizer
	log     *slog.Logger
	now     func() time.Time

	mu     sync.Mutex    // guards the fields below; not held during a call of the author
	failed int           // failures in a row
	why    error         // last failure, or why it is not called
	again  time.Time     // not called before
	since  time.Time     // start of the period of waited
	waited time.Duration // time spent in this period
}

// NewAuthor returns the statistics of the configured author. Without one, summaries are
// extracts.
func NewAuthor(o *core.Options, analyzer *analysis.Analyzer) *AuthorStats {
	return &AuthorStats{Author: o.Author, extract: rekindle.NewSummarizer(analyzer), log: o.Logger, now: o.Now}
}

// Summarize returns the summary of a text and its key terms. The author may need long, so the
// caller must hold no lock.
func (e *Lifecycle) Summarize(ctx context.Context, content string, entities []string) (summary string, terms []string) {
	things, people := byKind(content, entities)
	summary, terms = e.Author.extract.Remains(content, things, people...)
	if rekindle.Whole(content) || !e.Author.due() {
		return summary, terms
	}
	start := e.Author.now()
	written, err := e.Author.extract.Ask(ctx, content, terms, e.Author.Write)
	if ctx.Err() != nil {
		return summary, terms // canceled, not a failure of the author
	}
	if err == nil && core.SecretIn(e.Opt.DetectSecrets, written, content) {
		err = errors.New("the summary contains text that looks like a credential and that is not in the memory")
	}
	e.Author.settle(start, err)
	if err == nil {
		summary = written
	}
	return summary, terms
}

// byKind returns entities as the text spells them, those that are people apart.
func byKind(content string, entities []string) (things, people []string) {
	persons := make(map[string]bool)
	for _, found := range entity.Entities(content, entity.Options{Limit: memory.MaxEntities}) {
		if found.Kind == entity.Person {
			persons[entity.Key(found.Name)] = true
		}
	}
	for _, name := range entity.Written(content, entities) {
		if persons[entity.Key(name)] {
			people = append(people, name)
		} else {
			things = append(things, name)
		}
	}
	return things, people
}

// due reports whether to call the author now.
func (a *AuthorStats) due() bool {
	if a.Write == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	// a longer wait means that the clock was put back
	if wait := a.again.Sub(now); wait > 0 && wait <= AuthorPeriod {
		return false
	}
	if passed := now.Sub(a.since); passed < 0 || passed >= AuthorPeriod {
		a.since, a.waited = now, 0
	}
	return true
}

// settle records the result of a call. It logs only the first of several failures.
func (a *AuthorStats) settle(start time.Time, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, silent := a.now(), a.why == nil
	a.waited += now.Sub(start)
	switch {
	case err == nil && a.waited >= AuthorTime:
		a.failed, a.why, a.again = 0, errTimeUsedUp, a.since.Add(AuthorPeriod)
	case err == nil:
		a.failed, a.why = 0, nil
	default:
		a.failed++
		a.why = err
		if a.failed >= AuthorFailures || a.waited >= AuthorTime {
			a.again = now.Add(AuthorRest)
		}
	}
	switch {
	case a.why == nil && !silent:
		a.log.Info("summary endpoint available again", "endpoint", a.Endpoint)
	case a.why != nil && silent && !errors.Is(a.why, errTimeUsedUp):
		a.log.Warn("summary endpoint not available, using extracts of the memories as summaries", "endpoint",
			a.Endpoint, "err", a.why)
	}
}

// Status returns the state of the author, nil without one.
func (a *AuthorStats) Status() *op.AuthorStatus {
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
		st.Again = core.StampTime(a.again)
	}
	return st
}

// AuthorWarnings returns a warning if the author fails.
func AuthorWarnings(st *op.AuthorStatus) []string {
	if st == nil || st.Problem == "" {
		return nil
	}
	return []string{fmt.Sprintf("the chat endpoint %s does not write summaries: %s; in the meantime, emberd "+
		"uses extracts of the memories as summaries and retries automatically", st.Endpoint, st.Problem)}
}
