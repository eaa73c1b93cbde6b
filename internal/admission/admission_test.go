package admission

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"emberd/internal/testutil/bubble"
)

// do runs a request of some length and returns how long it waited.
func (c *Controller) do(ctx context.Context, key Key, class Class, takes time.Duration) (waited time.Duration, err error) {
	began := time.Now()
	p, err := c.Acquire(ctx, Request{Key: key, Class: class})
	if err != nil {
		return 0, err
	}
	defer p.Release()
	waited = time.Since(began)
	time.Sleep(takes)
	return waited, nil
}

func pid(n int) Key { return Key{PID: n} }

func TestAloneACallerHasEverything(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d := New(2, 0)
		var all sync.WaitGroup
		for range MaxAlone {
			all.Go(func() {
				if waited, err := d.do(t.Context(), pid(1), Short, time.Second); waited != 0 || err != nil {
					t.Errorf("waited %v, %v; want to run at once", waited, err)
				}
			})
		}
		all.Wait()
	})
}

// A caller that takes all it can get, with as many requests at once as it likes, hardly
// holds up those that ask for little.
func TestTheGreedyWaitForThePolite(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d := New(2, 0)
		end := time.Now().Add(10 * time.Second)
		var all sync.WaitGroup
		var mu sync.Mutex
		var worst, greedy time.Duration
		for polite := range 8 {
			all.Go(func() {
				for time.Now().Before(end) {
					waited, err := d.do(t.Context(), pid(10+polite), Short, 300*time.Microsecond)
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					worst = max(worst, waited)
					mu.Unlock()
					time.Sleep(5 * time.Millisecond)
				}
			})
		}
		for range 100 {
			all.Go(func() {
				for time.Now().Before(end) {
					if _, err := d.do(t.Context(), pid(1), Short, 20*time.Millisecond); err == nil && time.Now().Before(end) {
						mu.Lock()
						greedy += 20 * time.Millisecond
						mu.Unlock()
					}
				}
			})
		}
		all.Wait()
		if worst > time.Millisecond {
			t.Errorf("a polite caller waited %v", worst)
		}
		if share := greedy.Seconds() / 10; share < 0.05 || share > 0.15 {
			t.Errorf("the greedy one had %.2f of two processors, want about a ninth of one", share)
		}
	})
}

// A caller that sends one request after the other does not wait, however busy the others are.
func TestOneAfterTheOtherNeverWaits(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c := New(2, 0)
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() {
				for range 1000 {
					if waited, err := c.do(t.Context(), pid(n), Short, 5*time.Millisecond); waited != 0 || err != nil {
						t.Errorf("waited %v, %v", waited, err)
					}
				}
			})
		}
		all.Wait()
	})
}

// Work that no request stands for makes a caller wait beside others, and time pays it off.
func TestChargesAreWaitedFor(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c := New(2, 0)
		wait := func() time.Duration {
			began := time.Now()
			c.Wait(t.Context(), pid(1), MaxWait)
			return time.Since(began)
		}
		c.Charge(pid(1), 10*time.Millisecond)
		if waited := wait(); waited != 0 {
			t.Errorf("alone it waited %v", waited)
		}
		for n := range 4 {
			if _, err := c.Acquire(t.Context(), Request{Key: pid(10 + n)}); err != nil { // without an end
				t.Fatal(err)
			}
		}
		c.Charge(pid(1), 10*time.Millisecond)
		if waited := wait(); waited != 80*time.Millisecond {
			t.Errorf("beside four others it waited %v, want 80ms", waited)
		}
		c.Charge(pid(1), 10*time.Millisecond)
		time.Sleep(120 * time.Millisecond)
		if waited := wait(); waited != 0 {
			t.Errorf("120 ms later it waited %v", waited)
		}
	})
}

func TestAQueueIsBounded(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d := New(1, 0)
		block := make(chan struct{})
		var all sync.WaitGroup
		refused := 0
		var mu sync.Mutex
		for range MaxAlone + MaxWaiting + 3 {
			all.Go(func() {
				v, err := d.Acquire(t.Context(), Request{Key: pid(1)})
				if err != nil {
					mu.Lock()
					defer mu.Unlock()
					if refused++; !errors.Is(err, ErrFull) {
						t.Errorf("refused with %v, want that the queue is full", err)
					}
					return
				}
				<-block
				v.Release()
			})
		}
		synctest.Wait()
		if refused != 3 {
			t.Errorf("%d were refused, want 3", refused)
		}
		if _, err := d.do(t.Context(), pid(2), Short, 0); err != nil {
			t.Errorf("another caller: %v", err)
		}
		close(block)
		all.Wait()
	})
}

