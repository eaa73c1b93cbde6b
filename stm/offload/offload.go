// Package offload moves documents of memories from the heap to files, and decides when a file is written again.
package offload

import (
	"context"
	"slices"
	"time"

	"emberd/internal/durable"
	"emberd/stm/docfile"
	"emberd/stm/table"
)

// pauseEvery is after how many bytes of documents others may have the disk.
const pauseEvery = 1 << 20

// atOnce is how many rows refer to a new file at once, while nothing else changes the table.
const atOnce = 512

// Mover moves the documents of a table. Only one goroutine may use it at a time.
//
// A file is written again, as far as rows refer to it, when more than half of it is dead; when a document in it cannot
// be read; if it has a dead byte, when a text must go; and, so that files do not become many, if it is no larger than
// what is written anyway.
type Mover struct {
	FS       durable.FS
	Dir      string // of the files
	Table    *table.Table
	InMemory int64 // how many bytes of documents may stay in memory
	// Again finds a document that its file does not hold any more.
	Again func(*table.Row) ([]byte, error)
	// Exclusive runs fn while no other goroutine changes the table.
	Exclusive func(ctx context.Context, fn func()) error
}

// InFiles returns how many bytes of each file rows refer to, and how many bytes of documents are in memory.
func InFiles(t *table.Table) (live map[*table.DocFile]int64, inMemory int64) {
	live = map[*table.DocFile]int64{}
	for _, c := range t.Every() {
		if in, n := table.Away(c.Row.Load()); in != nil {
			live[in] += n
		} else {
			inMemory += n
		}
	}
	return live, inMemory
}

// again returns the files to be written again, none if nothing is to be written.
func (m *Mover) again(live map[*table.DocFile]int64, inMemory int64, tidy bool) (map[*table.DocFile]bool, bool) {
	out, sum, rest := map[*table.DocFile]bool{}, inMemory, []*table.DocFile{}
	for f, n := range live {
		dead := f.Size() - docfile.Begin - n
		if f.Shunned() || dead > n || tidy && dead > 0 {
			out[f] = true
			sum += n
		} else {
			rest = append(rest, f)
		}
	}
	if len(out) == 0 && inMemory < m.InMemory {
		return nil, false
	}
	slices.SortFunc(rest, func(a, b *table.DocFile) int { return int(a.Size() - b.Size()) })
	for _, f := range rest {
		if f.Size() > 2*sum || f.Size() > docfile.MaxSize/2 {
			break
		}
		out[f] = true
		sum += live[f]
	}
	return out, true
}

// Move moves documents from memory to files, if they are worth one, and returns the files that rows refer to then. Tidy
// leaves nothing in files that no row refers to; gently leaves the disk to others for half of the time.
func (m *Mover) Move(ctx context.Context, tidy, gently bool) (files []*table.DocFile, err error) {
	live, inMemory := InFiles(m.Table)
	again, any := m.again(live, inMemory, tidy)
	if any {
		var due []*table.Cell
		for _, c := range m.Table.Every() {
			if in, n := table.Away(c.Row.Load()); n > 0 && (in == nil || again[in]) {
				due = append(due, c)
			}
		}
		for len(due) > 0 && err == nil {
			due, err = m.some(ctx, due, gently)
		}
		live, _ = InFiles(m.Table)
	}
	for f := range live {
		files = append(files, f)
	}
	return files, err
}

// leaving is a row whose document is in a file.
type leaving struct {
	cell  *table.Cell
	row   *table.Row
	at, n uint32
}

// some writes one file, of the first of the cells, and returns the others.
func (m *Mover) some(ctx context.Context, due []*table.Cell, gently bool) ([]*table.Cell, error) {
	var put []leaving
	if err := durable.MkdirAll(m.FS, m.Dir); err != nil {
		return due, err
	}
	f, err := docfile.Create(m.FS, m.Dir, func(w *docfile.Writer) error {
		p := pause{gently: gently, began: time.Now()}
		for ; len(due) > 0 && w.Size() < docfile.MaxSize; due = due[1:] {
			row := due[0].Row.Load()
			if _, n := table.Away(row); n == 0 { // it was forgotten in between
				continue
			}
			at, n, err := table.AddTo(w, row)
			if err != nil {
				return err
			}
			put = append(put, leaving{due[0], row, at, n})
			if err := p.after(ctx, w.Size()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return due, err
	}
	in := &table.DocFile{File: f, Again: m.Again}
	for some := range slices.Chunk(put, atOnce) {
		if err := m.Exclusive(ctx, func() {
			for _, l := range some {
				l.cell.Leave(l.row, in, l.at, l.n)
			}
		}); err != nil {
			return due, err
		}
	}
	return due, nil
}

// pause leaves the disk to others for half of the time.
type pause struct {
	gently bool
	began  time.Time // the writing of what came since the latest pause
	size   int64     // that was written then
}

// after is called when size bytes are written. It returns an error when ctx ends.
func (p *pause) after(ctx context.Context, size int64) error {
	if size-p.size < pauseEvery {
		return nil
	}
	if p.gently {
		select {
		case <-time.After(time.Since(p.began)):
		case <-ctx.Done():
		}
	}
	p.size, p.began = size, time.Now()
	return context.Cause(ctx)
}
