package snapshot

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"emberd/internal/durable"
	"emberd/internal/words"
	"emberd/stm/journal"
	"emberd/stm/record"
	"emberd/stm/table"
)

// Meta is what a snapshot tells about the log that it is of.
type Meta struct {
	Analyzer string        // identity of what made the words
	Device   record.Device // whose log this is
	Clock    uint64        // of the log
	Seq      uint64        // last own sequence number
	Dead     int64         // bytes of own files that a compaction would take away
	LastUse  int64         // bytes of the latest own use line
	Files    Marks         // by number; those without a name are not written, and change the numbers after them
	Seen     map[record.Device]*record.Ranges
	Lost     record.Ranges   // own numbers that a header gave up, or that a human edited
	Taken    map[string]bool // hand edits that were taken
}

// Content is what goes into a snapshot. Everything in it may change while it is written: what is
// written is at least what there was when Meta was made, and applying the log after that once
// more changes nothing. Lines of the journal and deletes that Meta.Files do not cover are left
// out: a start meets them again, in a file that may have another number then.
type Content struct {
	Meta    Meta
	Journal *journal.Journal
	Keys    *journal.Keys
	Table   *table.Table
	Words   *words.Index
	Files   []*table.DocFile // that documents of rows may be in, all of them in the folder of the snapshot
}

// Manner is how a snapshot is written.
type Manner struct {
	Gently bool         // leave disk and processor to others for half of the time
	Settle func() error // called when all is written, before it counts; nil does nothing
}

// Save writes a snapshot and gives it the name, in place of an earlier one. When ctx ends or
// something fails before that, nothing is left of it and the earlier one stays.
func Save(ctx context.Context, fsys durable.FS, name string, c *Content, m Manner) error {
	if err := durable.MkdirAll(fsys, filepath.Dir(name)); err != nil {
		return err
	}
	return durable.ReplaceFileBy(fsys, name, func(to io.Writer) error {
		if err := Write(ctx, to, c, m.Gently); err != nil {
			return err
		}
		if m.Settle != nil {
			if err := m.Settle(); err != nil {
				return err
			}
		}
		return context.Cause(ctx)
	})
}

// Write writes a snapshot to to, which it syncs now and then if it can be, until ctx ends.
func Write(ctx context.Context, to io.Writer, c *Content, gently bool) error {
	w := writer{container: newContainer(to, gently), c: c}
	w.write(ctx, fileHeader())
	w.meta(ctx)
	w.journal(ctx)
	w.keys(ctx)
	w.documents(ctx)
	w.rows(ctx)
	w.opened(ctx)
	w.graves(ctx)
	w.bare(ctx)
	w.purges(ctx)
	w.words(ctx)
	if err := w.finish(ctx); err != nil {
		return fmt.Errorf("cannot write the snapshot: %w", err)
	}
	return nil
}

// writer encodes the parts, each under the locks of its own.
type writer struct {
	*container
	c *Content
}

// items writes parts with what put encodes of each item, none if there are none.
func items[T any](ctx context.Context, w *writer, k kind, all iter.Seq[T], put func(*record.Encoder, T)) {
	e, n := &record.Encoder{B: make([]byte, 0, 1<<12)}, 0
	pass := func() {
		if n > 0 {
			w.buffered(ctx, k, n, e.B)
		}
		e.B, n = e.B[:0], 0
	}
	for item := range all {
		put(e, item)
		if n++; len(e.B) >= enough {
			pass()
		}
		if w.err != nil {
			return
		}
	}
	pass()
}

func (w *writer) buffered(ctx context.Context, k kind, count int, content []byte) {
	w.part(ctx, k, count, int64(len(content)), func(to io.Writer) error {
		_, err := to.Write(content)
		return err
	})
}

func (w *writer) meta(ctx context.Context) {
	e := &record.Encoder{}
	putMeta(e, &w.c.Meta)
	w.buffered(ctx, kindMeta, 1, e.B)
}

func putMeta(e *record.Encoder, m *Meta) {
	e.Text(m.Analyzer)
	e.Text(m.Device.String())
	e.Uint(m.Clock)
	e.Uint(m.Seq)
	e.Uint(uint64(m.Dead))
	e.Uint(uint64(m.LastUse))
	files := slices.DeleteFunc(slices.Clone(m.Files), func(f Mark) bool { return f.Name == "" })
	e.Uint(uint64(len(files)))
	for _, f := range files {
		e.Text(f.Name)
		e.Uint(uint64(f.Size))
		e.Uint(uint64(f.MTime))
		e.Uint(f.Inode)
		e.Bool(f.Growing)
		e.Uint(uint64(f.Sum))
	}
	e.Uint(uint64(len(m.Seen)))
	for dev, r := range m.Seen {
		e.Text(dev.String())
		e.Spans(r)
	}
	e.Spans(&m.Lost)
	e.Uint(uint64(len(m.Taken)))
	for key := range m.Taken {
		e.Text(key)
	}
}