func TestWaitingEnds(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d := New(1, 0)
		var held []*Permit
		for range MaxLong {
			v, err := d.Acquire(t.Context(), Request{Key: pid(1), Class: Long})
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, v)
		}
		began := time.Now()
		if _, err := d.do(t.Context(), pid(1), Long, 0); !errors.Is(err, ErrLate) || time.Since(began) != MaxWait {
			t.Errorf("after %v: %v, want that it waited too long", time.Since(began), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := d.do(ctx, pid(1), Long, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("given up: %v", err)
		}
		if waited, err := d.do(t.Context(), pid(1), Short, 0); waited != 0 || err != nil {
			t.Errorf("a short request beside long ones waited %v, %v", waited, err)
		}
		for _, v := range held {
			v.Release()
		}
		if running, waiting, _ := d.Load(); running != 0 || waiting != 0 {
			t.Errorf("%d requests run and %d wait; want none", running, waiting)
		}
	})
}

func TestTheRateHoldsAloneToo(t *testing.T) {
	for name, test := range map[string]struct {
		rate int
		slow bool
		want time.Duration // for 101 requests
	}{
		"slowed down": {0, true, 100 * time.Second},
		"by the rate": {50, false, 51 * 20 * time.Millisecond},
		"any":         {0, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				d := New(1, test.rate)
				began := time.Now()
				for range 101 {
					v, err := d.Acquire(t.Context(), Request{Key: pid(1), Slow: test.slow})
					if err != nil {
						t.Fatal(err)
					}
					v.Release()
				}
				if took := time.Since(began); took < test.want || took > test.want+test.want/50 {
					t.Errorf("took %v, want %v", took, test.want)
				}
			})
		})
	}
}

// Who is slowed down late has one request a second from then on, however many it had before.
func TestOneWhoIsSlowedDownLateOwesNothing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d := New(1, 0)
		for range 5000 {
			if _, err := d.do(t.Context(), pid(1), Short, 0); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 3 {
			began := time.Now()
			v, err := d.Acquire(t.Context(), Request{Key: pid(1), Slow: true})
			if err != nil {
				t.Fatalf("request %d once it is slow: %v", n+1, err)
			}
			v.Release()
			if waited := time.Since(began); waited > 1100*time.Millisecond {
				t.Errorf("request %d waited %v, more than a second", n+1, waited)
			}
		}
	})
}

// load is what a caller of the property test does: workers that ask one after the other.
type load struct {
	Workers  int
	Requests int
	Takes    time.Duration
	Pause    time.Duration
	Class    Class
}

// TestTheRulesHold for any callers: each request runs in the end, bounds hold, and nothing
// waits while nobody else wants anything.
func TestTheRulesHold(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		procs := rapid.IntRange(1, 8).Draw(r, "procs")
		loads := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) load {
			return load{
				Workers:  rapid.IntRange(1, 80).Draw(r, "workers"),
				Requests: rapid.IntRange(1, 5).Draw(r, "requests"),
				Takes:    time.Duration(rapid.IntRange(0, 5000).Draw(r, "takes")) * time.Microsecond,
				Pause:    time.Duration(rapid.IntRange(0, 20).Draw(r, "pause")) * time.Millisecond,
				Class:    rapid.SampledFrom([]Class{Short, Short, Short, Long}).Draw(r, "class"),
			}
		}), 1, 6).Draw(r, "loads")
		var broken []string
		bubble.Test(t, func(t *testing.T) { broken = simulate(t.Context(), New(procs, 0), loads) })
		for _, b := range broken {
			r.Error(b)
		}
	})
}

// simulate carries loads out and returns the rules that were broken.
func simulate(ctx context.Context, d *Controller, loads []load) (broken []string) {
	var mu sync.Mutex
	complain := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		broken = append(broken, text)
	}
	var all sync.WaitGroup
	for i, l := range loads {
		for range l.Workers {
			all.Go(func() {
				for range l.Requests {
					// A long queue of long requests may take too long.
					if _, err := d.do(ctx, pid(i), l.Class, l.Takes); err != nil && (!errors.Is(err, ErrLate) || l.Class != Long) {
						complain(err.Error())
					}
					time.Sleep(l.Pause)
				}
			})
		}
	}
	watching, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		for watching.Err() == nil {
			synctest.Wait()
			if text := d.broken(); text != "" {
				complain(text)
			}
			time.Sleep(501 * time.Microsecond)
		}
	})
	all.Wait()
	stop()
	watch.Wait()
	if running, waiting, _ := d.Load(); running != 0 || waiting != 0 {
		complain("requests are left when all have run")
	}
	return broken
}

// broken names a rule that does not hold at a moment when nothing is under way.
func (c *Controller) broken() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	flying := 0
	for _, of := range c.callers {
		flying += of.flying
		short, long := &of.lanes[Short], &of.lanes[Long]
		switch {
		case short.waiting > MaxWaiting || long.waiting > MaxWaiting:
			return "a queue is too long"
		case of.flying > 0 && !of.active:
			return "a caller with requests does not count as active"
		case of.flying-short.waiting-long.waiting > MaxAlone+MaxLong:
			return "too many requests of a caller run"
		}
	}
	if flying != c.running+c.waiting {
		return "requests were lost"
	}
	return ""
}
