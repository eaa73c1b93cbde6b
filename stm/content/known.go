package content

import (
	"time"

	"emberd/stm/record"
	"emberd/stm/table"
)

// Known is what a store knows at one moment. It shares the rows, which never change, so that
// it takes a few bytes for each memory while the store goes on.
type Known struct {
	rows   []*table.Row
	graves map[[16]byte]record.Stamp
	purges Purges
}

// KnownOf takes what a table holds now. It is for the goroutine that changes the table.
func KnownOf(t *table.Table) *Known {
	cells := t.Every()
	k := &Known{rows: make([]*table.Row, len(cells)), graves: map[[16]byte]record.Stamp{}, purges: KnownPurges(t)}
	for i, c := range cells {
		k.rows[i] = c.Row.Load()
	}
	t.Mu.RLock()
	defer t.Mu.RUnlock()
	for key, g := range t.Graves {
		k.graves[key] = g.Stamp
	}
	return k
}

// Size is how many memories are known, deleted ones too.
func (k *Known) Size() int { return len(k.rows) }

// KnownPurges returns the purges that a table knows of. The caller owns the map.
func KnownPurges(t *table.Table) Purges {
	t.Mu.RLock()
	defer t.Mu.RUnlock()
	out := Purges{}
	for key, p := range t.Purges {
		out[key] = p.Stamp
	}
	return out
}

// Summary adds up what is known; deletes before since are left out.
func (k *Known) Summary(since time.Time) Summary {
	all := sums{}
	for _, r := range k.rows {
		if at, ok := k.graves[r.Key]; r.Live() {
			all.row(r)
		} else if ok && at.Time().After(since) {
			all.trashed(r.Key, at)
		}
	}
	return all.summary()
}
