// Package admission bounds how many requests of each caller run and wait, so that no caller
// keeps the daemon from the others.
//
// These rules hold for every caller and each of its two classes of requests:
//
//   - Alone, a caller may run [MaxAlone] requests at once.
//   - While other callers are active, it may run as many at once as there are processors. If
//     more of its requests wait, each place rests after a request, for the time that the
//     request took times twice the number of the other callers: a caller that wants more than
//     one after the other takes no more than its share of half of the processors. The other
//     half is for the callers themselves and for the kernel. A caller that sends one request after the
//     other never waits.
//   - A queue has [MaxWaiting] places, and a request waits in it for at most [MaxWait]. Requests
//     beyond these bounds are refused.
//   - At most so many requests a second run as the rate allows, alone or not.
//
// Long requests have places of their own, so that they do not hold up the caller's other
// requests.
package admission

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
)

// Bounds of a caller.
const (
	MaxAlone   = 256              // requests that run at once of a caller that is alone
	MaxLong    = 2                // long requests that run at once of a caller
	MaxWaiting = 256              // requests in a queue
	MaxWait    = 10 * time.Second // in a queue
)

const (
	activeFor  = 100 * time.Millisecond // for which a caller counts as active after its last request
	idleFor    = 10 * time.Second       // after which a caller is forgotten
	maxRest    = 500 * time.Millisecond // of a place after a request
	tidyEvery  = 20 * time.Millisecond  // between looks for callers that have gone
	restFactor = 2                      // times the number of other callers is the rest for a cost of one
	slowRate   = 1                      // requests a second of a caller that is slowed down
)

// Overhead is what a request costs beside its own work, to be read, parsed and answered by the
// kernel and net/http: a whole GET /v1/version took 23 to 93 µs of the daemon's processor time.
const Overhead = 100 * time.Microsecond

// Why a request was refused.
var (
	ErrFull = errors.New("the caller has too many pending requests")
	ErrLate = errors.New("the daemon did not start the request in time")
)

// Class says how long a request may take.
type Class int

// The classes.
const (
	Short Class = iota // a user or an agent waits for it
	Long               // may take minutes
	classes
)

// Key identifies a caller: a process of this machine and the access token it showed.
type Key struct {
	PID   int
	Token string
}

// Request is what a caller asks to run.
type Request struct {
	Key   Key
	Class Class
	Slow  bool          // whether the caller may run one request a second
	Part  bool          // of a request that was admitted and released before, so that no rate counts it again
	Cost  time.Duration // of it so far
}

// Controller admits requests. Any number of goroutines may share it.
type Controller struct {
	rate  rate.Limit
	procs int

	mu      sync.Mutex // guards what follows and the fields of callers
	callers map[Key]*caller
	active  int // callers that are active
	running int
	waiting int
	tidied  time.Time
}

// caller is what is known of a caller.
type caller struct {
	lanes  [classes]lane
	pace   *rate.Limiter
	flying int           // requests that run or wait
	active bool          // counts in Controller.active
	seen   time.Time     // when it last had a request
	debt   time.Duration // cost that no place has rested for; time pays it off
}

// lane has a caller's places for the requests of one class. A request takes one unit of the
// places if its caller is alone, and a greater part if it is not.
type lane struct {
	places  *semaphore.Weighted
	waiting int
}

// New returns a controller for so many processors that runs at most perSecond requests a second
// of each caller, or any number if perSecond is 0.
func New(procs, perSecond int) *Controller {
	c := &Controller{rate: rate.Limit(perSecond), procs: max(1, procs), callers: make(map[Key]*caller)}
	if perSecond == 0 {
		c.rate = rate.Inf
	}
	return c
}

// Permit is held while a request runs.
type Permit struct {
	controller *Controller
	of         *caller
	lane       *lane
	units      int64
	paced      bool // the rate of the caller allows it, or does not count it
	runs       bool
	began      time.Time
}

