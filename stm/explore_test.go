package stm_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"emberd/internal/testutil/crashdisk"
	"emberd/internal/testutil/racescale"
	"emberd/memory"
	"emberd/stm/wal"
)

// explorer drives an operation into every crash and every disk error.
type explorer struct {
	*testing.T
	rng    *rand.Rand
	lucks  int  // random outcomes of each power cut
	every  int  // of so many disk operations one is disturbed
	deep   bool // now and then crash at every operation of recovery
	states int  // stores that were opened after a fault and checked
}

// torture says whether the long run was asked for.
func torture() bool { return os.Getenv("EMBERD_TEST_TORTURE") != "" }

func newExplorer(t *testing.T) *explorer {
	x := &explorer{T: t, rng: rand.New(rand.NewPCG(7, 7)), lucks: 2, every: 60 * racescale.Share}
	if torture() {
		x.lucks, x.every, x.deep = 10, 1, true
	}
	if os.Getenv("EMBERD_TEST_EVERY") != "" { // a few operations, but all of each
		x.every = 1
	}
	return x
}

// bases are the machines an operation starts from: one that was stopped in
// order, and one that died while it was writing.
func (x *explorer) bases(small bool) map[string]*machine {
	stopped := unused()
	stopped.small = small
	x.must(stopped, "the old life", stopped.live(oldLife(), false))
	died := stopped.with(stopped.disk.Kill())
	x.must(died, "the life before the death", died.start())
	for _, st := range []step{use(2, 1), request("save", saved(4, "dandelion")), undo(del(4))} {
		x.must(died, st.name, died.do(st, false))
	}
	died.disk = died.disk.Kill()
	died.Close() // of a store whose disk is gone
	return map[string]*machine{"after a stop": stopped, "after a death": died}
}

func (x *explorer) must(m *machine, when string, err error) {
	x.Helper()
	if err != nil {
		x.Fatalf("%s: %v\n%s", when, err, strings.Join(m.disk.Trace(), "\n"))
	}
}

// operationsOf counts what an undisturbed run does to the disk.
func (x *explorer) operationsOf(base *machine, when string, steps []step) int {
	m := base.with(base.disk.Kill())
	x.must(m, when+", undisturbed", m.live(steps, false))
	return m.disk.Ops()
}

// longLife is how many disk operations make a life so long that fewer outcomes of
// each power cut are tried: it has so many that are alike.
const longLife = 60

// powerCuts cuts the power after every disk operation of the steps, lets the
// disk forget in several ways what was not synced, and recovers.
func (x *explorer) powerCuts(base *machine, name string, steps []step) {
	ops, lucks, deeply := x.operationsOf(base, name, steps), x.lucks, 8
	if ops > longLife {
		lucks, deeply = min(lucks, 4), 32
	}
	for n := range ops + 1 {
		if x.rng.IntN(x.every) > 0 {
			continue
		}
		m := base.with(base.disk.Kill())
		m.disk.StopAfter(n)
		if err := m.live(steps, true); err != nil && m.disk.Ops() < n {
			x.must(m, name, err)
		}
		when := fmt.Sprintf("%s, power cut after operation %d", name, n)
		for luck := range lucks {
			x.recover(m.with(m.disk.Crash(x.rng)), fmt.Sprintf("%s, luck %d", when, luck), false)
		}
		deep := x.deep && n%deeply == 0
		x.recover(m.with(m.disk.Crash(nil)), when+", all unsynced gone", deep)
		x.recover(m.with(m.disk.Kill()), strings.Replace(when, "power cut", "kill", 1), deep)
	}
}

// recover disturbs the recovery of a machine, at one of its operations or, if
// deep, by a crash at each, and then lets it be.
func (x *explorer) recover(m *machine, when string, deep bool) {
	after := []step{request("save", saved(8, "grape vine"))}
	ops := x.operationsOf(m, when, after)
	if deep {
		for cut := range ops {
			x.cutAgain(m, when, after, cut)
		}
	}
	switch x.rng.IntN(2) {
	case 0:
		x.cutAgain(m, when, after, x.rng.IntN(ops))
	default:
		again := m.with(m.disk.Kill())
		fault := anyFault(x.rng)
		fault.Nth = 1 + x.rng.IntN(ops)
		again.disk.Fail(fault)
		x.endure(again, fmt.Sprintf("%s, then %+v in recovery", when, fault), after)
	}
	x.settle(m.with(m.disk.Kill()), when)
}

