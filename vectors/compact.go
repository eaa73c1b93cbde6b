package vectors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"emberd/internal/durable"
)

// rules of a compaction.
type rules struct {
	// before is since when a vector has had no document if it is to be dropped.
	before time.Time
	// despite continues without the vectors that cannot be read.
	despite bool
}

func thorough(before time.Time) rules { return rules{before: before, despite: true} }

// Compact writes all that is current into one new file and removes the others of this device.
// Vectors are dropped that no document has had for an hour, so that one that is renamed, or
// changes and changes back, keeps its vectors. It needs room for what is current on the disk.
// A failure, and an end of ctx, leaves the files as they are. In the meantime the store can be used.
func (s *Store) Compact(ctx context.Context) error {
	return s.compacted(s.compact(ctx, rules{before: s.opt.Now().Add(-orphanAge)}))
}

// Purge is Compact, except that every vector goes that no document has. When it returns nil, none
// of their bytes are in the files of this device any more.
func (s *Store) Purge(ctx context.Context) error {
	return s.compacted(s.compact(ctx, thorough(s.opt.Now())))
}

func (s *Store) compacted(err error) error {
	if err != nil {
		return fmt.Errorf("cannot compact vectors in %s: %w", s.dir, err)
	}
	return nil
}

// compaction is one run: what was current when it began, and where it is now.
type compaction struct {
	number  int
	table   table // as it was
	docs    []*placed
	vectors []held
	file    *file // the new one
}

// held is a vector and where it was.
type held struct {
	slot *slot
	row  int
	file *file
	from int64
	to   int64 // in the new file, 0 if it is not in there
}

// compact applies the steps of the package documentation.
func (s *Store) compact(ctx context.Context, r rules) error {
	s.order.Lock()
	defer s.order.Unlock()
	c, err := s.beginCompaction(r)
	if err != nil {
		return err
	}
	temp := tempName(s.opt.Device, c.number)
	if err := s.writeCompacted(ctx, c, temp, r.despite); err != nil {
		_ = s.fs.Remove(path(s.dir, temp)) // or the next Open does
		return err
	}
	name := fileName(s.opt.Device, c.number)
	err = s.fs.RenameNoReplace(path(s.dir, temp), path(s.dir, name))
	if err != nil {
		_ = s.fs.Remove(path(s.dir, temp))
	} else {
		err = s.fs.SyncDir(s.dir)
	}
	if err != nil {
		return errors.Join(err, c.file.r.Close())
	}
	c.file.name = name
	s.adopt(c)
	return s.removeBelow(c.number)
}

// beginCompaction takes down what is current. Whatever comes later goes to a file of a higher
// number. What is to be dropped is gone from memory now, so that it is put again if it comes back.
func (s *Store) beginCompaction(r rules) (*compaction, error) {
	s.write.Lock()
	defer s.write.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	if s.next >= maxNumber {
		return nil, fmt.Errorf("all %d file numbers are in use", maxNumber)
	}
	s.endWriter()
	c := &compaction{number: s.next}
	s.next++
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index.drop(r.before)
	c.table = s.index.table
	for _, d := range s.index.docs {
		c.docs = append(c.docs, d)
	}
	for _, slot := range s.index.slots.all() {
		if slot.row >= 0 {
			c.vectors = append(c.vectors, held{slot: slot, row: int(slot.row), file: slot.file, from: slot.at})
		}
	}
	slices.SortFunc(c.vectors, func(a, b held) int { return cmp.Compare(a.row, b.row) })
	return c, nil
}

// writeCompacted makes the file, syncs it, and reads it back.
func (s *Store) writeCompacted(ctx context.Context, c *compaction, temp string, despite bool) error {
	f, err := s.create(temp)
	if err != nil {
		return err
	}
	head := newHeader(s.opt.Identity, s.opt.Device, s.opt.Dim, true)
	records, err := s.copyCurrent(ctx, f, &head, c, despite)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if c.file, err = openFile(s.fs, s.dir, temp); err != nil {
		return err
	}
	c.file.own = true
	got, err := readRecords(c.file.r, head.seed, c.file.first, c.file.is.size, func(int64, []byte) { records-- })
	if err == nil && (records != 0 || got.lost != 0 || got.end != c.file.is.size || c.file.head.seed != head.seed) {
		err = fmt.Errorf("%s differs from the data that emberd wrote", temp)
	}
	if err != nil {
		return errors.Join(err, c.file.r.Close())
	}
	c.file.end = got.end
	return nil
}

// copyCurrent writes the header, the documents and the vectors of own files, and counts records.
func (s *Store) copyCurrent(ctx context.Context, f durable.File, head *header, c *compaction,
	despite bool) (records int, err error) {
	b, written := head.encode(), int64(0)
	flush := func(minimum int) error {
		if len(b) <= minimum {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		_, err := f.Write(b)
		written, b = written+int64(len(b)), b[:0]
		return err
	}
	for _, d := range c.docs {
		b = appendDoc(b, head.seed, &d.Doc)
		if records++; err == nil {
			err = flush(windowSize)
		}
	}
	v := Entry{Vector: make([]float32, s.opt.Dim)}
	record := make([]byte, vectorSize(s.opt.Dim))
	for i := 0; i < len(c.vectors) && err == nil; i++ {
		h := &c.vectors[i]
		if !h.file.own {
			continue
		}
		v.Key = h.slot.key
		ok, failed := h.file.vector(record, h.from, v)
		if failed != nil && !despite {
			return 0, failed
		}
		if ok {
			h.to = written + int64(len(b))
			b = appendVector(b, head.seed, v)
			records++
			err = flush(windowSize)
		}
	}
	return records, errors.Join(err, flush(0))
}

// adopt makes the new file the one that things are in, and takes the rows that nothing has any
// more out of memory.
func (s *Store) adopt(c *compaction) {
	rows := s.newTable()
	room, unread := make([]int8, s.opt.Dim), map[int]bool{}
	for i, h := range c.vectors {
		if _, ok := rows.take(&c.table, h.row, room); !ok {
			unread[i] = true
		}
	}
	rows.fileFull()
	s.mu.Lock()
	for i, h := range c.vectors {
		slot := h.slot
		if int(slot.row) != h.row {
			continue // lost in the meantime, and perhaps put again
		}
		slot.row = int32(i)
		if unread[i] {
			s.index.lose(slot)
		} else if h.to > 0 {
			slot.file, slot.at = c.file, h.to
		} else if h.file.own {
			s.index.lose(slot)
		}
	}
	s.index.moved(rows, c.table.n)
	old := s.replaceBelow(c)
	s.lost = 0 // and so are the files that it was lost in
	s.mu.Unlock()
	for _, f := range old {
		s.forget(f)
	}
	s.write.Lock()
	defer s.write.Unlock()
	s.ended = slices.DeleteFunc(s.ended, func(w *writer) bool {
		if w.number < c.number {
			_ = w.f.Close() // the new file stands for it
		}
		return w.number < c.number
	})
	if s.doubt < c.number {
		s.doubt = 0
	}
}

// replaceBelow takes the files that the new one stands for out of the list. mu is held.
func (s *Store) replaceBelow(c *compaction) (old []*file) {
	for name, f := range s.files {
		if f.own && s.ownNumber(name) < c.number {
			old = append(old, f)
			delete(s.files, name)
		}
	}
	s.files[c.file.name] = c.file
	return old
}
