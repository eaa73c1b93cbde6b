package engine_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
)

// pass lets days go by, and the keeper look at the end of each.
func (d *desk) pass(days int) {
	d.t.Helper()
	for range days {
		d.clock.advance(day)
		if res := runs(d.t, d.Engine); res.Why != "" || len(res.Skipped) > 0 {
			d.t.Fatalf("the run says %+v", res)
		}
	}
}

// ask searches as somebody does who needs a memory.
func (d *desk) ask(words string, id memory.ID) op.Hit {
	d.t.Helper()
	hits := searchFor(d.t, d.Engine, words)
	if len(hits) == 0 || hits[0].Memory == nil || hits[0].ID != id {
		d.t.Fatalf("%s finds %+v", words, hits)
	}
	return hits[0]
}

// The life of a memory that is promoted and whose note a human edits, and of one that
// never was.
func TestAWholeLife(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	d.Opt.Patience = time.Minute
	d.awake()
	id := save(t, d.Engine, leaky, "kitchen").ID
	other := save(t, d.Engine, tides).ID
	for range 10 { // what the world is otherwise about
		save(t, d.Engine, newSynthetic().words(20))
	}
	for range 5 { // which is enough to deserve a note
		d.clock.advance(time.Hour)
		do(t, d.Engine, op.Touch, &op.TouchRequest{ID: string(id)})
	}
	runs(t, d.Engine)
	home := look(t, d.Engine, id).PromotedTo
	if home == "" || look(t, d.Engine, other).PromotedTo != "" {
		t.Fatalf("promoted: %q", home)
	}
	d.seen(home)
	edited := strings.Replace(d.note(t, home), "drain it", "empty it", 1)
	d.edit(home, edited)
	text := look(t, d.Engine, id).Content
	if !strings.Contains(text, "empty it") {
		t.Fatalf("the edit was not taken over: %q", text)
	}

	d.pass(100)
	for _, id := range []memory.ID{id, other} {
		if m := look(t, d.Engine, id); m.Stage != memory.Rehydratable || len(m.KeyTerms) == 0 || m.Content == text || m.Content == tides {
			t.Fatalf("after 100 days the memory is %+v", m.Memory)
		}
	}
	hit := d.ask("kettle seam gasket", id)
	if hit.Stage != memory.Rehydratable || hit.Rekindle == "" {
		t.Errorf("the answer says %+v", hit)
	}
	if hit := d.ask("hydrographic tide tables boathouse", other); hit.Content != tides || hit.Rekindle == "" {
		t.Errorf("the answer says %+v", hit)
	}
	for _, id := range []memory.ID{id, other} {
		do(t, d.Engine, op.Rekindle, &op.RekindleRequest{Query: string(id)})
	}
	for id, want := range map[memory.ID]string{id: text, other: tides} {
		if m := look(t, d.Engine, id); m.Content != want || m.UseCount == 0 || !m.LastUsed.Equal(core.StampTime(d.clock.Now())) {
			t.Errorf("brought back, the memory is %+v", m.Memory)
		}
	}

	d.pass(35)
	if m := look(t, d.Engine, id); m.Stage != memory.Archived {
		t.Errorf("35 days later it is %+v", m.Memory)
	}
	d.write(t, home, strings.Replace(d.note(t, home), "empty it", "throw it away", 1))
	d.batch([]string{home}, nil)
	if hit := d.ask("kettle seam gasket", id); hit.Rekindle == "" {
		t.Errorf("edited since, the answer says %+v", hit)
	}
	if res := do(t, d.Engine, op.Rekindle, &op.RekindleRequest{Query: string(id)}).Results[0]; !res.Edited {
		t.Errorf("edited since, it comes back as %+v", res)
	}
	if m := look(t, d.Engine, id); !strings.Contains(m.Content, "throw it away at night") {
		t.Errorf("it says %+v", m.Memory)
	}
}

// The text is more than what is left of it can tell.
const inventory = `Ann Quagga keeps the inventory of the harbour museum in a blue ledger.
Shelf one holds a sextant, two barometers, a cracked telescope and the mahogany quadrant.
Shelf two holds nets, floats, a whalebone needle, tarred rope and seven lanterns.
Shelf three has the zebrafish aquarium that nobody dares to clean or to throw away.
`

// The text that was archived is in the index of archived texts, and in no other: not in that of memories, not among the
// notes, and not in the snapshot.
func TestArchivedTextIsInOneIndex(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, map[string]string{"Other.md": "something else"})
	d := &desk{house: h, t: t, Engine: h.following(t)}
	id := do(t, d.Engine, op.Save, &op.SaveRequest{Content: inventory, Tags: []string{"okapi"}, Entities: []string{"Quagga"}, Source: "gnu", Context: "oryx"}).Memory.ID
	ok(t, d.Stm.WriteSnapshot(t.Context()))
	if !bytes.Contains(read(t, filepath.Join(d.State, "index", "stm.snap")), []byte("zebrafish")) {
		t.Fatal("the snapshot of a warm memory does not have its text")
	}
	d.archived(id)
	cold := look(t, d.Engine, id)
	all := d.terms(inventory + " okapi gnu oryx")
	d.wantIndexed(all, 0)
	until(t, "the other note is found", func() bool { return len(searchFor(t, d.Engine, "something")) == 1 })
	d.rest(t, d.Engine)
	for scope, want := range map[string]int{"memories": 1, "archive": 1, "notes": 0} {
		if hits := do(t, d.Engine, op.Search, &op.SearchRequest{Query: strings.Join(all, " "), Scope: scope}).Hits; len(hits) != want {
			t.Errorf("in the scope %s %d are found, want %d", scope, len(hits), want)
		}
	}
	for _, word := range []string{"zebrafish", "okapi", "oryx"} {
		if hits := searchFor(t, d.Engine, word); len(hits) != 1 || hits[0].ID != id || hits[0].Content != inventory {
			t.Errorf("%s finds %+v", word, hits)
		}
	}
	ok(t, d.Stm.WriteSnapshot(t.Context()))
	gone := slices.DeleteFunc([]string{"zebrafish", "mahogany", "whalebone", "barometers", "telescope", "throw away"}, func(word string) bool {
		return strings.Contains(cold.Content+strings.Join(cold.KeyTerms, " "), word)
	})
	for _, word := range gone {
		if bytes.Contains(read(t, filepath.Join(d.State, "index", "stm.snap")), []byte(word)) {
			t.Errorf("the snapshot has %q", word)
		}
	}
	_, err := d.Engine.Lifecycle.Archive(t.Context(), d.to(memory.Rehydratable, id), "", keeper(), "")
	ok(t, err)
	if hits := searchFor(t, d.Engine, "zebrafish"); len(hits) != 1 || hits[0].Stage != memory.Rehydratable {
		t.Errorf("rehydratable, it is found as %+v", hits)
	}
	if got := d.rekindled(id).Memory.Content; got != inventory {
		t.Errorf("brought back, it says %q", got)
	}
	d.wantIndexed(all, 1)
}

// terms are what a search would look for.
func (d *desk) terms(text string) []string { return core.Distinct(d.Text.Query(text)) }

func (d *desk) wantIndexed(terms []string, want int) {
	d.t.Helper()
	_, df := d.Stm.Frequencies(terms)
	for i, term := range terms {
		if df[i] != want {
			d.t.Errorf("%d memories are indexed with %q, want %d", df[i], term, want)
		}
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	ok(t, err)
	return data
}
