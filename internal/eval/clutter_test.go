package eval

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func clutterTime() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// A store has what it is made to have, and says nothing of one thing in two ways but where
// it says so.
func TestClutter(t *testing.T) {
	t.Parallel()
	c := NewClutter(1000, 7, clutterTime())
	if !reflect.DeepEqual(c, NewClutter(1000, 7, clutterTime())) {
		t.Error("the same seed makes another store")
	}
	if reflect.DeepEqual(c.Entries, NewClutter(1000, 8, clutterTime()).Entries) {
		t.Error("another seed makes the same store")
	}
	kinds, good, latest := map[string]int{}, map[string]int{}, map[int]int{}
	for i, e := range c.Entries {
		kinds[e.Kind]++
		if e.Kind == Good {
			good[e.Text]++
		}
		if e.Latest {
			latest[e.Group]++
		}
		if strings.ContainsAny(e.Text, "{}") && e.Kind != Indexed || e.Text == "" || e.Created.After(clutterTime()) || (e.Kind == Indexed) != (len(e.Fields) > 0) {
			t.Errorf("entry %d is %+v", i, e)
		}
	}
	if len(c.Entries) != 1000 || kinds[Good] < 400 || kinds[Copy] < 70 || kinds[Reworded] < 100 || kinds[Junk] < 80 || kinds[Changed] < 60 || kinds[Contradiction] < 25 {
		t.Errorf("%d entries of the kinds %v", len(c.Entries), kinds)
	}
	for i, e := range c.Entries {
		if e.Kind == Copy && !slices.ContainsFunc(c.Entries, func(o Cluttered) bool { return o.Kind == Good && o.Group == e.Group }) {
			t.Errorf("entry %d is a copy of nothing", i)
		}
	}
	for text, n := range good {
		if n > 1 {
			t.Errorf("%d times good: %s", n, text)
		}
	}
	for group, n := range latest {
		if n != 1 {
			t.Errorf("group %d has %d that are the latest", group, n)
		}
	}
	for _, q := range c.Questions {
		if k := c.Entries[q.Want].Kind; k == Junk || k == Copy || k == Indexed || q.Text == "" {
			t.Errorf("%q asks for what is %s", q.Text, k)
		}
	}
}

func whats(c *Cleaned) (all []string) {
	for _, w := range c.Wrong {
		all = append(all, w.What)
	}
	return all
}

// What became of a store is counted by what its entries are.
func TestMeasureOfClutter(t *testing.T) {
	t.Parallel()
	c := &Clutter{}
	add := func(kind string, group int, latest bool) int {
		c.Entries = append(c.Entries, Cluttered{Text: fmt.Sprint(kind, " ", len(c.Entries)), Kind: kind, Group: group, Latest: latest})
		return len(c.Entries) - 1
	}
	fates := map[int]Fate{}
	fates[add(Good, 1, false)] = Fate{Into: "m"}
	fates[add(Reworded, 1, false)] = Fate{Into: "m"}
	fates[add(Copy, 1, false)] = Fate{Gone: true} // the merged one says it
	add(Good, 2, false)
	add(Copy, 2, false) // is left
	fates[add(Good, 3, false)] = Fate{Into: "n"}
	fates[add(Good, 4, false)] = Fate{Into: "n"}
	fates[add(Good, 5, false)] = Fate{Gone: true}
	fates[add(Junk, 6, false)] = Fate{Gone: true}
	add(Junk, 7, false)
	fates[add(Junk, 8, false)] = Fate{Into: "j"}
	fates[add(Junk, 9, false)] = Fate{Into: "j"}
	for _, how := range []Fate{{Successor: "later"}, {Gone: true}, {Review: true}, {}} {
		group := 20 + len(c.Entries)
		at := add(Changed, group, false)
		if fates[at] = how; how.Successor != "" {
			fates[at] = Fate{Successor: fmt.Sprint(at + 1)}
		}
		add(Changed, group, true)
	}
	fates[add(Changed, 90, true)] = Fate{Successor: fmt.Sprint(len(c.Entries))}
	add(Changed, 90, false)
	for i, how := range []Fate{{Related: []Related{{Kind: Version}}}, {Related: []Related{{Kind: Platform}}}, {Into: "v"}} {
		one, other := add(Version, 100+i, false), add(Version, 100+i, false)
		fates[one], fates[other] = how, how
		if len(how.Related) > 0 {
			fates[one] = Fate{Related: []Related{{Kind: how.Related[0].Kind, ID: fmt.Sprint(other)}}}
			fates[other] = Fate{Related: []Related{{Kind: how.Related[0].Kind, ID: fmt.Sprint(one)}}}
		}
	}
	fates[add(Good, 300, false)] = Fate{Successor: "3"}
	fates[add(Good, 301, false)] = Fate{Related: []Related{{Version, fmt.Sprint(len(c.Entries))}}}
	add(Good, 302, false)
	fates[add(Contradiction, 200, false)] = Fate{Review: true}
	add(Contradiction, 200, false)
	all := make([]Fate, len(c.Entries))
	for i, f := range fates {
		all[i] = f
	}
	for i := range all {
		all[i].ID = fmt.Sprint(i)
	}
	got := c.Measure(all)
	if want := (Found{All: 3, Removed: 4, Right: 2, Precision: 0.5, Recall: 2.0 / 3}); got.Duplicates != want {
		t.Errorf("duplicates %+v, want %+v", got.Duplicates, want)
	}
	if want := (Found{All: 4, Removed: 2, Right: 1, Precision: 0.5, Recall: 0.25}); got.Junk != want || got.JunkMerged != 1 {
		t.Errorf("junk %+v and %d merged, want %+v", got.Junk, got.JunkMerged, want)
	}
	if want := (Solved{Groups: 5, Right: 2, Wrong: 1, Review: 1, Left: 1}); got.Kinds[Changed] != want {
		t.Errorf("changed %+v, want %+v", got.Kinds[Changed], want)
	}
	if want := (Solved{Groups: 3, Right: 1, Wrong: 1, Left: 1}); got.Kinds[Version] != want {
		t.Errorf("versions %+v, want %+v", got.Kinds[Version], want)
	}
	if want := (Solved{Groups: 9, Right: 3, Wrong: 2, Review: 2, Left: 2}); got.Conflicts != want {
		t.Errorf("conflicts %+v, want %+v", got.Conflicts, want)
	}
	// Merged: two of group 1, two of 3 and 4, two junk, two versions, each to one. Gone: four.
	if got.After != len(c.Entries)-4-4 {
		t.Errorf("%d of %d are left", got.After, len(c.Entries))
	}
	wrong := whats(got)
	if want := "superseded what holds|merged despite a contradiction|merged 2 different things|forgotten what is good|superseded what holds, by something else|related as a version to something else"; strings.Join(wrong, "|") != want {
		t.Errorf("wrong %q, want %q", wrong, want)
	}
	if h := c.Holders(2, all); len(h) != 1 || h[0] != "m" {
		t.Errorf("what was forgotten is said by %q", h)
	}
}
