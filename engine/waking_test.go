package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/engine/search"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// sleeper is a desk with one archived memory and some warm ones about other things.
// Searches of it wait for texts as long as it takes.
func sleeper(t *testing.T) (*desk, memory.ID) {
	t.Helper()
	d := shelf(t, nil)
	d.Opt.Patience = time.Minute
	id := save(t, d.Engine, leaky).ID
	for i := range 5 {
		save(t, d.Engine, fmt.Sprintf("the tide table of day %d", i))
	}
	d.archived(id)
	return d, id
}

// awake brings memories back while searches go on, until the test ends.
func (d *desk) awake() {
	d.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var actor sync.WaitGroup
	actor.Go(func() { d.Engine.Lifecycle.RunRekindler(ctx) })
	d.t.Cleanup(func() { cancel(); actor.Wait() })
}

func (d *desk) untilWarm(id memory.ID) op.Memory {
	d.t.Helper()
	var m op.Memory
	until(d.t, "the memory is warm, and that it was used is counted", func() bool {
		m = d.memory(id)
		return m.Stage == memory.Active && m.UseCount > 0
	})
	return m
}

// wantAsleep says that nothing was or will be done about a cold memory.
func (d *desk) wantAsleep(id memory.ID, rev string) {
	d.t.Helper()
	if m := d.memory(id); m.Rev != rev || len(d.Notes.Wishes) != 0 {
		d.t.Errorf("the memory is %+v, and %d are asked for", m.Memory, len(d.Notes.Wishes))
	}
}

const meansIt = "kettle leaks seam"

func TestASearchBringsAMemoryBack(t *testing.T) {
	t.Parallel()
	d, id := sleeper(t)
	d.awake()
	cold := d.memory(id)
	res := do(t, d.Engine, op.Search, &op.SearchRequest{Query: meansIt, Explain: true})
	h := res.Hits[0]
	if h.Memory == nil || h.ID != id || h.Content != leaky || h.Stage != memory.Active || h.Rekindling || h.Rekindle != "" || h.Summary != "" || h.KeyTerms != nil {
		t.Fatalf("the answer is %+v", h)
	}
	if r := h.Rekindled; r == nil || *r != (op.Rekindled{Verdict: "unchanged", Path: cold.VaultPath}) {
		t.Errorf("its note was %+v", r)
	}
	if x := h.Explain; h.Rank != x.Relevance || h.Rank != search.Rank(*x) || h.Score < 1 || h.Status != "active" || h.UseCount != 1 {
		t.Errorf("it ranks %v with %+v, as %+v", h.Rank, x, h.Memory)
	}
	if !strings.Contains(h.Snippet.Text, "gasket") {
		t.Errorf("the snippet is %q", h.Snippet.Text)
	}
	warm := d.untilWarm(id)
	if warm.Content != leaky || warm.UseCount != 1 || warm.VaultPath != cold.VaultPath {
		t.Errorf("the memory is %+v", warm.Memory)
	}
	if v := d.newest(id); v.Verb != "rekindle" || v.By.Via != stm.Itself || v.By.Client != "search" {
		t.Errorf("the log says %+v", v)
	}
	if undone := do(t, d.Engine, op.Undo, &op.UndoRequest{DryRun: true}); undone.Entry.Verb != "save" {
		t.Errorf("undo would take back %+v, for which nobody asked", undone.Entry)
	}
	if again := searchFor(t, d.Engine, meansIt)[0]; again.Rekindled != nil || again.Content != leaky {
		t.Errorf("asked again: %+v", again)
	}
}

