package engine_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/engine/search"
	"emberd/op"
)

// workshop is an engine with vectors whose memories and notes tell of cars, doctors and
// money in several words each.
func workshop(t testing.TB) (*engine.Engine, *house) {
	t.Helper()
	h := withThesaurus(t, vaultHouse(t, map[string]string{
		"Garage.md":             "# Garage\n\n" + strings.Repeat("A place for tools and wood of every kind. ", 60) + "\n\n## Inside\n\nThe vehicle stands here over winter.\n",
		"Private/Health.md":     "---\ntags: [health]\n---\nThe physician called about the kid.\n",
		"Journal/2024-05-03.md": "Paid the medic in cash.\n",
		"Tools.md":              "Hammers and nails.\n",
	}))
	e := h.following(t)
	for _, m := range []struct {
		text string
		tags []string
	}{
		{"the automobile needs new tyres", []string{"wheels"}}, {"funds for the roof are on the other account", nil},
		{"a rapid physician saved the day", []string{"health"}}, {"hammers are in the drawer", nil},
	} {
		save(t, e, m.text, m.tags...)
	}
	covered(t, e)
	return e, h
}

// names are the texts of memories and the paths of notes.
func namesOf(hits []op.Hit) (names []string) {
	for _, h := range hits {
		if h.Tier == op.TierNote {
			names = append(names, h.Note.Path)
		} else {
			names = append(names, h.Content)
		}
	}
	return names
}

func TestWhatMeansTheSameIsFound(t *testing.T) {
	t.Parallel()
	e, _ := workshop(t)
	res := do(t, e, op.Search, &op.SearchRequest{Query: "car", Explain: true})
	if got, want := namesOf(res.Hits), []string{"the automobile needs new tyres", "Garage.md"}; !slices.Equal(got, want) {
		t.Fatalf("found %q, want %q: no word of it, and what it means", got, want)
	}
	if m := res.Meaning; m == nil || m.Weight != 1 || m.Without != "" || m.Covered != m.Total {
		t.Errorf("the answer says of vectors %+v", m)
	}
	note := res.Hits[1]
	if note.Note.Line != 5 || !strings.Contains(note.Snippet.Text, "vehicle stands here") || len(note.Snippet.Marks) > 0 {
		t.Errorf("the note is shown at line %d with %q; want its nearest part, unmarked", note.Note.Line, note.Snippet.Text)
	}
	for _, h := range res.Hits {
		if x := h.Explain; len(x.Terms) > 0 || x.Meaning == nil || x.Meaning.Score != x.Relevance ||
			math.Abs(x.Share-0.41/1.3*x.Meaning.Near) > 1e-9 {
			t.Errorf("%s is explained by %+v", namesOf([]op.Hit{h}), x)
		}
	}
}

// TestThePartsOfARelevanceAddUp takes every rank of many questions apart and together again.
func TestThePartsOfARelevanceAddUp(t *testing.T) {
	t.Parallel()
	e, _ := workshop(t)
	kinds := map[string]int{}
	for _, query := range []string{"car tyres", "the physician in May 2024", "cash for the kid yesterday", "hammers", "rapid vehicle this month", "medic"} {
		for _, h := range do(t, e, op.Search, &op.SearchRequest{Query: query, Explain: true, Track: new(false)}).Hits {
			x, sum := h.Explain, search.Score(h.Explain.Date)
			for _, term := range x.Terms {
				sum += term.Score
			}
			if x.Meaning != nil {
				kinds["meaning"]++
				sum += x.Meaning.Score
			}
			if x.Date != nil {
				kinds["date"]++
			}
			if math.Abs(sum-x.Relevance) > 1e-9 || math.Abs(x.Relevance*x.Age*x.Tier-h.Rank) > 1e-9 {
				t.Errorf("%q: the parts come to %v, relevance is %v and rank %v: %+v", query, sum, x.Relevance, h.Rank, x)
			}
		}
	}
	if kinds["meaning"] < 5 || kinds["date"] < 2 {
		t.Errorf("parts seen: %v; want some of each", kinds)
	}
}

