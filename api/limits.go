package api

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"

	"emberd/internal/admission"
	"emberd/memory"
	"emberd/op"
)

// headerThrottled of an answer says why its caller is slowed down.
const headerThrottled = "Emberd-Throttled"

// LimitOptions are the settings of [Limits]; nil means all defaults.
type LimitOptions struct {
	Requests int // a second of one caller; 0 for any number
	// Slow returns why a caller is slowed down to one request a second, as the end of a
	// sentence that begins "since"; "" for a caller that is not. It is called for each
	// request and must return quickly; nil slows down no caller.
	Slow func(memory.Actor) string
}

// Limits divide the daemon's capacity among its callers. A caller is a process, as the kernel
// identifies it, with the access token that it sends. Any number of goroutines can use Limits.
type Limits struct {
	door *admission.Controller
	slow func(memory.Actor) string

	counts counts

	mu      sync.Mutex // guards what follows
	streams int
	callers map[admission.Key]*usage
}

// usage is what a caller occupies. It exists as long as it occupies something.
type usage struct {
	holders int           // requests and streams
	streams int           // that are open
	held    int           // bytes of large answers that the caller has not taken yet
	bulk    chan struct{} // a place for each large body that is being read
	reads   chan struct{} // a place for each question that is being answered
}

// NewLimits returns new limits.
func NewLimits(opt *LimitOptions) *Limits {
	if opt == nil {
		opt = &LimitOptions{}
	}
	slow := opt.Slow
	if slow == nil {
		slow = func(memory.Actor) string { return "" }
	}
	return &Limits{door: admission.New(runtime.GOMAXPROCS(0), opt.Requests), slow: slow,
		callers: make(map[admission.Key]*usage)}
}

func keyOf(a memory.Actor) admission.Key { return admission.Key{PID: a.PID, Token: a.Token} }

// enter returns the usage of a caller, which stays valid until leave.
func (l *Limits) enter(key admission.Key) *usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	u, ok := l.callers[key]
	if !ok {
		u = &usage{bulk: make(chan struct{}, maxCallerBulk), reads: make(chan struct{}, maxCallerReads)}
		l.callers[key] = u
	}
	u.holders++
	return u
}

func (l *Limits) leave(key admission.Key, u *usage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if u.holders--; u.holders == 0 {
		delete(l.callers, key)
	}
}

// openStream takes a place for a stream. If there is none, it returns an error after a pause,
// as [Limits.refused] does.
func (l *Limits) openStream(ctx context.Context, key admission.Key) error {
	err := l.takeStream(key)
	if err != nil {
		pause(ctx)
	}
	return err
}

func (l *Limits) takeStream(key admission.Key) error {
	u := l.enter(key)
	l.mu.Lock()
	var err error
	switch {
	case u.streams >= maxCallerStreams:
		err = refuse(http.StatusTooManyRequests,
			memory.Errorf(memory.Busy, "too many open event streams of this program (limit %d); close a stream",
				maxCallerStreams))
	case l.streams >= maxStreams:
		err = memory.Errorf(memory.Busy, "too many open event streams in total (limit %d); close a stream", maxStreams)
	default:
		u.streams++
		l.streams++
	}
	l.mu.Unlock()
	if err != nil {
		l.counts.refuse(refusedStream)
		l.leave(key, u)
	}
	return err
}

func (l *Limits) closeStream(key admission.Key) {
	l.mu.Lock()
	u := l.callers[key]
	u.streams--
	l.streams--
	l.mu.Unlock()
	l.leave(key, u)
}

// begin waits until a request may run; end must follow.
// why is "" unless the caller is slowed down.
func (l *Limits) begin(ctx context.Context, class admission.Class, read, part bool,
	cost time.Duration) (end func(), why string, err error) {
	actor := op.CallerFrom(ctx)
	why = l.slow(actor)
	ask := admission.Request{Key: keyOf(actor), Class: class, Slow: why != "", Part: part, Cost: cost}
	if ask.Slow && part && actor.Token == "" {
		// The name that a client claims within MCP is not known where its messages come in,
		// and others may come in by the same process.
		name, _, _ := strings.Cut(actor.Client, "/")
		ask.Key.Token, ask.Part = "claimed "+name, false
	}
	u := l.enter(ask.Key)
	if read && class == admission.Short {
		if err := l.take(ctx, u, u.reads, why); err != nil {
			l.leave(ask.Key, u)
			return nil, why, err
		}
	}
	put := func() {
		if read && class == admission.Short {
			<-u.reads
		}
		l.leave(ask.Key, u)
	}
	permit, err := l.door.Acquire(ctx, ask)
	if err != nil {
		put()
		return nil, why, l.refused(ctx, err, why)
	}
	return func() { permit.Release(); put() }, why, nil
}

// take waits for one of a caller's places and takes it.
func (l *Limits) take(ctx context.Context, u *usage, places chan struct{}, why string) error {
	if held := l.heldBy(u); held > maxHeld {
		if why == "" {
			l.counts.refuse(refusedHeld)
		}
		return l.refused(ctx, memory.Errorf(memory.Busy,
			"this program has not read %d MiB of responses; read them before you send more requests", held>>20), why)
	}
	select {
	case places <- struct{}{}:
		return nil
	default:
	}
	late := time.NewTimer(admission.MaxWait)
	defer late.Stop()
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-late.C:
		return l.refused(ctx, admission.ErrLate, why)
	}
}

func (l *Limits) heldBy(u *usage) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return u.held
}

