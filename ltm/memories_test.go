package ltm_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"emberd/internal/relevance"
	"emberd/internal/text/analysis"
	"emberd/internal/words"
	"emberd/ltm"
)

// The relevance of a memory is the same whether its text is in the log or in a note: exactly if it is short, and for a
// long one as far as a term is as often in one passage as in another that has it.
func TestAnIndexOfMemoriesRanksAsWordsDo(t *testing.T) {
	t.Parallel()
	a := analysis.New()
	texts := []string{"The kettle leaks at the seam.", "Anna mends kettles on Thursdays, and the kettle of Bill's sister",
		"billing is done by Bill", "Bill's tide turned at six", longMemory(40, "harbour"), longMemory(30, "kettle"), "kettle"}
	x, err := ltm.Open(t.TempDir(), &ltm.Options{Memories: true})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	here, elsewhere := words.New(), 3 // so many of the texts
	var docs []ltm.Doc
	all, numbers := words.New(), map[words.Doc]string{}
	for i, text := range texts {
		counts, passages, length := ltm.CountedLikeAMemory(a, text)
		doc, err := all.Add(counts, length, passages...)
		if err != nil {
			t.Fatal(err)
		}
		numbers[doc] = text
		if i < elsewhere {
			if _, err := here.Add(counts, length, passages...); err != nil {
				t.Fatal(err)
			}
			continue
		}
		docs = append(docs, ltm.Doc{Path: fmt.Sprint(i, ".md"), Sections: []ltm.Section{{Line: 1, Text: text}}, Text: text})
	}
	if err := x.Update(t.Context(), docs, nil); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"kettle", "Bill", "kettles harbour", "the tide of the Kettle"} {
		var terms []words.QueryTerm
		q := ltm.Query{Docs: len(texts), Lengths: here.Lengths(), Limit: 10, Explain: true}
		var names []string
		for _, term := range a.Query(query) {
			form := term.FormIn(query)
			names = append(names, term.Text)
			terms = append(terms, words.QueryTerm{Term: term.Text, Weight: 1, Form: words.Forms(form &^ analysis.Name),
				Name: words.Forms(form & analysis.Name)})
		}
		_, df := all.Frequencies(names)
		for i, term := range terms {
			q.Terms = append(q.Terms, ltm.Term{Text: term.Term, Weight: 1, DF: df[i], Form: analysis.Form(term.Form),
				Name: analysis.Form(term.Name)})
		}
		want := map[string]float64{}
		for doc, r := range all.SearchAmong(terms, 0, relevance.Lengths{}).All() {
			want[numbers[doc]] = r
		}
		res, err := x.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Hits) == 0 {
			t.Errorf("%q found nothing", query)
		}
		for _, h := range res.Hits {
			var i int
			fmt.Sscan(h.Path, &i)
			sum := 0.0
			for _, s := range h.Scores {
				sum += s.Score
			}
			if math.Abs(sum-h.Relevance) > 1e-9 {
				t.Errorf("%q: the parts of %q sum to %v, the relevance is %v", query, h.Path, sum, h.Relevance)
			}
			near := 1e-9
			if len(texts[i]) > 200 {
				near = 0.02 * h.Relevance
			}
			if w := want[texts[i]]; math.Abs(w-h.Relevance) > near {
				t.Errorf("%q: %.60q has the relevance %v, in words %v", query, texts[i], h.Relevance, w)
			}
		}
	}
}

// longMemory is a text of several passages, each of which has a word as often as the others.
func longMemory(sentences int, word string) string {
	return strings.TrimSpace(strings.Repeat(fmt.Sprintf("Some more is told of the %s here today. ", word), sentences))
}
