package engine

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"emberd/internal/ledger"
	"emberd/internal/when"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	auditDefault = 30 * 24 * time.Hour
	// mostLooked bounds the entries of the journal that one page looks at.
	mostLooked = 5000
	auditChunk = 500
	mostEvent  = 100 // ids
)

// audit tells what callers did, and lists reads and entries of the journal.
func (e *Engine) audit(ctx context.Context, req *op.AuditRequest) (*op.AuditResult, error) {
	a, err := e.auditing(req)
	if err != nil {
		return nil, err
	}
	res := &op.AuditResult{Since: a.since, Counted: e.ledger.Since(),
		Below: e.opt.ThrottleBelow, Problem: e.ledger.Problem()}
	if req.Cursor == "" {
		e.ledger.Judge(e.cameToNothing)
		for _, s := range e.ledger.Sums(a.since, e.cameToNothing) {
			if a.of(s.Caller) {
				res.Callers = append(res.Callers, e.auditCaller(&s))
			}
		}
	}
	if a.kind == "" {
		return res, nil
	}
	res.Events, res.NextCursor, err = a.events(ctx)
	return res, err
}

func (e *Engine) auditCaller(s *ledger.Sum) op.AuditCaller {
	c := op.AuditCaller{Name: s.Caller.Name, Kind: s.Caller.Kind, Seen: s.Seen,
		Calls: s.Calls, Searches: s.Searches, Served: s.Served, Tokens: s.Tokens,
		Recalled: s.Useful.Of, Used: s.Useful.Hits, Undecided: s.Undecided, Saved: s.Wasted.Of, Junk: s.Wasted.Hits,
		Wrote: s.Wrote, Merged: s.Merged, Forgot: s.Forgot}
	c.Precision, c.JunkRate = auditRate(s.Useful, ledger.EnoughUse), auditRate(s.Wasted, ledger.EnoughSaves)
	if score, known := s.Score(); known {
		c.Earned = &score
	}
	c.Throttled = e.ledger.Verdict(s.Caller)
	return c
}

func auditRate(r ledger.Rate, enough int64) *op.AuditRate {
	if r.Of < enough {
		return nil
	}
	low, high := r.Interval()
	return &op.AuditRate{Rate: r.Share(), Low: low, High: high}
}

// auditing is one question under way.
type auditing struct {
	e      *Engine
	since  time.Time
	caller string
	id     memory.ID
	kind   string // "" for no events
	limit  int
	// before and read are where the page before ended, in the journal and among reads.
	before stm.Stamp
	read   int64
}

func (e *Engine) auditing(req *op.AuditRequest) (*auditing, error) {
	a := &auditing{e: e, caller: req.Caller, kind: req.Kind}
	if a.kind == "" && (req.Memory != "" || req.Cursor != "") {
		a.kind = op.AuditAll
	}
	if kinds := []string{"", op.AuditRead, op.AuditWrite, op.AuditMerge, op.AuditForget, op.AuditAll}; !slices.Contains(kinds, a.kind) {
		return nil, memory.Errorf(memory.Invalid, "kind %q is unknown; use read, write, merge, forget or all", memory.Clip(a.kind)).At("kind")
	}
	var err error
	if a.since, err = sinceOf(req.Since, e.opt.Now()); err != nil {
		return nil, err
	}
	if a.limit, err = checkLimit(req.Limit, defaultPage); err != nil {
		return nil, err
	}
	if req.Memory != "" {
		if a.id, err = e.stm.Resolve(req.Memory); err != nil {
			return nil, err
		}
	}
	return a, a.goOn(req.Cursor)
}

// sinceOf reads how far back an audit looks.
func sinceOf(text string, now time.Time) (time.Time, error) {
	now = now.UTC()
	since := now.Add(-auditDefault)
	if text = strings.TrimSpace(text); text != "" {
		begin, _, ok := when.Period(text, now)
		if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
			begin, ok = at, true
		} else if ago, err := time.ParseDuration(text); err == nil && ago >= 0 && !ok {
			begin, ok = now.Add(-ago), true
		}
		if !ok {
			return since, memory.Errorf(memory.Invalid, "since %q is no time; use 2026-03-09, 2026-03, 7d, 12h, yesterday, or RFC 3339", memory.Clip(text)).At("since")
		}
		since = begin
	}
	if since.After(now) {
		return since, memory.Errorf(memory.Invalid, "since %s is in the future; name a time before now", since.Format(time.RFC3339)).At("since")
	}
	return since.UTC().Truncate(time.Millisecond), nil
}

// goOn reads a cursor: a stamp of the journal and the number of a read, either of which
// may be missing.
func (a *auditing) goOn(cursor string) error {
	if cursor == "" {
		return nil
	}
	stamp, number, ok := strings.Cut(cursor, "~")
	if ok && stamp != "" {
		var err error
		a.before, err = stm.ParseStamp(stamp)
		ok = err == nil
	}
	if ok && number != "" {
		var err error
		a.read, err = strconv.ParseInt(number, 10, 64)
		ok = err == nil && a.read > 0
	}
	if !ok {
		return memory.Errorf(memory.Invalid, "cursor is not one that emberd gave; use next_cursor of the page before, or none for the first page").At("cursor")
	}
	return nil
}

func (a *auditing) of(c ledger.Caller) bool {
	return a.caller == "" || c.Is(a.caller)
}

func (a *auditing) wants(kind string) bool { return a.kind == op.AuditAll || a.kind == kind }

