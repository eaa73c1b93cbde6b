package wal

import (
	"context"
	"slices"
	"sync"

	"emberd/memory"
)

// locks serialises transactions that touch the same memory or idempotency key,
// from the moment they look at it until what they wrote is on disk. Names are
// taken in order, so two transactions never wait for each other.
type locks struct {
	mu   sync.Mutex // guards held
	held map[string]*lock
}

// lock is held by the goroutine that put the token into ch. It may be released by another
// goroutine than the one that took it: the writer does.
type lock struct {
	ch      chan struct{}
	waiters int
}

// Acquire locks all names and returns what unlocks them.
func (l *locks) Acquire(ctx context.Context, names []string) (release func(), err error) {
	names = slices.Clone(names)
	slices.Sort(names)
	names = slices.Compact(names)
	for i, name := range names {
		if err := l.acquire(ctx, name); err != nil {
			l.releaseAll(names[:i])
			return nil, err
		}
	}
	return sync.OnceFunc(func() { l.releaseAll(names) }), nil
}

func (l *locks) acquire(ctx context.Context, name string) error {
	l.mu.Lock()
	k := l.held[name]
	if k == nil {
		k = &lock{ch: make(chan struct{}, 1)}
		l.held[name] = k
	}
	k.waiters++
	l.mu.Unlock()
	select {
	case k.ch <- struct{}{}:
		return nil
	case <-ctx.Done():
		l.drop(name, k)
		return memory.Errorf(memory.Busy,
			"the request ended while it waited for another change to the same memory; try again")
	}
}

func (l *locks) drop(name string, k *lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.waiters--; k.waiters == 0 {
		delete(l.held, name)
	}
}

func (l *locks) releaseAll(names []string) {
	for _, name := range names {
		l.mu.Lock()
		k := l.held[name]
		l.mu.Unlock()
		<-k.ch
		l.drop(name, k)
	}
}

func errRewriting() error {
	return memory.Errorf(memory.Busy, "a compaction is in progress; try again when it ends")
}
