package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/engine/search"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
)

// sleeper is a desk with one archived memory and some warm ones about other things.
// Opening one waits for its text as long as it takes.
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

// untilUsed waits until a memory is active.
func (d *desk) untilUsed(id memory.ID) op.Memory {
	d.t.Helper()
	var m op.Memory
	until(d.t, "the memory is active", func() bool {
		m = d.memory(id)
		return m.Stage == memory.Active
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

// A search shows the text of an archived memory and changes nothing about it.
func TestASearchRestoresNothing(t *testing.T) {
	t.Parallel()
	d, id := sleeper(t)
	d.awake()
	cold := d.memory(id)
	for range 3 {
		h := do(t, d.Engine, op.Search, &op.SearchRequest{Query: meansIt, Explain: true}).Hits[0]
		if h.Memory == nil || h.ID != id || h.Content != leaky || h.Stage != memory.Archived || h.Rekindle != op.RekindleOffered || h.Summary != cold.Summary {
			t.Fatalf("the answer is %+v", h.Memory)
		}
		if h.Rank != search.Rank(*h.Explain) || !strings.Contains(h.Snippet.Text, "gasket") {
			t.Errorf("it ranks %v with %+v, and shows %q", h.Rank, h.Explain, h.Snippet.Text)
		}
	}
	d.wantAsleep(id, cold.Rev)
	if m := d.memory(id); m.UseCount != 0 || !m.LastUsed.Equal(cold.LastUsed) || m.AccessCount != 3 {
		t.Errorf("the memory is %+v", m.Memory)
	}
}

// An undo that names no change passes over what opening restored: it takes the archiving before it back.
func TestAnUndoPassesOverWhatOpeningRestored(t *testing.T) {
	t.Parallel()
	d, id := sleeper(t)
	for range 2 {
		asked := do(t, d.Engine, op.Archive, &op.ArchiveRequest{ID: string(id)})
		if asked.Tx == "" { // it was archived before
			do(t, d.Engine, op.Rekindle, &op.RekindleRequest{Query: string(id)})
			asked = do(t, d.Engine, op.Archive, &op.ArchiveRequest{ID: string(id)})
		}
		searchFor(t, d.Engine, meansIt)
		if res := do(t, d.Engine, op.Show, &op.ShowRequest{ID: string(id)}); !res.Rekindled {
			t.Fatalf("the memory is %+v", res.Memory)
		}
		if res := do(t, d.Engine, op.Undo, &op.UndoRequest{}); res.Entry.Tx != asked.Tx || res.Items[0].Action != stm.Reverted {
			t.Errorf("undone was %+v", res)
		}
		if m := d.memory(id); m.Stage != memory.Active || m.Content != leaky {
			t.Errorf("the memory is %+v", m.Memory)
		}
	}
}

// Opening what a search found relevant restores the text, and is not a use.
func TestOpeningARelevantHitRestoresIt(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(d *desk, id memory.ID) op.Memory{
		"show": func(d *desk, id memory.ID) op.Memory {
			res := do(d.t, d.Engine, op.Show, &op.ShowRequest{ID: string(id)})
			if res.Rekindled != (res.Memory.Stage == memory.Demoted) {
				d.t.Errorf("in stage %s, the answer says %t", res.Memory.Stage, res.Rekindled)
			}
			return res.Memory
		},
		"open": func(d *desk, id memory.ID) op.Memory {
			return do(d.t, d.Engine, op.OpenMany, &op.OpenManyRequest{IDs: []string{string(id)}}).Memories[0].Memory
		},
	} {
		d, id := sleeper(t)
		cold := d.memory(id)
		if m := open(d, id); m.Stage != memory.Archived || m.Content != cold.Content {
			t.Errorf("%s, before any search: %+v", name, m.Memory)
		}
		d.clock.advance(60 * day)
		searchFor(t, d.Engine, meansIt)
		if m := open(d, id); m.Stage != memory.Demoted || m.Content != leaky {
			t.Errorf("%s: %+v", name, m.Memory)
		}
		m := d.memory(id)
		if m.Stage != memory.Demoted || m.UseCount != 0 || !m.LastUsed.Equal(cold.LastUsed) {
			t.Errorf("%s: the memory is %+v", name, m.Memory)
		}
		if v := d.newest(id); v.Verb != "rekindle" || v.By.Via != "emberd" {
			t.Errorf("%s: the log says %+v", name, v)
		}
		row, _ := d.Stm.Get(id)
		if next := rekindle.DefaultPolicy().Stage(lifecycle.FactsOf(row), d.clock.Now()); next != memory.Demoted {
			t.Errorf("%s: it is due to be %s", name, next)
		}
	}
}

// A use of what a search found relevant makes it active.
func TestUsingARelevantHitMakesItActive(t *testing.T) {
	t.Parallel()
	for name, use := range map[string]func(d *desk, id memory.ID){
		"touch": func(d *desk, id memory.ID) { do(d.t, d.Engine, op.Touch, &op.TouchRequest{ID: string(id)}) },
		"observe": func(d *desk, id memory.ID) {
			do(d.t, d.Engine, op.Observe, &op.ObserveRequest{IDs: []string{string(id)}})
		},
	} {
		d, id := sleeper(t)
		d.awake()
		use(d, id)
		if m := d.memory(id); m.Stage != memory.Archived || m.UseCount != 1 {
			t.Errorf("%s, before any search: %+v", name, m.Memory)
		}
		searchFor(t, d.Engine, meansIt)
		use(d, id)
		if m := d.untilUsed(id); m.Content != leaky || m.UseCount != 2 {
			t.Errorf("%s: the memory is %+v", name, m.Memory)
		}
	}
}

func TestANoteThatCannotBeReadNow(t *testing.T) {
	t.Parallel()
	d, id := sleeper(t)
	before := d.memory(id)
	d.write(t, before.VaultPath, "---\ntags: [\n---\nIt may carry the id.\n")
	if h := searchFor(t, d.Engine, meansIt)[0]; h.Rekindle != op.RekindleOffered || h.Content != before.Content {
		t.Errorf("the answer is %+v", h)
	}
	if m := do(t, d.Engine, op.Show, &op.ShowRequest{ID: string(id)}).Memory; m.Content != before.Content {
		t.Errorf("opened, it is %+v", m)
	}
	d.wantAsleep(id, before.Rev)
}

func TestSearchesThatOfferNothing(t *testing.T) {
	t.Parallel()
	d, id := sleeper(t)
	rev := d.memory(id).Rev
	for name, req := range map[string]op.SearchRequest{
		"leaves no trace":     {Query: meansIt, Track: new(false)},
		"for notes":           {Query: meansIt, Scope: "notes"},
		"another project":     {Query: meansIt, Filter: op.Filter{Project: "boat"}},
		"one word of many":    {Query: "kettle and the tide table of day 3 and day 4"},
		"the rest is unknown": {Query: "kettle zanzibar quagga"},
	} {
		for _, h := range do(t, d.Engine, op.Search, &req).Hits {
			if h.Rekindle != "" {
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
	for mode, want := range map[core.RekindleMode]string{core.RekindleAsk: op.RekindleOffered, core.RekindleOff: ""} {
		d.Opt.Rekindle = mode
		h := searchFor(t, d.Engine, meansIt)[0]
		if h.ID != id || h.Rekindle != want || h.Stage != memory.Archived || h.Content != leaky {
			t.Errorf("%s: %+v", mode, h)
		}
		do(t, d.Engine, op.Show, &op.ShowRequest{ID: string(id)})
		d.wantAsleep(id, rev)
	}
}

func TestAnArchivedNoteThatWasEdited(t *testing.T) {
	t.Parallel()
	d, id := sleeper(t)
	path := d.memory(id).VaultPath
	d.write(t, path, strings.ReplaceAll(d.note(t, path), "Leith", "Portobello"))
	d.batch([]string{path}, nil)
	if h := searchFor(t, d.Engine, "Portobello")[0]; h.ID != id || !strings.Contains(h.Content, "Portobello") {
		t.Errorf("the answer is %+v", h.Memory)
	}
	if hits := searchFor(t, d.Engine, "Leith"); len(hits) != 0 {
		t.Errorf("by a word that is gone: %+v", hits)
	}
}

// A note that is gone leaves the summary, by which the memory is found.
func TestAnArchivedNoteThatIsGone(t *testing.T) {
	t.Parallel()
	d, id := sleeper(t)
	path := d.memory(id).VaultPath
	d.batch([]string{path}, nil) // the watcher knows it
	d.settle()
	d.remove(path)
	m := d.memory(id)
	if m.NoteGone.IsZero() {
		t.Fatalf("the memory is %+v", m.Memory)
	}
	hits := searchFor(t, d.Engine, "kettle")
	if len(hits) != 1 || hits[0].ID != id || hits[0].Content != m.Content {
		t.Errorf("found %+v", hits)
	}
}

// A note of a memory whose text is in the log again is no second hit.
func TestANoteOfAWarmMemoryIsPassedOver(t *testing.T) {
	t.Parallel()
	d, id := sleeper(t)
	do(t, d.Engine, op.Rekindle, &op.RekindleRequest{Query: string(id)})
	res := do(t, d.Engine, op.Search, &op.SearchRequest{Query: meansIt})
	if len(res.Hits) != 1 || res.Total != 1 || res.Hits[0].ID != id || res.Hits[0].Rekindle != "" {
		t.Errorf("found %d: %+v", res.Total, res.Hits)
	}
}

// Filters, phrases and excluded words select archived memories as they select others.
func TestOperatorsSelectArchivedMemories(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	one := do(t, d.Engine, op.Save, &op.SaveRequest{Content: "the copper valve of the boiler leaks", Tags: []string{"boiler"}, Project: "boat"}).Memory.ID
	other := save(t, d.Engine, "the boiler has a valve of copper").ID
	d.archived(one, other)
	for query, want := range map[string][]memory.ID{
		`"copper valve"`:        {one},
		`valve tag:boiler`:      {one},
		`tag:boiler`:            {one},
		`valve -leaks`:          {other},
		`valve -"copper valve"`: {other},
		`-leaks`:                {other},
		`valve -tag:boiler`:     {other},
	} {
		var got []memory.ID
		for _, h := range searchFor(t, d.Engine, query) {
			got = append(got, h.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s finds %v, want %v", query, got, want)
		}
	}
	if hits := do(t, d.Engine, op.Search, &op.SearchRequest{Query: "valve", Filter: op.Filter{Project: "boat"}}).Hits; len(hits) != 1 || hits[0].ID != one {
		t.Errorf("of the project it finds %+v", hits)
	}
	if hits := do(t, d.Engine, op.Search, &op.SearchRequest{Query: "boat boiler", Scope: "archive"}).Hits; len(hits) != 2 || hits[0].ID != one {
		t.Errorf("in the archive it finds %+v", hits)
	}
}

func TestANoteStandsForItsMemory(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	id := d.kept("# Boiler\n\nThe pressure valve of the boiler was set to nine bar in March.", "Boiler.md")
	d.archived(id)
	hits := searchFor(t, d.Engine, "pressure valve nine bar March")
	if len(hits) != 1 || hits[0].Note == nil || hits[0].Memory == nil || hits[0].Rekindle == "" {
		t.Fatalf("found %+v", hits)
	}
	do(t, d.Engine, op.Show, &op.ShowRequest{ID: string(id)})
	if m := d.memory(id); m.Stage != memory.Demoted || !strings.Contains(m.Content, "nine bar") {
		t.Errorf("the memory is %+v", m.Memory)
	}
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
	if len(hits) != 1 || hits[0].ID != into.NewMemoryID || hits[0].Rekindle != "" {
		t.Errorf("found %+v", hits)
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
