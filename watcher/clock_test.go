package watcher

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"emberd/internal/testutil/bubble"
)

// These tests run on real files under a clock that stands still while anything
// happens. There are no events in a bubble, so the watcher is blind; where a test
// wants one, it marks the path.

// never is an interval beyond every test.
const never = 1000 * time.Hour

// inBubble runs a test on a vault of its own, with files of that many notes.
func inBubble(t *testing.T, files int, opt Options, test func(t *testing.T, d disk, f *follower)) {
	bubble.Test(t, func(t *testing.T) {
		d := disk{t, t.TempDir()}
		for i := range files {
			d.write(fmt.Sprintf("%d.md", i), "some text")
		}
		f := follow(t, d.dir, opt, blind)
		synctest.Wait() // for the status, which is told after the batch
		test(t, d, f)
		synctest.Wait()
		f.stop()
	})
}

// event does what an event would do, and lets it settle.
func (f *follower) event(paths ...string) {
	for _, p := range paths {
		f.buffer.mark(p)
	}
	f.pass(burstQuiet)
}

func (f *follower) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// gone returns what was reported gone so far, in order.
func (f *follower) gone() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var gone []string
	for _, b := range f.batches {
		gone = append(gone, b.Gone...)
	}
	return gone
}

func TestTheFirstBatchIsEverything(t *testing.T) {
	inBubble(t, 3, Options{}, func(t *testing.T, d disk, f *follower) {
		first := f.batches[0]
		if !first.Full || len(first.Changed) != 3 || len(first.Gone) > 0 {
			t.Errorf("the first batch is %+v, want three files", first)
		}
	})
	inBubble(t, 0, Options{}, func(t *testing.T, d disk, f *follower) {
		if len(f.batches) != 1 || !f.batches[0].Full {
			t.Errorf("an empty vault gave %+v, want one full batch", f.batches)
		}
	})
}

func TestPollingFindsWhatNoEventTold(t *testing.T) {
	inBubble(t, 3, Options{Poll: 30 * time.Second, Grace: time.Second}, func(t *testing.T, d disk, f *follower) {
		if s := f.Status(); s.Mode != Polling || s.Reason == "" || s.Watches != 0 {
			t.Errorf("without events the status is %+v, want polling and why", s)
		}
		d.write("0.md", "other text")
		d.note("deep/er/new.md", "new")
		d.remove("1.md")
		f.pass(32 * time.Second)
		f.settled()
		if got := f.count(); got != 3 {
			t.Errorf("%d batches, want the first, the changes, and the deletion after its grace", got)
		}
		d.remove("deep")
		f.pass(time.Minute)
		f.settled()
		f.pass(time.Hour)
		if got := f.count(); got != 4 {
			t.Errorf("with nothing changed there were %d more batches", got-4)
		}
	})
}

func TestDeletionWaitsForItsGrace(t *testing.T) {
	inBubble(t, 9, Options{Poll: never}, func(t *testing.T, d disk, f *follower) {
		d.remove("0.md")
		f.event("0.md")
		if s := f.Status(); s.Pending != 1 || s.Files != 9 {
			t.Errorf("after a deletion the status is %+v, want one pending of nine", s)
		}
		f.pass(defaultGrace - burstQuiet)
		if got := f.gone(); len(got) > 0 {
			t.Errorf("%v reported before the grace was over", got)
		}
		f.pass(burstQuiet)
		if got := f.gone(); !slices.Equal(got, []string{"0.md"}) {
			t.Errorf("after the grace %v were gone, want 0.md", got)
		}
	})
}

func TestDeletedAndRecreatedIsAChange(t *testing.T) {
	inBubble(t, 1, Options{Poll: never}, func(t *testing.T, d disk, f *follower) {
		d.remove("0.md")
		f.event("0.md")
		f.pass(defaultGrace / 2)
		d.write("0.md", "written anew")
		f.event("0.md")
		f.pass(time.Hour)
		if changed, gone := f.heard("0.md", 1); len(changed) != 1 || gone != 0 {
			t.Errorf("changed %d times and gone %d times, want once and never", len(changed), gone)
		}
	})
}

