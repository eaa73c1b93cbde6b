package stm

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"emberd/memory"
)

// UsedAt says how often a memory had been used by then, which is when it was used.
type UsedAt struct {
	At   time.Time
	Uses int64 // on all devices, imported ones among them
}

// Uses tells when a live memory was used, as far as the log still does, oldest
// first. The first is of when it was made or, if it was imported, last used
// before. Uses within a second are one, and so are those of which compaction has
// kept the sum. It reads all files.
func (s *Store) Uses(ctx context.Context, id memory.ID) ([]UsedAt, error) {
	row := s.table.get(id)
	if row == nil {
		return nil, memory.Errorf(memory.NotFound, "there is no memory %s", id).At("id")
	}
	for ctx.Err() == nil {
		totals, err := s.totalsOf(ctx, id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // compaction has replaced a file meanwhile
		}
		if err != nil {
			return nil, err
		}
		return row.usedAt(append(totals, row.rest().use...)), nil
	}
	return nil, context.Cause(ctx)
}

// totalsOf reads every total of use of a memory.
func (s *Store) totalsOf(ctx context.Context, id memory.ID) (totals []useTotal, err error) {
	names, err := LogFiles(s.fs, s.data)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		for l, err := range readLog(s.fs, name, []byte(id)) {
			if err = cmp.Or(err, ctx.Err()); err != nil && s.ownOrGone(name, err) {
				return nil, err
			}
			if err != nil {
				break // a file of another device is on its way here
			}
			if l.State != LineGood || l.Op != opUse {
				continue
			}
			err = decodeUse(l.Data, l.Stamp.Dev, func(key [16]byte, u useTotal) {
				if key == id.Bytes() && u.uses > 0 {
					totals = append(totals, u)
				}
			})
			if err != nil {
				continue // no start would take it
			}
		}
	}
	return totals, nil
}

// usedAt adds up the totals of all devices.
func (r *Row) usedAt(totals []useTotal) []UsedAt {
	slices.SortFunc(totals, func(a, b useTotal) int {
		return cmp.Or(cmp.Compare(a.used, b.used), cmp.Compare(a.uses, b.uses))
	})
	out := []UsedAt{{At: milli(max(r.hot.lastUsed, r.hot.created)), Uses: int64(r.hot.uses)}}
	by := map[Device]int64{}
	for _, u := range totals {
		if u.uses <= by[u.dev] {
			continue
		}
		by[u.dev] = u.uses
		sum := int64(r.hot.uses)
		for _, n := range by {
			sum += n
		}
		if at := milli(u.used); at.Equal(out[len(out)-1].At) && len(out) > 1 {
			out[len(out)-1].Uses = sum
		} else {
			out = append(out, UsedAt{At: at, Uses: sum})
		}
	}
	return out
}
