package stm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"emberd/internal/contain"
	"emberd/internal/testutil/crashdisk"
	"emberd/internal/testutil/racescale"
	"emberd/internal/text/analysis"
	"emberd/memory"
	"emberd/stm"
	"emberd/stm/device"
	"emberd/stm/history"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

func idOf(n int) memory.ID { return memory.DeriveID([]byte{byte(n)}) }

func textOf(s string) map[string]json.RawMessage {
	return map[string]json.RawMessage{"content": record.Encode(s)}
}

// transact carries out a transaction on its own.
func transact(s *stm.Store, tx wal.Tx) (entry string, err error) {
	var ids []memory.ID
	for _, c := range tx.Changes {
		ids = append(ids, c.ID)
	}
	got, err := s.Update(context.Background(), ids, tx.Key, func([]*table.Row) (*wal.Tx, error) { return &tx, nil })
	return got.Entry, err
}

func one(s *stm.Store, verb string, c ...wal.Change) error {
	_, err := transact(s, wal.Tx{Verb: verb, Changes: c})
	return err
}

// openOn opens a store on a disk, with a clock that moves on by itself.
func openOn(disk *crashdisk.Disk) (*stm.Store, error) {
	m := unused()
	m.disk = disk
	err := m.start()
	return m.Store, err
}

// step is one request of a workload and what it makes of the memories.
type step struct {
	name    string
	do      func(s *stm.Store) (entry string, err error)
	on      func(m *machine) error // instead of do, and notes what the client learns itself
	key     string                 // idempotency key
	effects []effect
	uses    map[memory.ID]int64
	settles bool // its acknowledgement covers the uses before it
}

// request is a step that changes memories in one transaction.
func request(verb string, effects ...effect) step {
	key := "key of " + verb + " " + string(effects[0].id)
	return step{name: verb, key: key, effects: effects, do: func(s *stm.Store) (string, error) {
		tx := wal.Tx{Verb: verb, Key: key, KeyHash: "hash"}
		for _, e := range effects {
			c := wal.Change{ID: e.id, Delete: e.op == record.OpDelete, Set: map[string]json.RawMessage{}}
			if c.Delete {
				c.Text, e.set = e.set["content"], nil
			}
			for name, text := range e.set {
				if c.Set[name] = record.Encode(text); text == "" {
					c.Set[name] = record.Null
				}
			}
			tx.Changes = append(tx.Changes, c)
		}
		return transact(s, tx)
	}}
}

func saved(n int, text string) effect {
	return effect{idOf(n), record.OpPut, fields{"content": text, "source": "notebook"}}
}
func set(n int, key, text string) effect { return effect{idOf(n), record.OpSet, fields{key: text}} }
func del(n int) effect                   { return effect{id: idOf(n), op: record.OpDelete} }

// forgets is a delete that leaves the fingerprint of a text.
func forgets(n int, text string) effect {
	return effect{idOf(n), record.OpDelete, fields{"content": text}}
}

// undo takes the newest entry back, which has these effects.
func undo(effects ...effect) step {
	return step{name: "undo", effects: effects, do: func(s *stm.Store) (string, error) {
		got, err := s.Undo(context.Background(), history.Undo{})
		return got.Tx, err
	}}
}

func restore(back effect) step {
	return step{name: "restore", effects: []effect{back}, do: func(s *stm.Store) (string, error) {
		got, err := s.Restore(context.Background(), []memory.ID{back.id}, memory.Actor{})
		return got.Entry, err
	}}
}

func use(n int, times int64) step {
	return step{name: "use", uses: map[memory.ID]int64{idOf(n): times}, do: func(s *stm.Store) (string, error) {
		s.Use(table.Use{ID: idOf(n), Uses: times})
		return "", nil
	}}
}

func snapshots() step {
	return step{name: "snapshot", do: func(s *stm.Store) (string, error) { return "", s.WriteSnapshot(context.Background()) }}
}

func stop() step {
	return step{name: "close", settles: true, do: func(s *stm.Store) (string, error) { return "", s.Close() }}
}