// The file is back, but nothing told so: the last look before the report finds it.
func TestGraceEndsWithALook(t *testing.T) {
	inBubble(t, 1, Options{Poll: never}, func(t *testing.T, d disk, f *follower) {
		d.rename("0.md", "away.txt")
		f.event("0.md")
		d.rename("away.txt", "0.md")
		f.pass(time.Hour)
		if got := f.gone(); len(got) > 0 {
			t.Errorf("%v reported gone, but it is there", got)
		}
		f.settled()
	})
}

func TestAFolderHasALongerGrace(t *testing.T) {
	inBubble(t, 9, Options{Poll: never}, func(t *testing.T, d disk, f *follower) {
		d.note("folder/a.md", "text")
		f.event("folder")
		d.remove("folder")
		f.event("folder")
		f.pass(wholeFolder*defaultGrace - time.Second)
		if got := f.gone(); len(got) > 0 {
			t.Errorf("%v reported before the grace of a folder was over", got)
		}
		f.pass(time.Second)
		f.settled()
	})
}

func TestATruncatedFileIsNotReportedEmpty(t *testing.T) {
	inBubble(t, 1, Options{Poll: never}, func(t *testing.T, d disk, f *follower) {
		d.write("0.md", "")
		f.event("0.md")
		f.pass(emptyFor / 2)
		if got := f.count(); got != 1 {
			t.Errorf("an empty file was reported within %v", emptyFor/2)
		}
		d.write("0.md", "new text")
		f.event("0.md")
		f.pass(time.Hour)
		changed, _ := f.heard("0.md", 1)
		if len(changed) != 1 || changed[0].Size != int64(len("new text")) {
			t.Errorf("reported as %+v, want once with the new text", changed)
		}
	})
}

func TestAFileThatStaysEmptyIsReported(t *testing.T) {
	inBubble(t, 1, Options{Poll: never}, func(t *testing.T, d disk, f *follower) {
		d.write("0.md", "")
		f.event("0.md")
		f.pass(emptyFor)
		if changed, _ := f.heard("0.md", 1); len(changed) != 1 || changed[0].Size != 0 {
			t.Errorf("reported as %+v, want once and empty", changed)
		}
		d.write("new.md", "")
		f.event("new.md")
		if changed, _ := f.heard("new.md", 1); len(changed) != 1 {
			t.Error("a new empty file was held back")
		}
	})
}

func TestMassDisappearanceIsHeldBack(t *testing.T) {
	inBubble(t, 100, Options{}, func(t *testing.T, d disk, f *follower) {
		for i := range 30 {
			d.rename(fmt.Sprintf("%d.md", i), fmt.Sprintf(".%d.away", i))
		}
		f.pass(time.Minute)
		f.frozen()
		d.write("99.md", "edited meanwhile")
		f.pass(time.Minute)
		if changed, _ := f.heard("99.md", 1); len(changed) != 1 {
			t.Error("a change was held back with the deletions")
		}
		if got := f.gone(); len(got) > 0 {
			t.Errorf("%v reported gone while deletions are held back", got)
		}
		for i := range 30 {
			d.rename(fmt.Sprintf(".%d.away", i), fmt.Sprintf("%d.md", i))
		}
		f.pass(time.Minute)
		f.thawed()
		f.settled()
		if got := f.gone(); len(got) > 0 {
			t.Errorf("all is back, and %v were reported gone", got)
		}
	})
}

func TestConfirmReportsWhatIsMissing(t *testing.T) {
	inBubble(t, 100, Options{}, func(t *testing.T, d disk, f *follower) {
		for i := range 60 {
			d.remove(fmt.Sprintf("%d.md", i))
		}
		f.pass(time.Minute)
		f.frozen()
		d.write("0.md", "back, unnoticed")
		f.Confirm()
		f.pass(quiet)
		f.settled()
		f.thawed()
		if got := len(f.gone()); got != 59 {
			t.Errorf("%d reported gone, want the 59 that are", got)
		}
	})
}

func TestAnHourConfirmsWhatIsPlausible(t *testing.T) {
	inBubble(t, 150, Options{}, func(t *testing.T, d disk, f *follower) {
		for i := range 60 {
			d.remove(fmt.Sprintf("%d.md", i))
		}
		f.pass(thawAfter - time.Minute)
		if got := f.gone(); len(got) > 0 {
			t.Errorf("%d reported within the hour", len(got))
		}
		f.pass(5 * time.Minute)
		f.settled()
		f.thawed()
	})
}