// events merges reads and entries of the journal, the latest first.
func (a *auditing) events(ctx context.Context) (page []op.AuditEvent, next string, err error) {
	changes, upTo, more, err := a.changes(ctx)
	if err != nil {
		return nil, "", err
	}
	reads := a.reads()
	read, entry := a.read, a.before
	for len(page) < a.limit && len(changes)+len(reads) > 0 {
		if len(changes) > 0 && (len(reads) == 0 || !reads[0].At.After(changes[0].At)) {
			page, changes = append(page, changes[0].AuditEvent), changes[1:]
			entry, err = stm.ParseStamp(page[len(page)-1].Tx)
			if err != nil {
				return nil, "", memory.Errorf(memory.Internal, "an entry of the journal has no stamp: %w", err)
			}
			continue
		}
		if len(changes) == 0 && more && reads[0].At.Before(upTo.Time()) {
			break // what was not looked at may come first
		}
		page, read, reads = append(page, a.readEvent(&reads[0])), reads[0].Seq, reads[1:]
	}
	if len(changes) == 0 && more {
		entry = upTo
	}
	if more || len(changes)+len(reads) > 0 {
		next = cursorOf(entry, read)
	}
	return page, next, nil
}

func cursorOf(entry stm.Stamp, read int64) string {
	var stamp, number string
	if !entry.IsZero() {
		stamp = entry.String()
	}
	if read > 0 {
		number = strconv.FormatInt(read, 10)
	}
	return stamp + "~" + number
}

// reads are those that are wanted, one more than a page has.
func (a *auditing) reads() []ledger.Read {
	if !a.wants(op.AuditRead) {
		return nil
	}
	return a.e.ledger.Reads(a.read, a.limit+1, a.id, func(r *ledger.Read) bool { return !r.At.Before(a.since) && a.of(r.By) })
}

func (a *auditing) readEvent(r *ledger.Read) op.AuditEvent {
	return op.AuditEvent{At: r.At, Kind: op.AuditRead, What: r.What, Caller: r.By.Name, Of: r.By.Kind,
		By: memory.Actor{PID: r.PID}, Count: len(r.IDs), IDs: slices.Clone(r.IDs[:min(len(r.IDs), mostEvent)])}
}

// change is an entry of the journal as an event.
type change struct{ op.AuditEvent }

func (a *auditing) change(j *stm.Journaled) (change, bool) {
	by, kind := ledger.Of(j.By), auditKind(j.Verb)
	if !a.wants(kind) || !a.of(by) || a.id != "" && !slices.Contains(j.IDs, a.id) {
		return change{}, false
	}
	return change{op.AuditEvent{At: j.At, Kind: kind, What: cmp.Or(j.Verb, "unknown"), Caller: by.Name, Of: by.Kind, By: j.By,
		Count: len(j.IDs), IDs: slices.Clone(j.IDs[:min(len(j.IDs), mostEvent)]), Tx: j.Tx, Undone: j.Undone}}, true
}

// changes are entries that are wanted, up to one more than a page has. upTo is the last
// that was looked at, and more says that there are earlier ones nobody looked at.
func (a *auditing) changes(ctx context.Context) (out []change, upTo stm.Stamp, more bool, err error) {
	if a.kind == op.AuditRead {
		return nil, upTo, false, nil
	}
	upTo = a.before
	for looked := 0; looked < mostLooked && len(out) <= a.limit; looked += auditChunk {
		if err := ctx.Err(); err != nil {
			return nil, upTo, false, err
		}
		entries, _ := a.e.stm.Entries(upTo, min(auditChunk, max(a.limit+1, looked)))
		for i := range entries {
			j := &entries[i]
			if upTo, err = stm.ParseStamp(j.Tx); err != nil {
				return nil, upTo, false, memory.Errorf(memory.Internal, "an entry of the journal has no stamp: %w", err)
			}
			if j.At.Before(a.since) {
				return out, upTo, false, nil
			}
			if c, ok := a.change(j); ok {
				out = append(out, c)
			}
		}
		if len(entries) == 0 {
			return out, upTo, false, nil
		}
	}
	return out, upTo, len(out) <= a.limit, nil
}

// auditForgive has a caller judged anew.
func (e *Engine) auditForgive(_ context.Context, req *op.AuditForgiveRequest) (*op.AuditForgiveResult, error) {
	named := e.ledger.Named(req.Caller)
	switch {
	case len(named) == 0:
		return nil, memory.Errorf(memory.NotFound, "no caller is named %q; emberd audit shows those there are", memory.Clip(req.Caller)).At("caller")
	case len(named) > 1:
		return nil, memory.Errorf(memory.Ambiguous, "%d callers are named %q; write %s", len(named), memory.Clip(req.Caller), callersAs(named)).At("caller")
	}
	res := &op.AuditForgiveResult{Name: named[0].Name, Kind: named[0].Kind, Was: e.ledger.Verdict(named[0])}
	e.ledger.Forgive(named[0])
	e.ledger.Judge(e.cameToNothing)
	if err := e.ledger.Flush(); err != nil {
		return nil, memory.Errorf(memory.Unavailable, "%s is judged anew until emberd stops, and then again by what it did before: %w", named[0].Name, err)
	}
	e.opt.Logger.Info("a caller is judged anew", "caller", named[0].String())
	return res, nil
}

// callersAs lists callers as a person would write them.
func callersAs(of []ledger.Caller) string {
	var names []string
	for _, c := range of {
		names = append(names, c.String())
	}
	slices.Sort(names)
	return strings.Join(names, " or ")
}
