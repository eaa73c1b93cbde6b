package ltm

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"emberd/internal/relevance"

	"pgregory.net/rapid"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

// TestRelevanceByHand has one note that holds the term, whose relevance is small
// enough to write down.
func TestRelevanceByHand(t *testing.T) {
	x := open(t)
	put(t, x, Doc{Path: "x.md", Sections: []Section{{Line: 1, Text: "red red fox"}}},
		Doc{Path: "y.md", Sections: []Section{{Line: 1, Text: "blue"}}})
	// Both notes have one passage; lengths 3 and 1 make an average of 2.
	idf := math.Log1p((2 - 1 + 0.5) / (1 + 0.5))
	s := 2 / (1 - relevance.NoteBodyB + relevance.NoteBodyB*3.0/2)
	want := idf * ((1-relevance.NotePassageShare)*s/(relevance.NoteK1+s) + relevance.NotePassageShare*s/(relevance.NotePassageK1+s))
	r := search(t, x, words("red"))
	if len(r.Hits) != 1 || !near(r.Hits[0].Relevance, want) {
		t.Errorf("hits %+v, want one of relevance %v", r.Hits, want)
	}
}

// TestStatisticsFromOutside: with the numbers of a larger collection a term counts as
// that collection says.
func TestStatisticsFromOutside(t *testing.T) {
	x := open(t)
	put(t, x, named("a", "red fox"), named("b", "blue fox"))
	q := Query{Terms: []Term{{Text: "red", Weight: 1, DF: 1}, {Text: "blue", Weight: 1, DF: 900}}, Docs: 1000, Limit: 2, Explain: true}
	r := search(t, x, q)
	if got, want := names(r), "a b"; got != want {
		t.Errorf("found %q, want %q: red is rare outside", got, want)
	}
	for _, h := range r.Hits {
		for _, s := range h.Scores {
			if want := relevance.IDF(1000, s.DF); s.Field != Name && s.IDF != want {
				t.Errorf("%s counts with idf %v, want %v", s.Term, s.IDF, want)
			}
		}
	}
}

func TestWeakTermsRankAndDoNotFind(t *testing.T) {
	x := open(t)
	put(t, x, named("a", "fox"), named("b", "before the fox"), named("c", "before"), named("d", "none"), named("e", "none"))
	q := Query{Terms: []Term{{Text: "befor", Weight: WeakWeight, Weak: true}, {Text: "fox", Weight: 1}}, Limit: 10, Explain: true}
	r := search(t, x, q)
	if got := names(r); r.Total != 2 || !slices.Equal(r.Terms, []string{"fox"}) {
		t.Errorf("found %q, %d in all, for the terms %q; want the two with a fox", got, r.Total, r.Terms)
	}
	for _, h := range r.Hits {
		if got, want := slices.ContainsFunc(h.Scores, func(s Score) bool { return s.Term == "befor" }), h.Path == "b.md"; got != want {
			t.Errorf("the weak term counts in %s: %v, want %v", h.Path, got, want)
		}
	}
	if got := search(t, x, Query{Terms: q.Terms[:1], Limit: 10}).Total; got != 0 {
		t.Errorf("the weak term alone finds %d notes, want none", got)
	}
}

// corpus draws notes over a small vocabulary, so that they share words.
func corpus(t *rapid.T) []Doc {
	vocabulary := []string{"red", "blue", "fox", "river", "stone", "cloud"}
	word := rapid.SampledFrom(vocabulary)
	text := func(label string, most int) string {
		return strings.Join(rapid.SliceOfN(word, 0, most).Draw(t, label), " ")
	}
	n := rapid.IntRange(1, 8).Draw(t, "notes")
	docs := make([]Doc, n)
	for i := range docs {
		d := Doc{Path: fmt.Sprintf("n%d.md", i), Title: text("title", 3), Tags: []string{text("tag", 1)}, Aliases: []string{text("alias", 2)}}
		d.Properties = []Property{{"key", text("property", 2)}}
		for range rapid.IntRange(0, 20).Draw(t, "sections") {
			d.Sections = append(d.Sections, Section{HeadingPath: []string{text("heading", 2)}, Line: 1, Text: text("body", 12)})
		}
		d.Cursor = cursorOf(fmt.Sprint(d))
		docs[i] = d
	}
	return docs
}

