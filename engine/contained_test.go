package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"emberd/engine"
	"emberd/engine/notes"
	"emberd/memory"
	"emberd/op"
)

// faultyFollower panics at notes of the title "poison", as a reader would that has a fault.
type faultyFollower struct {
	notes.Follower
	met atomic.Int64
}

func (f *faultyFollower) Read(read []notes.Reading, gone []string) {
	for _, r := range read {
		if r.Note != nil && r.Note.Title == "poison" {
			f.met.Add(1)
			panic("a fault at " + r.Note.Title)
		}
	}
	f.Follower.Read(read, gone)
}

// faulty runs an engine whose follower panics at some notes.
func (h *house) faulty(t *testing.T) (*engine.Engine, *faultyFollower) {
	t.Helper()
	h.unasked()
	e := h.open(t)
	f := &faultyFollower{Follower: e.Notes.Vault.Follower}
	e.Notes.Vault.Follower = f
	t.Cleanup(inTheBackground(t, e))
	until(t, "the vault is read", func() bool { return e.Notes.Vault.Complete.Load() })
	return e, f
}

var faultID = regexp.MustCompile(`fault ([0-9a-f]{8})`)

// refusedNote wants one warning, about the note, and returns the fault that it names.
func refusedNote(t *testing.T, e *engine.Engine, path string) string {
	t.Helper()
	for _, w := range status(t, e).Warnings {
		if id := faultID.FindStringSubmatch(w); id != nil && strings.Contains(w, path) {
			return id[1]
		}
	}
	t.Errorf("no warning names %s and its fault: %q", path, status(t, e).Warnings)
	return ""
}

// A note that makes the reader panic is refused alone: it is named with the fault that the log
// has, all others are searchable, it is tried twice, not again after a restart, and read when it
// changes.
func TestAPanicRefusesOneNote(t *testing.T) {
	h := vaultHouse(t, map[string]string{"A.md": "apples", "Bad.md": "---\ntitle: poison\n---\npears", "C.md": "cherries"})
	e, f := h.faulty(t)
	wantNames(t, e, "apples", "A.md")
	wantNames(t, e, "cherries", "C.md")
	wantNames(t, e, "pears")
	if id := refusedNote(t, e, "Bad.md"); !strings.Contains(h.log.String(), "fault="+id) || !strings.Contains(h.log.String(), "contained_test.go") {
		t.Errorf("the log has no stack for fault %s", id)
	}

	h.write(t, "D.md", "dates")
	until(t, "the second note is read", func() bool { return len(searchFor(t, e, "dates")) == 1 })
	until(t, "it was tried twice", func() bool {
		return slices.ContainsFunc(status(t, e).Warnings, func(w string) bool { return strings.Contains(w, "when the note changes") })
	})
	met := f.met.Load()
	h.write(t, "E.md", "elderberries")
	until(t, "the third note is read", func() bool { return len(searchFor(t, e, "elderberries")) == 1 })
	if again := f.met.Load() - met; again != 0 {
		t.Errorf("it was tried %d times more", again)
	}
	check := do(t, e, op.VaultCheck, &op.VaultCheckRequest{})
	if !slices.ContainsFunc(check.Findings, func(f op.Finding) bool { return f.Path == "Bad.md" && strings.Contains(f.Text, "fault") }) {
		t.Errorf("vault check does not name it: %+v", check.Findings)
	}
	ok(t, e.Close())

	again, f := h.faulty(t)
	if n := f.met.Load(); n != 0 {
		t.Errorf("after a restart it was tried %d times", n)
	}
	refusedNote(t, again, "Bad.md")
	h.write(t, "Bad.md", "pears without the fault")
	until(t, "the note that changed is read", func() bool { return len(searchFor(t, again, "pears")) == 1 })
	until(t, "it is not named any more", func() bool {
		return !slices.ContainsFunc(status(t, again).Warnings, func(w string) bool { return strings.Contains(w, "Bad.md") })
	})
}

// A panic in an operation is the answer to that operation. The memory that it had locked can be
// changed by the next.
func TestAPanicRefusesOneOperation(t *testing.T) {
	h := newHouse(t)
	var armed atomic.Bool
	now := h.Options.Now
	h.Options.Now = func() time.Time {
		if armed.Swap(false) {
			panic("a fault of the clock")
		}
		return now()
	}
	e := h.open(t)
	id := save(t, e, "the port is 5432").ID
	armed.Store(true)
	text := "the port is 5433"
	err := refused(t, e, op.Edit, &op.EditRequest{ID: string(id), Content: &text})
	wantCode(t, err, memory.Internal, "; check before you repeat the operation")
	if found := faultID.FindStringSubmatch(err.Error()); found == nil || !strings.Contains(h.log.String(), "fault="+found[1]) {
		t.Errorf("the error %q and the log do not name one fault", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := op.Edit.Call(ctx, e, &op.EditRequest{ID: string(id), Content: &text}); err != nil {
		t.Errorf("after the panic: %v", err)
	}
}

// A panic of background work is told in status and ends neither the work nor the engine.
func TestBackgroundWorkGoesOnAfterAPanic(t *testing.T) {
	h := vaultHouse(t, garden())
	h.unasked()
	e := h.open(t)
	f := &panicsOnce{Follower: e.Notes.Vault.Follower}
	e.Notes.Vault.Follower = f
	t.Cleanup(inTheBackground(t, e))
	until(t, "the fault is told", func() bool {
		return strings.Contains(fmt.Sprint(status(t, e).Warnings), "search the daemon log for fault")
	})
	until(t, "the first batch ends after all", func() bool { return f.ended.Load() })
	wantNames(t, e, "compost", "Garden/Soil.md")
}

// panicsOnce panics at the beginning of the first batch, outside of any note.
type panicsOnce struct {
	notes.Follower
	panicked, ended atomic.Bool
}

func (f *panicsOnce) End(first bool) {
	if !f.panicked.Swap(true) {
		panic("a fault of the follower")
	}
	f.Follower.End(first)
	f.ended.Store(first)
}

// A panic while the edit of one note is applied to its memory leaves that edit for later, and
// the edits of the other notes are applied.
func TestAPanicAtOneEditLeavesTheOthers(t *testing.T) {
	h := vaultHouse(t, nil)
	var armed atomic.Bool
	now := h.Options.Now
	h.Options.Now = func() time.Time {
		if bytes.Contains(debug.Stack(), []byte("applyChange(")) && armed.Swap(false) {
			panic("a fault of the clock")
		}
		return now()
	}
	d := &desk{house: h, t: t}
	d.start()
	one, other := d.kept("apples", "One.md"), d.kept("pears", "Other.md")
	d.write(t, "One.md", noteFor(one, "apples are red"))
	d.write(t, "Other.md", noteFor(other, "pears are green"))
	d.batch([]string{"One.md", "Other.md"}, nil)
	applied := func() (n int) {
		for id, want := range map[memory.ID]string{one: "apples are red", other: "pears are green"} {
			if look(t, d.Engine, id).Content == want {
				n++
			}
		}
		return n
	}
	armed.Store(true)
	d.settle()
	if n := applied(); n != 1 || armed.Load() {
		t.Errorf("%d edits are applied, want 1 (panicked: %v)", n, !armed.Load())
	}
	if got := fmt.Sprint(status(t, d.Engine).Warnings); !strings.Contains(got, "search the daemon log for fault") {
		t.Errorf("the warnings do not name the fault: %s", got)
	}
	d.settle()
	if n := applied(); n != 2 {
		t.Errorf("%d edits are applied in the end, want 2", n)
	}
}
