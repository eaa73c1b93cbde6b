package admission

import (
	"slices"
	"time"
)

// caller is what is known of one.
type caller struct {
	lanes   [classes]lane
	flying  int       // requests that run or wait
	active  bool      // whether it counts among those that divide the processors
	slow    bool      // whether it is slowed down
	seen    time.Time // when it last had a request
	drained time.Time // up to when charges have drained
	tokens  float64   // requests that the rate allows now
	filled  time.Time // when they were counted
}

// lane holds a caller's requests of one class.
type lane struct {
	running int
	queue   []*Visit
	charge  time.Duration // used of the share and not yet drained
	spare   time.Duration // used of what others left, on the scale of [Door.level]
	typical time.Duration // what the last ones cost, to be charged in advance
}

func (l *lane) remove(v *Visit) {
	if i := slices.Index(l.queue, v); i >= 0 {
		l.queue = slices.Delete(l.queue, i, i+1)
	}
}

// settle puts what a request has cost in the place of what was guessed.
func (l *lane) settle(v *Visit, cost time.Duration) {
	if v.class == Short {
		cost = min(cost, mostCharge)
	}
	if v.stop != nil {
		l.typical += (cost - l.typical) / 4
	}
	if v.spare {
		l.spare += cost - v.guess
		return
	}
	l.charge = max(0, l.charge+cost-v.guess)
}

// caller finds one, or makes its acquaintance, and marks it as active.
func (d *Door) caller(key Key, now time.Time) *caller {
	c, ok := d.callers[key]
	if !ok {
		c = &caller{drained: now, filled: now, tokens: max(1, d.rate)}
		d.callers[key] = c
	}
	d.drain(c, now)
	c.seen = now
	if !c.active {
		c.active = true
		d.active++
	}
	return c
}

// gone counts a request that has run or was given up.
func (d *Door) gone(v *Visit, now time.Time) {
	d.flying--
	v.of.flying--
	v.of.seen = now
	if d.last[0].of != v.of {
		d.last[1] = d.last[0]
	}
	d.last[0] = departure{v.of, now}
}

// departure is when a request left, and of whom.
type departure struct {
	of *caller
	at time.Time
}

// untilQuiet is how long it takes until no other caller has had a request for a while, if
// none begins one.
func (d *Door) untilQuiet(c *caller, now time.Time) time.Duration {
	if d.flying > c.flying {
		return quiet
	}
	other := d.last[0]
	if other.of == c {
		other = d.last[1]
	}
	return max(0, quiet-now.Sub(other.at))
}

// tidy forgets callers that have gone, now and then.
func (d *Door) tidy(now time.Time) {
	if now.Sub(d.looked) < tidying {
		return
	}
	d.looked = now
	for key, c := range d.callers {
		idle := now.Sub(c.seen)
		if c.flying > 0 || idle < memoryOfActive {
			continue
		}
		if c.active {
			d.drain(c, now)
			c.active = false
			d.active--
		}
		if idle > memoryOfIdle {
			if d.drain(c, now); c.lanes[Short].charge == 0 && c.lanes[Long].charge == 0 {
				delete(d.callers, key)
			}
		}
	}
}

// others is how many other callers are active.
func (d *Door) others(c *caller) int {
	if c.active {
		return d.active - 1
	}
	return d.active
}

// drain takes off a caller's charges what its share has allowed since it was last looked
// at, everything if it is alone.
func (d *Door) drain(c *caller, now time.Time) {
	passed := now.Sub(c.drained)
	c.drained = now
	allowed := time.Duration(float64(passed) * d.share / float64(max(1, d.others(c)+1)))
	for i := range c.lanes {
		l := &c.lanes[i]
		if l.charge -= min(l.charge, allowed); d.others(c) == 0 && l.running == 0 {
			l.charge = 0
		}
	}
}

// toDrain is how long a charge takes to drain so far that it holds up nothing.
func (d *Door) toDrain(charge time.Duration) time.Duration {
	if charge <= slack {
		return 0
	}
	return time.Duration(float64(charge-slack)*float64(max(1, d.active))/d.share) + 1
}