func TestWhatBecameOfTheNote(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(d *desk, path string)
		want   op.Rekindled
		text   string
	}{
		"edited": {func(d *desk, path string) {
			d.write(d.t, path, strings.ReplaceAll(d.note(d.t, path), "Leith", "Portobello"))
			d.batch([]string{path}, nil)
		}, op.Rekindled{Verdict: "edited", Edited: true}, "Portobello"},
		"moved": {func(d *desk, path string) { d.move(path, "Elsewhere.md") }, op.Rekindled{Verdict: "moved", Path: "Elsewhere.md"}, "Leith"},
		"gone":  {func(d *desk, path string) { d.remove(path) }, op.Rekindled{Verdict: "gone"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d, id := sleeper(t)
			path, summary := d.memory(id).VaultPath, d.memory(id).Content
			c.change(d, path)
			d.awake()
			if c.want.Path == "" && c.text != "" {
				c.want.Path = path
			}
			h := searchFor(t, d.Engine, meansIt)[0]
			if h.Rekindled == nil || *h.Rekindled != c.want || h.Rekindling {
				t.Fatalf("its note was %+v, want %+v", h.Rekindled, c.want)
			}
			if c.text == "" {
				if h.Content != summary || h.Stage != memory.Archived || h.Rank < 1 {
					t.Errorf("of a text that is gone the answer shows %+v", h)
				}
				return
			}
			if !strings.Contains(h.Content, c.text) || !strings.Contains(d.untilWarm(id).Content, c.text) {
				t.Errorf("the answer is %q, the memory %q, want them to say %s", h.Content, d.memory(id).Content, c.text)
			}
		})
	}
}

func TestATextThatComesTooLate(t *testing.T) {
	t.Parallel()
	d, id := sleeper(t)
	d.Opt.Patience = time.Nanosecond
	h := searchFor(t, d.Engine, meansIt)[0]
	if !h.Rekindling || h.Rekindled != nil || h.Stage != memory.Archived || h.Content != d.memory(id).Content {
		t.Fatalf("the answer is %+v", h)
	}
	d.awake()
	if got := d.untilWarm(id); got.Content != leaky {
		t.Errorf("the memory is %q", got.Content)
	}
}

func TestANoteThatCannotBeReadNow(t *testing.T) {
	t.Parallel()
	d, id := sleeper(t)
	before := d.memory(id)
	d.write(t, before.VaultPath, "---\ntags: [\n---\nIt may carry the id.\n")
	d.awake()
	if h := searchFor(t, d.Engine, meansIt)[0]; h.Rekindle != "offered" || h.Rekindling || h.Rekindled != nil || h.Content != before.Content {
		t.Errorf("the answer is %+v", h)
	}
	d.wantAsleep(id, before.Rev)
}

func TestSearchesThatBringNothingBack(t *testing.T) {
	t.Parallel()
	d, id := sleeper(t)
	rev := d.memory(id).Rev
	for name, req := range map[string]op.SearchRequest{
		"leaves no trace":      {Query: meansIt, Track: new(false)},
		"picks the stage":      {Query: meansIt, Filter: op.Filter{Stages: []memory.Stage{memory.Archived}}},
		"in the archive":       {Query: meansIt, Scope: "archive"},
		"for notes":            {Query: meansIt, Scope: "notes"},
		"another project":      {Query: meansIt, Filter: op.Filter{Project: "boat"}},
		"without words":        {},
		"one word of many":     {Query: "kettle on day 3 and day 4"},
		"the rest is unknown":  {Query: "kettle zanzibar quagga"},
		"misspelt":             {Query: "kettel laeks"},
		"the beginning of one": {Query: "kett"},
	} {
		for _, h := range do(t, d.Engine, op.Search, &req).Hits {
			if h.Rekindled != nil || h.Rekindling || h.Rekindle != "" {
				t.Errorf("%s: %+v", name, h)
			}
		}
		d.wantAsleep(id, rev)
	}
}

func TestAskAndOff(t *testing.T) {
	t.Parallel()
	d, id := sleeper(t)
	rev := d.memory(id).Rev
	for mode, want := range map[core.RekindleMode]string{core.RekindleAsk: "offered", core.RekindleOff: ""} {
		d.Opt.Rekindle = mode
		h := searchFor(t, d.Engine, meansIt)[0]
		if h.ID != id || h.Rekindle != want || h.Rekindled != nil || h.Rekindling || h.Stage != memory.Archived {
			t.Errorf("%s: %+v", mode, h)
		}
		d.wantAsleep(id, rev)
	}
}

func TestAVagueSearchMeansNone(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	var ids []memory.ID
	for i := range 12 {
		ids = append(ids, save(t, d.Engine, fmt.Sprintf("the tide turned at berth %d", i)).ID)
	}
	d.archived(ids...)
	if got := hitsAsked(searchFor(t, d.Engine, "tide turned berth")); got != 0 {
		t.Errorf("%d of twelve alike are asked for", got)
	}
	d.Opt.Patience = time.Nanosecond
	if got := hitsAsked(searchFor(t, d.Engine, "tide turned berth 7")); got != 1 {
		t.Errorf("%d are asked for, want the one that was named", got)
	}
}