func TestARootThatIsAwayAndBack(t *testing.T) {
	inBubble(t, 3, Options{}, func(t *testing.T, d disk, f *follower) {
		d.ok(os.Rename(d.dir, d.dir+".away"))
		f.pass(2 * time.Minute)
		f.frozen()
		d.ok(os.Mkdir(d.dir, 0o700)) // as a mount point looks when its disk is pulled
		f.pass(2 * thawAfter)
		f.frozen()
		if f.count() != 1 {
			t.Errorf("an empty mount point made %d batches", f.count()-1)
		}
		d.ok(os.Remove(d.dir))
		d.ok(os.Rename(d.dir+".away", d.dir))
		d.write("0.md", "edited while away")
		f.pass(2 * time.Minute)
		f.thawed()
		f.settled()
		if got := f.gone(); len(got) > 0 {
			t.Errorf("%v reported gone", got)
		}
	})
}

func TestAReplacedRoot(t *testing.T) {
	for name, test := range map[string]struct {
		restored int
		confirm  bool
		adopted  bool
	}{
		"restored from a backup":   {restored: 20, adopted: true},
		"most of it":               {restored: 11, adopted: true},
		"too little of it":         {restored: 10},
		"too little, but meant so": {restored: 10, confirm: true, adopted: true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 20, Options{}, func(t *testing.T, d disk, f *follower) {
				d.ok(os.Rename(d.dir, d.dir+".old"))
				for i := range test.restored {
					d.note(fmt.Sprintf("%d.md", i), "restored")
				}
				f.pass(2 * time.Minute)
				if test.confirm {
					f.Confirm()
					f.pass(2 * time.Minute)
				}
				if got := f.count() > 1; got != test.adopted {
					t.Errorf("taken for the root: %v, want %v; status %+v", got, test.adopted, f.Status())
				}
			})
		})
	}
}

// One event is enough to look at everything when the root is not what it was.
func TestAnotherRootIsScanned(t *testing.T) {
	inBubble(t, 9, Options{Poll: never}, func(t *testing.T, d disk, f *follower) {
		d.ok(os.Rename(d.dir, d.dir+".old"))
		for i := range 9 {
			d.note(fmt.Sprintf("%d.md", i), "restored")
		}
		f.event("0.md")
		f.settled()

		d.ok(os.Rename(d.dir, d.dir+".away"))
		f.event("0.md")
		f.frozen()
		d.ok(os.Rename(d.dir+".away", d.dir))
		d.write("1.md", "edited while away")
		f.event("0.md")
		f.thawed()
		f.settled()
	})
}

