package vault_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"emberd/internal/testutil/crashdisk"
	"emberd/vault"
)

// careless is a vault on a disk in memory with one note, in which a user saves
// without a sync at the moment of the exchange.
type careless struct {
	*scene
	exchanged int // operations of the disk when names had changed
}

// writing is a writer whose exchange comes right after a careless save of text, or
// fails.
func (c *careless) writing(t *testing.T, text string, fails error) *vault.Writer {
	t.Helper()
	disk := onMemory(c.disk)
	w, err := vault.OpenWriterOn(c.vault, stepped{disk, func(op, name string) error {
		if op != "exchange" || name != "a.md" || c.exchanged > 0 {
			return nil
		}
		if text != "" {
			must(t, saveOn(c.disk, "a.md", text, false))
		}
		c.exchanged = c.disk.Ops() + 1
		return fails
	}}, disk, "/state", c.clock.Now)
	must(t, err)
	return w
}

func carelessly(t *testing.T) *careless {
	t.Helper()
	s := &story{name: "careless", note: []string{before}}
	return &careless{scene: s.begin(t, openVault(t, t.TempDir(), nil))}
}

// lucks are what power cuts may leave.
func lucks(disk *crashdisk.Disk) (left []*crashdisk.Disk) {
	left = append(left, disk.Crash(nil))
	for seed := range uint64(100) {
		left = append(left, disk.Crash(rand.New(rand.NewPCG(seed, 1))))
	}
	return left
}

// ways are the two ways to write a.md.
var ways = map[string]func(t *testing.T, w *vault.Writer) (vault.Result, error){
	"alone": func(t *testing.T, w *vault.Writer) (vault.Result, error) {
		return w.Update(t.Context(), "a.md", stamp("1"))
	},
	"as one of many": func(t *testing.T, w *vault.Writer) (vault.Result, error) {
		out, err := vault.Reviser{w}.ReviseAll(t.Context(), revisions("a.md"))
		return out[0], err
	},
}

// A backup holds what the note held even if that was saved once more, the same and
// without a sync, before it was displaced.
func TestABackupIsOnTheDisk(t *testing.T) {
	for name, write := range ways {
		t.Run(name, func(t *testing.T) {
			c := carelessly(t)
			res, err := write(t, c.writing(t, before, nil))
			wantOutcome(t, res, err, vault.Written, "")
			for _, disk := range lucks(c.disk) {
				after := *c.scene
				after.disk = disk
				if got := after.text(res.Backup); got != before {
					t.Fatalf("the backup %s holds %q after a power cut", res.Backup, got)
				}
			}
		})
	}
}

// What a power cut left of a careless save does not take the place of a whole text.
func TestATornTextDoesNotGetTheNameBack(t *testing.T) {
	dry := carelessly(t)
	res, err := dry.writing(t, newer, nil).Update(t.Context(), "a.md", stamp("1"))
	wantOutcome(t, res, err, vault.Conflict, vault.HumanChanged)
	kept := 0
	for range 3 {
		c := carelessly(t)
		c.disk.StopAfter(dry.exchanged)
		if _, err := c.writing(t, newer, nil).Update(t.Context(), "a.md", stamp("1")); !errors.Is(err, crashdisk.ErrPowerOff) {
			t.Fatalf("the power did not go: %v", err)
		}
		for _, disk := range lucks(c.disk) {
			after := *c.scene
			after.disk = disk
			if after.text("a.md") != stamped("1", before) {
				continue // the exchange did not last
			}
			kept++
			w, err := after.writer(t)
			must(t, err)
			if got := after.finish(t, w); vault.Torn([]byte(got)) {
				t.Fatalf("the note is %q", got)
			}
		}
	}
	if kept < 10 {
		t.Errorf("the exchange lasted %d times only", kept)
	}
}

// A write that was given up leaves nothing, whatever the power cut after it keeps.
func TestWhatIsDiscardedStaysGone(t *testing.T) {
	c := carelessly(t)
	if _, err := c.writing(t, "", syscall.EIO).Update(t.Context(), "a.md", stamp("1")); !errors.Is(err, syscall.EIO) {
		t.Fatalf("update: %v", err)
	}
	for _, disk := range lucks(c.disk) {
		after := *c.scene
		after.disk = disk
		w, err := after.writer(t)
		must(t, err)
		if got := after.finish(t, w); got != before {
			t.Fatalf("the note is %q", got)
		}
	}
}

// A note that was saved without a sync is whole once it was displaced: else what a
// power cut leaves of it would be taken for a newer text.
func TestAFreshNoteIsSyncedBeforeItIsDisplaced(t *testing.T) {
	for name, write := range ways {
		t.Run(name, func(t *testing.T) {
			s := &story{name: "fresh", fresh: true}
			v := openVault(t, t.TempDir(), nil)
			for after := 0; s.freshIsWhole(t, v, write, after); after++ {
			}
		})
	}
}

// freshIsWhole cuts the power after some operations of a write, and reports whether it was not over.
func (s *story) freshIsWhole(t *testing.T, v *vault.Vault, write func(t *testing.T, w *vault.Writer) (vault.Result, error), after int) bool {
	t.Helper()
	whole := []string{before, stamped("1", before)}
	c := s.begin(t, v)
	w, err := c.writer(t)
	must(t, err)
	c.disk.StopAfter(c.disk.Ops() + after)
	_, err = write(t, w)
	for _, disk := range lucks(c.disk) {
		next := *c
		next.disk = disk
		if !slices.Contains(whole, next.text("a.md")) {
			continue // it was torn before anything was done to it
		}
		w, err := next.writer(t)
		must(t, err)
		if got := next.finish(t, w); !slices.Contains(whole, got) {
			t.Fatalf("power cut after %d operations: the note was whole and is %q", after, got)
		}
	}
	return err != nil
}
