package engine_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/internal/dedupe"
	"emberd/internal/dedupe/similarity"
	"emberd/internal/text/analysis"
	"emberd/memory"
	"emberd/op"
)

// behaviour is a case of CortexGraph's behaviour, and what the function here does.
type behaviour struct {
	name      string
	got, want any
}

func (b behaviour) ok() bool {
	x, isNumber := b.got.(float64)
	y, _ := b.want.(float64)
	return b.got == b.want || isNumber && math.Abs(x-y) <= 1e-5
}

// Cases C63 to C77 of CortexGraph's behaviour: texts, consolidation and relations.
func TestConsolidationCasesOfCortexGraph(t *testing.T) {
	t.Parallel()
	for _, c := range slices.Concat(textCases(t), mergeCases(t), relationCases(t), relateCases(t)) {
		if !c.ok() {
			t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
		}
	}
}

func textCases(t *testing.T) []behaviour {
	cosine := func(a, b []float32) float64 {
		x, err := similarity.Cosine(a, b)
		ok(t, err)
		return x
	}
	_, unequal := similarity.Cosine([]float32{1, 0}, []float32{1})
	return []behaviour{
		{"C63 Jaccard of two texts", similarity.TextSimilarity("Python is great", "Python is great for programming"), 0.5},
		{"C64 a word of a text", similarity.TextSimilarity("deadline", "Project deadline is Dec 15"), 1.0 / 3},
		{"C65 short words alone", similarity.TextSimilarity("a b", "a b"), 0.0},
		{"C66 cosine", cosine([]float32{1, 0}, []float32{1, 1}), 0.70711},
		{"C66 of unequal lengths", unequal != nil, true},
		{"C66 of a zero vector", cosine([]float32{0, 0}, []float32{1, 1}), 0.0},
		{"C67 truncated", similarity.Truncate("hello world", 6), "hello..."},
		{"C67 length 0", similarity.Truncate("hello world", 0), "hello world"},
	}
}

// mergedOf is the memory that is made of others.
func mergedOf(t *testing.T, cohesion float64, members ...memory.Memory) memory.Memory {
	t.Helper()
	plan, err := planOf(cohesion, members...)
	ok(t, err)
	return plan.Memory
}

func planOf(cohesion float64, members ...memory.Memory) (*dedupe.Plan, error) {
	var parts []dedupe.Part
	for _, m := range members {
		parts = append(parts, dedupe.Part{Memory: m})
	}
	return dedupe.PlanMerge(parts, dedupe.Rules{Into: "new", Cohesion: cohesion})
}

func mergeCases(t *testing.T) []behaviour {
	at := func(hour int) time.Time { return time.Date(2026, 11, 1, hour, 0, 0, 0, time.UTC) }
	one := memory.Memory{ID: "a", Content: "tea", UseCount: 3, CreatedAt: at(2), LastUsed: at(5), Strength: 1}
	two := memory.Memory{ID: "b", Content: "green tea", UseCount: 5, CreatedAt: at(1), LastUsed: at(4), Strength: 1}
	three := memory.Memory{ID: "c", Content: "Tea", UseCount: 2, CreatedAt: at(3), LastUsed: at(6), Strength: 1}
	m := mergedOf(t, 1, one, two, three)
	_, alone := planOf(1, one)
	twelve := slices.Repeat([]float64{1}, 12)
	return []behaviour{
		{"C68 one holds the others", dedupe.Content([]string{"Python is great", "Python is great for programming", "python is GREAT"}), "Python is great for programming"},
		{"C69 different texts", dedupe.Content([]string{"bb one", "aa two longer", "bb one"}), "aa two longer\n\nbb one"},
		{"C70 strength", dedupe.Strength([]float64{1, 1.5, 0.8}, 0.9), 1.77},
		{"C70 less cohesive", dedupe.Strength([]float64{1, 1.5, 0.8}, 0.5), 1.65},
		{"C71 two", dedupe.Strength([]float64{1, 1}, 0.75), 1.15},
		{"C71 twelve", dedupe.Strength(twelve, 0.9), 1.5},
		{"C71 strong ones", dedupe.Strength([]float64{1.9, 1}, 0.8), 2.0},
		{"C72 uses", m.UseCount, int64(10)},
		{"C72 created", m.CreatedAt.Equal(at(1)), true},
		{"C72 last used", m.LastUsed.Equal(at(6)), true},
		{"C72 consolidated_from", fmt.Sprint(m.ConsolidatedFrom), "[b a c]"},
		{"C73 one memory", memory.CodeOf(alone), memory.Invalid},
	}
}

// nameSet is a set of names.
func nameSet(s string) map[string]bool {
	set := make(map[string]bool)
	for name := range strings.FieldsSeq(s) {
		set[name] = true
	}
	return set
}

func shared(a, b map[string]bool) (n int) {
	for name := range a {
		if b[name] {
			n++
		}
	}
	return n
}

func relationCases(t *testing.T) []behaviour {
	var cases []behaviour
	for _, c := range []struct {
		name                         string
		entities, others, tags, more string
		strength, confidence         float64
	}{
		{"C74", "py go", "py", "t1 t2", "t1", 0.5, 0.4},
		{"C75", "py go", "py go rs ts", "t1", "t2", 0.35, 0.4},
		{"C76", "py", "py go rs ts", "", "", 0.175, 0.2},
	} {
		a, b, s, u := nameSet(c.entities), nameSet(c.others), nameSet(c.tags), nameSet(c.more)
		cases = append(cases, behaviour{c.name + " strength", dedupe.RelationStrength(a, b, s, u), c.strength},
			behaviour{c.name + " confidence", dedupe.RelationConfidence(shared(a, b), shared(s, u)), c.confidence})
	}
	few := []dedupe.Subject{{ID: "a", Entities: []string{"py"}}, {ID: "b", Entities: strings.Fields("py go rs ts")}}
	links, _ := dedupe.DiscoverRelations(t.Context(), analysis.New(), few, nil, dedupe.RelationRules{MinShared: 1, MinConfidence: 0.3, Most: 10})
	return append(cases, behaviour{"C76 below 0.3 no relation", len(links), 0})
}

func relateCases(t *testing.T) []behaviour {
	e, _ := newEngine(t)
	a, b := save(t, e, "anchor"), save(t, e, "boat")
	there := do(t, e, op.Relate, relating(a, b, memory.Related)).Relation
	again := refused(t, e, op.Relate, relating(a, b, memory.Related))
	other := do(t, e, op.Relate, relating(a, b, memory.Supports)).Relation
	nobody := refused(t, e, op.Relate, &op.RelateRequest{From: string(a.ID), To: "0192f3a1-b2c3-7000-8000-000000000000", Type: memory.Causes})
	cases := []behaviour{
		{"C77 a duplicate", again.Code, memory.Conflict},
		{"C77 names the one that is there", again.Current, there.ID},
		{"C77 another type", other.Type, memory.Supports},
		{"C77 a missing end", nobody.Code, memory.NotFound},
	}
	for _, strength := range []float64{-0.1, 1.1} {
		err := refused(t, e, op.Relate, &op.RelateRequest{From: string(a.ID), To: string(b.ID), Type: memory.Causes, Strength: &strength})
		cases = append(cases, behaviour{fmt.Sprint("C77 strength ", strength), err.Code, memory.Invalid})
	}
	return cases
}
