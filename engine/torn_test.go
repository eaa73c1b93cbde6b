package engine_test

import (
	"context"
	"testing"
	"time"

	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/vault/neutralize"
)

// couple is a pair of devices with one vault, each with a log of its own that the other
// gets when it is carried there.
type couple struct{ one, two *desk }

func newCouple(t *testing.T) couple {
	one := shelf(t, nil)
	two := &desk{house: newHouse(t), t: t}
	two.Vaults = one.Vaults
	two.ms.Store(one.ms.Load())
	two.start()
	return couple{one, two}
}

// meet carries both logs both ways and has each device take in what came.
func (c couple) meet() {
	c.one.t.Helper()
	carry(c.one.t, c.one.house, c.two.house, status(c.one.t, c.one.Engine).Device)
	carry(c.one.t, c.two.house, c.one.house, status(c.one.t, c.two.Engine).Device)
	for _, d := range []*desk{c.one, c.two} {
		d.Admin.Refresh(context.Background())
	}
}

// wantSame checks that both devices have the memory alike and whole: cold with a note
// that has its text, or warm with the text.
func (c couple) wantSame(id memory.ID, text string) {
	c.one.t.Helper()
	for range 3 { // what is put right on one is carried to the other
		c.meet()
	}
	for _, d := range []*desk{c.one, c.two} {
		m := d.memory(id)
		if m.Stage.Cold() {
			if m.TextDigest != rekindle.Digest(neutralize.Body(text)) || m.Content == text && !rekindle.Whole(text) {
				d.t.Errorf("the memory is cold and not that text: %+v", m.Memory)
			}
			continue
		}
		d.wantWarm(id, m.Stage, text)
	}
	if a, b := c.one.memory(id), c.two.memory(id); a.Rev != b.Rev {
		c.one.t.Errorf("they differ: %+v and %+v", a.Memory, b.Memory)
	}
	if res := c.two.rekindled(id); res.Memory.Content != text {
		c.one.t.Errorf("the text came back as %q, want %q", res.Memory.Content, text)
	}
}

func TestTwoDevicesFadeAndUseOneMemory(t *testing.T) {
	t.Parallel()
	text, other := longText(1), longText(2)+"\n"
	t.Run("long", func(t *testing.T) { fadeAndUse(t, text, other, "") })
	t.Run("short", func(t *testing.T) {
		fadeAndUse(t, "the tide turns at nine", "the tide turns at ten", "edited, then archived here")
	})
	t.Run("in white space", func(t *testing.T) { fadeAndUse(t, "\n\n"+text+"\n", longText(2), "both archived, one edited") })
}

// fadeAndUse has two devices change a memory with a text, which an edit makes another: in
// every way, or the one that is named.
func fadeAndUse(t *testing.T, text, other, only string) {
	archive := func(d *desk, id memory.ID) { d.archived(id) }
	edit := func(d *desk, id memory.ID) {
		do(d.t, d.Engine, op.Edit, &op.EditRequest{ID: string(id), Content: new(other)})
	}
	shift := func(to memory.Stage) func(*desk, memory.ID) {
		return func(d *desk, id memory.ID) {
			r := lifecycle.LifecycleRun{E: d.Engine.Lifecycle, By: keeper(), Now: d.clock.Now()}
			ok(d.t, r.SetStage(d.t.Context(), core.DemoteVerb, d.to(to, id)))
		}
	}
	rekindle := func(d *desk, id memory.ID) { d.rekindled(id) }
	fade := func(d *desk, id memory.ID) {
		_, err := d.Engine.Lifecycle.Archive(d.t.Context(), d.to(memory.Rehydratable, id), "", keeper(), "")
		ok(d.t, err)
	}
	type step = func(*desk, memory.ID)
	for name, c := range map[string]struct {
		first, one, two step
		want            string
	}{
		"archived, then edited there":    {nil, archive, edit, other},
		"edited, then archived here":     {nil, edit, archive, other},
		"archived, then demoted there":   {nil, archive, shift(memory.Demoted), text},
		"demoted, then archived here":    {nil, shift(memory.Demoted), archive, text},
		"archived, then woken there":     {shift(memory.Demoted), archive, shift(memory.Active), text},
		"both archived":                  {nil, archive, archive, text},
		"both archived, one edited":      {nil, archive, func(d *desk, id memory.ID) { edit(d, id); archive(d, id) }, other},
		"rekindled, then faded there":    {archive, rekindle, fade, text},
		"faded, then rekindled there":    {archive, fade, rekindle, text},
		"both rekindled":                 {archive, rekindle, rekindle, text},
		"rekindled and edited, faded":    {archive, func(d *desk, id memory.ID) { rekindle(d, id); edit(d, id) }, fade, other},
		"archived, edited there and off": {nil, archive, func(d *desk, id memory.ID) { edit(d, id); shift(memory.Demoted)(d, id) }, other},
	} {
		if only != "" && name != only {
			continue
		}
		t.Run(name, func(t *testing.T) {
			both := newCouple(t)
			id := save(t, both.one.Engine, text).ID
			if c.first != nil {
				c.first(both.one, id)
			}
			both.meet()
			both.two.batch(both.two.all(), nil)
			for _, d := range []*desk{both.one, both.two} {
				d.advance(time.Minute)
			}
			c.one(both.one, id)
			for _, d := range []*desk{both.one, both.two} {
				d.advance(time.Second)
			}
			c.two(both.two, id)
			both.two.batch(both.two.all(), nil)
			both.one.batch(both.one.all(), nil)
			both.wantSame(id, c.want)
		})
	}
}

// A memory that is torn, as long as nobody has put it right: what is left of its text takes
// the place of the text nowhere.
func TestATornMemoryKeepsItsText(t *testing.T) {
	t.Parallel()
	text := longText(1)
	for name, try := range map[string]func(*desk, memory.ID){
		"archived again": func(d *desk, id memory.ID) { d.skipped(id, "emberd rekindle") },
		"edited": func(d *desk, id memory.ID) {
			_, err := op.Edit.Call(d.t.Context(), d.Engine, &op.EditRequest{ID: string(id), Content: new("all of it")})
			if memory.CodeOf(err) != memory.Conflict {
				d.t.Errorf("the edit got %v", err)
			}
		},
		"promoted": func(d *desk, id memory.ID) {
			do(d.t, d.Engine, op.Promote, &op.PromoteRequest{ID: string(id), Force: true})
			d.rest(d.t, d.Engine)
		},
		"its note is saved": func(d *desk, id memory.ID) { d.batch(d.all(), nil); d.settle() },
		"rekindled":         func(d *desk, id memory.ID) { d.rekindled(id) },
	} {
		t.Run(name, func(t *testing.T) {
			d := shelf(t, nil)
			id := save(t, d.Engine, text).ID
			d.archived(id)
			d.rewrite(id, "demote", func(m *memory.Memory) { m.Stage = memory.Demoted })
			try(d, id)
			d.Engine.Lifecycle.RepairAll(t.Context())
			if m := d.memory(id); m.Stage.Cold() {
				d.wantCold(id, memory.Archived, text)
			}
			if d.rekindled(id); d.memory(id).Content != text {
				t.Errorf("the memory is %+v", d.memory(id).Memory)
			}
		})
	}
}
