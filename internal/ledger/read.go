package ledger

import (
	"encoding/json"
	"slices"
	"time"

	"emberd/memory"
)

// Call is what one answered request comes to.
type Call struct {
	What     string
	Search   bool
	Reads    bool        // the answer tells something of memories, though it may be of no one in particular
	Tx       string      // of a call that changed notes: its entry in the journal of notes
	Given    []memory.ID // in the answer
	Recalled []memory.ID // those of them that a search chose
	Used     []memory.ID
	Saved    []memory.ID
	Tokens   int
	Refused  int // saves that were, for what was in them
}

// Read is one answer that contains memories or notes, or one change of notes.
type Read struct {
	Seq  int64     `json:"seq"` // larger than that of every earlier one
	At   time.Time `json:"at"`
	By   Caller    `json:"by"`
	PID  int       `json:"pid,omitempty"`
	What string    `json:"what"` // the operation
	// Tx is, of a call that changed notes, its entry in the journal of notes; "" for one that only read.
	Tx  string      `json:"tx,omitempty"`
	IDs []memory.ID `json:"ids,omitempty"`
}

// held is a read as it is kept: there are thousands, and an id as text takes four times as much.
type held struct {
	Read
	ids [][16]byte // in place of IDs
}

func hold(r Read) held {
	h := held{Read: r, ids: make([][16]byte, 0, len(r.IDs))}
	for _, id := range r.IDs {
		h.ids = append(h.ids, id.Bytes())
	}
	h.IDs = nil
	return h
}

// MarshalJSON writes what [held.read] returns.
func (h *held) MarshalJSON() ([]byte, error) {
	r := h.read()
	return json.Marshal(&r)
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (h *held) UnmarshalJSON(text []byte) error {
	var r Read
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	*h = hold(r)
	return nil
}

func (h *held) read() Read {
	r := h.Read
	for _, id := range h.ids {
		r.IDs = append(r.IDs, memory.IDFromBytes(id))
	}
	return r
}

func (l *Ledger) read(r Read) {
	r.Seq = l.seq
	l.seq++
	l.reads = append(l.reads, hold(r))
	l.readIDs += len(r.IDs)
	for len(l.reads) > maxReads || l.readIDs > maxReadIDs {
		l.readIDs -= len(l.reads[0].ids)
		l.reads[0] = held{}
		l.reads = l.reads[1:]
	}
}

// Reads returns up to limit of the last reads before one by its number, or from the last
// on if that is 0, for which keep is true, the latest first; with an id only those with that
// memory. What keep is asked about has no ids.
func (l *Ledger) Reads(before int64, limit int, id memory.ID, keep func(*Read) bool) []Read {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Read
	key := id.Bytes()
	for i := len(l.reads) - 1; i >= 0 && len(out) < limit; i-- {
		h := &l.reads[i]
		if (before == 0 || h.Seq < before) && (id == "" || slices.Contains(h.ids, key)) && keep(&h.Read) {
			out = append(out, h.read())
		}
	}
	return out
}

// forgetRead makes a new list, since that of a read which is being stored is shared.
func (l *Ledger) forgetRead(h *held, gone func(memory.ID) bool) {
	var kept [][16]byte
	for _, id := range h.ids {
		if !gone(memory.IDFromBytes(id)) {
			kept = append(kept, id)
		}
	}
	l.readIDs -= len(h.ids) - len(kept)
	h.ids = kept
}