// TestMeaningPassesEveryCondition: what is only near has to be what the operators say.
func TestMeaningPassesEveryCondition(t *testing.T) {
	t.Parallel()
	e, _ := workshop(t)
	for _, c := range []struct {
		req  op.SearchRequest
		want []string
	}{
		{op.SearchRequest{Query: "doctor", Scope: "memories"}, []string{"a rapid physician saved the day"}},
		{op.SearchRequest{Query: "doctor tag:health", Scope: "notes"}, []string{"Private/Health.md"}},
		{op.SearchRequest{Query: "doctor -tag:health"}, []string{"Journal/2024-05-03.md"}},
		{op.SearchRequest{Query: "doctor -rapid path:Journal/"}, []string{"Journal/2024-05-03.md"}},
		{op.SearchRequest{Query: "car -tyres", Scope: "memories"}, nil},
		{op.SearchRequest{Query: "car", Filter: op.Filter{Tags: []string{"health"}}}, nil},
		{op.SearchRequest{Query: `doctor "saved the day"`}, []string{"a rapid physician saved the day"}},
		{op.SearchRequest{Query: "car before:2020"}, nil},
		{op.SearchRequest{Query: "car", Scope: "archive"}, nil},
		{op.SearchRequest{Query: "tag:wheels"}, []string{"the automobile needs new tyres"}},
	} {
		c.req.Explain = true
		res := do(t, e, op.Search, &c.req)
		if got := namesOf(res.Hits); !slices.Equal(got, c.want) || res.Total != len(c.want) {
			t.Errorf("%q (%s) found %q, %d in all; want %q", c.req.Query, c.req.Scope, got, res.Total, c.want)
		}
	}
	if x := do(t, e, op.Search, &op.SearchRequest{Query: "tag:wheels", Explain: true}).Hits[0].Explain; x.Meaning != nil {
		t.Errorf("a query without words has the meaning %+v", x.Meaning)
	}
}

// TestWithoutWeightNothingChanges compares whole answers about the same notes with those of
// an engine that has no vectors.
func TestWithoutWeightNothingChanges(t *testing.T) {
	t.Parallel()
	h := withThesaurus(t, vaultHouse(t, garden()))
	e := h.following(t)
	covered(t, e)
	plain := &house{Options: h.Options, clock: h.clock, log: h.log}
	plain.Data, plain.State, plain.Meaning = t.TempDir(), t.TempDir(), core.Meaning{}
	bare := plain.following(t)
	for _, query := range []string{"tomatoes", "soil compost", "water in the rain", "nothing of it"} {
		got := do(t, e, op.Search, &op.SearchRequest{Query: query, MeaningWeight: new(0.0), Explain: true})
		want := do(t, bare, op.Search, &op.SearchRequest{Query: query, Explain: true})
		if got.Meaning == nil || got.Meaning.Weight != 0 || want.Meaning != nil {
			t.Errorf("%q: told %+v and %+v of vectors", query, got.Meaning, want.Meaning)
		}
		got.Meaning = nil
		if g, w := asJSON(t, got), asJSON(t, want); string(g) != string(w) {
			t.Errorf("%q: with weight 0 the answer is\n%s\nwithout vectors\n%s", query, g, w)
		}
	}
}

