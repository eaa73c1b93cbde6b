// Package admission decides which of several callers' requests runs next, so that no
// caller takes more of the processors than its share while another wants some.
//
// It is fair by time used, not by requests: what a request takes of the processors is
// measured on its thread and charged to its caller, with half as much again for what is
// done for it elsewhere. A charge drains at the caller's share, which is half of the
// processors divided by the number of callers active within the last 100 ms: the other half
// is for the callers themselves, and for the kernel's work. These rules hold for every
// caller and each of its two lanes:
//
//   - Alone, a caller has everything; nothing is measured.
//   - Within its share, it runs at once, one request always and further ones out of
//     [Pool], which is divided among the callers that are active.
//   - Beyond its share, its requests wait in its own queue until the charge has drained.
//     They stop waiting when no other caller has had a request for 10 ms: then as many run
//     as there are processors, so that none is idle for the sake of fairness.
//   - Where several callers wait and hardly anything runs, the one that has used least of
//     what was left goes ahead: they are all busy, and the shares are too small for them.
//     What a caller uses so, or while all others are quiet, is not charged: nobody has a
//     debt from times when nobody else wanted more.
//   - A queue has [MostWaiting] places, and who waits in it waits for [LongestWait]. What
//     is beyond them is refused.
//   - At most so many requests a second run as the rate allows, alone or not.
//
// A request that is to run for long goes into a lane of its own, whose charges do not
// hold up the caller's other requests, nor those of others.
//
// The rule is one of start-time fair queueing (Goyal, Vin, Cheng: Start-time Fair
// Queueing, SIGCOMM 1996) with a guaranteed rate instead of a virtual clock: a virtual
// clock goes as slowly as the least busy caller, and would slow down whoever works hard
// beside one that hardly does.
package admission

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

// Bounds of a caller.
const (
	Pool        = 64               // requests beyond one each that run at once, of all callers
	MostAlone   = 256              // that run at once of a caller that is alone
	MostLong    = 2                // long ones that run at once of a caller
	MostWaiting = 256              // in a queue
	LongestWait = 10 * time.Second // in a queue
)

const (
	memoryOfActive = 100 * time.Millisecond // for which a caller counts as active after its last request
	quiet          = 10 * time.Millisecond  // without requests of others, after which nobody is in the way
	memoryOfIdle   = 10 * time.Second       // for which one is remembered
	slack          = 5 * time.Millisecond   // of charge that does not yet hold up a request
	mostCharge     = 2 * time.Second        // a short request is charged with; a long one with what it took
	slowRate       = 1                      // requests a second of a caller that is slowed down
	little         = time.Millisecond       // that requests may take which are not all measured
	oneOf          = 4                      // of them are measured
	tidying        = 20 * time.Millisecond  // between looks for callers that have gone
)

// Overhead is what a request is charged beside what is measured, to be read, parsed and
// answered by the kernel and net/http. A whole GET /v1/version took 23 to 93 µs of the
// daemon's processor time, one after the other on one connection.
const Overhead = 100 * time.Microsecond

// unseen is what is charged for what is measured, in hundredths: what a request has other
// goroutines do, and its garbage, is not on its thread. Of a daemon's samples while eight
// programs save and search (perf record), two thirds were on the threads that are measured.
const unseen = 150

// Why a request was not let in.
var (
	ErrFull = errors.New("the queue of the caller is full")
	ErrLate = errors.New("the request has waited too long")
)

// Class says how long a request may take.
type Class int

// The classes.
const (
	Short Class = iota // what somebody waits for
	Long               // what is allowed to take minutes
	classes
)

// Key is who asks: a process of this machine and the capability token it showed.
type Key struct {
	PID   int
	Token string
}

// Ask is a request that wants to be let in.
type Ask struct {
	Key   Key
	Class Class
	Slow  bool          // whether the caller has one request a second
	Part  bool          // of one that was let in and has left since, so that no rate counts it again
	Cost  time.Duration // of it so far
}

// Door lets requests in. It may be shared by any number of goroutines.
type Door struct {
	rate  float64 // requests a second of a caller, 0 for any number
	procs int
	share float64 // of the processors that charges drain by, of all callers
	meter func() (stop func() time.Duration)

	mu      sync.Mutex // guards what follows
	callers map[Key]*caller
	active  int                  // callers that are
	level   time.Duration        // that the one who used least of what was left has used
	flying  int                  // requests that run or wait, of all callers
	running int                  // of them that run
	queued  map[*caller]struct{} // callers with requests in a queue
	last    [2]departure         // of the last caller that a request left of, and of another before it
	looked  time.Time
	alarm   *time.Timer
}