// operation is a workload on top of the old life. New operations of the store
// are tortured once they have a line here.
type operation struct {
	name  string
	small bool // segments so small that nearly every write begins a new one
	steps []step
}

func operations() []operation {
	long := strings.Repeat("lorem ipsum dolor sit amet ", 500) // several blocks of the disk
	return []operation{
		{name: "start and stop"},
		{name: "save", steps: []step{request("save", saved(5, "elder flower"))}},
		{name: "long save", steps: []step{use(1, 3), request("save", saved(5, long)), request("save", saved(6, "fig leaf"))}},
		{name: "edit", steps: []step{request("edit", set(1, "content", "apple crumble")), request("edit again", set(1, "source", ""))}},
		{name: "batch", steps: []step{request("import", saved(5, "elder flower"), set(1, "content", "apple crumble"), del(2), saved(6, "fig leaf"))}},
		{name: "forget", steps: []step{request("forget", forgets(1, "apple pie"), del(2))}},
		{name: "undo", steps: []step{undo(saved(3, "mango cake")), undo(set(2, "content", "banana bread"))}},
		{name: "restore", steps: []step{restore(saved(3, "mango cake"))}},
		{name: "use", steps: []step{use(1, 3), use(2, 1)}},
		{name: "use and save", steps: []step{use(1, 3), request("save", saved(5, "elder flower")), use(1, 1)}},
		{name: "rotate", small: true, steps: []step{
			request("save", saved(5, "elder flower")), request("edit", set(5, "content", "elder bush")), request("forget", del(1)),
		}},
		{name: "snapshot", steps: []step{
			request("save", saved(5, "elder flower")), snapshots(), request("edit", set(5, "content", "elder bush")),
		}},
		{name: "snapshot of nothing new", steps: []step{snapshots()}},
		{name: "a tidy day", small: true, steps: aTidyDay()},
		{name: "purge", small: true, steps: []step{request("edit again", set(2, "source", "fig")), purges(2), request("save", saved(5, "elder flower"))}},
		{name: "merge", steps: aSharedDay()},
		{name: "restore a backup", steps: []step{
			request("forget", forgets(2, "banana split")), backsUp(), request("edit", set(1, "content", "apple crumble")),
			request("save", saved(5, "elder flower")), request("forget again", del(1)),
			restoresBackup(), request("save again", saved(5, "elder bush")),
		}},
		{name: "a day", small: true, steps: []step{
			request("save", saved(5, "elder flower")), use(1, 2), request("forget", del(1), del(2)), undo(saved(1, "apple pie"), saved(2, "banana split")),
			request("edit", set(1, "content", "apple crumble")), snapshots(), undo(set(1, "content", "apple pie")),
			request("forget", forgets(5, "elder flower")), restore(saved(5, "elder flower")), request("save", saved(6, "fig leaf")),
		}},
	}
}

// oldLife leaves two live memories and one in the trash.
func oldLife() []step {
	return []step{
		request("save", saved(1, "apple pie")), request("save", saved(2, "banana bread")), request("save", saved(3, "mango cake")),
		use(1, 2), request("edit", set(2, "content", "banana split")), request("forget", del(3)),
	}
}

// machine is a disk, the store on it, and what its client believes.
type machine struct {
	disk  *crashdisk.Disk
	world *world
	small bool
	clock *atomic.Int64
	words *analysis.Analyzer

	durability wal.Durability
	troubled   bool // its disk has failed, so a stop may leave uses unwritten
	*stm.Store
}

// unused is a machine that was never used.
func unused() *machine {
	m := &machine{disk: crashdisk.New(), world: newWorld(), clock: &atomic.Int64{}, words: analysis.New()}
	m.clock.Store(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Unix())
	return m
}

// with is the same client before another disk, its clock as it is now.
func (m *machine) with(disk *crashdisk.Disk) *machine {
	clock := &atomic.Int64{}
	clock.Store(m.clock.Load())
	return &machine{disk: disk, world: m.world.clone(), small: m.small, clock: clock, words: m.words}
}