// TestRelevanceEqualsTheFormula compares every relevance with one worked out from the
// notes by the formula of the package documentation, through any history of updates.
func TestRelevanceEqualsTheFormula(t *testing.T) {
	x := open(t)
	rapid.Check(t, func(t *rapid.T) {
		remove(t, x, slices.Collect(maps.Keys(maps.Collect(x.Known())))...)
		live := map[string]Doc{}
		for range rapid.IntRange(1, 3).Draw(t, "updates") {
			docs := corpus(t)
			gone := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"n0.md", "n1.md", "n2.md"}), rapid.ID[string]).Draw(t, "gone")
			for _, path := range gone {
				delete(live, path)
			}
			for _, d := range docs {
				live[d.Path] = d
			}
			if err := x.Update(t.Context(), docs, gone); err != nil {
				t.Fatal(err)
			}
		}
		query := words(rapid.SampledFrom([]string{"red", "red fox", "blue river stone", "cloud cloud fox"}).Draw(t, "query"))
		query.Limit, query.Explain = 100, true
		r, err := x.Search(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		want := byFormula(x, live, query)
		if len(r.Hits) != len(want) {
			t.Fatalf("%d hits, want %d", len(r.Hits), len(want))
		}
		for _, h := range r.Hits {
			if !near(h.Relevance, want[h.Path]) {
				t.Errorf("relevance of %s is %v, want %v", h.Path, h.Relevance, want[h.Path])
			}
			sum := 0.0
			for _, s := range h.Scores {
				sum += s.Score
			}
			if !near(sum, h.Relevance) {
				t.Errorf("scores of %s sum up to %v, relevance is %v", h.Path, sum, h.Relevance)
			}
		}
		if !slices.IsSortedFunc(r.Hits, func(a, b Hit) int { return cmp.Compare(b.Relevance, a.Relevance) }) {
			t.Errorf("hits are not in the order of their relevance")
		}
		few := query
		few.Limit = rapid.IntRange(1, 4).Draw(t, "limit")
		if got, want := names(search(t, x, few)), names(Result{Hits: r.Hits[:min(few.Limit, len(r.Hits))]}); got != want {
			t.Errorf("the %d best are %q, want the first of all, %q", few.Limit, got, want)
		}
		compared, err := x.Check(t.Context(), 0, func(path string) (Doc, bool) { d, ok := live[path]; return d, ok })
		if err != nil || compared != len(live) {
			t.Errorf("Check compares %d notes, %v; want all %d to be right", compared, err, len(live))
		}
	})
}

// byFormula works relevance out from the analyzed notes, passage by passage.
func byFormula(x *Index, live map[string]Doc, query Query) map[string]float64 {
	var table table
	notes := map[string]analyzedNote{}
	for path, d := range live {
		a := analyze(x.analyzer, false, &d)
		notes[path] = a
		table.tally(&a.record.note, 1)
	}
	norms := table.norms()
	weights := map[string]float64{}
	for _, term := range query.Terms {
		weights[term.Text] += term.Weight
	}
	full := map[string]float64{}
	total := 0.0
	for _, term := range slices.Sorted(maps.Keys(weights)) {
		df := 0
		for _, n := range notes {
			if slices.ContainsFunc(n.parts, func(p map[string]occurrence) bool { return p[term] != occurrence{} }) {
				df++
			}
		}
		full[term] = weights[term] * relevance.IDF(len(live), df)
		total += full[term]
	}
	relevance := map[string]float64{}
	for path, n := range notes {
		if r := relevanceOf(&n, norms, full, total); r > 0 {
			relevance[path] = r
		}
	}
	return relevance
}

func relevanceOf(n *analyzedNote, norms norms, full map[string]float64, total float64) float64 {
	note := &n.record.note
	score, holds := 0.0, false
	passages := make([]float64, len(note.passages))
	for term, full := range full {
		sum := inNote{occurrence: n.parts[0][term]}
		size := note.size()
		head := norms.head(&size, sum)
		sum.body = 0
		for i, terms := range n.parts {
			o := terms[term]
			holds = holds || o != occurrence{}
			sum.body, sum.headings = sum.body+o.body, max(sum.headings, o.headings)
			for bit := range min(partPassages, len(passages)-i*partPassages) {
				tf, above := o.at(bit, o.perPassage())
				passages[i*partPassages+bit] += full * norms.part(head, note.passages[i*partPassages+bit], tf, above).value(relevance.NotePassageK1)
			}
		}
		score += (1 - relevance.NotePassageShare) * full * norms.whole(head, uint32(note.bodyLen), sum).value(relevance.NoteK1)
	}
	if !holds {
		return 0
	}
	likest := 0.0
	for _, name := range note.names {
		matched, terms := 0.0, 0.0
		for term, full := range full {
			if slices.Contains(name, hashOf(term)) {
				matched, terms = matched+full, terms+1
			}
		}
		likest = max(likest, matched*matched/total*terms/float64(len(name)))
	}
	return score + relevance.NotePassageShare*slices.Max(passages) + relevance.NoteNameShare*likest
}
