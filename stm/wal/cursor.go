package wal

import "emberd/stm/snapshot"

// Cursor is a point of the log: everything before it is in the table.
type Cursor struct {
	files   snapshot.Marks
	seq     uint64
	clock   uint64
	changes int64
}

// Cursor is for the goroutine that owns the log.
func (w *Writer) Cursor() Cursor {
	c := Cursor{seq: w.seq, clock: w.clock.Last, changes: w.S.changes.Load()}
	c.files = snapshot.Marks{}
	for i, name := range w.S.CurrentFiles() {
		m, ok := w.S.Snapshot.marks[name]
		switch {
		case w.active != nil && w.active.file == uint32(i):
			m = snapshot.Mark{Name: name, Size: w.active.size, Growing: true, Sum: w.active.sum}
		case !ok:
			m = snapshot.Mark{Name: name}
		}
		c.files = append(c.files, m)
	}
	return c
}