func (m *machine) start() (err error) {
	opt := wal.Options{FS: m.disk, DocumentBytes: 1, Analyzer: m.words, Durability: m.durability, Now: func() time.Time { return time.Unix(m.clock.Add(1), 0) }}
	if m.small {
		opt.SegmentBytes = 300
	}
	s, err := stm.Open("/data", "/state", &opt)
	if errors.Is(err, device.ErrLogGone) && m.world.moved {
		if err = m.putBack(); err == nil {
			s, err = stm.Open("/data", "/state", &opt)
		}
	}
	if err == nil {
		m.Store = s
	}
	return err
}

// do carries out a step and notes what the client learns from the answer. After
// a power cut there is none.
func (m *machine) do(st step, cut bool) error {
	if st.on != nil {
		return st.on(m)
	}
	for id, n := range st.uses {
		m.world.used[id] += n
	}
	var entry string
	err := atTheEdge(func() (err error) {
		entry, err = st.do(m.Store)
		return err
	})
	_, off := m.disk.Lstat("/")
	if sound := off == nil && !m.troubled; err == nil && st.settles && (sound || !m.Wal().Uses.Waiting()) {
		m.world.settled = maps.Clone(m.world.used)
	}
	if sure := err == nil; len(st.effects) > 0 && (sure || cut || memory.CodeOf(err) == memory.Unknown) {
		m.world.note(event{name: st.name, entry: entry, key: st.key, sure: sure, effects: st.effects})
	}
	return err
}

// atTheEdge is where the engine contains what a document that cannot be read stops.
func atTheEdge(fn func() error) error { return contain.Do(nil, contain.Request, "", fn) }

// live starts, carries the steps out until one fails, and stops.
func (m *machine) live(steps []step, cut bool) error {
	if err := m.start(); err != nil {
		return err
	}
	defer func() { m.Close() }() // a step may have started it again
	if _, off := m.disk.Lstat("/"); off == nil {
		if err := m.world.restarted(m.Store); err != nil {
			return err
		}
	}
	for _, st := range append(steps[:len(steps):len(steps)], stop()) {
		if err := m.do(st, cut); err != nil {
			return fmt.Errorf("%s: %w", st.name, err)
		}
	}
	return nil
}

func TestPowerCutAtEveryOperation(t *testing.T) {
	explore(t, (*explorer).powerCuts)
}

func TestEveryDiskErrorAtEveryOperation(t *testing.T) {
	explore(t, (*explorer).diskErrors)
}

// TestWithoutSyncTheHarnessSeesLosses is the control: a log that does not sync
// must be caught losing.
func TestWithoutSyncTheHarnessSeesLosses(t *testing.T) {
	x := newExplorer(t)
	lost := 0
	for range 20 {
		m := unused()
		m.durability = wal.None
		x.must(m, "start", m.start())
		for _, st := range oldLife() {
			x.must(m, st.name, m.do(st, false))
		}
		after := m.with(m.disk.Crash(nil))
		x.must(after, "start after the power cut", after.start())
		if after.world.restarted(after.Store) != nil {
			lost++
		}
		after.Close()
		m.Close()
	}
	if lost != 20 {
		t.Errorf("%d of 20 unsynced lives were lost, want all", lost)
	}
}

// What a start showed, or answered for when a request was repeated, stays: the
// line of a process that was killed before its sync is synced by the next.
func TestWhatAStartShowsSurvivesAPowerCut(t *testing.T) {
	x := newExplorer(t)
	save := request("save", saved(1, "apple pie"))
	undisturbed, m := unused(), unused()
	x.must(undisturbed, "start", undisturbed.start())
	x.must(undisturbed, "save", undisturbed.do(save, false))
	trace := undisturbed.disk.Trace()
	for !strings.Contains(trace[len(trace)-1], " sync ") {
		trace = trace[:len(trace)-1]
	}
	m.disk.StopAfter(len(trace) - 1) // all but the sync
	undisturbed.Close()
	x.must(m, "start", m.start())
	if err := m.do(save, true); err == nil {
		t.Fatal("acknowledged without a sync")
	}
	again := m.with(m.disk.Kill())
	m.Close()
	x.must(again, "start after the kill", again.start())
	if _, ok := again.Replay(save.key); !ok {
		t.Fatal("the line is not there to be shown")
	}
	after := again.with(again.disk.Crash(nil))
	x.must(after, "start after the power cut", after.start())
	if _, ok := after.Replay(save.key); !ok {
		t.Error("a request whose repetition was answered for is gone")
	}
	after.Close()
	again.Close()
}

