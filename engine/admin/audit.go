package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"emberd/engine/core"
	"emberd/engine/memories"
	"emberd/internal/ledger"
	"emberd/internal/when"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	auditDefault = 30 * 24 * time.Hour
	// maxLooked is how many changes of the journal one page reads.
	maxLooked  = 5000
	auditChunk = 500
	maxEvent   = 100 // IDs of one event
)

// Audit returns what callers did: figures, reads and changes of the journal.
func (e *Admin) Audit(ctx context.Context, req *op.AuditRequest) (*op.AuditResult, error) {
	a, err := e.auditing(req)
	if err != nil {
		return nil, err
	}
	res := &op.AuditResult{Since: a.since, Counted: e.Ledger.Since(),
		Below: e.Opt.ThrottleBelow, Problem: e.Ledger.Problem()}
	if req.Check {
		res.Check = e.checkAudit()
	}
	if req.Cursor == "" {
		e.Ledger.Judge(e.WasDiscarded)
		for _, s := range e.Ledger.Sums(a.since, e.WasDiscarded) {
			if a.of(s.Caller) {
				res.Callers = append(res.Callers, e.auditCaller(&s))
			}
		}
	}
	if len(a.kinds) == 0 {
		return res, nil
	}
	res.Events, res.NextCursor, err = a.events(ctx)
	return res, err
}

// checkAudit checks the chain, and compares the journal with it.
func (e *Admin) checkAudit() *op.AuditCheck {
	found, err := e.Ledger.Check()
	if err != nil { // no promise holds that cannot be checked
		found = &ledger.Check{Problems: []string{fmt.Sprintf("cannot check the audit log: %v", err)}}
	}
	return &op.AuditCheck{Lines: found.Lines, Since: found.Since, Unkeyed: found.Unkeyed, Problems: found.Problems,
		Notes: found.Notes}
}

// Journal is the log as the ledger reads it.
type Journal struct{ Log }

// Log is a store, or what it keeps.
type Log interface {
	End() (seq uint64, newest stm.Stamp, certain bool)
	Settle(ctx context.Context) error
	Changes(fn func(*stm.LogLine)) error
	Closed(device stm.Device) *stm.LogLine
}

// End implements [ledger.Journal].
func (j Journal) End() (seq uint64, stamp string, certain bool) {
	seq, newest, certain := j.Log.End()
	return seq, newest.String(), certain
}

// Settle implements [ledger.Journal].
func (j Journal) Settle() error { return j.Log.Settle(context.Background()) }

// Changes implements [ledger.Journal].
func (j Journal) Changes(fn func(*ledger.Change)) error {
	return j.Log.Changes(func(l *stm.LogLine) { fn(journaled(l)) })
}

// Closed implements [ledger.Journal].
func (j Journal) Closed(device stm.Device) *ledger.Change {
	if l := j.Log.Closed(device); l != nil {
		return journaled(l)
	}
	return nil
}

func journaled(l *stm.LogLine) *ledger.Change {
	c := &ledger.Change{How: auditKind(l.Verb), What: l.Verb, Tx: l.Tx.String(), Seq: l.Seq,
		Stamp: l.Stamp.String(), Audit: l.Audit}
	_ = json.Unmarshal(l.By, &c.By) // an invalid value is the zero actor, as everywhere
	for i := range l.Changes {
		c.IDs = append(c.IDs, l.Changes[i].ID)
	}
	return c
}

func (e *Admin) auditCaller(s *ledger.Sum) op.AuditCaller {
	c := op.AuditCaller{Name: s.Caller.Name, Kind: s.Caller.Kind, Seen: s.Seen,
		Calls: s.Calls, Searches: s.Searches, Served: s.Served, Tokens: s.Tokens,
		Recalled: s.Useful.Of, Used: s.Useful.Hits, Undecided: s.Undecided, Saved: s.Wasted.Of, Junk: s.Wasted.Hits,
		Wrote: s.Wrote, Merged: s.Merged, Forgot: s.Forgot}
	c.Precision, c.JunkRate = auditRate(s.Useful, ledger.EnoughUse), auditRate(s.Wasted, ledger.EnoughSaves)
	if score, known := s.Score(); known {
		c.Earned = &score
	}
	c.Throttled = e.Ledger.Verdict(s.Caller)
	return c
}

