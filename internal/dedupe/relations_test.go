package dedupe

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/internal/text/analysis"
	"emberd/memory"
)

// subject names entities, and tags behind a slash: "py go / t1".
func subject(id, names string) Subject {
	entities, tags, _ := strings.Cut(names, "/")
	return Subject{ID: memory.ID(id), Entities: strings.Fields(entities), Tags: strings.Fields(tags)}
}

func discover(t testing.TB, rules RelationRules, vectors *Vectors, subjects ...Subject) []Link {
	t.Helper()
	links, err := DiscoverRelations(t.Context(), analysis.New(), subjects, vectors, rules)
	if err != nil {
		t.Fatal(err)
	}
	return links
}

func discovered(t testing.TB, rules RelationRules, subjects ...Subject) []string {
	t.Helper()
	var out []string
	for _, l := range discover(t, rules, nil, subjects...) {
		out = append(out, fmt.Sprintf("%s-%s %.3f %.3f %s", subjects[l.A].ID, subjects[l.B].ID, l.Strength, l.Jaccard,
			strings.Join(slices.Concat(l.Entities, l.Tags, l.Words), ",")))
	}
	return out
}

func usualRules() RelationRules {
	return RelationRules{MinShared: 2, MinConfidence: 0.5, MinStrength: MinRelationStrength, Most: 10}
}

