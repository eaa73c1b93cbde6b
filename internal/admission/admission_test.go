package admission

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// newDoor measures what a request takes by the clock of the bubble, in which work is sleep.
func newDoor(procs, rate int) *Door {
	d := New(procs, rate)
	d.meter = func() func() time.Duration {
		began := time.Now()
		return func() time.Duration { return time.Since(began) }
	}
	return d
}

// do has a request of some length carried out, and returns how long it waited.
func (d *Door) do(ctx context.Context, key Key, class Class, takes time.Duration) (waited time.Duration, err error) {
	began := time.Now()
	v, err := d.Enter(ctx, Ask{Key: key, Class: class})
	if err != nil {
		return 0, err
	}
	defer v.Leave()
	waited = time.Since(began)
	time.Sleep(takes)
	return waited, nil
}

func pid(n int) Key { return Key{PID: n} }

func TestAloneACallerHasEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(2, 0)
		var all sync.WaitGroup
		for range MostAlone {
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
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(2, 0)
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
		if share := greedy.Seconds() / 10; share < 0.05 || share > 0.14 {
			t.Errorf("the greedy one had %.2f processors, want about a ninth of one less what is unseen", share)
		}
	})
}

// Who was busy among busy ones has no debt from then: beside one that asks for little, it
// gets on as ever.
func TestBusyTimesLeaveNoDebt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(2, 0)
		busy := func(n int, span time.Duration) (worst time.Duration) {
			for end := time.Now().Add(span); time.Now().Before(end); {
				waited, err := d.do(t.Context(), pid(n), Short, 5*time.Millisecond)
				if err != nil {
					t.Error(err)
				}
				worst = max(worst, waited)
			}
			return worst
		}
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() { busy(n, 5*time.Minute) })
		}
		all.Wait()
		ctx, stop := context.WithCancel(t.Context())
		all.Go(func() {
			for ctx.Err() == nil {
				if _, err := d.do(t.Context(), pid(9), Short, time.Millisecond); err != nil {
					t.Error(err)
				}
				time.Sleep(2 * time.Millisecond)
			}
		})
		if worst := busy(1, 5*time.Second); worst > 100*time.Millisecond {
			t.Errorf("one that was busy waits %v beside one that asks for little", worst)
		}
		stop()
		all.Wait()
	})
}

// Few of many small requests are measured, and they hold up their caller as if all were.
func TestSmallRequestsAreChargedBySample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(2, 0)
		measured, meter := 0, d.meter
		d.meter = func() func() time.Duration { measured++; return meter() }
		other, err := d.Enter(t.Context(), Ask{Key: pid(1)}) // without an end
		if err != nil {
			t.Fatal(err)
		}
		const asked = 2000
		began := time.Now()
		for range asked {
			if _, err := d.do(t.Context(), pid(2), Short, 200*time.Microsecond); err != nil {
				t.Fatal(err)
			}
		}
		took := time.Since(began) // at half a processor, 0.4 ms are charged for each
		other.Leave()
		if want := asked * 800 * time.Microsecond; took < want*9/10 || took > want*11/10 {
			t.Errorf("took %v, want about %v", took, want)
		}
		if measured < asked/10 || measured > asked/2 {
			t.Errorf("%d of %d were measured, want a quarter", measured, asked)
		}
	})
}

func TestAQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(1, 0)
		block := make(chan struct{})
		var all sync.WaitGroup
		refused := 0
		var mu sync.Mutex
		for range MostAlone + MostWaiting + 3 {
			all.Go(func() {
				v, err := d.Enter(t.Context(), Ask{Key: pid(1)})
				if err != nil {
					mu.Lock()
					defer mu.Unlock()
					if refused++; !errors.Is(err, ErrFull) {
						t.Errorf("refused with %v, want that the queue is full", err)
					}
					return
				}
				<-block
				v.Leave()
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
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(1, 0)
		var held []*Visit
		for range MostLong {
			v, err := d.Enter(t.Context(), Ask{Key: pid(1), Class: Long})
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, v)
		}
		began := time.Now()
		if _, err := d.do(t.Context(), pid(1), Long, 0); !errors.Is(err, ErrLate) || time.Since(began) != LongestWait {
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
			v.Leave()
		}
		if d.flying != 0 || len(d.queued) != 0 {
			t.Errorf("%d requests in flight, %d callers queued; want none", d.flying, len(d.queued))
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
			synctest.Test(t, func(t *testing.T) {
				d := newDoor(1, test.rate)
				began := time.Now()
				for range 101 {
					v, err := d.Enter(t.Context(), Ask{Key: pid(1), Slow: test.slow})
					if err != nil {
						t.Fatal(err)
					}
					v.Leave()
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
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(1, 0)
		for range 5000 {
			if _, err := d.do(t.Context(), pid(1), Short, 0); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 3 {
			began := time.Now()
			v, err := d.Enter(t.Context(), Ask{Key: pid(1), Slow: true})
			if err != nil {
				t.Fatalf("request %d once it is slow: %v", n+1, err)
			}
			v.Leave()
			if waited := time.Since(began); waited > 1100*time.Millisecond {
				t.Errorf("request %d waited %v, more than a second", n+1, waited)
			}
		}
	})
}

// The calling thread is what is measured: sleep is free, work is not.
func TestThreadTime(t *testing.T) {
	stop := threadTime()
	time.Sleep(50 * time.Millisecond)
	slept := stop()
	stop = threadTime()
	began, n := clock(), 0
	for clock()-began < 20*time.Millisecond {
		n++
	}
	if worked := stop(); slept > 20*time.Millisecond || worked < 20*time.Millisecond {
		t.Errorf("sleeping cost %v and %d rounds of work %v", slept, n, worked)
	}
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
		synctest.Test(t, func(t *testing.T) { broken = simulate(t.Context(), newDoor(procs, 0), loads) })
		for _, b := range broken {
			r.Error(b)
		}
	})
}

// simulate carries loads out and returns the rules that were broken.
func simulate(ctx context.Context, d *Door, loads []load) (broken []string) {
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
	if d.flying != 0 || len(d.queued) != 0 {
		complain("requests are left when all have run")
	}
	return broken
}

// broken names a rule that does not hold at a moment when nothing is under way.
func (d *Door) broken() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	running := 0
	for _, c := range d.callers {
		short := &c.lanes[Short]
		running += max(0, short.running-1)
		switch {
		case c.lanes[Long].running > MostLong:
			return "a caller runs too many long requests"
		case len(short.queue) > MostWaiting:
			return "a queue is too long"
		case len(short.queue) > 0 && short.running < min(d.procs, d.most(c, Short)) && d.untilQuiet(c, time.Now()) == 0:
			return "a request waits although nobody else has wanted anything for a while"
		case len(d.queued) > 1 && d.running == 0:
			return "nothing runs though several wait"
		case len(short.queue) > 0 && short.running == 0 && short.charge == 0:
			return "a request of a caller that used nothing waits"
		}
	}
	if running > Pool+MostAlone {
		return "too many requests run at once"
	}
	return ""
}