func auditRate(r ledger.Rate, enough int64) *op.AuditRate {
	if r.Of < enough {
		return nil
	}
	low, high := r.Interval()
	return &op.AuditRate{Rate: r.Share(), Low: low, High: high}
}

// auditQuery is one request in progress.
type auditQuery struct {
	e      *Admin
	since  time.Time
	caller string
	id     memory.ID
	kinds  []string // none for no events
	limit  int
	// before and read are the end of the previous page, in the journal and among reads.
	before stm.Stamp
	read   int64
	notes  noteChanges
}

func (e *Admin) auditing(req *op.AuditRequest) (*auditQuery, error) {
	kinds := req.Kind
	if kinds == "" && (req.Memory != "" || req.Cursor != "") {
		kinds = op.AuditAll
	}
	a := &auditQuery{e: e, caller: req.Caller}
	var err error
	if a.kinds, err = kindsOf(kinds); err != nil {
		return nil, err
	}
	if a.since, err = sinceOf(req.Since, e.Opt.Now()); err != nil {
		return nil, err
	}
	if a.limit, err = core.CheckLimit(req.Limit, memories.DefaultPage); err != nil {
		return nil, err
	}
	if req.Memory != "" {
		if a.id, err = e.Stm.Resolve(req.Memory); err != nil {
			return nil, err
		}
	}
	return a, a.parseCursor(req.Cursor)
}

// kindsOf parses the kinds of events, several joined by commas; none of "".
func kindsOf(text string) (kinds []string, err error) {
	every := []string{op.AuditRead, op.AuditWrite, op.AuditMerge, op.AuditForget}
	switch text {
	case "":
		return nil, nil
	case op.AuditAll:
		return every, nil
	}
	for kind := range strings.SplitSeq(text, ",") {
		if kind = strings.TrimSpace(kind); !slices.Contains(every, kind) {
			return nil, memory.Errorf(memory.Invalid,
				"invalid kind %q; use read, write, merge, forget, several of these joined by commas, or all",
				memory.Clip(kind)).At("kind")
		}
		kinds = append(kinds, kind)
	}
	return kinds, nil
}

// sinceOf parses the start of an audit.
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
			return since,
				memory.Errorf(memory.Invalid, "invalid since %q; use a value such as 2026-03-09, "+
					"2026-03, 7d, 12h or yesterday, or an RFC 3339 time", memory.Clip(text)).At("since")
		}
		since = begin
	}
	if since.After(now) {
		return since, memory.Errorf(memory.Invalid, "since %s is in the future; use a time before now",
			since.Format(time.RFC3339)).At("since")
	}
	return since.UTC().Truncate(time.Millisecond), nil
}

// parseCursor parses a cursor: a stamp of the journal and the number of a read, either of which may
// be missing.
func (a *auditQuery) parseCursor(cursor string) error {
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
		return core.BadCursor()
	}
	return nil
}

func (a *auditQuery) of(c ledger.Caller) bool {
	return a.caller == "" || c.Is(a.caller)
}

func (a *auditQuery) wants(kind string) bool { return slices.Contains(a.kinds, kind) }

// wantsChanges reports whether more than reads is asked for.
func (a *auditQuery) wantsChanges() bool {
	return slices.ContainsFunc(a.kinds, func(kind string) bool { return kind != op.AuditRead })
}