// New returns a door for so many processors, that lets in at most rate requests a second
// of each caller, or any number if rate is 0.
func New(procs, rate int) *Door {
	return &Door{rate: float64(rate), procs: procs, share: float64(max(1, procs)) / 2, meter: threadTime,
		callers: make(map[Key]*caller), queued: make(map[*caller]struct{})}
}

// Visit is a request that was let in.
type Visit struct {
	door  *Door
	of    *caller
	lane  *lane
	class Class
	part  bool
	guess time.Duration // charged in advance
	spare bool          // whether it has no part in the share
	free  bool          // whether its caller was alone when it began
	stop  func() time.Duration
	start chan struct{} // closed when it may run
	runs  bool
}

// Enter waits until a request may run. Leave must follow, on the same goroutine. The error
// is [ErrFull], [ErrLate] or that of ctx.
func (d *Door) Enter(ctx context.Context, a Ask) (*Visit, error) {
	v := &Visit{door: d, class: a.Class, part: a.Part}
	if err := d.queue(v, a); err != nil {
		return nil, err
	}
	if v.start != nil {
		if err := d.wait(ctx, v); err != nil {
			return nil, err
		}
	}
	if d.measures(v) {
		v.stop = d.meter()
	}
	return v, nil
}

// queue lets v run, or puts it into its caller's queue and gives it a start.
func (d *Door) queue(v *Visit, a Ask) error {
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tidy(now)
	c := d.caller(a.Key, now)
	if !a.Part {
		c.slow = a.Slow
	}
	v.of, v.lane = c, &c.lanes[v.class]
	v.lane.charge = min(v.lane.charge+a.Cost, max(v.lane.charge, mostCharge))
	if len(v.lane.queue) >= MostWaiting {
		return ErrFull
	}
	d.flying++
	c.flying++
	if len(v.lane.queue) == 0 {
		if _, ok := d.may(v, now); ok {
			d.run(v, now)
			return nil
		}
	}
	v.start = make(chan struct{})
	v.lane.queue = append(v.lane.queue, v)
	d.queued[c] = struct{}{}
	d.dispatch(now) // which sets the alarm
	return nil
}

// wait for the start of v.
func (d *Door) wait(ctx context.Context, v *Visit) error {
	late := time.NewTimer(LongestWait)
	defer late.Stop()
	var err error
	select {
	case <-v.start:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-late.C:
		err = ErrLate
	}
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if v.runs { // in the very moment
		return nil
	}
	v.lane.remove(v)
	d.gone(v, now)
	d.dispatch(now)
	return err
}

// Leave says that the request has run.
func (v *Visit) Leave() {
	cost := v.guess
	switch {
	case v.free:
		cost = 0
	case v.stop != nil:
		cost = Overhead + v.stop()*unseen/100
	}
	now := time.Now()
	d := v.door
	d.mu.Lock()
	defer d.mu.Unlock()
	v.lane.running--
	d.running--
	v.lane.settle(v, cost)
	d.gone(v, now)
	d.dispatch(now)
}

// Charge adds to what a caller has used, for work that no request stands for.
func (d *Door) Charge(key Key, cost time.Duration) {
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tidy(now)
	c := d.caller(key, now)
	d.drain(c, now)
	l := &c.lanes[Short]
	l.charge = min(l.charge+cost, mostCharge)
}

// Load tells how many requests run and wait, and of how many callers something is known.
func (d *Door) Load() (running, waiting, callers int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.running, d.flying - d.running, len(d.callers)
}

// Wait returns when a caller is within its share, after most at the latest.
func (d *Door) Wait(ctx context.Context, key Key, most time.Duration) {
	end := time.Now().Add(most)
	for {
		now := time.Now()
		pause := min(d.beyond(key, now), end.Sub(now))
		if pause <= 0 {
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// beyond tells for how long a caller is beyond its share.
func (d *Door) beyond(key Key, now time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, ok := d.callers[key]
	if !ok {
		return 0
	}
	d.tidy(now)
	d.drain(c, now)
	return min(d.untilQuiet(c, now), d.toDrain(c.lanes[Short].charge))
}

// measures decides whether what v takes is measured. Of a caller that asks for little each
// time only some are, by chance, and the others charged with what those took: a goroutine
// that is kept on one thread to be measured costs other requests some time.
func (d *Door) measures(v *Visit) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	v.free = d.others(v.of) == 0
	return !v.free && (v.lane.typical == 0 || v.lane.typical > little || rand.IntN(oneOf) == 0)
}
