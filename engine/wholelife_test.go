package engine

import (
	"bytes"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
)

// pass lets days go by and does what a run of the lifecycle does then.
func (d *desk) pass(days int) {
	d.t.Helper()
	d.clock.advance(time.Duration(days) * 24 * time.Hour)
	plan := d.opt.Lifecycle.Plan(d.facts(), d.clock.Now())
	_, err := d.archive(d.t.Context(), slices.DeleteFunc(plan.Moves, func(m rekindle.Move) bool { return !m.To.Cold() }), "unused for 30 days", keeper(), "")
	ok(d.t, err)
}

func (d *desk) facts() iter.Seq[rekindle.Facts] {
	return func(yield func(rekindle.Facts) bool) {
		for row := range d.stm.Rows() {
			if !yield(rekindle.Facts{ID: row.ID(), Stage: row.Stage(), Category: row.Category(), Core: row.Core(), CreatedAt: row.CreatedAt(), LastUsed: row.LastUsed()}) {
				return
			}
		}
	}
}

// ask searches as somebody does who needs the memory.
func (d *desk) ask(words string) []op.RekindleResult {
	d.t.Helper()
	return do(d.t, d.Engine, op.Rekindle, &op.RekindleRequest{Query: words}).Results
}

func TestAWholeLife(t *testing.T) {
	d := shelf(t, nil)
	id := save(t, d.Engine, leaky, "kitchen").ID
	other := save(t, d.Engine, "the tide turns at six in the harbour").ID
	d.clock.advance(time.Hour)
	do(t, d.Engine, op.Show, &op.ShowRequest{ID: string(id)})
	home := promote(t, d.Engine, id).Path
	d.seen(home)
	edited := strings.Replace(d.note(t, home), "drain it", "empty it", 1)
	d.edit(home, edited)
	text := look(t, d.Engine, id).Content
	if !strings.Contains(text, "empty it") {
		t.Fatalf("the edit was not taken over: %q", text)
	}
	d.pass(100)
	for _, id := range []memory.ID{id, other} {
		if m := look(t, d.Engine, id); m.Stage != memory.Rehydratable || len(m.KeyTerms) == 0 {
			t.Fatalf("after 100 days the memory is %+v", m.Memory)
		}
	}
	got := d.ask("kettle seam gasket")
	if len(got) != 1 || got[0].Memory.ID != id || got[0].Memory.Content != text || got[0].Memory.Stage != memory.Active || got[0].Verdict != "unchanged" {
		t.Errorf("asked for, it is %+v", got)
	}
	if got := d.ask("tide in the harbour"); len(got) != 1 || got[0].Memory.Content != "the tide turns at six in the harbour" {
		t.Errorf("the other is %+v", got)
	}
	d.pass(35)
	if m := look(t, d.Engine, id); m.Stage != memory.Archived {
		t.Errorf("35 days later it is %+v", m.Memory)
	}
	d.write(t, home, strings.Replace(edited, "empty it", "throw it away", 1))
	d.batch([]string{home}, nil)
	if got := d.ask("kettle seam gasket"); len(got) != 1 || got[0].Verdict != "edited" || !strings.Contains(got[0].Memory.Content, "throw it away at night") {
		t.Errorf("edited since, it is %+v", got)
	}
	if m := look(t, d.Engine, id); m.UseCount != 3 {
		t.Errorf("it was used %d times, want 3", m.UseCount)
	}
}

// The text is more than what is left of it can tell.
const inventory = `Ann Quagga keeps the inventory of the harbour museum in a blue ledger.
Shelf one holds a sextant, two barometers, a cracked telescope and the mahogany quadrant.
Shelf two holds nets, floats, a whalebone needle, tarred rope and seven lanterns.
Shelf three has the zebrafish aquarium that nobody dares to clean or to throw away.
`

// What was archived is in no index: not its words, not with the notes, not on the disk.
func TestArchivedTextIsInNoIndex(t *testing.T) {
	h := promotingHouse(t, map[string]string{"Other.md": "something else"})
	d := &desk{house: h, t: t, Engine: h.following(t)}
	id := do(t, d.Engine, op.Save, &op.SaveRequest{Content: inventory, Tags: []string{"okapi"}, Entities: []string{"Quagga"}, Source: "gnu", Context: "oryx"}).Memory.ID
	ok(t, d.stm.WriteSnapshot(t.Context()))
	if !bytes.Contains(read(t, filepath.Join(d.State, "index", "stm.snap")), []byte("zebrafish")) {
		t.Fatal("the snapshot of a warm memory does not have its text")
	}
	d.archived(id)
	cold := look(t, d.Engine, id)
	left := d.terms(cold.Content + "\n" + strings.Join(cold.KeyTerms, "\n"))
	hidden := slices.DeleteFunc(d.terms(inventory+" okapi gnu oryx"), func(term string) bool { return slices.Contains(left, term) })
	d.wantIndexed(hidden, 0)
	d.wantIndexed(left, 1)
	until(t, "the other note is found", func() bool { return len(search(t, d.Engine, "something")) == 1 })
	d.rest(t, d.Engine)
	for _, scope := range []string{"memories", "notes"} {
		if hits := do(t, d.Engine, op.Search, &op.SearchRequest{Query: strings.Join(hidden, " "), Scope: scope}).Hits; len(hits) > 0 {
			t.Errorf("among the %s %+v was found", scope, hits)
		}
	}
	ok(t, d.stm.WriteSnapshot(t.Context()))
	gone := slices.DeleteFunc([]string{"zebrafish", "mahogany", "whalebone", "barometers", "telescope", "throw away"}, func(word string) bool {
		return strings.Contains(cold.Content+strings.Join(cold.KeyTerms, " "), word)
	})
	for _, word := range gone {
		d.wantNowhere(filepath.Join(d.State, "index"), word)
	}
	_, err := d.archive(t.Context(), d.to(memory.Rehydratable, id), "", keeper(), "")
	ok(t, err)
	keys := d.terms(strings.Join(cold.KeyTerms, "\n"))
	rest := slices.DeleteFunc(left, func(term string) bool { return slices.Contains(keys, term) })
	d.wantIndexed(keys, 1)
	d.wantIndexed(rest, 0)
	if len(hidden) < 10 || len(rest) == 0 || len(gone) == 0 {
		t.Errorf("%d terms are hidden by archiving, %d by fading, and %q was looked for", len(hidden), len(rest), gone)
	}
	if got := d.ask(strings.Join(cold.KeyTerms[:4], " ")); len(got) != 1 || got[0].Memory.Content != inventory {
		t.Errorf("asked for, it is %+v", got)
	}
	d.wantIndexed(hidden, 1)
}

// terms are what a search would look for.
func (d *desk) terms(text string) []string { return distinct(d.text.Query(text)) }

func (d *desk) wantIndexed(terms []string, want int) {
	d.t.Helper()
	_, df := d.stm.Frequencies(terms)
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

// wantNowhere looks for a word in all files of a folder.
func (d *desk) wantNowhere(dir, word string) {
	d.t.Helper()
	err := filepath.WalkDir(dir, func(name string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if bytes.Contains(data, []byte(word)) {
			d.t.Errorf("%s has %q", name, word)
		}
		return err
	})
	ok(d.t, err)
}
