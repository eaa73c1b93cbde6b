package wal

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
)

// review holds operations back that a human has to decide about. A compaction
// may drop a tombstone once every device that is alive has seen it. An operation
// from before then, of a device that was offline for so long that no device waited
// for it, may bring back what was deleted, with nothing left to say so.
type review struct {
	mu     sync.Mutex // guards what follows
	floors []floor
	ops    map[record.Stamp]record.Line
}

// floor is what the header of a compacted file says about the tombstones it has
// dropped: all are at or before stamp, and of each device seen has been read.
type floor struct {
	stamp record.Stamp
	dev   record.Device // whose compaction it was
	seen  map[string]uint64
}

// raise takes note of a header.
func (v *review) raise(h *record.Header) {
	stamp, err := record.ParseStamp(h.Floor)
	if err != nil {
		return // none dropped
	}
	dev, _ := record.ParseDevice(h.Dev)
	v.mu.Lock()
	defer v.mu.Unlock()
	for i, f := range v.floors {
		if f.dev == dev && f.stamp == stamp {
			v.floors[i].seen = h.Seen
			return
		}
	}
	v.floors = append(v.floors, floor{stamp: stamp, dev: dev, seen: h.Seen})
}

// holds keeps a line for review if it is older than dropped tombstones, was not
// known when they were dropped, and writes to a memory that nothing is known
// of. It does not keep what only deletes.
func (v *review) holds(t *table.Table, l *record.Line) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !slices.ContainsFunc(v.floors, func(f floor) bool { return f.covers(l) }) || !t.Lacks(l) {
		return false
	}
	if known, ok := v.ops[l.Stamp]; ok {
		known.At = l.At // a compacted file may stand for where it was
		v.ops[l.Stamp] = known
		return true
	}
	if v.ops == nil {
		v.ops = map[record.Stamp]record.Line{}
	}
	v.ops[l.Stamp] = l.Clone()
	return true
}

// Waits reports whether the line with a stamp waits for a decision.
func (v *review) Waits(at record.Stamp) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, ok := v.ops[at]
	return ok
}

// reduce takes out of a line that is no newer than a dropped tombstone the changes of memories of which
// nothing is known.
func (v *review) reduce(t *table.Table, l *record.Line) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !slices.ContainsFunc(v.floors, func(f floor) bool { return !l.Stamp.After(f.stamp) }) {
		return
	}
	l.Changes = slices.DeleteFunc(slices.Clone(l.Changes), func(c record.Change) bool { return t.LacksMemory(&c) })
}

func (f *floor) covers(l *record.Line) bool {
	return l.Op != record.OpUse && l.Stamp.Dev != f.dev && !l.Stamp.After(f.stamp) &&
		l.Seq > f.seen[l.Stamp.Dev.String()]
}

// released takes out the lines whose memories are known by now.
func (v *review) released(t *table.Table) (lines []record.Line) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for stamp, l := range v.ops {
		if !t.Lacks(&l) {
			lines = append(lines, l)
			delete(v.ops, stamp)
		}
	}
	return lines
}

// isAskedOf reports whether a line of a device waits, and so is in no table.
func (v *review) isAskedOf(dev record.Device) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	for at := range v.ops {
		if at.Dev == dev {
			return true
		}
	}
	return false
}

// files lists the files that hold waiting lines.
func (v *review) files() (files []uint32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, l := range v.ops {
		files = append(files, l.At.File)
	}
	return files
}

// Stale is a memory that a device which was silent for more than 90 days wrote
// to. It may have been deleted in the meantime, so it waits for a decision.
type Stale struct {
	ID      memory.ID
	Device  record.Device
	Changes int       // how many operations wait
	At      time.Time // of the latest of them
}

// Stale lists the memories that wait for a decision, by id.
func (v *review) Stale() []Stale {
	v.mu.Lock()
	defer v.mu.Unlock()
	by := map[memory.ID]Stale{}
	for _, l := range v.ops {
		for _, c := range l.Changes {
			w := by[c.ID]
			w.ID, w.Device, w.Changes = c.ID, l.Stamp.Dev, w.Changes+1
			if at := l.Stamp.Time(); at.After(w.At) {
				w.At = at
			}
			by[c.ID] = w
		}
	}
	var out []Stale
	for _, w := range by {
		out = append(out, w)
	}
	slices.SortFunc(out, func(a, b Stale) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// Preview is the row that the waiting lines of a memory add up to.
func (v *review) Preview(id memory.ID) *table.Row {
	v.mu.Lock()
	defer v.mu.Unlock()
	var row *table.Row
	for _, l := range v.ops {
		for i := range l.Changes {
			if l.Changes[i].ID != id {
				continue
			}
			if row == nil {
				row = &table.Row{Key: id.Bytes()}
			}
			// A line that no table can hold is passed over here too.
			if next, err := table.Merged(row, &l.Changes[i], l.Stamp); err == nil {
				row = next
			}
		}
	}
	return row
}
