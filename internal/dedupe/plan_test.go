package dedupe_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/internal/dedupe"
	"emberd/memory"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// part makes a part of relations such as "a causes x 0.4"; those that start elsewhere lead
// to it.
func part(id memory.ID, relations ...string) dedupe.Part {
	p := dedupe.Part{Memory: memory.Memory{ID: id, Content: "the kettle leaks", CreatedAt: noon, Strength: 1,
		Confidence: 0.5}}
	for _, text := range relations {
		var from, typ, to string
		var strength float64
		if _, err := fmt.Sscan(text, &from, &typ, &to, &strength); err != nil {
			panic(err)
		}
		r := memory.Relation{From: memory.ID(from), To: memory.ID(to), Type: typ, Strength: strength}
		if typ == memory.KindSupersedes {
			r.Type, r.Kind = memory.Related, typ
		}
		if r.From == id {
			p.Outgoing = append(p.Outgoing, r)
		} else {
			p.Incoming = append(p.Incoming, r)
		}
	}
	return p
}

// planned describes a plan: its relations, then what it stands for.
func planned(t *testing.T, parts []dedupe.Part, rules dedupe.Rules) string {
	t.Helper()
	rules.Now = noon
	p, err := dedupe.PlanMerge(parts, rules)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range p.Relations {
		if r.ID != memory.RelationID(r.From, r.To, r.Type, r.Kind) {
			t.Errorf("relation %+v has the ID of another", r)
		}
		out = append(out, fmt.Sprintf("%s-%s/%s-%s %g", r.From, r.Type, r.Kind, r.To, r.Strength))
	}
	slices.Sort(out)
	return fmt.Sprintf("%s gone %v superseded %v merged %v others %v", strings.Join(out, ", "), p.Gone, p.Superseded,
		p.Merged, p.Others())
}

func TestPlanMergeCarriesRelations(t *testing.T) {
	t.Parallel()
	a := part("a", "a causes x 0.4", "y supports a 0.3", "a related b 0.9", "a supersedes o 1",
		"a consolidated_from p 1", "m consolidated_from a 1", "n supersedes a 1")
	b := part("b", "b causes x 0.7", "y supports b 0.2", "a related b 0.9", "b causes k 0.1")
	for name, c := range map[string]struct {
		parts []dedupe.Part
		rules dedupe.Rules
		want  string
	}{
		"a new memory of archived parts": {[]dedupe.Part{a, b}, dedupe.Rules{Into: "w"},
			"w-causes/-k 0.1, w-causes/-x 0.7, w-consolidated_from/-a 1, w-consolidated_from/-b 1, y-supports/-w 0.3 " +
				"gone [a b] superseded [] merged [] others [y]"},
		"a new memory of parts in the trash": {[]dedupe.Part{a, b}, dedupe.Rules{Into: "w", Trash: true},
			"w-causes/-k 0.1, w-causes/-x 0.7, w-consolidated_from/-p 1, w-related/supersedes-o 1, y-supports/-w 0.3 " +
				"gone [a b] superseded [o] merged [p] others [o p y]"},
		"the second remains": {[]dedupe.Part{a, b}, dedupe.Rules{Into: "b", Trash: true},
			"b-causes/-x 0.4, b-consolidated_from/-p 1, b-related/supersedes-o 1, y-supports/-b 0.3 gone [a] " +
				"superseded [o] merged [p] others [o p y]"},
	} {
		if got := planned(t, c.parts, c.rules); got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
}

func TestPlanMergeKeepsOneOfTwo(t *testing.T) {
	t.Parallel()
	kept, other := part("k"), part("o")
	kept.Content, kept.AccessCount, kept.Aliases = "the kettle leaks at the seam", 2, []string{"K-1"}
	other.Confidence, other.AccessCount, other.Aliases, other.LastAccessed = 0.9, 3, []string{"K-1", "O-1"}, noon
	other.ConsolidatedFrom, other.Tags = []memory.ID{"z", "a"}, []string{"kitchen"}
	p, err := dedupe.PlanMerge([]dedupe.Part{kept, other}, dedupe.Rules{Into: "k", Trash: true, Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	m := p.Memory
	if p.New || m.Content != kept.Content || len(m.Tags) > 0 || m.Confidence != 0.9 || m.AccessCount != 5 ||
		!m.LastAccessed.Equal(noon) || !m.ConsolidatedAt.Equal(noon) {
		t.Errorf("kept %+v", m)
	}
	if got := fmt.Sprint(m.ConsolidatedFrom, m.Aliases, p.Sources()); got != "[a o z] [K-1 O-1] []" {
		t.Errorf("it is of %s", got)
	}
}

func TestPlanMergeKeepsUnknownFields(t *testing.T) {
	t.Parallel()
	raw := func(pairs ...string) map[string]json.RawMessage {
		out := make(map[string]json.RawMessage)
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i]] = json.RawMessage(pairs[i+1])
		}
		return out
	}
	for name, c := range map[string]struct {
		old, young, oldMeta, youngMeta map[string]json.RawMessage
		want                           string
	}{
		"the oldest value": {raw("file_path", `"a"`), raw("file_path", `"b"`, "line", `4`), nil, nil,
			`map[file_path:"a" line:4] map[]`},
		"implemented, beside meta": {raw("has_implementation", "true"), raw("has_implementation", "false"), nil,
			raw("x", "1"), `map[has_implementation:true] map[x:1]`},
		"implemented, in meta": {nil, nil, raw("has_implementation", "true"), raw("has_implementation", "false"),
			`map[] map[has_implementation:true]`},
		"implemented nowhere": {nil, raw("has_implementation", "false"), nil, nil,
			`map[has_implementation:false] map[]`},
	} {
		a, b := part("a"), part("b")
		a.Unknown, b.Unknown, a.Meta, b.Meta = c.old, c.young, c.oldMeta, c.youngMeta
		b.CreatedAt = noon.Add(time.Hour)
		p, err := dedupe.PlanMerge([]dedupe.Part{b, a}, dedupe.Rules{Into: "w"})
		if got := fmt.Sprintf("%s %s", p.Unknown, p.Memory.Meta); err != nil || got != c.want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, c.want)
		}
	}
}

