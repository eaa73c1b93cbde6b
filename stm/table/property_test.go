package table_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
)

// history draws operations of several devices on one memory, as lines with
// distinct stamps.
func history(t *rapid.T) []record.Line {
	devices := []record.Device{{'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a'}, {'b', 'b', 'b', 'b', 'b', 'b', 'b', 'b'}}
	n := rapid.IntRange(1, 12).Draw(t, "operations")
	var lines []record.Line
	for i := range n {
		l := record.Line{Stamp: record.Stamp{T: uint64(i+1) << 16, Dev: rapid.SampledFrom(devices).Draw(t, "device")}}
		c := record.Change{Op: rapid.SampledFrom([]string{record.OpPut, record.OpSet, record.OpSet, record.OpDelete}).Draw(t, "op"), ID: idOf(1)}
		if c.Op != record.OpDelete {
			set := map[string]json.RawMessage{}
			for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"content", "source", "x"}), 1, 3, rapid.ID).Draw(t, "keys") {
				set[key] = record.Encode(fmt.Sprintf("%s %d", key, i))
				if c.Op == record.OpSet && rapid.Bool().Draw(t, "remove") {
					set[key] = record.Null
				}
			}
			c.Data = record.Encode(set)
		}
		l.Changes = []record.Change{c}
		lines = append(lines, l)
	}
	return lines
}

// foldOf applies lines in the given order and describes what is left.
func idOf(n int) memory.ID { return memory.DeriveID([]byte{byte(n)}) }

func foldOf(t *rapid.T, lines []record.Line, order []int) string {
	row := &table.Row{Key: idOf(1).Bytes()}
	for _, i := range order {
		next, err := table.Merged(row, &lines[i].Changes[0], lines[i].Stamp)
		if err != nil {
			t.Fatal(err)
		}
		row = next
	}
	return describe(row)
}

func describe(r *table.Row) string {
	if !r.Live() {
		return fmt.Sprintf("not live, tomb %s", r.Rest().Tomb)
	}
	keys := map[string]string{}
	for _, key := range []string{"content", "source", "x"} {
		keys[key] = fmt.Sprintf("%s@%s", r.Value(key), r.StampOf(key))
	}
	return fmt.Sprintf("%v tomb %s rev %s", keys, r.Rest().Tomb, r.Latest())
}

func TestMergeOrderAndRepetitionDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := history(t)
		order := make([]int, len(lines))
		for i := range order {
			order[i] = i
		}
		want := foldOf(t, lines, order)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		for range 4 {
			rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			again := append(order[:len(order):len(order)], order[rng.IntN(len(order))], order[rng.IntN(len(order))])
			if got := foldOf(t, lines, again); got != want {
				t.Fatalf("order %v: %s\nin order:  %s", again, got, want)
			}
		}
	})
}

// What ranking reads of a memory is what its document says, whichever keys came or
// went last.
func TestHotFieldsAreThoseOfTheDocument(t *testing.T) {
	values := map[string][]string{
		"content": {`"a"`, `"b"`}, "tags": {`["x"]`, `["y","z"]`, `[]`}, "project": {`"p"`, `"q"`}, "collection": {`"c"`},
		"category": {`"k"`}, "stage": {`"demoted"`, `"archived"`, `"active"`}, "strength": {`2`, `0.5`}, "core": {`true`, `false`},
		"promoted_to": {`"n.md"`, `""`}, "created_at": {`"2026-01-02T03:04:05Z"`, `"2025-01-02T03:04:05Z"`},
		"updated_at": {`"2026-02-02T03:04:05Z"`}, "last_used": {`"2026-03-02T03:04:05Z"`}, "use_count": {`3`}, "access_count": {`4`},
		"entities": {`["e"]`}, "text_digest": {`"d"`}, "superseded_by": {`"s"`}, "aliases": {`["a"]`},
		record.RelationPrefix + "r": {`{}`}, record.ReviewPrefix + "i": {`{}`},
	}
	keys := rapid.SliceOfNDistinct(rapid.SampledFrom(slices.Sorted(maps.Keys(values))), 1, 6, rapid.ID)
	rapid.Check(t, func(t *rapid.T) {
		row := &table.Row{Key: idOf(1).Bytes()}
		for i := range 20 {
			set := map[string]json.RawMessage{}
			for _, key := range keys.Draw(t, "keys") {
				set[key] = json.RawMessage(rapid.SampledFrom(append(values[key], "null")).Draw(t, key))
			}
			c := record.Change{Op: rapid.SampledFrom([]string{record.OpPut, record.OpSet, record.OpSet, record.OpSet, record.OpDelete}).Draw(t, "op"), ID: idOf(1), Data: record.Encode(set)}
			before, was := row.Hot, slices.Clone(row.Hot.Labels().Tags)
			next, err := table.Merged(row, &c, record.Stamp{T: uint64(rapid.IntRange(max(1, i-2), i+3).Draw(t, "stamp")) << 16})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(before.Labels().Tags, was) {
				t.Fatalf("the tags of the row before became %q", before.Labels().Tags)
			}
			if row = next; len(row.JSON()) == 0 {
				continue
			}
			want, err := record.FacetsOf(row.JSON())
			want.Home = row.Hot.Home // of cold memories alone, and no field
			if err != nil || !reflect.DeepEqual(row.Hot, want) {
				t.Fatalf("%s has\n%+v, want\n%+v, %v", row.JSON(), row.Hot, want, err)
			}
			for key := range values {
				if got, want := row.Has(key), record.Member(row.JSON(), key) != nil; got != want {
					t.Fatalf("that %s has %s is %t", row.JSON(), key, got)
				}
			}
		}
	})
}

func TestUseTotalsMergeExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type report struct{ total record.UseTotal }
		var reports []report
		want := int64(0)
		for _, name := range []string{"aaaaaaaa", "bbbbbbbb", "cccccccc"} {
			var running int64
			for range rapid.IntRange(0, 4).Draw(t, "reports") {
				running += rapid.Int64Range(1, 9).Draw(t, "uses")
				dev, _ := record.ParseDevice(name)
				reports = append(reports, report{record.UseTotal{Dev: dev, Uses: running}})
			}
			want += running
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		row := &table.Row{}
		for _, i := range rng.Perm(len(reports)) {
			row = table.WithUse(table.WithUse(row, reports[i].total), reports[i].total)
		}
		if row.UseCount() != want {
			t.Fatalf("%d uses, want %d", row.UseCount(), want)
		}
	})
}
