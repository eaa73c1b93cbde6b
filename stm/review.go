package stm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
)

// review holds operations back that a human has to decide about. A compaction
// may drop a tombstone once every device that is alive has seen it. An operation
// from before then, of a device that was silent for so long that nobody waited
// for it, may bring back what was deleted, with nothing left to say so.
type review struct {
	mu     sync.Mutex // guards what follows
	floors []floor
	ops    map[Stamp]line
}

// floor is what the header of a compacted file says about the tombstones it has
// dropped: all are at or before stamp, and of each device seen has been read.
type floor struct {
	stamp Stamp
	dev   Device // whose compaction it was
	seen  map[string]uint64
}

// raise takes note of a header.
func (v *review) raise(h *header) {
	stamp, err := ParseStamp(h.Floor)
	if err != nil {
		return // none dropped
	}
	dev, _ := parseDevice(h.Dev)
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

// floors reads the headers of the compacted files of a folder, before any line
// is merged that they are about. What cannot be read is told when it is read
// whole.
func (r *recovery) floors(dir string) {
	entries, err := r.s.fs.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if parseFileName(e.Name()).kind == Compacted && e.Type().IsRegular() {
			if h, ok := r.s.headerOf(filepath.Join(dir, e.Name())); ok {
				r.s.review.raise(&h)
			}
		}
	}
}

func (s *Store) headerOf(name string) (header, bool) {
	l, ok := headLine(s.fs, name)
	if !ok {
		return header{}, false
	}
	h, err := decodeHeader(l.data)
	return h, err == nil
}

// headLine reads the first line of a log file, if it is a header.
func headLine(fsys durable.FS, name string) (line, bool) {
	l, err := firstLine(fsys, name)
	return l, err == nil && l.op == opSegment
}

// holds keeps a line for review if it is older than dropped tombstones, was not
// known when they were dropped, and writes to a memory that nothing is known
// of. It does not keep what only deletes.
func (v *review) holds(t *table, l *line) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !slices.ContainsFunc(v.floors, func(f floor) bool { return f.covers(l) }) || !l.writesUnknown(t) {
		return false
	}
	if known, ok := v.ops[l.stamp]; ok {
		known.at = l.at // a compacted file may stand for where it was
		v.ops[l.stamp] = known
		return true
	}
	if v.ops == nil {
		v.ops = map[Stamp]line{}
	}
	v.ops[l.stamp] = l.clone()
	return true
}

// waits reports whether the line with a stamp waits for a decision.
func (v *review) waits(at Stamp) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, ok := v.ops[at]
	return ok
}

func (f *floor) covers(l *line) bool {
	return l.op != opUse && l.stamp.Dev != f.dev && !l.stamp.after(f.stamp) && l.seq > f.seen[l.stamp.Dev.String()]
}

// writesUnknown reports whether the line writes to a memory that has neither
// been created nor deleted.
func (l *line) writesUnknown(t *table) bool {
	return slices.ContainsFunc(l.changes, func(c change) bool {
		if c.buries() {
			return false
		}
		cell := t.cell(c.id.Bytes())
		if cell == nil {
			return true
		}
		o := cell.row.Load().rest()
		return o.born.IsZero() && o.tomb.IsZero()
	})
}

// clone copies what aliases the bytes that the line was read from.
func (l *line) clone() line {
	c := *l
	c.by, c.data, c.changes = bytes.Clone(l.by), bytes.Clone(l.data), slices.Clone(l.changes)
	for i := range c.changes {
		c.changes[i].data, c.changes[i].prev = bytes.Clone(c.changes[i].data), bytes.Clone(c.changes[i].prev)
	}
	return c
}

// released takes out the lines whose memories are known by now.
func (v *review) released(t *table) (lines []line) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for stamp, l := range v.ops {
		if !l.writesUnknown(t) {
			lines = append(lines, l)
			delete(v.ops, stamp)
		}
	}
	return lines
}

// reconsider merges at the end of recovery what is no longer in doubt.
func (r *recovery) reconsider() {
	for lines := r.s.review.released(r.s.table); len(lines) > 0; lines = r.s.review.released(r.s.table) {
		for i := range lines {
			if err := r.merge(&lines[i]); err != nil {
				r.unexpected(&lines[i], err)
			}
		}
	}
	for _, file := range r.s.review.files() {
		delete(r.s.snapshot.marks, r.s.fileName(file)) // the next start is to meet them again
	}
}

// files lists the files that hold waiting lines.
func (v *review) files() (files []uint32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, l := range v.ops {
		files = append(files, l.at.file)
	}
	return files
}

// Stale is a memory that a device which was silent for more than 90 days wrote
// to. It may have been deleted meanwhile, so it waits for a decision.
type Stale struct {
	ID      memory.ID
	Device  Device
	Changes int       // how many operations wait
	At      time.Time // of the latest of them
}

// Stale lists the memories that wait for a decision, by id.
func (s *Store) Stale() []Stale {
	s.review.mu.Lock()
	defer s.review.mu.Unlock()
	by := map[memory.ID]Stale{}
	for _, l := range s.review.ops {
		for _, c := range l.changes {
			w := by[c.id]
			w.ID, w.Device, w.Changes = c.id, l.stamp.Dev, w.Changes+1
			if at := l.stamp.Time(); at.After(w.At) {
				w.At = at
			}
			by[c.id] = w
		}
	}
	var out []Stale
	for _, w := range by {
		out = append(out, w)
	}
	slices.SortFunc(out, func(a, b Stale) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// DecideStale takes a memory that waits, as it would be if all that waits were
// merged, or with keep false leaves a tombstone in its place. Either is an
// operation of this device, which the others follow. What waits of memories
// that were changed by the same request waits on.
func (s *Store) DecideStale(ctx context.Context, id memory.ID, keep bool, by memory.Actor) (Receipt, error) {
	got, err := s.Update(ctx, []memory.ID{id}, "", func([]*Row) (*Tx, error) {
		row := s.review.preview(id)
		if row == nil {
			return nil, memory.Errorf(memory.NotFound, "memory %s does not wait for a decision; emberd doctor lists those that do", id).At("id")
		}
		if !keep {
			return &Tx{Verb: "forget", By: by, Changes: []Change{{ID: id, Delete: true, was: row}}}, nil
		}
		set := map[string]json.RawMessage{}
		// The document was walked when it was merged.
		_ = eachField(row.doc, func(name, value []byte) bool {
			set[string(name)] = value
			return true
		})
		return &Tx{Verb: "restore", By: by, Changes: []Change{{ID: id, Set: set, Allowed: true}}}, nil
	})
	if err != nil {
		return got, err
	}
	_, err = s.Refresh(ctx)
	return got, err
}

// preview is the row that the waiting lines of a memory add up to.
func (v *review) preview(id memory.ID) *Row {
	v.mu.Lock()
	defer v.mu.Unlock()
	var row *Row
	for _, l := range v.ops {
		for i := range l.changes {
			if l.changes[i].id != id {
				continue
			}
			if row == nil {
				row = &Row{key: id.Bytes()}
			}
			// A line that no table can hold is passed over here too.
			if next, err := merged(row, &l.changes[i], l.stamp); err == nil {
				row = next
			}
		}
	}
	return row
}
