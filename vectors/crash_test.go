package vectors

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"emberd/internal/testutil/crashdisk"
)

// life has every operation, after every other that it may meet on the disk.
func life() []step {
	return []step{
		putting("apple", "banana"), placing("n/fruit", "apple banana apple"), syncing(),
		putting("cherry"), placing("m/1", "cherry"), placing("n/fruit", "apple cherry"), compacting(),
		putting("damson"), removing("m/1"), placing("n/wild", "damson elder"), syncing(),
		reopening(), putting("elder"), placing("n/fruit", "elder"), purging(),
		placing("m/1", "apple"), putting("apple"), syncing(), compacting(),
	}
}

func content(disk *crashdisk.Disk, name string) string {
	f, err := disk.OpenRead(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(f)
	return string(b)
}

// explorer disturbs a life and checks what is left of it.
type explorer struct {
	*testing.T
	rng    *rand.Rand
	states int
}

func (x *explorer) must(m *machine, when string, err error) {
	x.Helper()
	if err != nil {
		x.Fatalf("%s: %v\n%s", when, err, strings.Join(m.disk.Trace(), "\n"))
	}
}

func unused() *machine { return &machine{disk: crashdisk.New(), world: newWorld()} }

func explore(t *testing.T) *explorer {
	x := &explorer{T: t, rng: rand.New(rand.NewPCG(7, 7))}
	t.Cleanup(func() { t.Logf("%d states recovered and checked", x.states) })
	return x
}

// The power is cut after every operation of the disk, and again in recovery.
func TestEveryPowerCut(t *testing.T) {
	x, undisturbed := explore(t), unused()
	x.must(undisturbed, "undisturbed", undisturbed.live(life()))
	for n := range undisturbed.disk.Ops() + 1 {
		m := unused()
		m.disk.StopAfter(n)
		if err := m.live(life()); err != nil && m.disk.Ops() < n {
			x.must(m, "before the cut", err)
		}
		when := fmt.Sprintf("power cut after operation %d", n)
		for range 12 {
			x.recover(m.on(m.disk.Crash(x.rng)), when)
		}
		x.recover(m.on(m.disk.Crash(nil)), when+", all unsynced gone")
		x.recover(m.on(m.disk.Kill()), when+", as a kill")
		if trace := m.disk.Trace(); n > 0 && strings.Contains(trace[n-1], " rename ") {
			x.cleanUp(m, when+", as a kill")
		}
	}
}

// cleanUp cuts the power at each operation of an Open that finds a file whose name is not synced,
// and old ones that it stands for.
func (x *explorer) cleanUp(m *machine, when string) {
	x.Helper()
	for n := range 10 {
		for range 10 {
			again := m.on(m.disk.Kill())
			again.disk.StopAfter(n)
			_ = again.start() // fails, or not, before the cut
			x.settle(again.on(again.disk.Crash(x.rng)), fmt.Sprintf("%s, then %d operations into Open", when, n))
		}
	}
}

// recover cuts the power again somewhere in what follows a crash, and checks.
func (x *explorer) recover(m *machine, when string) {
	x.Helper()
	after := []step{putting("fig"), placing("n/after", "fig"), syncing(), compacting()}
	again := m.on(m.disk.Kill())
	n := x.rng.IntN(25)
	again.disk.StopAfter(n)
	if again.start() == nil && again.world.restarted(again.Store) == nil {
		for _, st := range after {
			if st.do(again) != nil {
				break
			}
		}
	}
	x.settle(again.on(again.disk.Crash(x.rng)), fmt.Sprintf("%s, then %d operations into recovery", when, n))
	x.settle(m.on(m.disk.Kill()), when)
}

// settle opens a store undisturbed, checks it, goes on, and checks again.
func (x *explorer) settle(m *machine, when string) {
	x.Helper()
	x.must(m, when+": open", m.start())
	x.must(m, when, m.world.restarted(m.Store))
	for _, st := range []step{putting("grape"), placing("n/last", "grape apple"), syncing(), purging(), reopening()} {
		x.must(m, when+": "+st.name, st.do(m))
		x.must(m, when+": after "+st.name, m.world.check(m.Store))
	}
	x.must(m, when+": close", m.Close())
	x.states++
	if names, err := m.disk.ReadDir(folder); err != nil || len(names) != 1 {
		x.must(m, when, fmt.Errorf("at the end there are %v %v, want one file", names, err))
	}
}

// faults are the ways in which an operation of the disk fails.
func faults() []crashdisk.Fault {
	all := []crashdisk.Fault{
		{Err: syscall.EIO}, {Err: syscall.EIO, Forever: true}, {Err: syscall.EROFS, Forever: true, ShortBy: 7},
		{Op: crashdisk.OpWrite, Err: syscall.ENOSPC, ShortBy: 1},
		{Op: crashdisk.OpWrite, Err: syscall.ENOSPC, ShortBy: 100},
		{Op: crashdisk.OpSync}, {Op: crashdisk.OpSync, Forever: true},
		{Op: crashdisk.OpSyncDir}, {Op: crashdisk.OpSyncDir, Forever: true},
	}
	for _, op := range []crashdisk.Op{crashdisk.OpOpen, crashdisk.OpReadDir, crashdisk.OpLstat, crashdisk.OpClose} {
		all = append(all, crashdisk.Fault{Op: op}, crashdisk.Fault{Op: op, Forever: true})
	}
	return all
}

// Each operation of the disk fails in every way. What cannot be done says so, the store can be
// read all the while, and once the disk is mended everything works and is kept.
func TestEveryDiskError(t *testing.T) {
	x, undisturbed := explore(t), unused()
	x.must(undisturbed, "undisturbed", undisturbed.live(life()))
	for _, fault := range faults() {
		for n := range undisturbed.disk.Ops() {
			fault.Nth = n + 1
			m := unused()
			m.disk.Fail(fault)
			x.endure(m, fmt.Sprintf("%+v", fault))
		}
	}
}

func (x *explorer) endure(m *machine, when string) {
	x.Helper()
	if err := m.start(); err != nil {
		m.disk.Heal()
		x.must(m, when+": open again", m.start())
	}
	for _, st := range life() {
		if err := st.do(m); err != nil {
			if !m.closed {
				x.must(m, when+": in trouble after "+st.name, m.world.check(m.Store))
			}
			m.disk.Heal()
			x.must(m, when+": mended: "+st.name, st.do(m))
			if x.rng.IntN(2) == 0 {
				break
			}
		}
		x.must(m, when+": after "+st.name, m.world.check(m.Store))
	}
	m.disk.Heal()
	x.must(m, when+": last sync", syncing().do(m))
	x.settle(m.on(m.disk.Crash(nil)), when+", then a power cut")
}

// Once what could not be synced is in a new file, the disk has its peace.
func TestRepairIsDoneOnce(t *testing.T) {
	s, disk := newStore(t)
	must(t, s.Put(words("apple")))
	disk.Fail(crashdisk.Fault{Op: crashdisk.OpSync})
	must(t, s.Sync())
	before := disk.Ops()
	must(t, s.Sync())
	if n := disk.Ops() - before; n > 1 {
		t.Errorf("the next sync takes %d operations:\n%s", n, strings.Join(disk.Trace(), "\n"))
	}
	if !open1(t, disk.Crash(nil)).Has(KeyOf("apple")) {
		t.Error("what was synced at the second try is lost")
	}
}

// What a process could not sync can still be read after its death, and is not on the disk for all
// that: the next process writes it again before it says that it is.
func TestAProcessThatDiesAfterAFailedSync(t *testing.T) {
	for _, mended := range []bool{false, true} { // while the first process lived
		s, disk := newStore(t)
		must(t, s.Put(words("apple")))
		disk.Fail(crashdisk.Fault{Op: crashdisk.OpSync, Forever: true})
		if s.Sync() == nil {
			t.Fatal("the sync did not fail")
		}
		must(t, s.Put(words("banana")))
		if mended {
			disk.Heal()
		}
		next := disk.Kill()
		s = open1(t, next)
		if got := has(t, s); !slices.Equal(got, []string{"apple", "banana"}) {
			t.Fatalf("the next process finds %v", got)
		}
		must(t, s.Sync())
		if got := has(t, open1(t, next.Crash(nil))); !slices.Equal(got, []string{"apple", "banana"}) {
			t.Errorf("after a sync and a power cut there are %v, want apple and banana", got)
		}
	}
}

// A file of which a sync failed is never said to be on the disk, however well later ones go.
func TestAFileInDoubtStaysInDoubt(t *testing.T) {
	s, disk := newStore(t)
	must(t, s.Put(words("apple")))
	s.next = maxNumber // so that no new file can be begun
	disk.Fail(crashdisk.Fault{Op: crashdisk.OpSync})
	for range 2 {
		if s.Sync() == nil {
			t.Fatal("a sync that could not be mended succeeded")
		}
		must(t, s.Put(words("banana")))
	}
	next := disk.Kill()
	must(t, open1(t, next).Sync())
	if got := has(t, open1(t, next.Crash(nil))); len(got) != 2 {
		t.Errorf("after a sync and a power cut there are %v, want apple and banana", got)
	}
}

// What is known to be on the disk is not written again by the next process, whether the one
// before it closed the store or died.
func TestWhatIsSyncedIsNotWrittenAgain(t *testing.T) {
	for name, end := range map[string]func(*Store, *crashdisk.Disk) *crashdisk.Disk{
		"closed": func(s *Store, disk *crashdisk.Disk) *crashdisk.Disk { must(t, s.Close()); return disk },
		"killed": func(s *Store, disk *crashdisk.Disk) *crashdisk.Disk { must(t, s.Sync()); return disk.Kill() },
		"compacted": func(s *Store, disk *crashdisk.Disk) *crashdisk.Disk {
			must(t, s.Compact(t.Context()))
			return disk.Kill()
		},
	} {
		s, disk := newStore(t)
		must(t, s.Put(words("apple")))
		must(t, s.Sync())
		must(t, s.Put(words("banana")))
		disk = end(s, disk)
		s = open1(t, disk)
		before := disk.Ops()
		must(t, s.Sync())
		if n := disk.Ops() - before; n > 1 { // the folder is synced once more
			t.Errorf("%s: the next sync takes %d operations:\n%s", name, n, strings.Join(disk.Trace(), "\n"))
		}
	}
}

// A file that cannot be read loses what is in it and nothing else, and stops nothing.
func TestEveryReadError(t *testing.T) {
	x, base := explore(t), unused()
	x.must(base, "undisturbed", base.live(life()[:11]))
	for n := range 12 {
		for _, forever := range []bool{false, true} {
			when := fmt.Sprintf("read %d fails, forever: %t", n+1, forever)
			m := base.on(base.disk.Kill())
			m.disk.Fail(crashdisk.Fault{Op: crashdisk.OpRead, Nth: n + 1, Forever: forever})
			if m.start() != nil { // the beginning of a file is what it cannot do without
				m.disk.Heal()
				x.must(m, when+", mended", m.start())
			}
			for _, text := range vocabulary() {
				if v, ok := m.Vector(KeyOf(text)); ok && fmt.Sprint(v) != fmt.Sprint(word(text).Vector) {
					x.must(m, when, fmt.Errorf("the vector of %q is wrong", text))
				}
				if _, err := one(m.Nearest(context.Background(), word(text).Vector, Query{N: 3})); err != nil {
					x.must(m, when, err)
				}
			}
			m.disk.Heal()
			x.must(m, when+": put", m.Put(words(vocabulary()...)))
			x.must(m, when+": sync", m.Sync())
			x.must(m, when+": close", m.Close())
			x.states++
		}
	}
}

// On a full disk nothing is lost, what is there can be read, and with room again it goes on.
func TestFullDisk(t *testing.T) {
	for room := uint64(0); room < 700; room += 50 {
		x, m := explore(t), unused()
		x.must(m, "before", m.start())
		for _, st := range life()[:3] {
			x.must(m, st.name, st.do(m))
		}
		used := uint64(m.Status().Bytes)
		m.disk.Limit(used + room)
		when := fmt.Sprintf("%d bytes left", room)
		for _, st := range life()[3:11] {
			if st.do(m) != nil {
				x.must(m, when+": after "+st.name, m.world.check(m.Store))
			}
		}
		m.disk.Limit(1 << 20)
		for _, st := range life()[3:11] {
			x.must(m, when+", then more: "+st.name, st.do(m))
		}
		x.settle(m.on(m.disk.Crash(nil)), when+", then a power cut")
	}
}
