package table

import (
	"slices"

	"emberd/memory"
	"emberd/stm/record"
)

// deletedText is what a memory's deletes say about its text. The fingerprint of the
// latest that has one counts until a later line lifts it.
type deletedText struct {
	Print  record.Fingerprint
	At     record.Stamp
	Lifted record.Stamp
}

// Counts reports whether the text is not to be saved again automatically.
func (f *deletedText) Counts() bool { return f != nil && f.At.After(f.Lifted) }

// printed returns f after a delete with a fingerprint, f itself if it is not news.
func (f *deletedText) printed(p *record.Fingerprint, at record.Stamp) *deletedText {
	if p == nil || f != nil && !at.After(f.At) {
		return f
	}
	next := deletedText{Print: *p, At: at}
	if f != nil {
		next.Lifted = f.Lifted
	}
	return &next
}

// liftedAt returns f after a line that lifts it, f itself if it is not news.
func (f *deletedText) liftedAt(at record.Stamp) *deletedText {
	if f != nil && !at.After(f.Lifted) {
		return f
	}
	next := deletedText{}
	if f != nil {
		next = *f
	}
	next.Lifted = at
	return &next
}

func (t *Table) NotePrint(p record.Fingerprint, key [16]byte) {
	t.Mu.Lock()
	defer t.Mu.Unlock()
	if !slices.Contains(t.Prints[p], key) {
		t.Prints[p] = append(t.Prints[p], key)
	}
}

// Printed returns the rows of the memories whose deletes had a fingerprint once.
func (t *Table) Printed(p record.Fingerprint) (rows []*Row) {
	t.Mu.RLock()
	defer t.Mu.RUnlock()
	for _, key := range t.Prints[p] {
		if c := t.Cells[key]; c != nil {
			rows = append(rows, c.Row.Load())
		}
	}
	return rows
}

// ClearFingerprint takes note of a line that lifts fingerprints.
func (t *Table) ClearFingerprint(ids []memory.ID, at record.Stamp) {
	for _, id := range ids {
		cell := t.Claim(id.Bytes())
		for {
			old := cell.Row.Load()
			o := old.Rest()
			o.Forgot = o.Forgot.liftedAt(at)
			if next := withExtra(old, o); next == old || t.swap(cell, old, next) {
				break
			}
		}
	}
}

// HasPrints reports whether any delete ever had a fingerprint.
func (t *Table) HasPrints() bool {
	t.Mu.RLock()
	defer t.Mu.RUnlock()
	return len(t.Prints) > 0
}