func asJSON(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestWordsComeBeforeWhatOnlyMeansThem: a typing error is put right before texts are shown
// that hold no word of the query, and these are shown when there is nothing else.
func TestWordsComeBeforeWhatOnlyMeansThem(t *testing.T) {
	t.Parallel()
	e, _ := workshop(t)
	if res := do(t, e, op.Search, &op.SearchRequest{Query: "hamners kid"}); res.Similar || res.Total == 0 {
		t.Errorf("similar %v, found %q; want those that hold kid", res.Similar, namesOf(res.Hits))
	}
	if res := do(t, e, op.Search, &op.SearchRequest{Query: "car hamners"}); !res.Similar || len(res.Respelled) != 1 || !strings.Contains(strings.Join(namesOf(res.Hits), " "), "hammers are in the drawer") {
		t.Errorf("similar %v, found %q; want hammers for hamners", res.Similar, namesOf(res.Hits))
	}
	if res := do(t, e, op.Search, &op.SearchRequest{Query: "child"}); res.Similar || !slices.Equal(namesOf(res.Hits), []string{"Private/Health.md"}) {
		t.Errorf("similar %v, found %q; want what means a child", res.Similar, namesOf(res.Hits))
	}
	if res := do(t, e, op.Search, &op.SearchRequest{Query: `"quick medic"`}); !res.Similar || res.Total == 0 {
		t.Errorf("similar %v, found %q; want the words of the phrase anywhere", res.Similar, namesOf(res.Hits))
	}
}

// TestPagesOfMeaningAreOneList: no hit is twice or never on pages.
func TestPagesOfMeaningAreOneList(t *testing.T) {
	t.Parallel()
	e, _ := workshop(t)
	all := namesOf(do(t, e, op.Search, &op.SearchRequest{Query: "physician", Track: new(false)}).Hits)
	var paged []string
	for offset := range all {
		req := &op.SearchRequest{Query: "physician", Limit: 1, Offset: offset, Track: new(false), IncludeReview: new(false)}
		paged = append(paged, namesOf(do(t, e, op.Search, req).Hits)...)
	}
	if len(all) < 3 || !slices.Equal(paged, all) {
		t.Errorf("pages are %q, the whole is %q", paged, all)
	}
}

func TestThePastHasNoMeaning(t *testing.T) {
	t.Parallel()
	e, h := workshop(t)
	then := h.clock.Now()
	h.clock.advance(time.Hour)
	res := do(t, e, op.Search, &op.SearchRequest{Query: "car", AsOf: then, Scope: "memories"})
	if len(res.Hits) > 0 || res.Meaning == nil || res.Meaning.Without == "" {
		t.Errorf("found %q, told %+v; want nothing, and why", namesOf(res.Hits), res.Meaning)
	}
}

// TestAColdMemoryComesBackByItsMeaning: the question has no word of it.
func TestAColdMemoryComesBackByItsMeaning(t *testing.T) {
	e, _ := workshop(t)
	m := save(t, e, "cash is kept in a tin behind the flour, and only the two of us know of it; the bank has never heard of that money at all")
	do(t, e, op.Archive, &op.ArchiveRequest{ID: string(m.ID)})
	covered(t, e)
	res := do(t, e, op.Search, &op.SearchRequest{Query: "funds money", Scope: "memories"})
	i := slices.IndexFunc(res.Hits, func(h op.Hit) bool { return h.ID == m.ID })
	if i < 0 || res.Hits[i].Content != m.Content {
		t.Fatalf("hits are %+v; want the cold memory with its text", res.Hits)
	}
}

func TestWhyNotKnowsMeaning(t *testing.T) {
	t.Parallel()
	e, _ := workshop(t)
	car := searchFor(t, e, "automobile")[0].ID
	if got := why(t, e, string(car), op.WhyNotRequest{Query: "car"}); !got.Shown {
		t.Errorf("why-not says %+v of what is found by its meaning", got)
	}
	got := why(t, e, string(car), op.WhyNotRequest{Query: "doctor"})
	wantCause(t, got, op.WhyWords, "the embedding of the text is not similar enough", "")
	got = why(t, e, "Tools.md", op.WhyNotRequest{Query: "doctor"})
	wantCause(t, got, op.WhyWords, "the embedding of the text is not similar enough", "")
}

// TestAPairThatOnlyMeansTheQuestion: a memory and its note are one hit, and as wordless as two.
func TestAPairThatOnlyMeansTheQuestion(t *testing.T) {
	t.Parallel()
	e, _ := workshop(t)
	car := searchFor(t, e, "automobile")[0].ID
	do(t, e, op.Promote, &op.PromoteRequest{ID: string(car)})
	until(t, "the note is indexed", func() bool {
		return slices.ContainsFunc(searchFor(t, e, "automobile"), func(h op.Hit) bool { return h.Note != nil })
	})
	covered(t, e)
	res := do(t, e, op.Search, &op.SearchRequest{Query: "car hamners"})
	if len(res.Respelled) != 1 || !strings.Contains(strings.Join(namesOf(res.Hits), " "), "hammers are in the drawer") {
		t.Errorf("respelled %v, found %q; want hammers for hamners", res.Respelled, namesOf(res.Hits))
	}
}

// TestAWordInQuotesNarrowsWhatIsNear: whatever is nearer without it takes no place.
func TestAWordInQuotesNarrowsWhatIsNear(t *testing.T) {
	t.Parallel()
	e, _ := workshop(t)
	for i := range search.MaxNear + 10 {
		save(t, e, fmt.Sprintf("the vehicle %d", i))
	}
	covered(t, e)
	for _, query := range []string{`car "tyres"`, `car -vehicle -path:Garage.md`} {
		res := do(t, e, op.Search, &op.SearchRequest{Query: query, Explain: true, Track: new(false)})
		if len(res.Hits) != 1 || res.AtLeast || res.Hits[0].Explain.Meaning == nil {
			t.Errorf("%q: at least %v, found %q; want the one of tyres by its meaning, too", query, res.AtLeast, namesOf(res.Hits))
		}
	}
}

// TestAQuerySaysWhetherVectorsCounted tells relevance by vectors from that by words alone.
func TestAQuerySaysWhetherVectorsCounted(t *testing.T) {
	t.Parallel()
	e, _ := workshop(t)
	for query, want := range map[string]string{"car": op.ComparedByVectors, "hammers": op.ComparedByVectors, "tag:wheels": op.ComparedByWords} {
		if got := do(t, e, op.Query, &op.QueryRequest{Query: query, Scope: "notes"}); got.Compared != want {
			t.Errorf("%q: %d found, compared by %q, want %q", query, len(got.Results), got.Compared, want)
		}
	}
}
