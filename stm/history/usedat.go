package history

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
)

// UsedAt reports how often a memory had been used by then, which is when it was used.
type UsedAt struct {
	At   time.Time
	Uses int64 // on all devices, imported ones among them
}

// Uses reports when a live memory was used, as far as the log still does, oldest
// first. The first is of when it was made or, if it was imported, last used
// before. Uses within a second are one, and so are those of which compaction has
// kept the sum. It reads all files.
func (s *Timeline) Uses(ctx context.Context, id memory.ID) ([]UsedAt, error) {
	row := s.wal.Table.Get(id)
	if row == nil {
		return nil, memory.Errorf(memory.NotFound, "memory %s not found; run: emberd list", id).At("id")
	}
	for ctx.Err() == nil {
		totals, err := s.totalsOf(ctx, id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // compaction has replaced a file in the meantime
		}
		if err != nil {
			return nil, err
		}
		return usedAt(row, append(totals, row.Rest().Use...)), nil
	}
	return nil, context.Cause(ctx)
}

// totalsOf reads every total of use of a memory.
func (s *Timeline) totalsOf(ctx context.Context, id memory.ID) (totals []record.UseTotal, err error) {
	names, err := record.LogFiles(s.wal.FS, s.wal.Data)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		for l, err := range record.ReadLogContaining(s.wal.FS, name, []byte(id)) {
			if err = cmp.Or(err, ctx.Err()); err != nil && s.wal.OwnOrGone(name, err) {
				return nil, err
			}
			if err != nil {
				break // a file of another device is on its way here
			}
			if l.State != record.LineGood || l.Op != record.OpUse {
				continue
			}
			err = record.DecodeUse(l.Data, l.Stamp.Dev, func(key [16]byte, u record.UseTotal) {
				if key == id.Bytes() && u.Uses > 0 {
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
func usedAt(r *table.Row, totals []record.UseTotal) []UsedAt {
	slices.SortFunc(totals, func(a, b record.UseTotal) int {
		return cmp.Or(cmp.Compare(a.Used, b.Used), cmp.Compare(a.Uses, b.Uses))
	})
	out := []UsedAt{{At: record.Millis(max(r.Hot.LastUsed, r.Hot.Created)), Uses: int64(r.Hot.Uses)}}
	by := map[record.Device]int64{}
	for _, u := range totals {
		if u.Uses <= by[u.Dev] {
			continue
		}
		by[u.Dev] = u.Uses
		sum := int64(r.Hot.Uses)
		for _, n := range by {
			sum += n
		}
		if at := record.Millis(u.Used); at.Equal(out[len(out)-1].At) && len(out) > 1 {
			out[len(out)-1].Uses = sum
		} else {
			out = append(out, UsedAt{At: at, Uses: sum})
		}
	}
	return out
}