// Names that are not in the texts relate by CortexGraph's rule.
func TestDiscoverRelations(t *testing.T) {
	t.Parallel()
	kettle, gasket := subject("a", "Kettle Ann Leith / kitchen"), subject("b", "kettle ann / Kitchen repairs")
	tide := subject("c", "Leith tide / kitchen")
	want := []string{"a-b 0.616 0.617 Ann,Kettle,kitchen"}
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
		"not sure enough":             func(_, _ *Subject, r *RelationRules) { r.MinConfidence = 0.95 },
		"not strong enough":           func(_, _ *Subject, r *RelationRules) { r.MinStrength = 0.7 },
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

// conversation is n turns of two people who are named in each, and who talk about something else each time.
func conversation(n int) []Subject {
	words := strings.Fields("amber basil cedar delta ember fjord gable heron inlet juniper kelp lantern maple nettle otter pebble quartz reed sorrel thistle")
	var out []Subject
	for i := range n {
		out = append(out, Subject{ID: memory.ID(fmt.Sprintf("%04d", i)), Entities: []string{"Caroline", "Melanie"},
			Tags: []string{"melanie", "chat"}, Text: fmt.Sprintf("Melanie: Thanks, Caroline! The %s of number %d was great, it really means a lot", words[i%len(words)], i)})
	}
	return out
}

// Two memories of one speaker to another, with the same tags, are not related by that: by CortexGraph's
// formula their strength is 1.
func TestASpeakerOfManyMemoriesRelatesNothing(t *testing.T) {
	t.Parallel()
	turns := conversation(20)
	for i := range turns {
		turns[i].Text = strings.Replace(turns[i].Text, "number ", fmt.Sprintf("part%d number ", i), 1)
	}
	if got := discovered(t, usualRules(), turns...); len(got) > 0 {
		t.Errorf("found %q", got[:min(3, len(got))])
	}
}

// What few memories say relates those that say it, with entities and without.
func TestRareWordsRelate(t *testing.T) {
	t.Parallel()
	for _, named := range []bool{true, false} {
		turns := conversation(60)
		turns[7].Text = "Melanie: Caroline, the glaze of my pottery bowl cracked in the kiln on Tuesday"
		turns[41].Text = "Melanie: Caroline, the pottery class taught me why a glaze cracks in the kiln"
		if !named {
			for i := range turns {
				turns[i].Entities, turns[i].Tags = nil, nil
			}
		}
		links := slices.DeleteFunc(discover(t, usualRules(), nil, turns...), func(l Link) bool { return l.A != 7 })
		if len(links) != 1 || links[0].B != 41 || !slices.Contains(links[0].Words, "pottery") || !slices.Contains(links[0].Words, "kiln") {
			t.Errorf("named %v: found %+v", named, links)
		}
		if l := links[0]; l.Strength < MinRelationStrength || l.Strength > 0.95 || l.Confidence < 0.8 {
			t.Errorf("named %v: its strength is %.2f and the confidence %.2f", named, l.Strength, l.Confidence)
		}
	}
}

// Near vectors raise the strength of what shares rare words, and relate nothing alone.
func TestVectorsOfRelations(t *testing.T) {
	t.Parallel()
	texts := []string{"the glaze of the bowl cracked in the kiln", "a kiln too hot cracks every glaze", "pottery breaks when fired"}
	var subjects []Subject
	for i, text := range texts {
		subjects = append(subjects, Subject{ID: memory.ID(fmt.Sprint(i)), Text: text})
	}
	rules := usualRules()
	rules.MinStrength = 0.1
	far := discover(t, rules, nil, subjects...)
	same := &Vectors{Of: func(int) ([]float32, bool) { return []float32{1, 0}, true }, Similarity: func(x float64) float64 { return x }}
	near := discover(t, rules, same, subjects...)
	if len(far) != 1 || len(near) != 1 || near[0].Strength <= far[0].Strength {
		t.Errorf("by words %+v, with vectors %+v", far, near)
	}
}

// No order of the subjects changes what is found, no subject gets too many, and of a few
// all pairs are found that there are.
func TestDiscoverFindsEveryPairOfFew(t *testing.T) {
	t.Parallel()
	names := rapid.SliceOfN(rapid.SampledFrom(strings.Fields("ann bob kettle gasket leith oban tide")), 0, 6)
	a := analysis.New()
	rapid.Check(t, func(rt *rapid.T) {
		var subjects []Subject
		for i := range rapid.IntRange(0, 12).Draw(rt, "subjects") {
			subjects = append(subjects, Subject{ID: memory.ID(fmt.Sprintf("%02d", i)), Entities: names.Draw(rt, "entities"), Tags: names.Draw(rt, "tags")})
		}
		rules := RelationRules{MinShared: rapid.IntRange(1, 3).Draw(rt, "shared"), MinConfidence: rapid.Float64Range(0, 1).Draw(rt, "confidence"), Most: 20}
		links, err := DiscoverRelations(context.Background(), a, subjects, nil, rules)
		if err != nil {
			rt.Fatal(err)
		}
		want := 0
		for i := range subjects {
			for j := range i {
				shared := both(byKey(subjects[j].Entities), byKey(subjects[i].Entities))
				tags := both(byKey(subjects[j].Tags), byKey(subjects[i].Tags))
				if len(shared) >= rules.MinShared && RelationConfidence(len(shared), len(tags)) >= rules.MinConfidence {
					want++
				}
			}
		}
		if len(links) != want {
			rt.Fatalf("found %d links, want %d", len(links), want)
		}
		rules.Most = rapid.IntRange(1, 3).Draw(rt, "most")
		few, err := DiscoverRelations(context.Background(), a, subjects, nil, rules)
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
	if _, err := DiscoverRelations(ctx, analysis.New(), []Subject{subject("a", "x")}, nil, usualRules()); err == nil {
		t.Error("it went on")
	}
}

// manySubjects all name one person, each a thing of few and some of theirs alone, in texts of 15 words.
func manySubjects(n int) []Subject {
	r := rand.New(rand.NewPCG(3, 4))
	var out []Subject
	for i := range n {
		project, thing := fmt.Sprint("project", r.IntN(n/20+1)), fmt.Sprint("thing", i)
		words := []string{"Ann", project, thing}
		for range 12 {
			words = append(words, fmt.Sprint("word", int(float64(n)*r.ExpFloat64()/30)))
		}
		out = append(out, Subject{ID: memory.ID(fmt.Sprintf("%08d", i)), Text: strings.Join(words, " "),
			Entities: []string{"Ann", project, thing}, Tags: []string{fmt.Sprint("t", r.IntN(30)), "work"}})
	}
	return out
}

// A name or word that all have costs each no more than the latest that have it: ten times the
// subjects are compared about ten times as often.
func BenchmarkDiscover(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		subjects := manySubjects(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				discover(b, usualRules(), nil, subjects...)
			}
		})
	}
}

func TestOneNameOfAllIsNotComparedWithAll(t *testing.T) {
	t.Parallel()
	subjects := manySubjects(3_000)
	rules := usualRules()
	rules.MinStrength = 0
	d, err := newDiscovery(t.Context(), analysis.New(), subjects, subjectsByGroup(subjects)[0], nil, rules)
	if err != nil {
		t.Fatal(err)
	}
	for n := range subjects {
		d.enter(n)
	}
	most := 0
	for _, in := range d.holders {
		most = max(most, len(in))
	}
	if most != maxHolders {
		t.Errorf("a name leads to %d", most)
	}
}
