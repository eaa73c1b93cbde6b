package ltm

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"sync"

	index "github.com/blevesearch/bleve_index_api"
)

// batchBytes bounds the text of the notes that are put into one batch, and so the memory
// that their analysis takes, by about fifteen times as much.
const batchBytes = 2 << 20

// Update puts notes into the index, in place of what it holds under their paths, and takes
// the gone ones out. A path should be named once. When Update returns nil the next Search finds the
// change; it reaches the disk soon after, and each note whole or not at all. Updates may
// run side by side, which keeps all processors busy: they analyse in parallel and take
// turns only to change the index. When many batches wait for the disk, Update waits too.
//
// After an error some of the notes may have been taken; Known tells which. ErrRebuild is
// an index that can only be closed.
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
	notes, err := x.analyseAll(ctx, put)
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
	return x.introduce(notes, gone)
}

// analyseAll analyses on all processors.
func (x *Index) analyseAll(ctx context.Context, put []Doc) ([]analysed, error) {
	notes := make([]analysed, len(put))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(put)) {
		workers.Go(func() {
			for i := range next {
				notes[i] = analyse(x.analyzer, &put[i])
			}
		})
	}
	for i := range put {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	workers.Wait()
	return notes, ctx.Err()
}

// introduce makes one batch of the changes. The table that goes with it is there before
// the batch can be seen. The caller holds writer and has put a token into pending, which
// goes back when the batch is on the disk.
func (x *Index) introduce(notes []analysed, gone []string) error {
	current := x.tables.Load().current
	b := &batch{Batch: index.NewBatch(), table: current, changed: make(map[uint32]*note)}
	freed := x.free
	for _, path := range gone {
		if number, ok := x.numbers[path]; ok && b.changed[number] == nil {
			b.remove(number)
			freed = append(freed, number)
		}
	}
	taken := make(map[string]uint32, len(notes))
	for i := range notes {
		path := notes[i].record.path
		number, ok := x.numbers[path]
		if again, ok2 := taken[path]; ok2 {
			number, ok = again, ok2
		}
		if !ok {
			number, freed = b.number(freed)
		}
		taken[path] = number
		b.put(number, &notes[i])
	}
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
	x.tables.Store(&tables{current: next})
	for _, path := range gone {
		if _, again := taken[path]; !again {
			delete(x.numbers, path)
		}
	}
	for path, number := range taken {
		x.numbers[path] = number
	}
	x.free = slices.DeleteFunc(freed, func(n uint32) bool { return next.note(n) != nil })
	return nil
}

// batch is a batch for the store and what it does to the table.
type batch struct {
	*index.Batch
	table   *table
	changed map[uint32]*note
	grown   int // numbers given out beyond the table
}

// number takes a free number, or a new one.
func (b *batch) number(free []uint32) (uint32, []uint32) {
	if n := len(free); n > 0 {
		return free[n-1], free[:n-1]
	}
	b.grown++
	return uint32(len(b.table.notes) + b.grown - 1), free
}

// remove deletes all parts of the note that has the number.
func (b *batch) remove(number uint32) {
	b.changed[number] = nil
	for i := range b.table.note(number).parts() {
		b.Delete(ref{number, uint16(i)}.id())
	}
}

// put puts a note under a number, in place of the one that has it.
func (b *batch) put(number uint32, n *analysed) {
	if old := b.table.note(number); old != nil {
		b.remove(number)
	}
	if double := b.changed[number]; double != nil {
		for i := range double.parts() {
			b.Delete(ref{number, uint16(i)}.id())
		}
	}
	kept := n.record.note
	b.changed[number] = &kept
	for i, terms := range n.parts {
		var stored []byte
		if i == 0 {
			stored = n.record.encode(nil)
		}
		b.Batch.Update(newDocument(ref{number, uint16(i)}, terms, stored))
	}
}