func (x *explorer) cutAgain(m *machine, when string, steps []step, n int) {
	again := m.with(m.disk.Kill())
	again.disk.StopAfter(n)
	if err := again.live(steps, true); err != nil && again.disk.Ops() < n {
		x.must(again, when, err)
	}
	x.settle(again.with(again.disk.Crash(x.rng)), fmt.Sprintf("%s, then %d operations into recovery", when, n))
}

// settle recovers undisturbed, checks, goes on, and checks again after a stop.
func (x *explorer) settle(m *machine, when string) {
	x.Helper()
	x.must(m, when+": start", m.start())
	x.must(m, when, m.oneDevice())
	x.must(m, when, m.world.restarted(m.Store))
	x.must(m, when+": save after it", m.do(request("save", saved(9, "life goes on")), false))
	if x.rng.IntN(4) == 0 {
		x.must(m, when+": compaction after it", foldLog(m.Store))
		leftovers(x.T, m.disk)
	}
	x.must(m, when+": stop after it", m.do(stop(), false))
	x.must(m, when+": next start", m.start())
	x.must(m, when+", at the next start", m.world.restarted(m.Store))
	x.must(m, when+": next stop", m.Close())
	x.states += 2
}

// faults are the ways in which a disk operation fails.
func faults() []crashdisk.Fault {
	return []crashdisk.Fault{
		{Err: syscall.EIO},
		{Err: syscall.EIO, Forever: true},
		{Err: syscall.ENOSPC},
		{Err: syscall.ENOSPC, Forever: true},
		{Err: syscall.EROFS, Forever: true},
		{Err: syscall.EIO, Forever: true, ShortBy: 7},
		{Err: syscall.EIO, Forever: true, ShortBy: 1},
		{Op: crashdisk.OpWrite, Err: syscall.ENOSPC, ShortBy: 1},
		{Op: crashdisk.OpWrite, Err: syscall.ENOSPC, ShortBy: 7},
		{Op: crashdisk.OpWrite, Err: syscall.EIO, ShortBy: 200},
		{Op: crashdisk.OpSync, Err: syscall.EIO},
		{Op: crashdisk.OpSync, Err: syscall.EIO, Forever: true},
		{Op: crashdisk.OpSyncDir, Err: syscall.EIO},
		{Op: crashdisk.OpSyncDir, Err: syscall.EIO, Forever: true},
	}
}

// readFaults can hit a start only.
func readFaults() []crashdisk.Fault {
	var all []crashdisk.Fault
	for _, op := range []crashdisk.Op{crashdisk.OpOpen, crashdisk.OpRead, crashdisk.OpReadDir, crashdisk.OpLstat, crashdisk.OpClose} {
		all = append(all, crashdisk.Fault{Op: op, Err: syscall.EIO}, crashdisk.Fault{Op: op, Err: syscall.EIO, Forever: true})
	}
	return all
}

func anyFault(rng *rand.Rand) crashdisk.Fault {
	all := append(faults(), readFaults()...)
	return all[rng.IntN(len(all))]
}

// diskErrors makes each disk operation of the steps fail in every way.
func (x *explorer) diskErrors(base *machine, name string, steps []step) {
	count := x.countOf(base, name, steps)
	for _, fault := range append(faults(), readFaults()...) {
		for n := range count(fault.Op) {
			if x.rng.IntN(2*x.every) > 1 {
				continue
			}
			fault.Nth = n + 1
			m := base.with(base.disk.Kill())
			m.disk.Fail(fault)
			x.endure(m, fmt.Sprintf("%s, %+v", name, fault), steps)
		}
	}
	x.twoSyncs(base, name, steps, count(crashdisk.OpSync))
}