func hitsAsked(hits []op.Hit) (n int) {
	for _, h := range hits {
		if h.Rekindling || h.Rekindled != nil || h.Rekindle != "" {
			n++
		}
	}
	return n
}

func TestManySearchesBringAMemoryBackOnce(t *testing.T) {
	t.Parallel()
	d, id := sleeper(t)
	before := d.lines(id)
	d.awake()
	var searches sync.WaitGroup
	var whole atomic.Int64
	for range 16 {
		searches.Go(func() {
			// One that looks while the log is told may see the memory as it was, or miss it.
			res, err := op.Search.Call(context.Background(), d.Engine, &op.SearchRequest{Query: meansIt})
			if err != nil {
				t.Error(err)
			} else if len(res.Hits) == 1 && res.Hits[0].Content == leaky {
				whole.Add(1)
			}
		})
	}
	searches.Wait()
	if whole.Load() == 0 {
		t.Error("no answer has the text")
	}
	d.untilWarm(id)
	if m := d.memory(id); d.lines(id) != before+1 || m.UseCount != 1 {
		t.Errorf("%d lines and %d uses, want one of each", d.lines(id)-before, m.UseCount)
	}
}

func TestTooMuchIsAskedForAlready(t *testing.T) {
	t.Parallel()
	d, id := sleeper(t)
	for range notes.MaxWishes {
		d.Notes.Wishes <- notes.RekindleRequest{Memory: memory.Memory{ID: id}, Text: make(chan notes.TextLookup, 1)}
	}
	if h := searchFor(t, d.Engine, meansIt)[0]; h.Rekindle != "offered" || h.Rekindling {
		t.Errorf("the answer is %+v", h)
	}
}

func TestANoteStandsForItsMemory(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	d.Opt.Patience = time.Minute
	id := d.kept("# Boiler\n\nThe pressure valve of the boiler was set to nine bar in March.", "Boiler.md")
	d.archived(id)
	d.awake()
	hits := searchFor(t, d.Engine, "pressure valve nine bar March")
	if len(hits) != 1 || hits[0].Note == nil || hits[0].Memory == nil || hits[0].Rekindled == nil || !strings.Contains(hits[0].Content, "nine bar") {
		t.Fatalf("found %+v", hits)
	}
	d.untilWarm(id)
}

func TestWhatWasMergedAwayStaysCold(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	one, other := save(t, d.Engine, "The kettle leaks at the seam."), save(t, d.Engine, "The kettle leaks at its seam")
	for i := range 5 {
		save(t, d.Engine, fmt.Sprintf("the tide table of day %d", i))
	}
	into := d.merged(one.ID, other.ID)
	hits := searchFor(t, d.Engine, meansIt)
	if got := hitsAsked(hits); got != 0 || len(hits) != 1 || hits[0].ID != into.NewMemoryID {
		t.Errorf("%d are asked for, found %+v", got, hits)
	}
	// The merged memory stands for its parts, whatever became of its own words.
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(into.NewMemoryID), Content: new("The boiler is fine")})
	res := do(t, d.Engine, op.Search, &op.SearchRequest{Query: meansIt})
	if len(res.Hits) != 1 || res.Hits[0].ID != into.NewMemoryID || res.Total != 1 {
		t.Errorf("found %d, %+v", res.Total, res.Hits)
	}
	picked := do(t, d.Engine, op.Search, &op.SearchRequest{Query: meansIt, Filter: op.Filter{Stages: []memory.Stage{memory.Archived}}}).Hits
	if len(picked) != 2 || picked[0].ConsolidatedInto != into.NewMemoryID {
		t.Errorf("of the archived ones it found %+v", picked)
	}
	do(t, d.Engine, op.Forget, &op.ForgetRequest{ID: string(into.NewMemoryID)})
	if hits := searchFor(t, d.Engine, meansIt); len(hits) != 2 {
		t.Errorf("of a merged memory that was forgotten the parts are not found: %+v", hits)
	}
}