func (w *writer) journal(ctx context.Context) {
	unlock := w.c.Journal.Read()
	refs, undone := w.c.Journal.Refs, maps.Clone(w.c.Journal.Undone) // refs are only ever added to, or replaced
	unlock()
	covered := func(yield func(record.LineRef) bool) {
		for _, r := range refs {
			if w.c.Meta.Files.Covers(r.At) && !yield(r) {
				return
			}
		}
	}
	items(ctx, w, kindRefs, covered, func(e *record.Encoder, r record.LineRef) {
		e.Stamp(r.Stamp)
		e.Stamp(r.Tx)
		e.Place(w.c.Meta.Files.written(r.At))
		e.Bool(r.Undo)
		e.Bool(r.Cut)
	})
	items(ctx, w, kindUndone, maps.Keys(undone), func(e *record.Encoder, tx record.Stamp) {
		e.Stamp(tx)
		e.Stamp(undone[tx])
	})
}

func (w *writer) keys(ctx context.Context) {
	w.c.Keys.Mu.Lock()
	known := maps.Clone(w.c.Keys.Known)
	w.c.Keys.Mu.Unlock()
	items(ctx, w, kindKeys, maps.Keys(known), func(e *record.Encoder, key string) {
		use := known[key]
		e.Text(key)
		e.Text(use.Entry)
		e.Text(use.Hash)
		e.Uint(uint64(use.At.UnixMilli()))
		e.Uint(uint64(len(use.IDs)))
		for _, id := range use.IDs {
			e.Text(string(id))
		}
	})
}

func (w *writer) rows(ctx context.Context) {
	items(ctx, w, kindRows, slices.Values(w.c.Table.Every()), func(e *record.Encoder, c *table.Cell) {
		// The document number is read first: should the memory change in
		// between, the number is of a text that is removed from the index,
		// which loading notices.
		doc := c.Doc.Load()
		if err := c.Row.Load().Encode(e, doc, w.c.Files); err != nil && w.err == nil {
			w.err = err
		}
	})
}

// opened writes the openings, which the rows lack. A row that changed in between has more of them.
func (w *writer) opened(ctx context.Context) {
	opened := func(yield func(table.Opened) bool) {
		for _, c := range w.c.Table.Every() {
			for _, o := range table.OpenedOf(c.Row.Load()) {
				if !yield(o) {
					return
				}
			}
		}
	}
	items(ctx, w, kindOpened, opened, func(e *record.Encoder, o table.Opened) { o.Encode(e) })
}

func (w *writer) graves(ctx context.Context) {
	w.c.Table.Mu.RLock()
	graves := maps.Clone(w.c.Table.Graves)
	w.c.Table.Mu.RUnlock()
	maps.DeleteFunc(graves, func(_ [16]byte, g table.TombstoneRef) bool { return !w.c.Meta.Files.Covers(g.At) })
	items(ctx, w, kindGraves, maps.Keys(graves), func(e *record.Encoder, key [16]byte) {
		g := graves[key]
		e.B = append(e.B, key[:]...)
		e.Stamp(g.Stamp)
		e.Stamp(g.Tx)
		e.Place(w.c.Meta.Files.written(g.At))
		e.Uint(uint64(len(g.Aliases)))
		for _, name := range g.Aliases {
			e.Text(name)
		}
	})
}

func (w *writer) bare(ctx context.Context) {
	bare := w.c.Table.BareSince(time.Time{})
	items(ctx, w, kindBare, maps.Keys(bare), func(e *record.Encoder, key [16]byte) {
		e.B = append(e.B, key[:]...)
		e.Stamp(bare[key])
	})
}

func (w *writer) purges(ctx context.Context) {
	w.c.Table.Mu.RLock()
	purges := maps.Clone(w.c.Table.Purges)
	w.c.Table.Mu.RUnlock()
	items(ctx, w, kindPurges, maps.Keys(purges), func(e *record.Encoder, key [16]byte) {
		e.B = append(e.B, key[:]...)
		e.Stamp(purges[key].Stamp)
		e.Bool(purges[key].Due)
	})
}

func (w *writer) words(ctx context.Context) {
	if w.err != nil {
		return
	}
	index := w.c.Words.Freeze()
	w.part(ctx, kindWords, 1, index.Size(), func(to io.Writer) error {
		_, err := index.WriteTo(to)
		return err
	})
}
