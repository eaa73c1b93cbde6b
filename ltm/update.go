package ltm

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"runtime"
	"sync/atomic"

	index "github.com/blevesearch/bleve_index_api"

	"emberd/internal/contain"
)

// batchBytes bounds the text of the notes of one batch, and so the memory that their analysis
// takes, about fifteen times as much.
const batchBytes = 2 << 20

// Update puts notes into the index, in place of those under their paths, and removes the gone
// ones. Of two notes with one path the later stays; a path that is put is not gone. When Update
// returns nil, the next Search finds the change; it reaches the disk soon after, each note whole
// or not at all. Updates may run side by side, which keeps all processors busy: they analyze in
// parallel and take turns only to change the index. When many batches wait for the disk, Update
// waits too.
//
// After an error some of the notes may be in the index; Known lists them. ErrRebuild means that
// the index can only be closed.
func (x *Index) Update(ctx context.Context, put []Doc, gone []string) error {
	done, err := x.use()
	if err != nil {
		return err
	}
	defer done()
	for len(put) > 0 || len(gone) > 0 {
		n := batchOf(put)
		if err := x.update(ctx, put[:n], gone); err != nil {
			return err
		}
		put, gone = put[n:], nil
	}
	return nil
}

// batchOf returns how many of the notes make a batch.
func batchOf(put []Doc) int {
	size := 0
	for i := range put {
		for _, s := range put[i].Sections {
			size += len(s.Text)
		}
		if size >= batchBytes {
			return i + 1
		}
	}
	return len(put)
}

func (x *Index) update(ctx context.Context, put []Doc, gone []string) error {
	notes, err := x.analyzeAll(ctx, put)
	if err != nil {
		return err
	}
	select {
	case x.pending <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-x.closing:
		return ErrClosed
	case <-x.health.failed:
	}
	if x.health.broken() {
		return fmt.Errorf("%w: %s", ErrRebuild, x.health.problem())
	}
	x.writer.Lock()
	defer x.writer.Unlock()
	defer x.failOnPanic()
	return x.introduce(notes, gone)
}

// failOnPanic has the index built again if introduce panics: table and store may differ, and the
// token in pending is lost. The panic goes on.
func (x *Index) failOnPanic() {
	if r := recover(); r != nil {
		x.health.fail(fmt.Errorf("panic while storing a batch of notes: %T", r))
		panic(r)
	}
}

// analyzeAll analyzes on all processors.
func (x *Index) analyzeAll(ctx context.Context, put []Doc) ([]prepared, error) {
	notes := make([]prepared, len(put))
	var next atomic.Int64
	var workers contain.Group
	for range min(runtime.GOMAXPROCS(0), len(put)) {
		workers.Go(func() {
			c := passageSplitter{analyzer: x.analyzer, memories: x.memories()}
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(put) {
					return
				}
				notes[i] = prepare(x.layout, c.analyze(&put[i]))
			}
		})
	}
	workers.Wait()
	return notes, ctx.Err()
}

// prepared is an analyzed note as Bleve's documents, without its number.
type prepared struct {
	note      *note
	documents []*document
}

func prepare(l layout, a analyzedNote) prepared {
	kept := a.record.note
	p := prepared{note: &kept}
	stored := a.record.encode(appendText(nil, a.row))
	for i, terms := range a.parts {
		words := kept.passages[i*partPassages : min((i+1)*partPassages, len(kept.passages))]
		p.documents = append(p.documents, newDocument(l, terms, stored, kept.size(), words))
		stored = nil // the first part has it
	}
	return p
}

// introduce makes one batch of the changes. The table that goes with it is stored before the batch
// can be seen. The caller holds writer and has put a token into pending, which introduce returns
// when the batch is on the disk.
func (x *Index) introduce(notes []prepared, gone []string) error {
	current := x.tables.Load().current
	b := &batch{Batch: index.NewBatch(), table: current, changed: make(map[uint32]*note), free: x.free}
	taken := x.collect(b, notes, gone)
	next := current.with(b.changed)
	b.SetInternal([]byte(generationKey), binary.BigEndian.AppendUint64(nil, next.generation))
	b.SetPersistedCallback(func(err error) {
		<-x.pending
		if err == nil {
			x.health.wrote()
		}
	})
	x.tables.Store(&tables{current: current, next: next})
	if err := x.store.scorch.Batch(b.Batch); err != nil {
		// Whether the store has it or not, table and store may differ now.
		x.health.fail(err)
		return fmt.Errorf("%w: %w", ErrRebuild, err)
	}
	x.health.merges.batch()
	x.tables.Store(&tables{current: next})
	x.free = b.free
	maps.Copy(x.numbers, taken)
	for _, path := range gone {
		if number, ok := x.numbers[path]; ok && next.note(number) == nil {
			delete(x.numbers, path)
			x.free = append(x.free, number)
		}
	}
	return nil
}

// collect puts the changes into the batch and returns the numbers of the notes put.
func (x *Index) collect(b *batch, notes []prepared, gone []string) (taken map[string]uint32) {
	taken = make(map[string]uint32, len(notes))
	for i := range notes {
		path := notes[i].note.path
		number, ok := taken[path]
		if !ok {
			number, ok = x.numbers[path]
		}
		if !ok {
			number = b.number()
		}
		taken[path] = number
		b.put(number, &notes[i])
	}
	for _, path := range gone {
		number, ok := x.numbers[path]
		if _, again := taken[path]; ok && !again {
			b.remove(number)
		}
	}
	return taken
}

// batch is a batch for the store and what it does to the table.
type batch struct {
	*index.Batch
	table   *table
	changed map[uint32]*note
	free    []uint32 // numbers to give out
	grown   int      // numbers given out beyond the table
}

// number takes a free number, or a new one.
func (b *batch) number() uint32 {
	if n := len(b.free); n > 0 {
		number := b.free[n-1]
		b.free = b.free[:n-1]
		return number
	}
	b.grown++
	return uint32(len(b.table.notes) + b.grown - 1)
}

// remove deletes all parts of the note that has the number.
func (b *batch) remove(number uint32) {
	if n := b.table.note(number); n != nil {
		b.deleteParts(number, n)
	}
	b.changed[number] = nil
}

func (b *batch) deleteParts(number uint32, n *note) {
	for i := range n.parts() {
		b.Delete(ref{number, uint16(i)}.id())
	}
}

// put puts a note under a number, in place of the one that has it.
func (b *batch) put(number uint32, p *prepared) {
	if double := b.changed[number]; double != nil {
		b.deleteParts(number, double)
	}
	b.remove(number)
	b.changed[number] = p.note
	for i, d := range p.documents {
		b.Update(d.named(ref{number, uint16(i)}))
	}
}
