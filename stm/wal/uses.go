package wal

import (
	"sync"

	"emberd/stm/record"
)

// uses holds the running totals of this device that are not on disk yet. They
// show at once and reach the disk at the next full second, or with a change of their memory; a
// crash loses at most that.
type uses struct {
	mu    sync.Mutex
	dirty map[[16]byte]record.UseTotal
	wake  chan struct{} // signals the writer that something waits
}

func (u *uses) Add(key [16]byte, total record.UseTotal) {
	u.mu.Lock()
	u.Put(key, total)
	u.mu.Unlock()
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

func (u *uses) Put(key [16]byte, total record.UseTotal) {
	if u.dirty == nil {
		u.dirty = map[[16]byte]record.UseTotal{}
	}
	u.dirty[key] = record.MaxUse(total, u.dirty[key])
}

// take returns what waits, at most what fits one line.
func (u *uses) take() map[[16]byte]record.UseTotal {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.dirty) <= record.MaxUses {
		dirty := u.dirty
		u.dirty = nil
		return dirty
	}
	some := make(map[[16]byte]record.UseTotal, record.MaxUses)
	for key, total := range u.dirty {
		if len(some) == record.MaxUses {
			break
		}
		some[key] = total
		delete(u.dirty, key)
	}
	return some
}

// takeOf returns the waiting uses of some memories.
func (u *uses) takeOf(keys [][16]byte) map[[16]byte]record.UseTotal {
	u.mu.Lock()
	defer u.mu.Unlock()
	some := make(map[[16]byte]record.UseTotal)
	for _, key := range keys {
		if total, waits := u.dirty[key]; waits && len(some) < record.MaxUses {
			some[key] = total
			delete(u.dirty, key)
		}
	}
	return some
}

func (u *uses) giveBack(dirty map[[16]byte]record.UseTotal) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for key, total := range dirty {
		u.Put(key, total)
	}
}

func (u *uses) Waiting() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.dirty) > 0
}
