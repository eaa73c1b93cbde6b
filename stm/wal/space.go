package wal

import (
	"fmt"
	"slices"
	"time"

	"emberd/memory"
	"emberd/stm/record"
)

// Room that is kept back for what makes room.
const (
	MinFree      = 16 << 20 // saves are refused with less than this free
	BallastBytes = 2 << 20
	AskEvery     = time.Second // and askBytes: how often the disk is asked
	askBytes     = 1 << 20
)

// space is what the writer knows of the disk's room.
type space struct {
	Asked   time.Time // when it was asked last
	written int       // bytes since then
	full    bool      // the disk refused bytes; only new ballast proves it wrong
	until   time.Time // when that is tried, of a disk that refuses bytes and says it has room: a quota
}

// admit answers what there is no room for and returns the rest of a batch. While
// the disk is short of room that is only deletes, which lead to room.
func (w *Writer) admit(batch []*Pending) []*Pending {
	batch = slices.DeleteFunc(batch, func(p *Pending) bool { return w.overtaken(p) || w.unreadable(p) })
	if !slices.ContainsFunc(batch, (*Pending).grows) {
		return batch
	}
	if err := w.room(); err != nil {
		return onlyDeletes(batch, err)
	}
	return batch
}

// overtaken answers what continues with an entry that was undone since it was queued.
func (w *Writer) overtaken(p *Pending) bool {
	if p.Line.Tx.IsZero() {
		return false
	}
	err := w.S.Journal.Stands(p.Line.Tx)
	if err != nil {
		p.answer(err)
	}
	return err != nil
}

// unreadable answers what changes a memory whose document cannot be read. The documents of the others are in memory
// until the batch is published.
func (w *Writer) unreadable(p *Pending) bool {
	err := w.S.Table.Fetch(&p.Line)
	if err != nil {
		p.answer(err)
	}
	return err != nil
}

// onlyDeletes answers all other transactions with err.
func onlyDeletes(batch []*Pending, err error) []*Pending {
	return slices.DeleteFunc(batch, func(p *Pending) bool {
		if !p.grows() {
			return false
		}
		p.answer(err)
		return true
	})
}

// grows reports whether the transaction is more than deletes.
func (p *Pending) grows() bool {
	return slices.ContainsFunc(p.Line.Changes, func(c record.Change) bool { return !c.IsDelete() })
}

// room reports why nothing may be saved now, nil when there is room. While all is
// well the disk is asked once a second or mebibyte, else each time.
func (w *Writer) room() error {
	now := w.clock.Now()
	if w.S.minFree < 0 {
		return nil
	}
	if w.S.shortage.Load() == nil && w.Space.written < askBytes && now.Sub(w.Space.Asked).Abs() < AskEvery {
		return nil
	}
	w.Space.Asked, w.Space.written = now, 0
	free, err := w.S.FS.Free(w.Dir)
	switch {
	case err == nil && free < w.minFree():
		return w.refuseSaves(fmt.Sprintf("the disk of %s has only %s free, less than the reserve of %s, "+
			"so emberd saves nothing; free some space, or delete memories", w.S.Data, mebibytes(free),
			mebibytes(w.minFree())))
	case !w.Space.full && w.S.shortage.Load() == nil:
		return nil
	}
	if w.Space.until.After(now) || w.S.Ballast.Make() != nil {
		return w.refuseSaves(fmt.Sprintf(
			"the disk of %s or its quota is full, but saved memories are safe; free some space and try again",
			w.S.Data))
	}
	w.Space.full = false
	w.S.shortage.Store(nil)
	w.S.Logger.Info("the disk has free space; emberd accepts saves again", "directory", w.S.Data)
	return nil
}

// minFree returns how much must be free: room for the reserved file, and twice that if it
// was removed, or saves would use up the space that its removal freed.
func (w *Writer) minFree() uint64 {
	if w.Space.full {
		return uint64(w.S.minFree + 2*w.S.Ballast.size)
	}
	return uint64(w.S.minFree)
}

// refuseSaves records the shortage for status and returns the error of saves.
func (w *Writer) refuseSaves(reason string) error {
	if w.S.shortage.Swap(&reason) == nil {
		w.S.Logger.Warn("saves refused", "reason", reason)
	}
	return &memory.Error{Code: memory.DiskFull, Message: reason}
}

// makeRoom reacts to a disk that took no more bytes, and reports whether trying
// again may help.
func (w *Writer) makeRoom(err error) bool {
	if memory.CodeOf(err) != memory.DiskFull || w.S.minFree < 0 {
		return false
	}
	w.Space.full, w.Space.until = true, time.Time{}
	if free, err := w.S.FS.Free(w.Dir); err != nil || free >= w.minFree() {
		w.Space.until = w.clock.Now().Add(RetryAfter)
	}
	_ = w.refuseSaves(err.Error())
	return w.S.Ballast.Drop()
}

func mebibytes(n uint64) string {
	if n < 10<<20 {
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
