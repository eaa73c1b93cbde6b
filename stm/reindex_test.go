package stm_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"emberd/internal/words"
	"emberd/memory"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// What searches do not look at is changed without a look at the index; whatever they do
// look at is indexed anew.
func TestAChangeIsIndexedIfSearchesLookAtIt(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("a pebble on the beach", "shore").ID()
	cell := ts.Table.Cell(id.Bytes())
	wantFound := func(found bool, words ...string) {
		t.Helper()
		for _, word := range words {
			if got := slices.Contains(ts.finds(word), id); got != found {
				t.Errorf("%s: found is %v, want %v", word, got, found)
			}
		}
	}
	for _, c := range []struct {
		key, value string
		anew       bool
		found      []string
		not        []string
	}{
		{"stage", `"demoted"`, false, []string{"pebble", "shore"}, nil},
		{"strength", `1.5`, false, []string{"pebble", "shore"}, nil},
		{"tags", `["strand"]`, true, []string{"pebble", "strand"}, []string{"shore"}},
		{"entities", `["Onyx"]`, true, []string{"pebble", "onyx"}, nil},
		{"entities_found", `true`, true, []string{"pebble"}, []string{"onyx"}},
		{"entities_found", `null`, true, []string{"pebble", "onyx"}, nil},
		{"key_terms", `["quartz"]`, false, []string{"pebble"}, []string{"quartz"}},
		{"stage", `"archived"`, true, []string{"pebble", "quartz"}, []string{"strand"}},
		{"content", `"a stone"`, true, []string{"stone", "quartz"}, []string{"pebble"}},
		{"stage", `"rehydratable"`, true, []string{"quartz"}, []string{"stone"}},
		{"archive_reason", `"gc"`, false, []string{"quartz"}, []string{"stone"}},
		{"stage", `"active"`, true, []string{"stone", "strand"}, []string{"quartz"}},
	} {
		before := cell.Doc.Load()
		ts.commit(setOf(id, c.key, c.value))
		if anew := cell.Doc.Load() != before; anew != c.anew {
			t.Errorf("%s %s: indexed anew is %v, want %v", c.key, c.value, anew, c.anew)
		}
		wantFound(true, c.found...)
		wantFound(false, c.not...)
	}
	if row, _ := ts.Get(id); row.Stage() != memory.Active || row.Changed("stage").IsZero() || !row.Changed("source").IsZero() {
		t.Errorf("the row is %+v", row)
	}
}

// A memory that the index does not have yet is indexed whatever changes.
func TestAChangeBeforeTheIndexIsBuilt(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("a pebble on the beach").ID()
	cell := ts.Table.Cell(id.Bytes())
	ts.Words.Drop(cell)
	ts.commit(setOf(id, "stage", `"demoted"`))
	if cell.Doc.Load() == 0 || !slices.Contains(ts.finds("pebble"), id) {
		t.Error("the memory is not indexed")
	}
}

func TestASearchFindsWhatIsChangedMeanwhile(t *testing.T) {
	ts := openStore(t, wal.Options{Durability: wal.None})
	var ids []memory.ID
	for i := range 8 {
		ids = append(ids, ts.save(fmt.Sprint("heron number ", i)).ID())
	}
	done := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		defer close(done)
		for i := range 4000 {
			ts.edit(ids[i%len(ids)], "content", fmt.Sprint("heron sighted ", i))
		}
	})
	defer writer.Wait()
	q := table.Query{Terms: []words.QueryTerm{{Term: "heron", Weight: 1}}, Limit: 20}
	for searches := 0; ; searches++ {
		found := map[memory.ID]bool{}
		for _, m := range ts.Search(q).Matches {
			found[m.Row.ID()] = true
		}
		if len(found) != len(ids) {
			t.Errorf("search %d found %d of %d memories", searches, len(found), len(ids))
			return
		}
		select {
		case <-done:
			return
		default:
		}
	}
}
