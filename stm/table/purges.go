package table

import (
	"errors"
	"maps"

	"emberd/stm/record"
)

// Purge is what the table knows of a purged memory.
type Purge struct {
	Stamp record.Stamp
	Due   bool // this device's files may still hold the memory
}

func (t *Table) notePurge(key [16]byte, at record.Stamp) {
	t.Mu.Lock()
	defer t.Mu.Unlock()
	if at.After(t.Purges[key].Stamp) {
		t.Purges[key] = Purge{Stamp: at, Due: true}
	}
}

// PurgedAt is when a memory was purged last, zero for never.
func (t *Table) PurgedAt(key [16]byte) record.Stamp {
	t.Mu.RLock()
	defer t.Mu.RUnlock()
	return t.Purges[key].Stamp
}

// AllPurges returns the memories that were purged, and when they were last.
func (t *Table) AllPurges() map[[16]byte]Purge {
	t.Mu.RLock()
	defer t.Mu.RUnlock()
	return maps.Clone(t.Purges)
}

// LatestPurge is when a device purged something last, zero for never.
func (t *Table) LatestPurge(by record.Device) (last record.Stamp) {
	t.Mu.RLock()
	defer t.Mu.RUnlock()
	for _, p := range t.Purges {
		if p.Stamp.Dev == by {
			last = record.Later(last, p.Stamp)
		}
	}
	return last
}

// Countable leaves out what was counted of memories that were purged while it waited: its line
// would come after those that the purge takes out. It is for the goroutine that changes the table.
func (t *Table) Countable(use map[[16]byte]record.UseTotal) map[[16]byte]record.UseTotal {
	t.Mu.RLock()
	defer t.Mu.RUnlock()
	maps.DeleteFunc(use, func(key [16]byte, _ record.UseTotal) bool {
		return t.Cells[key] != nil && t.gone(t.Cells[key].Row.Load())
	})
	return use
}

// SettlePurges notes whether purges are yet to be applied.
func (t *Table) SettlePurges(which map[[16]byte]Purge, due bool) {
	t.Mu.Lock()
	defer t.Mu.Unlock()
	for key, p := range which {
		if t.Purges[key].Stamp == p.Stamp {
			t.Purges[key] = Purge{Stamp: p.Stamp, Due: due}
		}
	}
}

func (t *Table) DuePurges() map[[16]byte]Purge {
	t.Mu.RLock()
	defer t.Mu.RUnlock()
	due := maps.Clone(t.Purges)
	maps.DeleteFunc(due, func(_ [16]byte, p Purge) bool { return !p.Due })
	return due
}

// Purged reports what may not be kept now. A memory that was saved again after it was
// purged keeps what came since.
func (t *Table) Purged() record.Redaction {
	t.Mu.RLock()
	defer t.Mu.RUnlock()
	out := make(record.Redaction, len(t.Purges))
	for key, p := range t.Purges {
		if out[key] = record.MaxStamp(); t.Cells[key] != nil && t.Cells[key].Row.Load().Rest().Born.After(p.Stamp) {
			out[key] = p.Stamp
		}
	}
	return out
}

// Erase leaves nothing of purged memories but when they were.
func (t *Table) Erase(which map[[16]byte]Purge) {
	for key := range which {
		c := t.Cell(key)
		for c != nil {
			old := c.Row.Load()
			if old.Live() {
				break
			}
			o := old.Rest()
			next := &Row{Key: key}
			next.keep(Extra{Tomb: o.Tomb, rev: o.rev, Forgot: o.Forgot})
			if t.swap(c, old, next) {
				break
			}
		}
		t.Mu.Lock()
		delete(t.Graves, key)
		delete(t.Bare, key)
		t.Mu.Unlock()
	}
}

// related is the change as it is applied: without relations to memories that are known to
// have been purged later. One to a memory that was purged before, by a device that did
// not know, makes the purge due again.
func (t *Table) related(c *record.Change, at record.Stamp) *record.Change {
	if !record.MayName(c.Data) {
		return c
	}
	t.Mu.Lock()
	defer t.Mu.Unlock()
	p := record.Redaction{}
	_ = record.EachField(c.Data, func(name, value []byte) bool {
		for _, to := range record.NamedBy(name, value) {
			known, gone := t.Purges[to]
			switch {
			case !gone:
			case !at.After(known.Stamp):
				p[to] = known.Stamp
			case t.Cells[to] == nil || t.gone(t.Cells[to].Row.Load()):
				known.Due = true
				t.Purges[to] = known
			}
		}
		return true
	})
	if len(p) == 0 {
		return c
	}
	less := *c
	p.Unrelate(&less, at)
	return &less
}

// UnrelateAll removes the relations to purged memories from all rows. An error names the documents that could not be
// read. Only the goroutine that changes the table calls it.
func (t *Table) UnrelateAll(p record.Redaction) (err error) {
	for _, c := range t.Every() {
		err = errors.Join(err, t.unrelate(c, p))
	}
	return err
}

func (t *Table) unrelate(c *Cell, p record.Redaction) error {
	for {
		old := c.Row.Load()
		doc, err := old.Document()
		if err != nil || len(p.Leading(doc, record.Stamp{})) == 0 {
			return err
		}
		if err := c.Fetch(); err != nil {
			return err
		}
		old = c.Row.Load()
		next := unrelated(p, old)
		if next == old || t.swap(c, old, next) {
			return nil
		}
	}
}

// unrelated is a row without relations to purged memories, the row itself if it has none.
func unrelated(p record.Redaction, row *Row) *Row {
	gone := p.Leading(row.JSON(), record.Stamp{})
	for key := range gone {
		name := key
		if key == record.SuccessorSince {
			name = record.SuccessorKey
		}
		if !p.Leads([]byte(name), row.Value(name), row.StampOf(name)) {
			delete(gone, key)
		}
	}
	if len(gone) == 0 {
		return row
	}
	next := *row
	// The document was walked when it was merged.
	next.Doc, _ = record.WithKeys(row.JSON(), gone)
	return &next
}
