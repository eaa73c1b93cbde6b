package stm

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// history draws operations of several devices on one memory, as lines with
// distinct stamps.
func history(t *rapid.T) []line {
	devices := []Device{{'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a'}, {'b', 'b', 'b', 'b', 'b', 'b', 'b', 'b'}}
	n := rapid.IntRange(1, 12).Draw(t, "operations")
	var lines []line
	for i := range n {
		l := line{stamp: Stamp{T: uint64(i+1) << 16, Dev: rapid.SampledFrom(devices).Draw(t, "device")}}
		c := change{op: rapid.SampledFrom([]string{opPut, opSet, opSet, opDelete}).Draw(t, "op"), id: idOf(1)}
		if c.op != opDelete {
			set := map[string]json.RawMessage{}
			for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"content", "source", "x"}), 1, 3, rapid.ID).Draw(t, "keys") {
				set[key] = encode(fmt.Sprintf("%s %d", key, i))
				if c.op == opSet && rapid.Bool().Draw(t, "remove") {
					set[key] = null
				}
			}
			c.data = encode(set)
		}
		l.changes = []change{c}
		lines = append(lines, l)
	}
	return lines
}

// foldOf applies lines in the given order and describes what is left.
func foldOf(t *rapid.T, lines []line, order []int) string {
	row := &Row{key: idOf(1).Bytes()}
	for _, i := range order {
		next, err := merged(row, &lines[i].changes[0], lines[i].stamp)
		if err != nil {
			t.Fatal(err)
		}
		row = next
	}
	return describe(row)
}

func describe(r *Row) string {
	if !r.live() {
		return fmt.Sprintf("not live, tomb %s", r.rest().tomb)
	}
	keys := map[string]string{}
	for _, key := range []string{"content", "source", "x"} {
		keys[key] = fmt.Sprintf("%s@%s", r.value(key), r.stampOf(key))
	}
	return fmt.Sprintf("%v tomb %s rev %s", keys, r.rest().tomb, r.rev())
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
	}
	keys := rapid.SliceOfNDistinct(rapid.SampledFrom(slices.Sorted(maps.Keys(values))), 1, 6, rapid.ID)
	rapid.Check(t, func(t *rapid.T) {
		row := &Row{key: idOf(1).Bytes()}
		for i := range 20 {
			set := map[string]json.RawMessage{}
			for _, key := range keys.Draw(t, "keys") {
				set[key] = json.RawMessage(rapid.SampledFrom(append(values[key], "null")).Draw(t, key))
			}
			c := change{op: rapid.SampledFrom([]string{opPut, opSet, opSet, opSet, opDelete}).Draw(t, "op"), id: idOf(1), data: encode(set)}
			before, was := row.hot, slices.Clone(row.hot.tags)
			next, err := merged(row, &c, Stamp{T: uint64(rapid.IntRange(max(1, i-2), i+3).Draw(t, "stamp")) << 16})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(before.tags, was) {
				t.Fatalf("the tags of the row before became %q", before.tags)
			}
			if row = next; len(row.doc) == 0 {
				continue
			}
			if want, err := hotOf(row.doc); err != nil || !reflect.DeepEqual(row.hot, want) {
				t.Fatalf("%s has\n%+v, want\n%+v, %v", row.doc, row.hot, want, err)
			}
		}
	})
}

func TestUseTotalsMergeExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type report struct{ total useTotal }
		var reports []report
		want := int64(0)
		for _, name := range []string{"aaaaaaaa", "bbbbbbbb", "cccccccc"} {
			var running int64
			for range rapid.IntRange(0, 4).Draw(t, "reports") {
				running += rapid.Int64Range(1, 9).Draw(t, "uses")
				dev, _ := parseDevice(name)
				reports = append(reports, report{useTotal{dev: dev, uses: running}})
			}
			want += running
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		row := &Row{}
		for _, i := range rng.Perm(len(reports)) {
			row = withUse(withUse(row, reports[i].total), reports[i].total)
		}
		if row.UseCount() != want {
			t.Fatalf("%d uses, want %d", row.UseCount(), want)
		}
	})
}

func TestStampsKeepOrderWhateverTheClockDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.UnixMilli(1_700_000_000_000)
		c := hlc{now: func() time.Time { return now }}
		copy(c.dev[:], "k7q2mzxa")
		last := Stamp{}
		for range 50 {
			now = now.Add(time.Duration(rapid.Int64Range(-5000, 5000).Draw(t, "ms")) * time.Millisecond)
			next := c.next()
			if !next.after(last) || next.String() <= last.String() && !last.IsZero() {
				t.Fatalf("%s does not come after %s", next, last)
			}
			if back, err := ParseStamp(next.String()); err != nil || back != next {
				t.Fatalf("%s reads back as %s, %v", next, back, err)
			}
			last = next
		}
	})
}

func TestACounterThatOverflowsCarries(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	c := hlc{now: func() time.Time { return now }, last: uint64(now.UnixMilli())<<16 | 0xffff}
	if got := c.next(); got.Time() != now.Add(time.Millisecond).UTC() || got.T&0xffff != 0 {
		t.Errorf("after overflow: %s", got)
	}
}

func TestRangesAgreeWithASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r ranges
		set := map[uint64]bool{}
		for _, n := range rapid.SliceOf(rapid.Uint64Range(1, 30)).Draw(t, "numbers") {
			if got := r.add(n, n); got == set[n] {
				t.Fatalf("add(%d) = %v with %v", n, got, r.spans)
			}
			set[n] = true
		}
		var highest uint64
		missing := 0
		for n := uint64(30); n >= 1; n-- {
			if set[n] && highest == 0 {
				highest = n
			}
			if !set[n] && highest > n && hasBelow(set, n) {
				missing++
			}
		}
		if r.last() != highest || r.missing(ranges{}) != missing {
			t.Fatalf("last %d, missing %d; want %d, %d of %v", r.last(), r.missing(ranges{}), highest, missing, r.spans)
		}
	})
}

func hasBelow(set map[uint64]bool, n uint64) bool {
	for m := range set {
		if m < n {
			return true
		}
	}
	return false
}
