package wal

import (
	"encoding/json"
	"time"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
)

// Change is one operation of a transaction on one memory: new values by
// top-level key of memory.Memory's JSON (null removes a key), or a delete.
// With Delete it is what the memory has in the trash, besides what it had. On an
// id that is not live, Set is the whole memory and creates it; with Delete it is
// the memory as it was when it was forgotten, which it stays.
type Change struct {
	ID     memory.ID
	Delete bool
	Set    map[string]json.RawMessage
	// Text is, with Delete, what is not to be saved again automatically: its fingerprint
	// stays when nothing else of the memory does. See [Store.ForgottenAs].
	Text string
	// Knows are the writes of other texts of the memory that a new text takes into account, so
	// that it was not made apart from them.
	Knows []record.Stamp
	// Allowed is set if the fields were checked, or the caller may skip the check: the
	// store does not call Vet.
	Allowed bool

	Purge bool       // for good: nothing is superseded
	Was   *table.Row // what a delete covers when the memory is not live
}

// Tx is one transaction: all of it is stored, or none.
type Tx struct {
	Verb    string       // save, edit, forget, …: what the journal shows
	By      memory.Actor // the caller
	Entry   string       // journal entry to join, "" starts one
	Key     string       // idempotency key, "" none
	KeyHash string       // hash of the request that the key stands for
	Changes []Change
	// Again are forgotten memories whose text may be saved again from now on.
	Again []memory.ID

	Undoes record.Stamp
}

// Receipt is what a committed transaction left.
type Receipt struct {
	Entry string       // journal entry, "" when nothing was written
	At    time.Time    // of the log's stamp
	Rows  []*table.Row // in the order of Changes, nil for deletes
}

// Pending is one transaction on its way to the disk.
type Pending struct {
	Line    record.Line
	By      memory.Actor       // as in line, decoded
	Terms   []table.TermCounts // of each change's text after it, empty for deletes
	Bytes   int
	Rows    []*table.Row
	Err     error
	Done    chan struct{}
	Release func() // unlocks what the transaction touches
}

// answer reports to the caller how it ended.
func (p *Pending) answer(err error) {
	p.Err = err
	p.Release()
	close(p.Done)
}
