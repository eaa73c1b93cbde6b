package stm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/internal/durable/crashdisk"
	"emberd/memory"
)

// compacts folds all sealed files of the store.
func compacts() step {
	return step{"compact", func(s *Store) error {
		files, err := s.Segments()
		if err != nil {
			return err
		}
		var inputs []string
		for _, g := range files {
			if g.Own && g.Kind != History && !g.Active {
				inputs = append(inputs, g.Name)
			}
		}
		_, err = s.Rewrite(context.Background(), Compaction{Inputs: inputs, HistoryKeep: 90 * day})
		return err
	}, nil}
}

func unlinks() step {
	return step{"unlink", func(s *Store) error {
		_, err := s.Unlink(context.Background(), s.now().Add(time.Hour), time.Time{})
		return err
	}, nil}
}

// aTidyDay is dayInTheLife with the log folded twice in between, once over what
// could not be removed yet.
func aTidyDay() []step {
	day := dayInTheLife()
	var steps []step
	steps = append(steps, day[:6]...)
	steps = append(steps, compacts())
	steps = append(steps, day[6:9]...)
	steps = append(steps, unlinks(), compacts(), unlinks())
	return append(steps, day[9:]...)
}

func TestATidyDayIsTheSameDay(t *testing.T) {
	disk := crashdisk.New()
	s, err := openOn(disk)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld()
	if err := errors.Join(w.live(s, aTidyDay()), w.check(s)); err != nil {
		t.Fatal(err)
	}
	if trace := strings.Join(disk.Trace(), "\n"); !strings.Contains(trace, "remove") || !strings.Contains(trace, "c-0000") {
		t.Errorf("nothing was compacted:\n%s", trace)
	}
}

// TestPowerCutAtEveryOperationOfACompaction is case 32 and, with the next test,
// cases 29 and 30: the power is cut after every operation, those of K2 to K9
// among them, and again during the recovery.
func TestPowerCutAtEveryOperationOfACompaction(t *testing.T) {
	whole := crashdisk.New()
	s, err := openOn(whole)
	if err != nil {
		t.Fatal(err)
	}
	if err := newWorld().live(s, aTidyDay()); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(8, 8))
	states := 0
	for n := range whole.Ops() + 1 {
		disk := crashdisk.New()
		disk.StopAfter(n)
		w := newWorld()
		if s, err := openOn(disk); err == nil {
			w.live(s, aTidyDay())
			s.Close()
		}
		for i, after := range []*crashdisk.Disk{disk.Crash(nil), disk.Crash(rng), disk.Crash(rng), disk.Kill()} {
			states += recoverTwice(t, w, after, fmt.Sprintf("power cut after operation %d, outcome %d", n, i), rng)
			compactAfter(t, w, after.Crash(rng), fmt.Sprintf("compacting after a power cut at %d, outcome %d", n, i))
		}
	}
	t.Logf("%d states recovered", states)
}

// compactAfter sees that what a crash left can be compacted, and that no
// temporary file stays.
func compactAfter(t *testing.T, w *world, disk *crashdisk.Disk, when string) {
	t.Helper()
	s, err := openOn(disk)
	if err != nil {
		t.Fatalf("%s: open: %v", when, err)
	}
	defer s.Close()
	if entries, err := disk.ReadDir(s.ownDir()); err == nil {
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".") {
				t.Fatalf("%s: %s is still there", when, e.Name())
			}
		}
	}
	if len(ownInputs(s)) == 0 {
		return
	}
	for range 2 {
		if err := errors.Join(compacts().do(s), w.check(s), unlinks().do(s), w.check(s)); err != nil {
			t.Fatalf("%s: %v\n%v", when, err, disk.Trace())
		}
	}
	again, err := openOn(disk.Crash(nil))
	if err == nil {
		err = w.check(again)
		again.Close()
	}
	if err != nil {
		t.Fatalf("%s: %v\n%v", when, err, disk.Trace())
	}
}

func ownInputs(s *Store) (names []string) {
	files, _ := s.Segments()
	for _, g := range files {
		if g.Own && g.Kind != History && !g.Active {
			names = append(names, g.Name)
		}
	}
	return names
}

// TestEveryDiskErrorAtEveryOperationOfACompaction makes each operation fail,
// once or from then on. A compaction that fails changes nothing, and the saves
// beside it are what they were.
func TestEveryDiskErrorAtEveryOperationOfACompaction(t *testing.T) {
	whole := crashdisk.New()
	s, err := openOn(whole)
	if err != nil {
		t.Fatal(err)
	}
	if err := newWorld().live(s, aTidyDay()); err != nil {
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
		"read once":      {Op: crashdisk.OpRead, Err: syscall.EIO},
	}
	for name, fault := range faults {
		for n := 1; n <= whole.Ops(); n++ {
			fault.Nth = n
			failCompacting(t, fmt.Sprintf("%s at %d", name, n), fault)
		}
	}
}

func failCompacting(t *testing.T, when string, fault crashdisk.Fault) {
	t.Helper()
	disk := crashdisk.New()
	disk.Fail(fault)
	w := newWorld()
	if s, err := openOn(disk); err == nil {
		steps := aTidyDay()
		for _, st := range steps[:len(steps)-1] {
			err := w.live(s, []step{st})
			if err != nil && st.effect == nil && memory.CodeOf(err) == memory.Internal {
				t.Fatalf("%s: an error without a code: %v", when, err)
			}
			if err != nil && st.effect != nil {
				break
			}
		}
		if err := w.check(s); err != nil {
			t.Fatalf("%s: while running: %v\n%v", when, err, disk.Trace())
		}
		s.Close()
	}
	for _, d := range []*crashdisk.Disk{disk.Kill(), disk.Crash(nil)} {
		compactAfter(t, w, d, when)
	}
}
