package vault_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"emberd/vault"
)

// revisions returns changes of these notes, which have the text before.
func revisions(paths ...string) (all []vault.Revision) {
	for _, path := range paths {
		all = append(all, vault.Revision{path, []byte(before), []byte(stamped("1", before))})
	}
	return all
}

// Many notes are written as one by one: what changed, is busy or cannot be written stays, and the others get their
// new texts and keep the old ones among the backups.
func TestManyNotesAreRevisedAtOnce(t *testing.T) {
	all := files{"A/changed.md": newer, "A/copied.md": before, "A/copied.sync-conflict-20260102-030405-ABCDEFG.md": before, "A/same.md": stamped("1", before)}
	var paths []string
	for i := range 40 {
		paths = append(paths, fmt.Sprintf("B/Deep/%d.md", i))
		all[paths[i]] = before
	}
	for mode, step := range map[string]func(op, name string) error{"exchange": noExchange(), "fallback": noExchange("exchange"), "another disk": noExchange("export")} {
		t.Run(mode, func(t *testing.T) {
			d := newDesk(t, all)
			d.step = step
			paths := append([]string{"A/changed.md", "A/copied.md", "A/gone.md"}, paths...)
			got, err := vault.Reviser{d.writer}.ReviseAll(t.Context(), revisions(paths...))
			wantOutcome(t, got[0], err, vault.Conflict, vault.HumanChanged)
			wantOutcome(t, got[1], err, vault.Later, vault.ConflictCopy)
			wantOutcome(t, got[2], err, vault.Refused, vault.Gone)
			for i, path := range paths[3:] {
				if wantOutcome(t, got[3+i], err, vault.Written, ""); d.read(t, path) != stamped("1", before) {
					t.Errorf("%s is %q", path, d.read(t, path))
				}
			}
			d.finish(t)
			if kept := d.kept(t); len(kept) != 40 || slices.ContainsFunc(kept, func(s string) bool { return s != before }) {
				t.Errorf("the backups are %q", kept)
			}
			if d.read(t, "A/changed.md") != newer || d.read(t, "A/copied.md") != before {
				t.Error("a note that was to stay changed")
			}
		})
	}
}

// A note that is written again at once is expected to have its newest bytes, and a late save to the first is put back.
func TestALateSaveAfterManyWereRevised(t *testing.T) {
	d := newDesk(t, files{"a.md": before, "b.md": before})
	f, err := os.OpenFile(filepath.Join(d.dir, "a.md"), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	all := revisions("a.md", "b.md")
	for range 2 {
		got, err := vault.Reviser{d.writer}.ReviseAll(t.Context(), all)
		wantOutcome(t, got[0], err, vault.Written, "")
		wantOutcome(t, got[1], err, vault.Written, "")
		for i := range all {
			all[i].Before, all[i].After = all[i].After, []byte(stamped("2", before))
		}
	}
	_, err = f.WriteString("late\n")
	must(t, errors.Join(err, f.Close()))
	d.reopen(t)
	d.finish(t)
	if a, b := d.read(t, "a.md"), d.read(t, "b.md"); a != before+"late\n" || b != stamped("2", before) {
		t.Errorf("the notes are %q and %q", a, b)
	}
}

// A user who saves one of many notes at any step of their writing has the text at the note's name or among the
// backups, and the other note is whole.
func TestASaveAtEachStepOfManyWrites(t *testing.T) {
	for mode, step := range map[string]func(op, name string) error{"exchange": noExchange(), "fallback": noExchange("exchange"), "another disk": noExchange("export")} {
		t.Run(mode, func(t *testing.T) {
			for at := int32(1); ; at++ {
				d := newDesk(t, files{"a.md": before, "b.md": before})
				var steps atomic.Int32
				d.step = func(op, name string) error {
					if steps.Add(1) == at {
						must(t, os.WriteFile(filepath.Join(d.dir, "new.tmp"), []byte(newer), 0o600))
						must(t, os.Rename(filepath.Join(d.dir, "new.tmp"), filepath.Join(d.dir, "b.md")))
					}
					return step(op, name)
				}
				got, err := vault.Reviser{d.writer}.ReviseAll(t.Context(), revisions("a.md", "b.md"))
				wantOutcome(t, got[0], err, vault.Written, "")
				over := steps.Load() < at
				d.step = step
				d.finish(t)
				if note := d.read(t, "b.md"); !over && note != newer {
					t.Errorf("saved at step %d: the note is %q, the outcome %+v", at, note, got[1])
				}
				if note := d.read(t, "a.md"); note != stamped("1", before) {
					t.Errorf("saved at step %d: the other note is %q", at, note)
				}
				if over {
					return
				}
			}
		})
	}
}

// The process ends before each of its changes on the real disk: each note is as before or as after, and what it
// said before is kept.
func TestManyWritesStoppedOnTheRealDisk(t *testing.T) {
	for mode, step := range map[string]func(op, name string) error{"exchange": noExchange(), "fallback": noExchange("exchange"), "another disk": noExchange("export")} {
		t.Run(mode, func(t *testing.T) {
			killed := errors.New("killed")
			for stop := int32(0); ; stop++ {
				d := newDesk(t, files{"a.md": before, "b.md": before})
				var steps atomic.Int32
				d.step = func(op, name string) error {
					if steps.Add(1) > stop {
						return killed
					}
					return step(op, name)
				}
				_, err := vault.Reviser{d.writer}.ReviseAll(t.Context(), revisions("a.md", "b.md"))
				over := steps.Load() <= stop
				d.step = step
				d.reopen(t)
				d.finish(t)
				for _, name := range []string{"a.md", "b.md"} {
					note := d.read(t, name)
					if note != before && (note != stamped("1", before) || !slices.Contains(d.kept(t), before)) || over && note == before {
						t.Errorf("stopped before change %d: %s is %q, the backups are %q, %v", stop, name, note, d.kept(t), err)
					}
				}
				if over {
					return
				}
			}
		})
	}
}

// What cannot be written of many leaves nothing, and does not keep the others from being written.
func TestOneOfManyRevisionsFails(t *testing.T) {
	for op, cause := range map[string]error{"write": syscall.ENOSPC, "sync": syscall.EIO} {
		t.Run(op, func(t *testing.T) {
			d := newDesk(t, files{"a.md": before, "b.md": before, "c.md": before})
			var failed atomic.Bool
			d.step = func(now, name string) error {
				if now == op && strings.HasPrefix(name, vault.TempPrefix) && !failed.Swap(true) {
					return cause
				}
				return nil
			}
			got, err := vault.Reviser{d.writer}.ReviseAll(t.Context(), revisions("a.md", "b.md", "c.md"))
			written := slices.DeleteFunc(got, func(r vault.Result) bool { return r.Outcome != vault.Written })
			if !errors.Is(err, cause) || len(written) != 2 {
				t.Errorf("written are %d of 3, %v", len(written), err)
			}
			d.finish(t)
		})
	}
}
