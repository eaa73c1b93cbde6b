package stm

import (
	"bytes"
	"context"
	"maps"
	"path/filepath"

	"emberd/memory"
)

// purged says of every purged memory up to which stamp nothing of it is kept.
type purged map[[16]byte]Stamp

// forever is after every stamp.
func forever() Stamp {
	return Stamp{T: 1<<64 - 1, Dev: Device{'z', 'z', 'z', 'z', 'z', 'z', 'z', 'z'}}
}

// redact takes purged memories out of a line of the log. A line of which nothing
// is left is of class empty. One that takes an entry back stays, without changes,
// to say so, and so does one with an idempotency key, lest its repetition bring a
// memory back; the hash of the request goes, and of the key a digest stays. What cannot be decoded goes if it
// mentions a memory.
func (p purged) redact(b, good []byte, l *line, is class) (_, _ []byte, _ class, changed bool) {
	switch {
	case len(p) == 0 || is == meta || is == empty:
		return b, good, is, false
	case is != counted:
		if p.mentioned(b) {
			return nil, nil, empty, true
		}
		return b, good, is, false
	case l.op == opUse:
		changed = p.uncount(l)
	default:
		changed = p.strip(l)
	}
	switch {
	case !changed:
		return b, good, is, false
	case len(l.changes) == 0 && l.op != opUse && len(l.lift) == 0 && l.ref.IsZero() && (l.key == "" || isHandKey(l.key)):
		return nil, nil, empty, true
	}
	b = l.append(nil)
	return b, b[:len(b)-1], is, true
}

// mentioned reports whether bytes hold the id of a purged memory.
func (p purged) mentioned(b []byte) bool {
	b = bytes.ToLower(b)
	for key := range p {
		if bytes.Contains(b, []byte(memory.IDFromBytes(key))) {
			return true
		}
	}
	return false
}

// strip takes changes out, and relations out of those of other memories. A purge stays.
func (p purged) strip(l *line) bool {
	var left []change
	related := false
	for _, c := range l.changes {
		if upto, ok := p[c.id.Bytes()]; !ok || c.op == opPurge || l.stamp.after(upto) {
			related = p.unrelate(&c, l.stamp) || related
			left = append(left, c)
		}
	}
	if len(left) == len(l.changes) && !related {
		return false
	}
	l.changes, l.keyHash = left, ""
	if len(left) > 0 {
		return true
	}
	if l.op = opAll; l.key != "" && !isHandKey(l.key) {
		l.key = purgedKey(l.key)
	}
	return true
}

// uncount takes totals of use out.
func (p purged) uncount(l *line) bool {
	left, all := map[[16]byte]useTotal{}, 0
	// It was decoded before.
	_ = decodeUse(l.data, l.stamp.Dev, func(key [16]byte, t useTotal) {
		all++
		if upto, ok := p[key]; !ok || l.stamp.after(upto) {
			left[key] = t
		}
	})
	if len(left) == all {
		return false
	}
	l.data = encodeUse(left)
	return true
}

// tells reports whether a log file says anything about purged memories but that
// they were purged.
func (s *Store) tells(ctx context.Context, name string, p purged) (found bool, err error) {
	f, err := s.fs.OpenRead(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	dev, _ := parseDevice(filepath.Base(filepath.Dir(name)))
	_, err = scanLines(ctx, f, atOnce(f, 0), func(b []byte, _ place, whole bool) error {
		if found {
			return nil
		}
		l, good, is := classify(b, whole, dev)
		_, _, _, found = p.redact(b, good, &l, is)
		return nil
	})
	return found, err
}

// purge is what the table knows of a purged memory.
type purge struct {
	stamp Stamp
	due   bool // this device's files may still hold the memory
}

func (t *table) notePurge(key [16]byte, at Stamp) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at.after(t.purges[key].stamp) {
		t.purges[key] = purge{stamp: at, due: true}
	}
}

// purgedAt is when a memory was purged last, zero for never.
func (t *table) purgedAt(key [16]byte) Stamp {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.purges[key].stamp
}

// countable leaves out what was counted of memories that were purged while it waited: its line
// would come after those that the purge takes out. It is for the goroutine that changes the table.
func (t *table) countable(use map[[16]byte]useTotal) map[[16]byte]useTotal {
	t.mu.RLock()
	defer t.mu.RUnlock()
	maps.DeleteFunc(use, func(key [16]byte, _ useTotal) bool { return t.cells[key] != nil && t.gone(t.cells[key].row.Load()) })
	return use
}

// settlePurges notes whether purges are yet to be carried out.
func (t *table) settlePurges(which map[[16]byte]purge, due bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, p := range which {
		if t.purges[key].stamp == p.stamp {
			t.purges[key] = purge{stamp: p.stamp, due: due}
		}
	}
}

func (t *table) duePurges() map[[16]byte]purge {
	t.mu.RLock()
	defer t.mu.RUnlock()
	due := maps.Clone(t.purges)
	maps.DeleteFunc(due, func(_ [16]byte, p purge) bool { return !p.due })
	return due
}

// purged says what may not be kept now. A memory that was saved anew after it was
// purged keeps what came since.
func (t *table) purged() purged {
	t.mu.RLock()
	defer t.mu.RUnlock()
	out := make(purged, len(t.purges))
	for key, p := range t.purges {
		if out[key] = forever(); t.cells[key] != nil && t.cells[key].row.Load().rest().born.after(p.stamp) {
			out[key] = p.stamp
		}
	}
	return out
}

// erase leaves nothing of purged memories but when they were.
func (t *table) erase(which map[[16]byte]purge) {
	for key := range which {
		c := t.cell(key)
		for c != nil {
			old := c.row.Load()
			if old.live() {
				break
			}
			o := old.rest()
			next := &Row{key: key}
			next.keep(odd{tomb: o.tomb, rev: o.rev, forgot: o.forgot})
			if t.swap(c, old, next) {
				break
			}
		}
		t.mu.Lock()
		delete(t.graves, key)
		t.mu.Unlock()
	}
}

func (s *Store) putPurges(e *encoder) {
	s.table.mu.RLock()
	purges := maps.Clone(s.table.purges)
	s.table.mu.RUnlock()
	e.uint(uint64(len(purges)))
	for key, p := range purges {
		e.b = append(e.b, key[:]...)
		e.stamp(p.stamp)
		e.bool(p.due)
	}
}

func (s *Store) getPurges(d *decoder) {
	for range d.count(33) {
		var key [16]byte
		copy(key[:], d.take(16))
		s.table.purges[key] = purge{stamp: d.stamp(), due: d.bool()}
	}
}
