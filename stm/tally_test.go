package stm_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/memory"
	"emberd/stm/history"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// scanned counts by looking at every row.
func scanned(m *table.MemorySet) table.Counts {
	c := table.Counts{Stages: map[memory.Stage]int{}, Promoted: map[memory.Stage]int{},
		Collections: map[string]int{}, Projects: map[string]int{}, Tags: map[string]int{}}
	for r := range m.Rows() {
		c.Total++
		c.Stages[r.Stage()]++
		if r.Promoted() {
			c.Promoted[r.Stage()]++
		}
		c.Collections[r.Collection()]++
		c.Projects[r.Project()]++
		for _, tag := range r.Tags() {
			c.Tags[tag]++
		}
		c.Uses += r.UseCount()
		if at := r.CreatedAt(); !at.IsZero() {
			if c.Oldest.IsZero() || at.Before(c.Oldest) {
				c.Oldest = at
			}
			if c.Newest.IsZero() || at.After(c.Newest) {
				c.Newest = at
			}
		}
	}
	return c
}

// Whatever happens to the memories, here or on other devices, the counts are those of
// what there is.
func TestCountsAreThoseOfAllRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newFleet(t)
		defer w.close()
		for range 25 {
			d := w.any("whose")
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0, 1:
				w.characterize(d)
			case 2:
				w.takeBack(d)
			case 3:
				w.purge(d)
			default:
				w.step()
			}
			for i, d := range w.devices {
				if got, want := d.Counts(), scanned(&d.MemorySet); !reflect.DeepEqual(got, want) {
					t.Fatalf("device %d counts\n%+v, and has\n%+v", i, got, want)
				}
			}
		}
	})
}

// characterize saves or changes what a memory is counted by.
func (w *fleet) characterize(d *simulated) {
	set := textOf("apple pie")
	for key, values := range map[string][]string{
		"stage": {`"active"`, `"demoted"`, `"archived"`}, "project": {`"p"`, `"q"`}, "collection": {`"c"`, `"d"`}, "promoted_to": {`"n.md"`},
		"tags": {`["x"]`, `["x","y"]`, `["z","z"]`}, "use_count": {`3`},
		"created_at": {`"1969-01-02T03:04:05Z"`, `"2024-01-02T03:04:05Z"`, `"2025-01-02T03:04:05Z"`},
	} {
		if rapid.Bool().Draw(w.T, key) {
			set[key] = json.RawMessage(rapid.SampledFrom(append(values, "null")).Draw(w.T, "value"))
		}
	}
	if err := one(d.Store, "save", wal.Change{ID: idOf(rapid.IntRange(1, 4).Draw(w.T, "memory")), Set: set}); err != nil {
		w.Fatal(err)
	}
}

func (w *fleet) takeBack(d *simulated) {
	if _, err := d.Undo(context.Background(), history.Undo{Force: true}); err != nil && memory.CodeOf(err) != memory.NotFound {
		w.Fatal(err)
	}
}

func (w *fleet) purge(d *simulated) {
	id := idOf(rapid.IntRange(1, 4).Draw(w.T, "memory"))
	_, err := d.Purge(context.Background(), id, memory.Actor{})
	if err != nil && memory.CodeOf(err) != memory.NotFound && !errors.Is(err, fs.ErrNotExist) {
		w.Fatal(err)
	}
}

// The memories of the past are counted like those of now.
func TestCountsOfThePast(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.save("apple pie", "fruit")
	p, err := ts.At(context.Background(), ts.Wal().Now().Add(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	ts.save("plum tart", "fruit")
	if got, want := p.Counts(), scanned(&p.MemorySet); got.Total != 1 || !reflect.DeepEqual(got, want) {
		t.Errorf("counts then %+v, want %+v", got, want)
	}
}
