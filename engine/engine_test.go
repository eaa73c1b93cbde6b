package engine_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// clock is a time that only tests move.
type clock struct{ ms atomic.Int64 }

func newClock() *clock {
	c := new(clock)
	c.ms.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMilli())
	return c
}

func (c *clock) Now() time.Time          { return time.UnixMilli(c.ms.Load()).UTC() }
func (c *clock) advance(d time.Duration) { c.ms.Add(d.Milliseconds()) }
func (c *clock) daysAgo(n float64) time.Time {
	return c.Now().Add(-time.Duration(n * 24 * float64(time.Hour)))
}

// house is a folder in which engines can be opened one after another.
type house struct {
	core.Options
	*clock
	log *bytes.Buffer
}

func newHouse(t testing.TB) *house {
	h := &house{Options: core.DefaultOptions(), clock: newClock(), log: new(bytes.Buffer)}
	dir := t.TempDir()
	h.Data, h.State = filepath.Join(dir, "data"), filepath.Join(dir, "state")
	h.Options.Now = h.clock.Now
	h.Logger = slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h.Durability = stm.None
	h.VaultIndex, h.VaultCore, h.ReviewInbox = "", "", "" // tests of lists turn them on
	h.Enrich = false                                      // what is saved is what is stored; tests of enrichment turn it on
	return h
}

// unasked keeps the agents of an engine that runs from what no test asks for: a clock that
// a test moves makes them due, and they run a second later, in the midst of what comes next
// in the test if the machine is busy.
func (h *house) unasked() { h.Agents.Interval = 0 }

