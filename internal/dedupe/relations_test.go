package dedupe

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/memory"
)

// subject names entities, and tags behind a slash: "py go / t1".
func subject(id, names string) Subject {
	entities, tags, _ := strings.Cut(names, "/")
	return Subject{ID: memory.ID(id), Entities: strings.Fields(entities), Tags: strings.Fields(tags)}
}

func discovered(t testing.TB, rules RelationRules, subjects ...Subject) []string {
	t.Helper()
	links, err := DiscoverRelations(t.Context(), subjects, rules)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, l := range links {
		out = append(out, fmt.Sprintf("%s-%s %.3f %.2f %s", subjects[l.A].ID, subjects[l.B].ID, l.Strength, l.Confidence, strings.Join(slices.Concat(l.Entities, l.Tags), ",")))
	}
	return out
}

func usualRules() RelationRules { return RelationRules{MinShared: 2, MinConfidence: 0.5, Most: 10} }

func TestDiscoverRelations(t *testing.T) {
	t.Parallel()
	kettle, gasket := subject("a", "Kettle Ann Leith / kitchen"), subject("b", "kettle ann / Kitchen repairs")
	tide := subject("c", "Leith tide / kitchen")
	want := []string{"a-b 0.617 0.60 Ann,Kettle,kitchen"}
	if got := discovered(t, usualRules(), kettle, gasket, tide); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if got := discovered(t, usualRules(), tide, gasket, kettle); len(got) != 1 || !strings.HasPrefix(got[0], "a-b") {
		t.Errorf("in another order it found %q", got)
	}
	for name, change := range map[string]func(one, other *Subject, r *RelationRules){
		"related already":             func(one, _ *Subject, _ *RelationRules) { one.Related = map[memory.ID]bool{"b": true} },
		"related already, other way":  func(_, other *Subject, _ *RelationRules) { other.Related = map[memory.ID]bool{"a": true} },
		"of another group":            func(one, _ *Subject, _ *RelationRules) { one.Group = "house" },
		"too few names in common":     func(_, _ *Subject, r *RelationRules) { r.MinShared = 3 },
		"not sure enough":             func(_, _ *Subject, r *RelationRules) { r.MinConfidence = 0.61 },
		"has as many as it may":       func(_, other *Subject, r *RelationRules) { r.Most = 1; other.Related = map[memory.ID]bool{"x": true} },
		"no tag in common, two names": func(one, _ *Subject, _ *RelationRules) { one.Tags = nil },
	} {
		one, other, rules := kettle, gasket, usualRules()
		change(&one, &other, &rules)
		if got := discovered(t, rules, one, other); len(got) > 0 {
			t.Errorf("%s: found %q", name, got)
		}
	}
}

// No order of the subjects changes what is found, no subject gets too many, and of a few
// all pairs are found that there are.
func TestDiscoverFindsEveryPairOfFew(t *testing.T) {
	t.Parallel()
	names := rapid.SliceOfN(rapid.SampledFrom(strings.Fields("ann bob kettle gasket leith oban tide")), 0, 6)
	rapid.Check(t, func(rt *rapid.T) {
		var subjects []Subject
		for i := range rapid.IntRange(0, 12).Draw(rt, "subjects") {
			subjects = append(subjects, Subject{ID: memory.ID(fmt.Sprintf("%02d", i)), Entities: names.Draw(rt, "entities"), Tags: names.Draw(rt, "tags")})
		}
		rules := RelationRules{MinShared: rapid.IntRange(1, 3).Draw(rt, "shared"), MinConfidence: rapid.Float64Range(0, 1).Draw(rt, "confidence"), Most: 20}
		links, err := DiscoverRelations(context.Background(), subjects, rules)
		if err != nil {
			rt.Fatal(err)
		}
		want := 0
		for i := range subjects {
			for j := range i {
				a, b := namesOf(&subjects[j]), namesOf(&subjects[i])
				shared, tags := both(a.entities, b.entities), both(a.tags, b.tags)
				if len(shared) >= rules.MinShared && RelationConfidence(len(shared), len(tags)) >= rules.MinConfidence {
					want++
				}
			}
		}
		if len(links) != want {
			rt.Fatalf("found %d links, want %d", len(links), want)
		}
		rules.Most = rapid.IntRange(1, 3).Draw(rt, "most")
		few, err := DiscoverRelations(context.Background(), subjects, rules)
		has := map[int]int{}
		for _, l := range few {
			if has[l.A], has[l.B] = has[l.A]+1, has[l.B]+1; max(has[l.A], has[l.B]) > rules.Most {
				rt.Fatalf("one has more than %d", rules.Most)
			}
			if l.Strength < 0 || l.Strength > 1 || l.Confidence < 0 || l.Confidence > 1 {
				rt.Fatalf("a link is %+v", l)
			}
		}
		if err != nil || len(links) > 0 && len(few) == 0 {
			rt.Fatalf("of %d found none with at most %d each, %v", len(links), rules.Most, err)
		}
	})
}

func TestDiscoverEndsWhenNobodyWaits(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := DiscoverRelations(ctx, []Subject{subject("a", "x")}, usualRules()); err == nil {
		t.Error("it went on")
	}
}

// manySubjects all name one person, each a thing of few and some of theirs alone.
func manySubjects(n int) []Subject {
	r := rand.New(rand.NewPCG(3, 4))
	var out []Subject
	for i := range n {
		out = append(out, Subject{ID: memory.ID(fmt.Sprintf("%08d", i)),
			Entities: []string{"Ann", fmt.Sprint("project ", r.IntN(n/20+1)), fmt.Sprint("thing ", i)}, Tags: []string{fmt.Sprint("t", r.IntN(30)), "work"}})
	}
	return out
}

// A name that all have costs each no more than the latest that have it: ten times the
// subjects are compared about ten times as often.
func BenchmarkDiscover(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		subjects := manySubjects(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if len(discovered(b, usualRules(), subjects...)) == 0 {
					b.Fatal("nothing is related")
				}
			}
		})
	}
}

func TestOneNameOfAllIsNotComparedWithAll(t *testing.T) {
	t.Parallel()
	subjects := manySubjects(3_000)
	d := discovery{rules: usualRules(), subjects: subjects, names: make([]named, len(subjects)), holders: make(map[string][]int), shared: make([]int, len(subjects))}
	for i := range subjects {
		d.enter(i)
	}
	most := 0
	for _, in := range d.holders {
		most = max(most, len(in))
	}
	if most != maxHolders || math.Abs(RelationConfidence(2, 1)-0.6) > 1e-9 {
		t.Errorf("a name leads to %d", most)
	}
}
