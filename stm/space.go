package stm

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
)

// Room that is kept back for what makes room.
const (
	minFree      = 16 << 20 // saves are refused with less than this free
	ballastBytes = 2 << 20
	askEvery     = time.Second // and askBytes: how often the disk is asked
	askBytes     = 1 << 20
)

// ballast is a file that holds no data, only room. It goes when the disk is full,
// so that forgetting, purging and compacting can still write, and is made again
// when there is space. It stands in the state folder, which nobody syncs, when
// that is on the disk of the log; else beside the segments, under a name that
// recovery passes over.
type ballast struct {
	mu   sync.Mutex // one attempt at a time
	fs   durable.FS
	name string
	size int64 // 0 is none
}

func newBallast(fsys durable.FS, dir, state string, size int64) *ballast {
	b := &ballast{fs: fsys, name: filepath.Join(state, "ballast"), size: max(size, 0)}
	if diskOf(fsys, dir) != diskOf(fsys, state) {
		b.name = filepath.Join(dir, ".ballast")
	}
	return b
}

// make makes sure that the ballast is there, whole and on the disk.
func (b *ballast) make() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	info, err := b.fs.Lstat(b.name)
	if b.size == 0 || err == nil && info.Size() >= b.size {
		return nil
	}
	if err == nil { // an attempt that was cut off
		err = b.fs.Remove(b.name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("make ballast: %w", err)
	}
	f, err := b.fs.CreateAppend(b.name)
	if err != nil {
		return fmt.Errorf("make ballast: %w", err)
	}
	if _, err = f.Write(noise(b.size)); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("make ballast: %w", errors.Join(err, b.fs.Remove(b.name)))
	}
	return nil
}

// drop gives the room away and reports whether there was any. The directory is
// synced since some file systems free blocks only then.
func (b *ballast) drop() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.size == 0 || b.fs.Remove(b.name) != nil {
		return false
	}
	_ = b.fs.SyncDir(filepath.Dir(b.name)) // the room is there in a moment anyway
	return true
}

// noise cannot be stored in less than it takes, as zeros can.
func noise(n int64) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b) // has no error
	return b
}

// diskOf tells file systems apart.
func diskOf(fsys durable.FS, name string) uint64 {
	info, err := fsys.Lstat(name)
	if err != nil {
		return 0
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev)
	}
	return 0
}

// space is what the writer knows of the disk's room.
type space struct {
	asked   time.Time // when it was asked last
	written int       // bytes since then
	full    bool      // the disk refused bytes; only new ballast proves it wrong
	until   time.Time // when that is tried, of a disk that refuses bytes and says it has room: a quota
}

// admit answers what there is no room for and returns the rest of a batch. While
// the disk is short of room that is only deletes, which lead to room.
func (w *writer) admit(batch []*pending) []*pending {
	batch = slices.DeleteFunc(batch, w.overtaken)
	if !slices.ContainsFunc(batch, (*pending).grows) {
		return batch
	}
	if err := w.room(); err != nil {
		return onlyDeletes(batch, err)
	}
	return batch
}

// overtaken answers what goes on with an entry that was undone since it was queued.
func (w *writer) overtaken(p *pending) bool {
	if p.line.tx.IsZero() {
		return false
	}
	err := w.s.stands(p.line.tx)
	if err != nil {
		p.answer(err)
	}
	return err != nil
}

// onlyDeletes answers all other transactions with err.
func onlyDeletes(batch []*pending, err error) []*pending {
	return slices.DeleteFunc(batch, func(p *pending) bool {
		if !p.grows() {
			return false
		}
		p.answer(err)
		return true
	})
}

// grows reports whether the transaction is more than deletes.
func (p *pending) grows() bool {
	return slices.ContainsFunc(p.line.changes, func(c change) bool { return !c.buries() })
}

// room says why nothing may be saved now, nil when there is room. While all is
// well the disk is asked once a second or mebibyte, else each time.
func (w *writer) room() error {
	now := w.clock.now()
	if w.s.minFree < 0 {
		return nil
	}
	if w.s.shortage.Load() == nil && w.space.written < askBytes && now.Sub(w.space.asked).Abs() < askEvery {
		return nil
	}
	w.space.asked, w.space.written = now, 0
	free, err := w.s.fs.Free(w.dir)
	switch {
	case err == nil && free < w.least():
		return w.scarce(fmt.Sprintf("the disk that holds %s has %s free, less than the %s that emberd leaves for forgetting and for other programs, so nothing is saved; free some space, or forget what is not needed", w.s.data, mebibytes(free), mebibytes(w.least())))
	case !w.space.full && w.s.shortage.Load() == nil:
		return nil
	}
	if w.space.until.After(now) || w.s.ballast.make() != nil {
		return w.scarce(fmt.Sprintf("the disk that holds %s is full, or a quota is; forgetting may still work, and nothing saved so far is lost: free some space and try again", w.s.data))
	}
	w.space.full = false
	w.s.shortage.Store(nil)
	w.s.log.Info("there is room to save again", "directory", w.s.data)
	return nil
}

// least is how much must be free: room for the ballast and as much again on top
// if it was given up, or saves would use up what it made room for.
func (w *writer) least() uint64 {
	if w.space.full {
		return uint64(w.s.minFree + 2*w.s.ballast.size)
	}
	return uint64(w.s.minFree)
}

// scarce notes the shortage for status and is the error of saves.
func (w *writer) scarce(reason string) error {
	if w.s.shortage.Swap(&reason) == nil {
		w.s.log.Warn("saves are refused", "reason", reason)
	}
	return &memory.Error{Code: memory.DiskFull, Message: reason}
}

// makeRoom reacts to a disk that took no more bytes, and reports whether trying
// again may help.
func (w *writer) makeRoom(err error) bool {
	if memory.CodeOf(err) != memory.DiskFull || w.s.minFree < 0 {
		return false
	}
	w.space.full, w.space.until = true, time.Time{}
	if free, err := w.s.fs.Free(w.dir); err != nil || free >= w.least() {
		w.space.until = w.clock.now().Add(retryAfter)
	}
	_ = w.scarce(err.Error())
	return w.s.ballast.drop()
}

func mebibytes(n uint64) string {
	if n < 10<<20 {
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