func (h *house) open(t testing.TB) *engine.Engine {
	t.Helper()
	e, err := engine.Open(h.Options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// newEngine is an engine in a house of its own.
func newEngine(t testing.TB) (*engine.Engine, *clock) {
	t.Helper()
	h := newHouse(t)
	return h.open(t), h.clock
}

// do carries out an operation that has to succeed.
func do[Req, Res any](t testing.TB, e *engine.Engine, o op.Op[Req, Res], req *Req) *Res {
	t.Helper()
	res, err := o.Call(context.Background(), e, req)
	if err != nil {
		t.Fatalf("%s: %v", o.Name, err)
	}
	return res
}

// refused carries out an operation that has to fail, and returns how.
func refused[Req, Res any](t testing.TB, e *engine.Engine, o op.Op[Req, Res], req *Req) *memory.Error {
	t.Helper()
	_, err := o.Call(context.Background(), e, req)
	if err == nil {
		t.Fatalf("%s succeeded", o.Name)
	}
	typed, ok := errors.AsType[*memory.Error](err)
	if !ok {
		t.Fatalf("%s failed with %T %v, want a *memory.Error", o.Name, err, err)
	}
	return typed
}

func wantCode(t testing.TB, err error, code memory.Code, says string) {
	t.Helper()
	if memory.CodeOf(err) != code || !strings.Contains(err.Error(), says) {
		t.Errorf("got %s %q, want %s saying %q", memory.CodeOf(err), err, code, says)
	}
}

func save(t testing.TB, e *engine.Engine, content string, tags ...string) op.Memory {
	t.Helper()
	return do(t, e, op.Save, &op.SaveRequest{Content: content, Tags: tags}).Memory
}

func searchFor(t testing.TB, e *engine.Engine, query string) []op.Hit {
	t.Helper()
	return do(t, e, op.Search, &op.SearchRequest{Query: query}).Hits
}

// look shows a memory without counting it as a use.
func look(t testing.TB, e *engine.Engine, id memory.ID) op.Memory {
	t.Helper()
	return do(t, e, op.Show, &op.ShowRequest{ID: string(id), Track: new(false)}).Memory
}

func contents(memories []op.Memory) []string {
	var out []string
	for _, m := range memories {
		out = append(out, m.Content)
	}
	return out
}

func hitContents(hits []op.Hit) []string {
	var out []string
	for _, h := range hits {
		out = append(out, h.Content)
	}
	return out
}

func TestEveryOperationHasAHandler(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	for _, s := range op.Table() {
		if e.Handlers()[s.Name] == nil {
			t.Errorf("operation %s has no handler", s.Name)
		}
	}
	if got, want := len(e.Handlers()), len(op.Table()); got != want {
		t.Errorf("%d handlers for %d operations", got, want)
	}
}

func TestUnknownOperationAndWrongRequest(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	_, err := e.Invoke(t.Context(), &op.Spec{Name: "dream"}, nil)
	wantCode(t, err, memory.Incompatible, `this version of emberd does not support operation`)
	_, err = e.Invoke(t.Context(), op.Save.Spec, new(op.EditRequest))
	wantCode(t, err, memory.Internal, "save")
}

func TestASecondDaemonIsKeptOut(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	_, err := engine.Open(h.Options)
	wantCode(t, err, memory.Unavailable, "stop that daemon, or use a different state folder")
	wantCode(t, err, memory.Unavailable, "(process ")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	h.open(t)
}

func TestAfterCloseNothingIsAccepted(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	for range 2 {
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	err := refused(t, e, op.Save, &op.SaveRequest{Content: "too late"})
	wantCode(t, err, memory.Unavailable, "is stopping")
	if err := e.Run(t.Context()); err == nil {
		t.Error("Run of a closed engine returned nil")
	}
}

func TestOptionsOutOfBounds(t *testing.T) {
	t.Parallel()
	for says, change := range map[string]func(*core.Options){
		"missing data folder or state folder; set both folders":   func(o *core.Options) { o.Data = "" },
		"age exponent 1.5 is out of range (0 to 1)":               func(o *core.Options) { o.AgeExponent = 1.5 },
		"short-term weight 3 is out of range (0 to 2)":            func(o *core.Options) { o.STMWeight = 3 },
		"search limit 0 is out of range (1 to 100)":               func(o *core.Options) { o.SearchLimit = 0 },
		"preview length 5001 is out of range (0 to 5000)":         func(o *core.Options) { o.PreviewLength = 5001 },
		"trash.keep in hours 0 is out of range (1 to 2147483647)": func(o *core.Options) { o.TrashKeep = 0 },
		"invalid decay model":                                     func(o *core.Options) { o.Decay.Model = "linear" },
	} {
		h := newHouse(t)
		change(&h.Options)
		_, err := engine.Open(h.Options)
		wantCode(t, err, memory.Invalid, says)
	}
}

func TestARestartKeepsEverything(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first := h.open(t)
	kept := save(t, first, "the harbour lights are green", "harbour/lights")
	gone := save(t, first, "the tide turns at six")
	do(t, first, op.Edit, &op.EditRequest{ID: string(kept.ID), Source: new("the pilot")})
	do(t, first, op.Forget, &op.ForgetRequest{ID: string(gone.ID)})
	do(t, first, op.Touch, &op.TouchRequest{ID: string(kept.ID)})
	searchFor(t, first, "harbour")
	before := look(t, first, kept.ID)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}

	second := h.open(t)
	if got := look(t, second, kept.ID); got.Rev != before.Rev || got.Source != "the pilot" || got.UseCount != 1 || got.AccessCount != 1 {
		t.Errorf("after the restart: %+v, want %+v", got, before)
	}
	if got := searchFor(t, second, "harbour"); len(got) != 1 {
		t.Errorf("found %d, want the one kept", len(got))
	}
	trash := do(t, second, op.TrashList, &op.TrashListRequest{})
	if trash.Total != 1 || trash.Items[0].Memory.Content != gone.Content {
		t.Errorf("the trash holds %+v, want the forgotten one", trash)
	}
	do(t, second, op.Undo, &op.UndoRequest{})
	look(t, second, gone.ID)
}