// Every relation of a plan is one that a part had, moved to the memory that remains, or its
// source; none has a part that goes at the other end; the order of the parts changes none.
func TestPlanMergeMovesEveryRelation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		ids := []memory.ID{"a", "b", "c"}
		end := rapid.SampledFrom([]string{"a", "b", "c", "x", "y"})
		typ := rapid.SampledFrom([]string{memory.Related, memory.Causes, memory.Supports})
		parts := []dedupe.Part{part("a"), part("b"), part("c")}
		moved := make(map[string]bool)
		rules := dedupe.Rules{Into: rapid.SampledFrom([]memory.ID{"a", "w"}).Draw(rt, "into"), Trash: true, Now: noon}
		gone := func(id memory.ID) bool { return slices.Contains(ids, id) && id != rules.Into }
		for range rapid.IntRange(0, 12).Draw(rt, "relations") {
			r := memory.Relation{From: memory.ID(end.Draw(rt, "from")), To: memory.ID(end.Draw(rt, "to")),
				Type: typ.Draw(rt, "type"), Strength: rapid.Float64Range(0, 1).Draw(rt, "strength")}
			for i, id := range ids {
				switch id {
				case r.From:
					parts[i].Outgoing = append(parts[i].Outgoing, r)
				case r.To:
					parts[i].Incoming = append(parts[i].Incoming, r)
				}
			}
			within := func(id memory.ID) bool { return gone(id) || id == rules.Into }
			switch {
			case gone(r.From) && !within(r.To):
				moved[memory.RelationID(rules.Into, r.To, r.Type, "")] = true
			case gone(r.To) && !within(r.From):
				moved[memory.RelationID(r.From, rules.Into, r.Type, "")] = true
			}
		}
		p, err := dedupe.PlanMerge(parts, rules)
		if err != nil {
			rt.Fatal(err)
		}
		for _, r := range p.Relations {
			if !moved[r.ID] || r.From != rules.Into && r.To != rules.Into || gone(r.From) || gone(r.To) {
				rt.Fatalf("relation %+v", r)
			}
			delete(moved, r.ID)
		}
		if len(moved) > 0 {
			rt.Fatalf("%d relations are lost", len(moved))
		}
		slices.Reverse(parts)
		if again, err := dedupe.PlanMerge(parts, rules); err != nil || len(again.Relations) != len(p.Relations) {
			rt.Fatalf("in another order there are %d relations, %v, not %d", len(again.Relations), err,
				len(p.Relations))
		} else {
			for i := range again.Relations {
				if again.Relations[i].ID != p.Relations[i].ID ||
					again.Relations[i].Strength != p.Relations[i].Strength {
					rt.Fatalf("in another order it is %+v, not %+v", again.Relations[i], p.Relations[i])
				}
			}
		}
	})
}