// hold counts the bytes of an answer until it is taken.
func (l *Limits) hold(actor memory.Actor, n int) (release func()) {
	if n <= smallBody {
		return func() {}
	}
	key := keyOf(actor)
	u := l.enter(key)
	add := func(n int) {
		l.mu.Lock()
		defer l.mu.Unlock()
		u.held += n
	}
	add(n)
	return func() { add(-n); l.leave(key, u) }
}

func pause(ctx context.Context) {
	select {
	case <-time.After(refusePause):
	case <-ctx.Done():
	}
}

// refused returns an error of admission as the caller receives it. It returns after a pause,
// so that an immediate retry gains nothing and costs little.
func (l *Limits) refused(ctx context.Context, err error, why string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	pause(ctx)
	if why != "" {
		l.counts.refuse(refusedThrottled)
		return refuse(http.StatusTooManyRequests, memory.Errorf(memory.Busy,
			"emberd limits this program to one request per second: %s; send fewer requests", why))
	}
	switch {
	case errors.Is(err, admission.ErrFull):
		l.counts.refuse(refusedQueue)
		err = memory.Errorf(memory.Busy, "too many pending requests from this program (limit %d); wait for the answers",
			admission.MaxWaiting)
	case errors.Is(err, admission.ErrLate):
		l.counts.refuse(refusedWait)
		err = memory.Errorf(memory.Busy, "the daemon refused the request, because the request waited %v "+
			"for other requests of this program; send fewer requests at once", admission.MaxWait)
	}
	if e, ok := errors.AsType[*memory.Error](err); ok {
		return refuse(http.StatusTooManyRequests, e)
	}
	return err
}

// Invoker returns inv within the limits, for callers that do not use a handler of this
// package. A caller with a context of [op.WithNotice] receives the reason if it is slowed
// down.
func (l *Limits) Invoker(inv op.Invoker) op.Invoker { return &limited{l, inv} }

type limited struct {
	limits *Limits
	inner  op.Invoker
}

// Invoke implements [op.Invoker].
func (i *limited) Invoke(ctx context.Context, s *op.Spec, req any) (any, error) {
	end, why, err := i.limits.begin(ctx, classOf(s), s.Effect == op.Read, true, 0)
	if why != "" {
		op.Notify(ctx, slowedDown(why))
	}
	if err != nil {
		return nil, err
	}
	defer end()
	return i.inner.Invoke(ctx, s, req)
}

// slowedDown returns the sentence that explains to an agent why its calls take long.
func slowedDown(why string) string {
	return "emberd limits this program to one request per second, because " + why + "."
}

// long contains the operations that can take minutes, or many times as long as a save.
var long = map[*op.Spec]bool{
	op.SaveBatch.Spec: true, op.Import.Spec: true, op.Export.Spec: true, op.BackupCreate.Spec: true,
	op.Compact.Spec: true,
	op.Cleanup.Spec: true, op.CleanupRollback.Spec: true, op.AgentsRun.Spec: true, op.LifecycleRun.Spec: true,
	op.PromoteAuto.Spec: true, op.GC.Spec: true, op.Archive.Spec: true, op.Migrate.Spec: true, op.Purge.Spec: true,
	op.VaultCheck.Spec: true, op.Health.Spec: true, op.HealthDuplicates.Spec: true, op.Clusters.Spec: true,
	op.Consolidate.Spec: true,
}

func classOf(s *op.Spec) admission.Class {
	if long[s] {
		return admission.Long
	}
	return admission.Short
}

// readBody reads the body of a request. Large ones of a caller are read a few at a time,
// so that its connections together take no more memory than a few. The caller must call
// release when it no longer needs the body.
func (h *handler) readBody(w http.ResponseWriter, r *http.Request) (body []byte, release func(), err error) {
	tooLarge := memory.Errorf(memory.TooLarge,
		"too many bytes in the request body (limit %d, 4 MiB); split the request", maxBody)
	if r.ContentLength > maxBody {
		w.Header().Set("Connection", "close")
		return nil, nil, tooLarge
	}
	release = func() {}
	in := http.MaxBytesReader(w, r.Body, maxBody)
	body, err = io.ReadAll(io.LimitReader(in, smallBody))
	if err == nil && len(body) == smallBody {
		body, release, err = h.limits.readRest(r.Context(), in, body, r.ContentLength)
	}
	if err == nil {
		return body, release, nil
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, nil, tooLarge
	}
	if _, ok := errors.AsType[*memory.Error](err); ok {
		return nil, nil, err
	}
	return nil, nil, memory.Errorf(memory.Invalid, "the request body is incomplete; send the request again")
}

// readRest reads what follows the beginning of a body, whose length is negative if it is
// not known. Before, it waits until the caller is within its share.
func (l *Limits) readRest(ctx context.Context, in io.Reader, begin []byte,
	length int64) (body []byte, release func(), err error) {
	key := keyOf(op.CallerFrom(ctx))
	u := l.enter(key)
	if err := l.take(ctx, u, u.bulk, ""); err != nil {
		l.leave(key, u)
		return nil, nil, err
	}
	release = func() { <-u.bulk; l.leave(key, u) }
	l.door.Wait(ctx, key, admission.MaxWait)
	all := bytes.NewBuffer(begin)
	all.Grow(int(max(0, length-int64(len(begin)))) + bytes.MinRead)
	_, err = all.ReadFrom(in)
	l.door.Charge(key, costOf(ctx))
	if err != nil {
		release()
		return nil, nil, err
	}
	return all.Bytes(), release, nil
}