// events merges reads and changes, latest first.
func (a *auditQuery) events(ctx context.Context) (page []op.AuditEvent, next string, err error) {
	changes, upTo, more, err := a.changes(ctx)
	if err != nil {
		return nil, "", err
	}
	reads, err := a.reads()
	if err != nil {
		return nil, "", err
	}
	read, entry := a.read, a.before
	for len(page) < a.limit && len(changes)+len(reads) > 0 {
		if len(changes) > 0 && (len(reads) == 0 || !reads[0].At.After(changes[0].At)) {
			page, changes = append(page, changes[0].AuditEvent), changes[1:]
			entry, err = stm.ParseStamp(page[len(page)-1].Tx)
			if err != nil {
				return nil, "", memory.Errorf(memory.Internal, "the log contains a change with an invalid ID: %w", err)
			}
			continue
		}
		if len(changes) == 0 && more && reads[0].At.Before(upTo.Time()) {
			break // an earlier change that was not read may come first
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

// change is a change of the journal as an event.
type change struct{ op.AuditEvent }

func (a *auditQuery) change(j *stm.Journaled) (change, bool) {
	by, kind := ledger.Of(j.By), auditKind(j.Verb)
	if !a.wants(kind) || !a.of(by) || a.id != "" && !slices.Contains(j.IDs, a.id) {
		return change{}, false
	}
	return change{op.AuditEvent{At: j.At, Kind: kind, What: cmp.Or(j.Verb, "unknown"), Caller: by.Name, Of: by.Kind,
		By:    j.By,
		Count: len(j.IDs), IDs: slices.Clone(j.IDs[:min(len(j.IDs), maxEvent)]), Tx: j.Tx, Undone: j.Undone}}, true
}

// changes returns the selected changes, up to one more than a page has. upTo is the last one
// that was read; more reports whether there are earlier ones.
func (a *auditQuery) changes(ctx context.Context) (out []change, upTo stm.Stamp, more bool, err error) {
	if !a.wantsChanges() {
		return nil, upTo, false, nil
	}
	upTo = a.before
	for looked := 0; looked < maxLooked && len(out) <= a.limit; looked += auditChunk {
		if err := ctx.Err(); err != nil {
			return nil, upTo, false, err
		}
		entries, _ := a.e.Stm.Entries(upTo, min(auditChunk, max(a.limit+1, looked)))
		for i := range entries {
			j := &entries[i]
			if upTo, err = stm.ParseStamp(j.Tx); err != nil {
				return nil, upTo, false, memory.Errorf(memory.Internal,
					"the log contains a change with an invalid ID: %w", err)
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

// AuditForgive resets the throttling of a caller.
func (e *Admin) AuditForgive(_ context.Context, req *op.AuditForgiveRequest) (*op.AuditForgiveResult, error) {
	named := e.Ledger.Named(req.Caller)
	switch {
	case len(named) == 0:
		return nil, memory.Errorf(memory.NotFound, "caller %q not found; run: emberd audit",
			memory.Clip(req.Caller)).At("caller")
	case len(named) > 1:
		return nil, memory.Errorf(memory.Ambiguous, "%d callers have the name %q; use %s", len(named),
			memory.Clip(req.Caller), callersAs(named)).At("caller")
	}
	res := &op.AuditForgiveResult{Name: named[0].Name, Kind: named[0].Kind, Was: e.Ledger.Verdict(named[0])}
	e.Ledger.Forgive(named[0])
	e.Ledger.Judge(e.WasDiscarded)
	if err := e.Ledger.Flush(); err != nil {
		return nil, memory.Errorf(memory.Unavailable,
			"cannot save the reset of the score of caller %s, so the reset lasts only until the daemon stops: %w",
			named[0].Name, err)
	}
	e.Opt.Logger.Info("score of a caller reset", "caller", named[0].String())
	return res, nil
}

// callersAs lists callers for a message.
func callersAs(of []ledger.Caller) string {
	var names []string
	for _, c := range of {
		names = append(names, c.String())
	}
	slices.Sort(names)
	return strings.Join(names, " or ")
}