// countOf returns how many operations of each kind an undisturbed run has: a later
// one cannot fail. What changes nothing is not counted, and taken to be as many as
// all that does.
func (x *explorer) countOf(base *machine, name string, steps []step) func(crashdisk.Op) int {
	m := base.with(base.disk.Kill())
	before := len(m.disk.Trace())
	x.must(m, name+", undisturbed", m.live(steps, false))
	by := map[crashdisk.Op]int{}
	for _, line := range m.disk.Trace()[before:] {
		_, rest, _ := strings.Cut(line, " ")
		op, _, _ := strings.Cut(rest, " ")
		by[crashdisk.Op(op)]++
	}
	return func(op crashdisk.Op) int {
		if n, ok := by[op]; ok {
			return n
		}
		return m.disk.Ops()
	}
}

// twoSyncs fails a sync and one soon after it, which is where the answer to the
// first is carried out.
func (x *explorer) twoSyncs(base *machine, name string, steps []step, syncs int) {
	for n := range syncs {
		if x.rng.IntN(x.every) > 0 {
			continue
		}
		for later := 1; later <= 4; later++ {
			m := base.with(base.disk.Kill())
			m.disk.Fail(crashdisk.Fault{Op: crashdisk.OpSync, Nth: 1 + n})
			m.disk.Fail(crashdisk.Fault{Op: crashdisk.OpSync, Nth: 1 + n + later})
			x.endure(m, fmt.Sprintf("%s, syncs %d and %d fail", name, 1+n, 1+n+later), steps)
		}
	}
}

// endure lives through a fault: what fails says so with a code, and works once
// the disk does. Then the power is cut.
func (x *explorer) endure(m *machine, when string, steps []step) {
	m.troubled = true
	if m.start() == nil {
		if m.world.restarted(m.Store) != nil { // it may not be possible to read now
			m.disk.Heal()
			x.must(m, when+", looking again", m.lookAround())
			x.must(m, when+", mended at once", m.world.restarted(m.Store))
		}
		for _, st := range steps {
			x.persist(m, when, st)
		}
		m.disk.Heal()
		x.must(m, when+", looking again", m.lookAround())
		x.must(m, when+", still running", m.world.check(m.Store))
		if x.rng.IntN(2) == 0 {
			_ = m.do(stop(), false) // may fail; what it settles is checked
		}
		defer func() { m.Close() }() // after the disk is gone, where it was not stopped
		x.states++
	}
	switch x.rng.IntN(3) {
	case 0:
		x.settle(m.with(m.disk.Kill()), when+", then killed")
	case 1:
		x.settle(m.with(m.disk.Crash(nil)), when+", then a power cut")
	default:
		x.settle(m.with(m.disk.Crash(x.rng)), when+", then a power cut with luck")
	}
}

// persist repeats a step that fails, after the disk was mended.
func (x *explorer) persist(m *machine, when string, st step) {
	x.Helper()
	err := m.do(st, false)
	if err == nil {
		return
	}
	if code := memory.CodeOf(err); code == memory.Internal && st.name != "snapshot" {
		x.must(m, when, fmt.Errorf("%s: an error without a code: %w", st.name, err))
	}
	m.disk.Heal()
	m.clock.Add(int64(wal.RetryAfter / time.Second))
	if memory.CodeOf(err) == memory.Unknown && len(st.effects) > 0 {
		x.must(m, when+", disk mended: "+st.name+" in doubt", m.Wal().CheckDurable(context.Background()))
		m.world.events[len(m.world.events)-1].sure = true
		return
	}
	x.must(m, when+", disk mended", m.do(st, false))
}

func explore(t *testing.T, torment func(x *explorer, base *machine, name string, steps []step)) {
	var states atomic.Int64
	t.Run("all", func(t *testing.T) {
		for _, op := range operations() {
			t.Run(op.name, func(t *testing.T) {
				t.Parallel()
				x := newExplorer(t)
				for how, base := range x.bases(op.small) {
					torment(x, base, op.name+" "+how, op.steps)
				}
				states.Add(int64(x.states))
			})
		}
	})
	t.Logf("%d states recovered and checked", states.Load())
}
