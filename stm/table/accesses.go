package table

import (
	"strconv"
	"time"

	"emberd/memory"
	"emberd/stm/record"
)

// lastAccessed is the key of the latest access that no device of the log counted.
const lastAccessed = "last_accessed_ts"

// AccessCount sums the tracked searches that returned the memory.
func (r *Row) AccessCount() int64 { return r.Total().Accesses }

// StoredAccesses are those of them that no device of the log counted: the memory came in
// with them, or was merged of others that had them.
func (r *Row) StoredAccesses() int64 { return int64(r.Hot.Accesses) }

// StoredLastUsed is the last use that no device of the log counted: the one that the memory
// came in with. Without one, it is the time at which the memory came in.
func StoredLastUsed(r *Row) time.Time { return record.Millis(max(r.Hot.LastUsed, r.Hot.Created)) }

// LastAccessed is the latest tracked search that returned the memory, or zero. What the
// memory came in with or was merged of counts, too.
func (r *Row) LastAccessed() time.Time {
	at := r.Total().Accessed
	if stored, err := record.MilliField(r.Value(lastAccessed)); err == nil {
		at = max(at, stored)
	}
	return record.Millis(at)
}

// LastTouched is the later of the last use and the last opening: fading counts from then.
func LastTouched(r *Row) time.Time {
	t := r.Total()
	return record.Millis(max(t.Used, t.Opened))
}

// LastOpened is when the whole memory was last shown to a caller, or zero.
func LastOpened(r *Row) time.Time { return record.Millis(r.Total().Opened) }

// Confidence decodes the confidence that the memory was saved with, 0 to 1.
func (r *Row) Confidence() float64 {
	f, err := strconv.ParseFloat(string(r.Value("confidence")), 64)
	if err != nil {
		return 1 // as of every memory that does not say
	}
	return f
}

// Use adds to what this device counts for a memory. At is when; the zero time
// is now.
type Use struct {
	ID             memory.ID
	Uses, Accesses int64
	Opened         bool // the accesses showed the whole memory
	At             time.Time
}

// Count1 raises the device's totals in the row and returns them.
func (t *Table) Count1(cell *Cell, dev record.Device, u Use, at int64) record.UseTotal {
	for {
		row := cell.Row.Load()
		total := record.UseTotal{Dev: dev}
		for _, have := range row.Rest().Use {
			if have.Dev == dev {
				total = have
			}
		}
		if u.Uses > 0 {
			total.Uses, total.Used = total.Uses+u.Uses, max(total.Used, at)
		}
		if u.Accesses > 0 {
			total.Accesses, total.Accessed = total.Accesses+u.Accesses, max(total.Accessed, at)
		}
		if u.Opened {
			total.Opened = max(total.Opened, at)
		}
		if t.swap(cell, row, WithUse(row, total)) {
			return total
		}
	}
}
