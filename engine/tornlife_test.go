package engine_test

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/vault/neutralize"
)

// Whatever two devices do to one memory before they hear of each other: in the end both
// have it alike and whole, with a text that was written. It need not be the last: one that
// was edited on a device and archived there again loses to a rekindling elsewhere that knew
// of neither, and is in the history then.
func TestTwoDevicesAgreeOnATextInTheEnd(t *testing.T) {
	checks := flag.Lookup("rapid.checks")
	before := checks.Value.String()
	ok(t, checks.Value.Set(fmt.Sprint(size(12, 200))))
	defer func() { ok(t, checks.Value.Set(before)) }()
	rapid.Check(t, func(r *rapid.T) {
		both := newCouple(t)
		id, n := save(t, both.one.Engine, longText(0)).ID, 0
		both.meet()
		allowed := func(err error) {
			if code := memory.CodeOf(err); err != nil && code != memory.Conflict && code != memory.Busy {
				r.Fatal(err)
			}
		}
		both.meet()
		steps := map[string]func(*desk){
			"edit": func(d *desk) {
				n++
				_, err := op.Edit.Call(t.Context(), d.Engine, &op.EditRequest{ID: string(id), Content: new(longText(n))})
				allowed(err)
			},
			"archive": func(d *desk) {
				_, err := d.Engine.Lifecycle.Archive(t.Context(), d.to(memory.Archived, id), "", keeper(), "")
				allowed(err)
			},
			"fade": func(d *desk) {
				_, err := d.Engine.Lifecycle.Archive(t.Context(), d.to(memory.Rehydratable, id), "", keeper(), "")
				allowed(err)
			},
			"rekindle": func(d *desk) { _, err := d.Engine.Lifecycle.RekindleMemory(t.Context(), id, keeper()); allowed(err) },
			"demote":   func(d *desk) { d.shifted(id, memory.Active, memory.Demoted) },
			"wake":     func(d *desk) { d.shifted(id, memory.Demoted, memory.Active) },
			"meet":     func(*desk) { both.meet() },
		}
		var done []string
		names := []string{"edit", "archive", "fade", "rekindle", "demote", "wake", "meet"}
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			name := rapid.SampledFrom(names).Draw(r, "step")
			d := rapid.SampledFrom([]*desk{both.one, both.two}).Draw(r, "on")
			for _, d := range []*desk{both.one, both.two} {
				d.advance(time.Second)
			}
			steps[name](d)
			done = append(done, fmt.Sprint(name, " on ", slices.Index([]*desk{both.one, both.two}, d)))
			for _, d := range []*desk{both.one, both.two} {
				d.batch(d.all(), nil)
			}
		}
		for range 3 {
			both.meet()
		}
		if both.wantSame(id, both.one.writtenOf(id, n)); t.Failed() {
			r.Fatalf("after %q", done)
		}
	})
}

// writtenOf is the one of the texts up to n that a memory has, or that it has in its note.
func (d *desk) writtenOf(id memory.ID, n int) string {
	d.t.Helper()
	m := d.memory(id)
	for i := range n + 1 {
		if text := longText(i); m.Content == text || m.TextDigest == rekindle.Digest(neutralize.Body(text)) {
			return text
		}
	}
	d.t.Errorf("the memory has none of the texts that were written: %+v", m.Memory)
	return ""
}

// shifted changes the stage of a memory that has it as a run of the lifecycle does.
func (d *desk) shifted(id memory.ID, from, to memory.Stage) {
	d.t.Helper()
	if d.memory(id).Stage != from {
		return
	}
	r := lifecycle.LifecycleRun{E: d.Engine.Lifecycle, By: keeper(), Now: d.clock.Now()}
	ok(d.t, r.SetStage(d.t.Context(), core.DemoteVerb, d.to(to, id)))
}
