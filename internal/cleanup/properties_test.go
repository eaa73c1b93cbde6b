package cleanup

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/internal/cleanup/quality"
	"emberd/internal/dedupe/contradiction"
	"emberd/internal/text/analysis"
	"emberd/memory"
	"emberd/op"
)

// sayings are texts among which there are duplicates, conflicts, versions, platforms and junk.
func sayings() []string {
	out := []string{"asdf", "test", "ok thanks", "TODO fix this later", "something important", "The Leith gateway of the shop is deprecated",
		"The kettle leaks at the seam", "At the seam the kettle is leaking", "Kettle leaks at its seam", "the kettle never leaks at the seam",
		"The old copper kettle in the kitchen leaks at the seam", "The old copper kettle in the kitchen leaks at the seam, loudly",
		"On Windows the kettle keeps its settings in the profile folder", "On macOS the kettle keeps its settings in the library folder",
		"In Python 2.7 the print statement takes no parentheses", "In Python 3.12 the print statement takes parentheses"}
	for _, host := range []string{"ledger", "billing"} {
		for _, port := range []int{5432, 5433, 5434} {
			out = append(out, fmt.Sprintf("The %s database listens on port %d", host, port))
		}
	}
	return out
}

// world is what a plan is made from.
type world struct {
	entries []Entry
	like    Likeness
	scores  map[memory.ID]quality.Score
}

// anyWorld makes entries with what is alike among them, and much that is not. It says few
// things often, so that all that can meet does.
func anyWorld(t *testing.T, rt *rapid.T) world {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "world"), 1))
	w := world{scores: make(map[memory.ID]quality.Score)}
	families := [][]string{sayings()[:6], sayings()[6:12], sayings()[12:16], sayings()[16:19], sayings()}
	said := families[r.IntN(len(families))]
	n := 2 + r.IntN(14)
	for i := range n {
		e := Entry{ID: id(i), Text: said[r.IntN(len(said))], Manual: r.IntN(12) > 0, HasImplementation: r.IntN(8) == 0,
			Created: day(1).Add(time.Duration(r.IntN(6)) * 40 * time.Second), Origin: []string{memory.FromUser, memory.FromAgent, memory.FromTool}[r.IntN(3)]}
		e.Fixed = []string{"", "", "", "", "it is core"}[r.IntN(5)]
		e.Away = []string{"", "", "", "", "", "", "it is archived"}[r.IntN(7)]
		e.ChunkType = []string{"", "", "", "", "metadata"}[r.IntN(5)]
		e.DataOnly = e.Origin == memory.FromTool
		w.entries = append(w.entries, e)
		q := []float64{0.1, 0.2, 0.25, 0.35, 0.4, 0.6, 0.8, 0.9}[r.IntN(8)]
		w.scores[e.ID] = quality.Score{Floor: q, Overall: q, Reasons: []string{"incomplete"}}
	}
	w.like = alike(t, w.entries)
	for range r.IntN(4) {
		c := Cluster{Cohesion: []float64{0.7, 0.9}[r.IntN(2)]}
		for range r.IntN(8) {
			c.Members = append(c.Members, id(r.IntN(n+1))) // some are not there, some twice
		}
		w.like.Clusters = append(w.like.Clusters, c)
	}
	for range r.IntN(30) {
		w.like.Pairs = append(w.like.Pairs, Pair{A: id(r.IntN(n + 1)), B: id(r.IntN(n + 1)), Similarity: 0.7})
	}
	return w
}

// often runs a check on many worlds.
func often(t *testing.T, check func(rt *rapid.T, w *world)) {
	rapid.Check(t, func(rt *rapid.T) {
		for range 4 {
			w := anyWorld(t, rt)
			check(rt, &w)
		}
	})
}

// plan makes a plan of which every deletion is allowed if all are.
func (w *world) plan(all bool) Plan {
	p := DefaultPolicy()
	if all {
		p.Deletions = 1
	}
	return Make(analysis.New(), w.entries, w.like, w.scores, p)
}

// removed are the entries that a deletion takes away.
func removed(p *Plan) map[memory.ID]bool {
	out := make(map[memory.ID]bool)
	for _, a := range p.Actions {
		if a.Action == op.CleanupDelete {
			for _, id := range a.MemoryIDs {
				if id != a.Keep {
					out[id] = true
				}
			}
		}
	}
	return out
}

// Whatever a plan is made from, it keeps what must be kept.
func TestPlansAreSafe(t *testing.T) {
	t.Parallel()
	often(t, func(rt *rapid.T, w *world) {
		for _, all := range []bool{false, true} {
			p := w.plan(all)
			w.check(rt, &p)
		}
	})
}