func TestRescansAreSpread(t *testing.T) {
	w, err := New(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	least, most := never, time.Duration(0)
	for range 1000 {
		least, most = min(least, w.interval()), max(most, w.interval())
	}
	if least < defaultRescan*3/4 || most > defaultRescan*5/4 || most-least < defaultRescan/4 {
		t.Errorf("rescans after %v to %v, want 22.5 to 37.5 minutes", least, most)
	}
}

func TestAJumpOfTheWallClockMakesOneScan(t *testing.T) {
	for _, jump := range []time.Duration{24 * time.Hour, -24 * time.Hour, time.Second} {
		bubble.Test(t, func(t *testing.T) {
			d := disk{t, t.TempDir()}
			d.write("a.md", "text")
			var offset atomic.Int64
			f := follow(t, d.dir, Options{Poll: never}, blind, func(w *Watcher) {
				w.wall = func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
			})
			synctest.Wait()
			before := f.Status().LastScan
			offset.Store(int64(jump))
			f.pass(time.Hour)
			scanned := f.Status().LastScan.Add(-jump).Sub(before)
			if jumped := jump.Abs() > sleepJump; jumped != (scanned > 0 && scanned <= pulse) {
				t.Errorf("after a jump of %v the last scan is %v later", jump, scanned)
			}
			f.stop()
		})
	}
}

func TestABatchThatFailsIsRepeated(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d := disk{t, t.TempDir()}
		for _, p := range []string{"a.md", "b.md"} {
			d.write(p, "text")
		}
		w, err := New(d.dir, nil)
		d.ok(err)
		blind(w)
		broken := errors.New("the index is broken")
		fail := func(context.Context, Batch) error { return broken }
		if err := w.Run(t.Context(), fail); !errors.Is(err, broken) {
			t.Errorf("Run returned %v, want the error of deliver", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var got Batch
		err = w.Run(ctx, func(_ context.Context, b Batch) error {
			got = b
			cancel()
			return nil
		})
		if err != nil || len(got.Changed) != 2 || !got.Full {
			t.Errorf("the next Run delivered %+v and returned %v, want both files again", got, err)
		}
	})
}

func TestOneRunAtATime(t *testing.T) {
	inBubble(t, 0, Options{}, func(t *testing.T, d disk, f *follower) {
		if err := f.Run(t.Context(), nil); err == nil {
			t.Error("a second Run began beside the first")
		}
	})
}

func TestWhatIsKnownIsNotToldAgain(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d := disk{t, t.TempDir()}
		for _, p := range []string{"same.md", "edited.md", "deleted.md", "old/moved.md", "now/ignored.md"} {
			d.note(p, "text of "+p)
		}
		known := walk(t, d.dir)
		d.write("edited.md", "new text")
		d.remove("deleted.md")
		d.rename("old/moved.md", "moved.md")
		opt := Options{Poll: never, Ignore: []string{"now/"}, Known: func(yield func(File) bool) {
			for _, f := range known {
				if !yield(f) {
					return
				}
			}
		}}
		f := prepare(t, d.dir, opt, blind)
		f.told = known
		f.start()
		f.pass(defaultGrace)
		first := f.batches[0]
		if got := pathsOf(first.Changed); !slices.Equal(got, []string{"edited.md", "moved.md"}) {
			t.Errorf("the first batch changed %v, want edited.md and moved.md", got)
		}
		if want := []string{"now/ignored.md", "old/moved.md"}; !slices.Equal(first.Gone, want) {
			t.Errorf("the first batch has %v gone, want %v", first.Gone, want)
		}
		if want := []Move{{"old/moved.md", "moved.md"}}; !slices.Equal(first.Moved, want) {
			t.Errorf("the first batch moved %v, want %v", first.Moved, want)
		}
		if got := f.gone(); !slices.Contains(got, "deleted.md") {
			t.Errorf("gone after the grace: %v, want deleted.md too", got)
		}
		f.stop()
	})
}

func pathsOf(files []File) []string {
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	return paths
}

func TestAnEvictedNoteIsThere(t *testing.T) {
	inBubble(t, 1, Options{Poll: never}, func(t *testing.T, d disk, f *follower) {
		d.rename("0.md", ".0.md.icloud")
		for _, p := range []string{"0.md", "."} {
			f.event(p)
			if s := f.Status(); s.Pending > 0 {
				t.Errorf("after an event for %s an evicted note is missing", p)
			}
		}
		d.remove(".0.md.icloud")
		f.event(".")
		f.pass(time.Hour)
		if got := f.gone(); !slices.Equal(got, []string{"0.md"}) {
			t.Errorf("its stub deleted, %v are gone, want the note", got)
		}
	})
}

func TestNotesBeyondTheBoundAreLeftOut(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d := disk{t, t.TempDir()}
		for i := range 12 {
			d.write(fmt.Sprintf("%02d.md", i), "text")
		}
		f := follow(t, d.dir, Options{Poll: never}, blind, func(w *Watcher) { w.maxFiles = 10 })
		synctest.Wait()
		if s := f.Status(); s.Files != 10 || s.LeftOut != 2 {
			t.Errorf("status %+v, want 10 files and 2 left out", s)
		}
		d.remove("00.md")
		f.event("00.md")
		f.pass(defaultGrace)
		f.event(".")
		if s := f.Status(); s.Files != 10 || s.LeftOut != 1 {
			t.Errorf("with room for one, status %+v, want 10 files and 1 left out", s)
		}
		f.stop()
	})
}

// Without any event the pulse notices that the root is not what it was.
func TestThePulseMissesTheRoot(t *testing.T) {
	inBubble(t, 9, Options{Poll: never}, func(t *testing.T, d disk, f *follower) {
		f.pass(10 * pulse)
		before := f.Status().LastScan
		d.ok(os.Rename(d.dir, d.dir+".away"))
		d.ok(os.Mkdir(d.dir, 0o700))
		f.pass(pulse)
		f.frozen()
		if !f.Status().LastScan.Equal(before) {
			t.Error("another folder was scanned in the root's place")
		}
	})
}