// Acquire waits until a request may run. Release must follow. The error is [ErrFull], [ErrLate]
// or that of ctx.
func (c *Controller) Acquire(ctx context.Context, r Request) (*Permit, error) {
	p, err := c.enqueue(r)
	if err != nil || p.runs {
		return p, err
	}
	err = p.wait(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting--
	p.lane.waiting--
	if err != nil {
		p.of.flying--
		return nil, err
	}
	c.start(p)
	return p, nil
}

// start counts a request among those that run. It is called with mu held.
func (c *Controller) start(p *Permit) {
	c.running++
	p.runs, p.began = true, time.Now()
}

// enqueue starts a request if it may run at once, and counts it among those that wait if not.
func (c *Controller) enqueue(r Request) (*Permit, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.caller(r.Key)
	of.debt = min(of.debt+r.Cost, maxRest)
	p := &Permit{controller: c, of: of, lane: &of.lanes[r.Class], units: 1}
	if p.lane.waiting >= MaxWaiting {
		return nil, ErrFull
	}
	if !r.Part {
		c.setPace(of, r.Slow)
	}
	if r.Class == Short && c.others(of) > 0 {
		p.units = max(1, MaxAlone/int64(c.procs))
	}
	of.flying++
	p.paced = r.Part || of.pace.Allow()
	if p.paced && p.lane.places.TryAcquire(p.units) {
		c.start(p)
		return p, nil
	}
	p.lane.waiting++
	c.waiting++
	return p, nil
}

// setPace sets the rate of a caller.
func (c *Controller) setPace(of *caller, slow bool) {
	limit := c.rate
	if slow {
		limit = slowRate
	}
	if of.pace.Limit() != limit {
		of.pace.SetLimit(limit)
		of.pace.SetBurst(burst(limit))
	}
}

func burst(limit rate.Limit) int {
	if limit == rate.Inf {
		return 1
	}
	return max(1, int(limit))
}

// wait takes the units, once the rate allows it.
func (p *Permit) wait(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, MaxWait)
	defer cancel()
	var err error
	if !p.paced {
		err = p.of.pace.Wait(within)
	}
	if err == nil {
		err = p.lane.places.Acquire(within, p.units)
	}
	if err != nil && ctx.Err() == nil {
		return ErrLate
	}
	return err
}

// Release says that the request has run.
func (p *Permit) Release() {
	c := p.controller
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
	p.of.flying--
	p.of.seen = time.Now()
	if rest := c.rest(p); rest > 0 {
		time.AfterFunc(rest, func() { p.lane.places.Release(p.units) })
		return
	}
	p.lane.places.Release(p.units)
}

// rest returns for how long a place stays empty after a request.
func (c *Controller) rest(p *Permit) time.Duration {
	others := c.others(p.of)
	if others == 0 || p.lane.waiting == 0 || p.lane == &p.of.lanes[Long] {
		return 0
	}
	cost := time.Since(p.began) + Overhead + p.of.debt
	p.of.debt = 0
	return min(cost*time.Duration(restFactor*others), maxRest)
}

// Charge adds the cost of work that no request stands for.
func (c *Controller) Charge(key Key, cost time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.caller(key)
	of.debt = min(of.debt+cost, maxRest)
}

// Wait returns when a caller has rested from the work that it was charged for, after limit at
// the latest.
func (c *Controller) Wait(ctx context.Context, key Key, limit time.Duration) {
	c.mu.Lock()
	of := c.caller(key)
	rest := min(of.debt*time.Duration(restFactor*c.others(of)), maxRest, limit)
	of.debt = 0
	c.mu.Unlock()
	if rest <= 0 {
		return
	}
	select {
	case <-time.After(rest):
	case <-ctx.Done():
	}
}

// Load returns how many requests run and wait, and how many callers are known.
func (c *Controller) Load() (running, waiting, callers int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running, c.waiting, len(c.callers)
}

// caller returns what is known of a caller and marks it as active. mu must be held.
func (c *Controller) caller(key Key) *caller {
	now := time.Now()
	c.tidy(now)
	of, ok := c.callers[key]
	if !ok {
		of = &caller{pace: rate.NewLimiter(c.rate, burst(c.rate))}
		for class, size := range map[Class]int64{Short: MaxAlone, Long: MaxLong} {
			of.lanes[class].places = semaphore.NewWeighted(size)
		}
		c.callers[key] = of
	}
	if !of.active {
		of.active = true
		c.active++
	}
	of.debt = max(0, of.debt-now.Sub(of.seen)/time.Duration(restFactor*c.active))
	of.seen = now
	return of
}

// others returns how many other callers are active. mu must be held.
func (c *Controller) others(of *caller) int {
	if of.active {
		return c.active - 1
	}
	return c.active
}

// tidy forgets callers that have gone, now and then. mu must be held.
func (c *Controller) tidy(now time.Time) {
	if now.Sub(c.tidied) < tidyEvery {
		return
	}
	c.tidied = now
	for key, of := range c.callers {
		idle := now.Sub(of.seen)
		if of.flying > 0 || idle < activeFor {
			continue
		}
		if of.active {
			of.active = false
			c.active--
		}
		if idle > idleFor {
			delete(c.callers, key)
		}
	}
}
