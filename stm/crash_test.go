package stm

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/internal/durable/crashdisk"
	"emberd/memory"
)

// world is what a client believes: the text of every memory after the last
// acknowledgement, and what it may be besides, where an answer never came.
type world struct {
	sure  map[memory.ID]string   // "" is forgotten
	maybe map[memory.ID][]string // further texts that are legal
}

func newWorld() *world {
	return &world{sure: map[memory.ID]string{}, maybe: map[memory.ID][]string{}}
}

// step is one request of the workload and what it makes of the memories.
type step struct {
	name   string
	do     func(s *Store) error
	effect map[memory.ID]string
}

func idOf(n int) memory.ID { return memory.DeriveID([]byte{byte(n)}) }

func one(s *Store, verb string, c ...Change) error {
	var ids []memory.ID
	for _, x := range c {
		ids = append(ids, x.ID)
	}
	_, err := s.Update(context.Background(), ids, "", func([]*Row) (*Tx, error) { return &Tx{Verb: verb, Changes: c}, nil })
	return err
}

func textOf(s string) map[string]json.RawMessage {
	return map[string]json.RawMessage{"content": encode(s)}
}

// dayInTheLife saves, edits, forgets several at once, undoes and restores,
// with segments so small that they rotate in between.
func dayInTheLife() []step {
	save := func(n int, text string) step {
		return step{"save", func(s *Store) error { return one(s, "save", Change{ID: idOf(n), Set: textOf(text)}) }, map[memory.ID]string{idOf(n): text}}
	}
	undo := func(effect map[memory.ID]string) step {
		return step{"undo", func(s *Store) error { _, err := s.Undo(context.Background(), Undo{}); return err }, effect}
	}
	return []step{
		save(1, "one"), save(2, "two"), save(3, "three"),
		save(1, "one, edited"),
		{"forget", func(s *Store) error {
			return one(s, "forget", Change{ID: idOf(2), Delete: true}, Change{ID: idOf(3), Delete: true})
		}, map[memory.ID]string{idOf(2): "", idOf(3): ""}},
		undo(map[memory.ID]string{idOf(2): "two", idOf(3): "three"}),
		undo(map[memory.ID]string{idOf(1): "one"}),
		{"forget", func(s *Store) error { return one(s, "forget", Change{ID: idOf(1), Delete: true}) }, map[memory.ID]string{idOf(1): ""}},
		{"use", func(s *Store) error { s.Use(Use{ID: idOf(2), Uses: 1}); return nil }, nil},
		{"restore", func(s *Store) error {
			_, err := s.Restore(context.Background(), []memory.ID{idOf(1)}, memory.Actor{})
			return err
		}, map[memory.ID]string{idOf(1): "one"}},
		save(4, "four"),
		{"close", func(s *Store) error { return s.Close() }, nil},
	}
}

// live carries the steps out until one fails, and notes what was acknowledged.
func (w *world) live(s *Store, steps []step) error {
	for _, st := range steps {
		err := st.do(s)
		for id, text := range st.effect {
			if err == nil {
				w.sure[id], w.maybe[id] = text, nil
			} else {
				w.maybe[id] = append(w.maybe[id], text)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", st.name, err)
		}
	}
	return nil
}

// check compares a recovered store with what the client believes.
func (w *world) check(s *Store) error {
	for n := 1; n <= 4; n++ {
		id := idOf(n)
		got := ""
		if r, ok := s.Get(id); ok {
			got = r.Content()
		}
		legal := append([]string{w.sure[id]}, w.maybe[id]...)
		found := false
		for _, l := range legal {
			found = found || l == got
		}
		if !found {
			return fmt.Errorf("memory %d holds %q, want one of %q", n, got, legal)
		}
	}
	return nil
}

func openOn(disk durable.FS) (*Store, error) {
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return Open("/data", "/state", &Options{FS: disk, SegmentBytes: 900, Now: func() time.Time {
		clock = clock.Add(time.Second)
		return clock
	}})
}

// TestPowerCutAtEveryOperation cuts the power after every single operation of
// the day, lets the disk forget what was not synced in several ways, recovers,
// and then cuts the power during that recovery too.
func TestPowerCutAtEveryOperation(t *testing.T) {
	whole := crashdisk.New()
	s, err := openOn(whole)
	if err != nil {
		t.Fatal(err)
	}
	if err := newWorld().live(s, dayInTheLife()); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(7, 7))
	states := 0
	for n := range whole.Ops() + 1 {
		disk := crashdisk.New()
		disk.StopAfter(n)
		w := newWorld()
		if s, err := openOn(disk); err == nil {
			w.live(s, dayInTheLife())
			s.Close()
		}
		afters := []*crashdisk.Disk{disk.Crash(nil), disk.Crash(rng), disk.Crash(rng), disk.Crash(rng), disk.Kill()}
		for i, after := range afters {
			states += recoverTwice(t, w, after, fmt.Sprintf("power cut after operation %d, outcome %d", n, i), rng)
		}
	}
	t.Logf("%d states recovered", states)
	if states < 500 {
		t.Errorf("only %d states were met; the harness does not reach the disk", states)
	}
}