func (w *world) check(t *rapid.T, p *Plan) {
	by := make(map[memory.ID]*Entry)
	manual := 0
	for i := range w.entries {
		by[w.entries[i].ID] = &w.entries[i]
		if w.entries[i].Manual {
			manual++
		}
	}
	changed, gone, after := make(map[memory.ID]string), removed(p), len(w.entries)
	change := func(id memory.ID, how string) {
		if was := changed[id]; was != "" {
			t.Fatalf("%s is in a %s and in a %s", id, was, how)
		}
		if by[id].Fixed != "" {
			t.Fatalf("%s is fixed, and in a %s", id, how)
		}
		changed[id] = how
	}
	next := make(map[memory.ID]memory.ID)
	for _, a := range p.Actions {
		for _, id := range a.MemoryIDs {
			if e := by[id]; e == nil || !e.Manual || e.Away != "" {
				t.Fatalf("a %s is about %s", a.Action, id)
			}
		}
		if a.Keep != "" && gone[a.Keep] {
			t.Fatalf("%s is kept and deleted", a.Keep)
		}
		switch a.Action {
		case op.CleanupDelete:
			for _, id := range a.MemoryIDs {
				if id != a.Keep {
					change(id, "deletion")
					if after--; by[id].HasImplementation {
						t.Fatalf("%s has an implementation and is deleted", id)
					}
				}
			}
		case op.CleanupMerge:
			after -= len(a.MemoryIDs) - 1
			w.checkMerge(t, &a, by)
			for _, id := range a.MemoryIDs {
				change(id, "merge")
			}
		case op.CleanupUpdate:
			change(a.MemoryIDs[0], "update")
		}
		for _, l := range a.Links {
			if gone[l.From] || gone[l.To] {
				t.Fatalf("a link leads between %s and %s, of which one is deleted", l.From, l.To)
			}
			if l.Kind == Supersedes {
				change(l.To, "supersession")
				if next[l.To] = l.From; by[l.From].DataOnly {
					t.Fatalf("%s of a tool supersedes %s", l.From, l.To)
				}
			}
		}
	}
	for id := range next {
		at := id
		for range len(next) + 1 {
			at = next[at]
		}
		if at != "" {
			t.Fatalf("%s supersedes itself in the end", id)
		}
	}
	if len(gone) > p.Deletions || p.After != after || p.Manual != manual || p.Resolved > p.Conflicts {
		t.Fatalf("%d are deleted, %d left of %d: %+v", len(gone), after, len(w.entries), p)
	}
}

func (w *world) checkMerge(t *rapid.T, a *Action, by map[memory.ID]*Entry) {
	analyzer := analysis.New()
	implementation := false
	for i, x := range a.MemoryIDs {
		implementation = implementation || by[x].HasImplementation
		for _, y := range a.MemoryIDs[:i] {
			if why := contradiction.Differ(analyzer, by[x].Text, by[y].Text); why != "" || by[x].ChunkType != by[y].ChunkType {
				t.Fatalf("%q and %q are merged: %s", by[x].Text, by[y].Text, why)
			}
		}
	}
	if len(a.MemoryIDs) < 2 || a.HasImplementation != implementation {
		t.Fatalf("the merge is %+v", a)
	}
}

// A plan does not depend on the order of anything.
func TestPlansAreStable(t *testing.T) {
	t.Parallel()
	often(t, func(rt *rapid.T, w *world) {
		want := w.plan(false)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		mix(r, w.entries)
		mix(r, w.like.Clusters)
		for i := range w.like.Clusters {
			w.like.Clusters[i].Members = slices.Clone(w.like.Clusters[i].Members)
			mix(r, w.like.Clusters[i].Members)
		}
		for i, p := range w.like.Pairs {
			if r.IntN(2) == 0 {
				w.like.Pairs[i] = Pair{A: p.B, B: p.A, Similarity: p.Similarity}
			}
		}
		mix(r, w.like.Pairs)
		if got := w.plan(false); !reflect.DeepEqual(got, want) {
			rt.Fatalf("the plan is\n%s\nand was\n%s", said(got), said(want))
		}
	})
}

func mix[T any](r *rand.Rand, all []T) {
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
}

// A model can only spare. With any scores that it may give, nothing is deleted that the rules
// alone would keep, at most as many as before are deleted at once, as many conflicts are found and
// resolved, and every entry that is not deleted is left or in one merge.
func TestNoModelMakesAPlanWorse(t *testing.T) {
	t.Parallel()
	often(t, func(rt *rapid.T, w *world) {
		rules, unlimited := w.plan(false), w.plan(true)
		condemned := removed(&unlimited)
		for _, id := range slices.Sorted(maps.Keys(w.scores)) {
			s := w.scores[id]
			s.Overall = math.Max(s.Floor-quality.MaxLowered, rapid.Float64Range(0, 1).Draw(rt, "model"))
			w.scores[id] = s
		}
		p := w.plan(false)
		w.check(rt, &p)
		for id := range removed(&p) {
			if !condemned[id] {
				rt.Fatalf("%s is deleted on the word of a model", id)
			}
		}
		if p.Deletions != rules.Deletions || p.Conflicts != rules.Conflicts || p.Resolved != rules.Resolved {
			rt.Fatalf("%+v with a model, %+v without", p, rules)
		}
	})
}
