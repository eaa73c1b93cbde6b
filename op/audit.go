package op

import (
	"time"

	"emberd/memory"
)

// The kinds of what an audit lists.
const (
	AuditRead   = "read"
	AuditWrite  = "write"
	AuditMerge  = "merge"
	AuditForget = "forget"
	AuditAll    = "all"
)

// AuditRequest asks for the events of callers. Without kind, memory and cursor no events are listed.
type AuditRequest struct {
	Since  string `json:"since,omitempty" query:"since" doc:"start of the report: a date such as 2026-03-09, an age such as 7d or 12h, or a time in RFC 3339 format; default 30d"`
	Caller string `json:"caller,omitempty" query:"caller" doc:"report only the caller with this name; if several callers have this name, use KIND:NAME, such as token:work"`
	Memory string `json:"memory,omitempty" query:"memory" doc:"report only events about the memory with this ID"`
	Kind   string `json:"kind,omitempty" query:"kind" doc:"kind of the events to list: read, write, merge or forget; several kinds separated by commas; or all"`
	Limit  int    `json:"limit,omitempty" query:"limit" doc:"maximum number of events, 1 to 100, default 20"`
	Cursor string `json:"cursor,omitempty" query:"cursor" doc:"next_cursor of the previous page, to continue"`
	Check  bool   `json:"check,omitempty" query:"check" doc:"also verify the checksums of the audit log of this device, and compare the audit log with the list of changes"`
}

// AuditResult lists callers and, if asked for, events, the latest first. Changes are
// those of all devices; callers and reads are of this device, from Counted on.
type AuditResult struct {
	Since   time.Time     `json:"since"`
	Counted time.Time     `json:"counted_since"`
	Below   float64       `json:"throttle_below,omitempty"` // the setting audit.throttle_below
	Callers []AuditCaller `json:"callers,omitempty"`        // on the first page
	Events  []AuditEvent  `json:"events,omitempty"`
	// NextCursor continues with earlier events. It is there with no event, too, when so much
	// of the log was looked at that the rest is for another page.
	NextCursor string `json:"next_cursor,omitempty"`
	// Problem reports what became of a ledger that could not be used.
	Problem string `json:"problem,omitempty"`
	// Check is what a check of the audit log found; nil if it was not asked for.
	Check *AuditCheck `json:"check,omitempty"`
}

// AuditCheck is what a check of the audit log found.
type AuditCheck struct {
	Lines   int       `json:"lines"` // that hold
	Since   time.Time `json:"since,omitzero"`
	Unkeyed int       `json:"unkeyed,omitempty"` // reads from before the chain, which nothing vouches for
	// Problems name the first line that does not hold, then the others, at most 20 of them, and
	// what the journal and the record of reads say otherwise.
	Problems []string `json:"problems,omitempty"`
	// Notes say what the chain cannot vouch for although nothing is wrong, as after a crash.
	Notes []string `json:"notes,omitempty"`
}

// AuditCaller is what one caller did, by whole days (UTC).
type AuditCaller struct {
	Name string    `json:"name"`
	Kind string    `json:"kind"` // token; claimed: by the client's own word; via: it did not say, or is emberd itself; others: all for whom there was no room
	Seen time.Time `json:"seen"`

	Calls    int64 `json:"calls"`
	Searches int64 `json:"searches"`
	Served   int64 `json:"served"` // memories in answers
	Tokens   int64 `json:"tokens"` // of texts in answers, estimated
	// Recalled are memories that searches gave and that were used or can be no more:
	// within 24 hours. Used are those of them that were.
	// Undecided are those that were not used yet and may still be.
	Recalled  int64      `json:"recalled"`
	Used      int64      `json:"used"`
	Undecided int64      `json:"undecided"`
	Precision *AuditRate `json:"precision,omitempty"` // left out while there are fewer than 50
	// Saved are memories saved and saves refused, of the last 30 days at most. Junk are
	// those refused, and those that are gone or merged away and that no caller used.
	Saved    int64      `json:"saved"`
	Junk     int64      `json:"junk"`
	JunkRate *AuditRate `json:"junk_rate,omitempty"` // left out while there are fewer than 20

	Wrote  int64 `json:"wrote"` // memories, by the log of this device, and so the next two; and changes of notes
	Merged int64 `json:"merged"`
	Forgot int64 `json:"forgot"`
	// Earned is the precision, or the part of saves that is no junk, whichever is less.
	Earned    *float64 `json:"earned,omitempty"`
	Throttled string   `json:"throttled,omitempty"` // why it is
}

// AuditRate is a rate with the interval that holds it with 95 % confidence.
type AuditRate struct {
	Rate float64 `json:"rate"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// AuditEvent is one answer or one entry of a journal.
type AuditEvent struct {
	At     time.Time    `json:"at"`
	Kind   string       `json:"kind"` // read, write, merge or forget
	What   string       `json:"what"` // the operation of a read, the verb of a change
	Caller string       `json:"caller"`
	Of     string       `json:"caller_kind"`
	By     memory.Actor `json:"by"` // of a read, and of a change of notes, no more than the process
	Count  int          `json:"count"`
	IDs    []memory.ID  `json:"ids,omitempty"`   // the first 100
	Notes  []string     `json:"notes,omitempty"` // paths of a change of notes, while it can be undone
	Tx     string       `json:"tx,omitempty"`
	Undone bool         `json:"undone,omitempty"`
}

// AuditForgiveRequest names a caller.
type AuditForgiveRequest struct {
	Caller string `json:"caller" doc:"name of the caller in the answer of audit; if several callers have this name, use KIND:NAME, such as token:work"`
}

// AuditForgiveResult is the caller, which is judged again from now on.
type AuditForgiveResult struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// Was is why it was throttled, "" if it was not.
	Was string `json:"was,omitempty"`
}