// A process that was killed left no seal, so only its lines tell which numbers
// were used and how late it was.
func TestTheNextProcessGoesOnWhereAKilledOneWas(t *testing.T) {
	x := newExplorer(t)
	m := unused()
	x.must(m, "start", m.start())
	for _, n := range []int{1, 2} {
		x.must(m, "save", m.do(request("save", saved(n, "apple pie")), false))
		killed := m.Store
		m.disk = m.disk.Kill()
		killed.Close()
		m.clock.Add(-3600)
		x.must(m, "start after a kill", m.start())
		x.must(m, "check", m.world.restarted(m.Store))
	}
	x.must(m, "edit with a clock that went back", m.do(request("edit", set(1, "content", "apple crumble")), false))
	x.must(m, "check", m.world.check(m.Store))
	x.must(m, "stop", m.do(stop(), false))
	x.must(m, "remove the snapshot", m.disk.Remove("/state/index/stm.snap"))
	x.must(m, "start", m.start())
	x.must(m, "check", m.world.restarted(m.Store))
	if got := m.Status().Recovery; got.Applied != 3 || got.Duplicate != 0 {
		t.Errorf("%+v, want three lines, each with a number of its own", got)
	}
	m.Close()
}

// The first save ever is cut short twice, by a power cut or first by a kill: nothing
// is taken for a log that was there and is gone.
func TestAFirstSaveThatIsCutShortTwice(t *testing.T) {
	x := newExplorer(t)
	save := func(n int) []step { return []step{request("save", saved(n, "apple pie"))} }
	live := func(m *machine, n, cut int) {
		m.disk.StopAfter(cut)
		if err := m.live(save(n), true); err != nil && m.disk.Ops() < cut {
			x.must(m, fmt.Sprintf("life %d, cut after operation %d", n, cut), err)
		}
	}
	ops, share := x.operationsOf(unused(), "first save", save(1)), 4*racescale.Share
	if torture() {
		share = 1
	}
	for first := range ops {
		m := unused()
		live(m, 1, first)
		for _, disk := range []*crashdisk.Disk{m.disk.Crash(nil), m.disk.Kill()} {
			for second := first % share; second < ops; second += share {
				again := m.with(disk.Kill())
				live(again, 2, second)
				after := again.with(again.disk.Crash(nil))
				x.must(after, fmt.Sprintf("start after cuts at %d and %d", first, second), after.start())
				x.must(after, "check after it", after.world.restarted(after.Store))
				x.must(after, "stop after it", after.Close())
			}
		}
	}
}

func TestAnIdentityThatCannotBeReadIsNotReplaced(t *testing.T) {
	for _, f := range []crashdisk.Fault{
		{Op: crashdisk.OpOpen, Path: "device.json"}, {Op: crashdisk.OpRead, Path: "device.json"}, {Op: crashdisk.OpLstat, Path: "/data", Nth: 3},
	} {
		x := newExplorer(t)
		m := x.bases(false)["after a stop"]
		m = m.with(m.disk.Kill())
		m.disk.Fail(f)
		if err := m.start(); err == nil {
			if err := m.world.restarted(m.Store); err != nil {
				t.Errorf("%+v: started, and %v", f, err)
			}
			m.Close()
		}
		m.disk.Heal()
		before := fmt.Sprint(m.disk.Trace())
		x.must(m, "start once it can be read", m.start())
		x.must(m, "check", m.world.restarted(m.Store))
		m.Close()
		if got, err := m.disk.ReadDir("/data/stm"); err != nil || len(got) != 1 {
			t.Errorf("%+v: %d devices, want the one there was; %v\n%s", f, len(got), err, before)
		}
	}
}