// fill counts the requests that the rate allows, and returns the rate.
func (d *Door) fill(c *caller, now time.Time) (rate float64) {
	rate = d.rate
	if c.slow {
		rate = slowRate
	}
	c.tokens = min(max(1, rate), c.tokens+rate*now.Sub(c.filled).Seconds())
	if rate == 0 { // what it has without one, it does not owe later
		c.tokens = 1
	}
	c.filled = now
	return rate
}

// may reports whether the next request of its lane may run, and if not, when time alone
// might change that; 0 is when another request has left.
func (d *Door) may(v *Visit, now time.Time) (wait time.Duration, ok bool) {
	c, l := v.of, v.lane
	if rate := d.fill(c, now); rate > 0 && c.tokens < 1 && !v.part {
		return time.Duration((1-c.tokens)/rate*float64(time.Second)) + 1, false
	}
	if l.running > 0 && l.running >= d.most(c, v.class) {
		return 0, false
	}
	d.drain(c, now)
	if wait = d.toDrain(l.charge); wait > 0 && l.running < max(1, d.procs) {
		wait = min(wait, d.untilQuiet(c, now))
	}
	return wait, wait == 0
}

// most is how many requests of a lane may run at once.
func (d *Door) most(c *caller, class Class) int {
	switch {
	case class == Long:
		return MostLong
	case d.others(c) == 0:
		return MostAlone
	}
	return 1 + Pool/(d.others(c)+1)
}

// run lets a request run.
func (d *Door) run(v *Visit, now time.Time) {
	c, l := v.of, v.lane
	c.seen, v.runs = now, true
	if !v.part {
		c.tokens--
	}
	l.running++
	d.running++
	v.guess, v.spare = l.typical, d.toDrain(l.charge) > 0
	if !v.spare {
		l.charge += v.guess
		return
	}
	d.level = max(d.level, l.spare)
	l.spare = d.level + v.guess
}

// dispatch starts what may run, and sets the alarm for what may as time goes by.
func (d *Door) dispatch(now time.Time) {
	if len(d.queued) == 0 {
		return
	}
	d.tidy(now)
	next := tidying // after which fewer callers may be active
	for c := range d.queued {
		for class := range c.lanes {
			next = min(next, d.advance(&c.lanes[class], now))
		}
		d.unqueue(c)
	}
	for len(d.queued) > 1 && d.running < 2*d.procs && d.advanceLeast(now) {
	}
	if len(d.queued) == 0 {
		return
	}
	if d.alarm == nil {
		d.alarm = time.AfterFunc(next, d.ring)
		return
	}
	d.alarm.Reset(next)
}

func (d *Door) ring() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dispatch(time.Now())
}

// advance starts what of a lane may run, and returns when to look again.
func (d *Door) advance(l *lane, now time.Time) time.Duration {
	for len(l.queue) > 0 {
		wait, ok := d.may(l.queue[0], now)
		if !ok && wait > 0 {
			return wait
		}
		if !ok {
			break
		}
		d.runFirst(l, now)
	}
	return tidying
}

func (d *Door) runFirst(l *lane, now time.Time) {
	v := l.queue[0]
	l.queue[0] = nil
	l.queue = l.queue[1:]
	d.run(v, now)
	close(v.start)
}

// advanceLeast starts the request of the lane that has used least of what was left, of those
// that wait for nothing else.
func (d *Door) advanceLeast(now time.Time) bool {
	var least *lane
	for c := range d.queued {
		for class := range c.lanes {
			l := &c.lanes[class]
			paced := d.fill(c, now) > 0 && c.tokens < 1
			if len(l.queue) > 0 && !paced && l.running < d.most(c, Class(class)) && (least == nil || max(l.spare, d.level) < max(least.spare, d.level)) {
				least = l
			}
		}
	}
	if least == nil {
		return false
	}
	of := least.queue[0].of
	d.runFirst(least, now)
	d.unqueue(of)
	return true
}

// unqueue forgets that a caller has requests in a queue, if it has none.
func (d *Door) unqueue(c *caller) {
	for i := range c.lanes {
		if len(c.lanes[i].queue) > 0 {
			return
		}
	}
	delete(d.queued, c)
}