func recoverTwice(t *testing.T, w *world, disk *crashdisk.Disk, when string, rng *rand.Rand) int {
	t.Helper()
	again := disk.Crash(nil)
	cut := rng.IntN(6)
	again.StopAfter(again.Ops() + cut)
	if s, err := openOn(again); err == nil {
		if err := w.check(s); err != nil {
			t.Fatalf("%s, then %d operations into recovery: %v\n%v", when, cut, err, again.Trace())
		}
		s.Close()
	}
	goesOn(t, w, when, again.Crash(rng), disk.Crash(nil))
	return 3
}

// goesOn opens the store on each disk as it is after a failure, and checks that
// nothing acknowledged is lost and that it can be written.
func goesOn(t *testing.T, w *world, when string, disks ...*crashdisk.Disk) {
	t.Helper()
	for _, d := range disks {
		s, err := openOn(d)
		if err != nil {
			t.Fatalf("%s: open: %v", when, err)
		}
		if err := w.check(s); err != nil {
			t.Fatalf("%s: after restart: %v\n%v", when, err, d.Trace())
		}
		if err := one(s, "save", Change{ID: idOf(9), Set: textOf("life goes on")}); err != nil {
			t.Fatalf("%s: save after restart: %v", when, err)
		}
		if err := s.Close(); err != nil {
			t.Fatalf("%s: close: %v", when, err)
		}
	}
}

// TestWithoutSyncTheHarnessSeesLosses is the control: a log that does not sync
// must be caught losing.
func TestWithoutSyncTheHarnessSeesLosses(t *testing.T) {
	lost := 0
	for range 20 {
		disk := crashdisk.New()
		s, err := Open("/data", "/state", &Options{FS: disk, Durability: None})
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld()
		steps := dayInTheLife()
		if err := w.live(s, steps[:len(steps)-1]); err != nil {
			t.Fatal(err)
		}
		after, err := openOn(disk.Crash(nil))
		if err == nil {
			err = w.check(after)
			after.Close()
		}
		if err != nil {
			lost++
		}
		s.Close()
	}
	if lost != 20 {
		t.Errorf("%d of 20 unsynced days were lost, want all", lost)
	}
}

// TestEveryDiskErrorAtEveryOperation makes each operation fail, once or from
// then on, and checks that nothing acknowledged is lost, that what failed says
// so with a code, and that the store works again once the disk does.
func TestEveryDiskErrorAtEveryOperation(t *testing.T) {
	whole := crashdisk.New()
	s, err := openOn(whole)
	if err != nil {
		t.Fatal(err)
	}
	if err := newWorld().live(s, dayInTheLife()); err != nil {
		t.Fatal(err)
	}
	faults := map[string]crashdisk.Fault{
		"EIO once":       {Err: syscall.EIO},
		"EIO from here":  {Err: syscall.EIO, Forever: true},
		"ENOSPC":         {Err: syscall.ENOSPC, Forever: true},
		"short write":    {Op: crashdisk.OpWrite, Err: syscall.ENOSPC, ShortBy: 7},
		"sync once":      {Op: crashdisk.OpSync, Err: syscall.EIO},
		"sync from here": {Op: crashdisk.OpSync, Err: syscall.EIO, Forever: true},
		"EROFS":          {Err: syscall.EROFS, Forever: true},
	}
	for name, fault := range faults {
		for n := 1; n <= whole.Ops(); n++ {
			fault.Nth = n
			failEach(t, fmt.Sprintf("%s at %d", name, n), fault)
		}
	}
}

func failEach(t *testing.T, when string, fault crashdisk.Fault) {
	t.Helper()
	disk := crashdisk.New()
	disk.Fail(fault)
	w := newWorld()
	if s, err := openOn(disk); err == nil {
		steps := dayInTheLife()
		if err := w.live(s, steps[:len(steps)-1]); err != nil && memory.CodeOf(err) == memory.Internal {
			t.Fatalf("%s: an error without a code: %v", when, err)
		}
		if err := w.check(s); err != nil {
			t.Fatalf("%s: while running: %v\n%v", when, err, disk.Trace())
		}
		s.Close()
	}
	goesOn(t, w, when, disk.Kill(), disk.Crash(nil))
}
