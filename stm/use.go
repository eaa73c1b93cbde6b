package stm

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"emberd/memory"
)

// Use adds to what this device counts for a memory. At is when; the zero time
// is now.
type Use struct {
	ID             memory.ID
	Uses, Accesses int64
	At             time.Time
}

// maxUses is how many totals share a line, at some 130 bytes each.
const maxUses = 8192

// uses holds the running totals of this device that are not on disk yet. They
// show at once and reach the disk within a second or with the next batch; a
// crash loses at most that.
type uses struct {
	mu    sync.Mutex
	dirty map[[16]byte]useTotal
	wake  chan struct{} // tells the writer that something waits
}

// Use counts uses and accesses. Ids that do not exist are passed over, and so are memories
// that may not be changed through a lens.
func (s *Store) Use(us ...Use) {
	for _, u := range us {
		key := u.ID.Bytes()
		cell := s.table.cell(key)
		if cell == nil || !cell.row.Load().live() || s.may != nil && s.may(cell.row.Load(), &Change{ID: u.ID}) != nil {
			continue
		}
		at := u.At
		if at.IsZero() {
			at = s.now()
		}
		s.uses.add(key, s.table.count1(cell, s.device, u, at.UnixMilli()))
	}
}

// count1 raises the device's totals in the row and returns them.
func (t *table) count1(cell *cell, dev Device, u Use, at int64) useTotal {
	for {
		row := cell.row.Load()
		total := useTotal{dev: dev}
		for _, have := range row.rest().use {
			if have.dev == dev {
				total = have
			}
		}
		if u.Uses > 0 {
			total.uses, total.used = total.uses+u.Uses, max(total.used, at)
		}
		if u.Accesses > 0 {
			total.accesses, total.accessed = total.accesses+u.Accesses, max(total.accessed, at)
		}
		if t.swap(cell, row, withUse(row, total)) {
			return total
		}
	}
}

func (u *uses) add(key [16]byte, total useTotal) {
	u.mu.Lock()
	u.put(key, total)
	u.mu.Unlock()
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

func (u *uses) put(key [16]byte, total useTotal) {
	if u.dirty == nil {
		u.dirty = map[[16]byte]useTotal{}
	}
	u.dirty[key] = mostUse(total, u.dirty[key])
}

// take returns what waits, at most what fits one line.
func (u *uses) take() map[[16]byte]useTotal {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.dirty) <= maxUses {
		dirty := u.dirty
		u.dirty = nil
		return dirty
	}
	some := make(map[[16]byte]useTotal, maxUses)
	for key, total := range u.dirty {
		if len(some) == maxUses {
			break
		}
		some[key] = total
		delete(u.dirty, key)
	}
	return some
}

func (u *uses) giveBack(dirty map[[16]byte]useTotal) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for key, total := range dirty {
		u.put(key, total)
	}
}

func (u *uses) waiting() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.dirty) > 0
}

// usesWritten tells, once the writer has stopped, whether it could write them all.
func (s *Store) usesWritten() error {
	if s.uses.waiting() {
		return memory.Errorf(memory.ReadOnly, "uses counted lately could not be written to the log")
	}
	return nil
}

// useOnDisk is a device's totals in a use line; the device is the stamp's.
type useOnDisk struct {
	Uses     int64  `json:"u,omitempty"`
	Accesses int64  `json:"a,omitempty"`
	Used     string `json:"lu,omitempty"`
	Accessed string `json:"la,omitempty"`
}

func encodeUse(dirty map[[16]byte]useTotal) []byte {
	out := make(map[memory.ID]useOnDisk, len(dirty))
	for key, t := range dirty {
		out[memory.IDFromBytes(key)] = useOnDisk{t.uses, t.accesses, rfc3339(t.used), rfc3339(t.accessed)}
	}
	return encode(out)
}

func rfc3339(ms int64) string {
	if ms == 0 {
		return ""
	}
	return milli(ms).Format("2006-01-02T15:04:05.000Z07:00")
}

// decodeUse calls fn for every memory of a use line, or for none.
func decodeUse(d []byte, dev Device, fn func(key [16]byte, t useTotal)) error {
	var in map[string]useOnDisk
	if err := json.Unmarshal(d, &in); err != nil {
		return fmt.Errorf("use totals: %w", err)
	}
	keys := make([][16]byte, 0, len(in))
	totals := make([]useTotal, 0, len(in))
	for name, u := range in {
		id, err := memory.ParseID(name)
		if err != nil {
			return fmt.Errorf("use totals: %w", err)
		}
		t := useTotal{dev: dev, uses: u.Uses, accesses: u.Accesses}
		if t.used, err = parseMilli(u.Used); err != nil {
			return fmt.Errorf("use totals: %w", err)
		}
		if t.accessed, err = parseMilli(u.Accessed); err != nil {
			return fmt.Errorf("use totals: %w", err)
		}
		keys, totals = append(keys, id.Bytes()), append(totals, t)
	}
	for i := range keys {
		fn(keys[i], totals[i])
	}
	return nil
}

func parseMilli(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return t.UnixMilli(), err
}
