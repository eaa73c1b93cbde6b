package stm_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/memory"
	"emberd/stm/history"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// related makes a relation of two memories as a change of the one it starts at.
func related(from, to memory.ID, typ string, at time.Time) wal.Change {
	r := memory.Relation{From: from, To: to, Type: typ, Strength: 0.5, CreatedAt: at}
	r.ID = memory.RelationID(from, to, typ, "")
	value, err := record.RelationValue(&r)
	if err != nil {
		panic(err)
	}
	return wal.Change{ID: from, Set: map[string]json.RawMessage{record.RelationKey(r.ID): value}}
}

// scannedRelations are all relations between live memories, "from id to", found by
// looking at every field of every row.
func scannedRelations(m *table.MemorySet) []string {
	out := map[string]bool{}
	for r := range m.Rows() {
		for key, value := range r.Fields() {
			digits, ok := strings.CutPrefix(key, "relation.")
			var v struct{ To memory.ID }
			if !ok || len(digits) != 32 || json.Unmarshal(value, &v) != nil {
				continue
			}
			if _, live := m.Get(v.To); live {
				out[fmt.Sprintf("%s rel-%s %s", r.ID(), digits, v.To)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// indexedRelations are the same from the index, by where they lead, and from each row.
func indexedRelations(t rapid.TB, m *table.MemorySet) []string {
	t.Helper()
	var in, out []string
	for r := range m.Rows() {
		list, total := m.RelationsTo(r.ID(), 1000)
		if total != len(list) {
			t.Fatalf("%d relations lead to %s, and %d are listed", total, r.ID(), len(list))
		}
		for _, rel := range list {
			in = append(in, fmt.Sprintf("%s %s %s", rel.From, rel.ID, rel.To))
		}
		for _, rel := range m.Relations(r) {
			out = append(out, fmt.Sprintf("%s %s %s", rel.From, rel.ID, rel.To))
		}
	}
	slices.Sort(in)
	slices.Sort(out)
	if n := m.CountRelations(nil); !slices.Equal(in, out) || n != len(in) {
		t.Fatalf("%d counted; by where they lead\n%q, by where they start\n%q", n, in, out)
	}
	return in
}

// selectedOf are the memories of a selection, and those of all rows that it has.
func selectedOf(m *table.MemorySet, s *table.Selection, which func(*table.Row) bool) (got, want []memory.ID) {
	projects := map[string]bool{"": true}
	for r := range m.Rows() {
		projects[r.Project()] = true
		if which(r) {
			want = append(want, r.ID())
		}
	}
	for p := range projects {
		for _, r := range m.Selected(s, p) {
			if r.Project() == p {
				got = append(got, r.ID())
			}
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	return got, want
}

// Whatever happens to the memories, here or on other devices, the relations that the
// index has are those of all rows, and a selection has the rows that it should.
func TestRelationsAreThoseOfAllRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newFleet(t)
		defer w.close()
		relating := table.NewSelection((*table.Row).MayRelate)
		for range 25 {
			d := w.any("whose")
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			case 0, 1, 2:
				w.relate(d)
			case 3:
				w.takeBack(d)
			case 4:
				w.purge(d)
			default:
				w.step()
			}
			for i, d := range w.devices {
				if got, want := indexedRelations(t, &d.MemorySet), scannedRelations(&d.MemorySet); !slices.Equal(got, want) {
					t.Fatalf("device %d has the relations\n%q, want\n%q", i, got, want)
				}
				if got, want := selectedOf(&d.MemorySet, relating, (*table.Row).MayRelate); !slices.Equal(got, want) {
					t.Fatalf("device %d selects\n%q, want\n%q", i, got, want)
				}
			}
		}
	})
}

// relate saves a memory with a relation, or gives it one or takes one away. Memories
// beyond those that are saved are ends, too.
func (w *fleet) relate(d *simulated) {
	from, to := idOf(rapid.IntRange(1, 4).Draw(w.T, "from")), idOf(rapid.IntRange(1, 5).Draw(w.T, "to"))
	c := related(from, to, rapid.SampledFrom(memory.RelationTypes()[:2]).Draw(w.T, "type"), d.now())
	if d.Table.Get(from) == nil {
		maps.Copy(c.Set, textOf("plum tart"))
	} else if rapid.IntRange(0, 3).Draw(w.T, "remove") == 0 {
		for key := range c.Set {
			c.Set[key] = record.Null
		}
	}
	if err := one(d.Store, "relate", c); err != nil {
		w.Fatal(err)
	}
}

// The relations of the past are those that were there.
func TestRelationsOfThePast(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ts := openStore(t, wal.Options{Now: func() time.Time { return now }})
	a, b := ts.save("apple pie").ID(), ts.save("plum tart").ID()
	ts.commit(wal.Tx{Verb: "relate", Changes: []wal.Change{related(a, b, memory.Causes, now)}})
	then := now
	now = now.Add(time.Second)
	ts.commit(wal.Tx{Verb: "relate", Changes: []wal.Change{related(b, a, memory.Causes, now)}})
	ts.forget(b)
	p, err := ts.At(t.Context(), then)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := indexedRelations(t, &p.MemorySet), scannedRelations(&p.MemorySet); len(got) != 1 || !slices.Equal(got, want) {
		t.Errorf("then there were %q, want %q", got, want)
	}
	if got := indexedRelations(t, &ts.MemorySet); len(got) != 0 {
		t.Errorf("now there are %q", got)
	}
}

// Keys that look like relations and are none do no harm.
func TestWhatIsNoRelation(t *testing.T) {
	ts := openStore(t, wal.Options{})
	to := ts.save("plum tart").ID()
	good := related(to, to, memory.Causes, ts.Wal().Now()).Set
	var key string
	var value json.RawMessage
	for key, value = range good {
	}
	for name, odd := range map[string]map[string]json.RawMessage{
		"short key":  {"relation.abc": value},
		"upper case": {"relation." + strings.ToUpper(strings.TrimPrefix(key, "relation.")): value},
		"no object":  {key: json.RawMessage(`"x"`)},
		"no target":  {key: json.RawMessage(`{"type":"causes"}`)},
		"bad target": {key: json.RawMessage(`{"to":"plum tart"}`)},
		"in content": {"content": record.Encode(`see "relation.` + key)},
	} {
		maps.Copy(odd, map[string]json.RawMessage{"created_at": json.RawMessage(`"2026-01-01T00:00:00Z"`)})
		id := memory.DeriveID([]byte(name))
		ts.commit(wal.Tx{Verb: "save", Changes: []wal.Change{{ID: id, Set: odd}}})
		if got := indexedRelations(t, &ts.MemorySet); len(got) != 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
	ts.commit(wal.Tx{Verb: "relate", Changes: []wal.Change{{ID: to, Set: good}}})
	if got := indexedRelations(t, &ts.MemorySet); len(got) != 1 {
		t.Errorf("a good one: %q", got)
	}
}

func TestUndoSaysThatARelationWasMadeSince(t *testing.T) {
	ts := openStore(t, wal.Options{})
	a := ts.save("apple pie").ID()
	saved, _ := ts.Wal().Journal.NewestEntry(false)
	ts.commit(wal.Tx{Verb: "relate", Changes: []wal.Change{related(a, a, memory.Causes, ts.Wal().Now())}})
	if got := ts.undo(saved.String()); got.Items[0].Action != history.Left || got.Items[0].Reason != "a relation changed later" {
		t.Errorf("undoing the save: %+v", got.Items)
	}
}
