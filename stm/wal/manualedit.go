package wal

import (
	"bytes"
	"cmp"
	"encoding/json"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
)

// ManualEdit is a line whose checksum a human removed.
type ManualEdit struct {
	Key   string // names the line, so that it is taken once
	seq   uint64
	stamp record.Stamp // zero when the human wrote the line without one
	ID    memory.ID
	op    string
	data  []byte
}

// manualEdit reads a line that is a valid put or set except for its checksum:
// a person changed it in an editor and removed the checksum on purpose. It
// counts at its own stamp, so what was written later stays; the transaction
// that makes it a line like any other follows when the log can be written.
func (r *recovery) manualEdit(b []byte) bool {
	b = bytes.Clone(bytes.TrimSpace(b))
	l, err := record.ParseEdit(b)
	if err != nil || !record.IsHandEdit(b) {
		return false
	}
	if r.clock.Future(l.Stamp) { // it would drag our clock along
		return false
	}
	if err := r.s.Table.Fetch(&l); err != nil {
		r.failed = cmp.Or(r.failed, err)
		return true
	}
	if !l.Stamp.IsZero() {
		cell, err := r.s.Table.Apply(&l.Changes[0], &l, l.At)
		if err != nil {
			return false
		}
		r.s.Words.Drop(cell)
		r.clock.Observe(l.Stamp)
	}
	r.edits = append(r.edits, ManualEdit{Key: record.HandPrefix + record.NameOf(b),
		seq: l.Seq, stamp: l.Stamp, ID: l.Changes[0].ID, op: l.Op, data: l.Data})
	r.count.HandEdited++
	return true
}

// Tx sets the keys that still hold what the edited line says. Of a line
// without a stamp, all count.
func (e *ManualEdit) Tx(row *table.Row) *Tx {
	if row == nil && (e.op == record.OpSet || !e.stamp.IsZero()) {
		return nil // forgotten since
	}
	set := map[string]json.RawMessage{}
	// The edit was decoded before.
	_ = record.EachField(e.data, func(name, value []byte) bool {
		if key := string(name); e.stamp.IsZero() || row.StampOf(key) == e.stamp {
			set[key] = value
		}
		return true
	})
	if len(set) == 0 {
		return nil
	}
	return &Tx{Verb: "edit", By: memory.Actor{Via: "manual edit of the log"}, Key: e.Key, Changes: []Change{{ID: e.ID,
		Set: set, Allowed: true}}}
}

// Edited returns the hand edits that were not taken at an earlier start.
func (r *recovery) Edited() []ManualEdit {
	var out []ManualEdit
	for _, e := range r.edits {
		if !r.taken[e.Key] {
			out = append(out, e)
		}
	}
	return out
}
