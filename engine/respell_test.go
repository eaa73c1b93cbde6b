package engine_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"emberd/engine/search"
	"emberd/op"
)

func TestMisspeltWords(t *testing.T) {
	t.Parallel()
	e := vaultHouse(t, garden()).following(t)
	save(t, e, "the kubernetes cluster restarts at night", "ops")
	save(t, e, "compose a letter", "home")
	for _, c := range []struct {
		name    string
		req     op.SearchRequest
		want    []string
		instead []op.Respelling
	}{
		{"a word of a memory", op.SearchRequest{Query: "kuberntes"}, []string{"the kubernetes cluster restarts at night"}, []op.Respelling{{Word: "kuberntes", Terms: []string{"kubernet"}}}},
		{"a word of a note", op.SearchRequest{Query: "Pumpkim"}, []string{"Broken.md"}, []op.Respelling{{Word: "Pumpkim", Terms: []string{"pumpkin"}}}},
		{"words of both tiers", op.SearchRequest{Query: "composs"}, []string{"Garden/Soil.md", "compose a letter"}, []op.Respelling{{Word: "composs", Terms: []string{"compos", "compost"}}}},
		{"two words", op.SearchRequest{Query: "pumpkim clustre"}, []string{"Broken.md", "the kubernetes cluster restarts at night"},
			[]op.Respelling{{Word: "clustre", Terms: []string{"cluster"}}, {Word: "pumpkim", Terms: []string{"pumpkin"}}}},
		{"one of two words is there", op.SearchRequest{Query: "pumpkim cluster"}, []string{"the kubernetes cluster restarts at night"}, nil},
		{"a known word that a filter refuses stays", op.SearchRequest{Query: "clustre letter tag:ops"}, []string{"the kubernetes cluster restarts at night"},
			[]op.Respelling{{Word: "clustre", Terms: []string{"cluster"}}}},
		{"in a phrase", op.SearchRequest{Query: `"kubernetes clutser" -compost`}, []string{"the kubernetes cluster restarts at night"}, []op.Respelling{{Word: "clutser", Terms: []string{"cluster"}}}},
		{"in a phrase alone", op.SearchRequest{Query: `"clutser"`}, []string{"the kubernetes cluster restarts at night"}, []op.Respelling{{Word: "clutser", Terms: []string{"cluster"}}}},
		{"only memories", op.SearchRequest{Query: "composs", Scope: "memories"}, []string{"compose a letter"}, []op.Respelling{{Word: "composs", Terms: []string{"compos"}}}},
		{"only notes", op.SearchRequest{Query: "composs", Scope: "notes"}, []string{"Garden/Soil.md"}, []op.Respelling{{Word: "composs", Terms: []string{"compost"}}}},
		{"known elsewhere is not misspelt", op.SearchRequest{Query: "compost", Scope: "memories"}, []string{}, nil},
		{"beside a word that it stands with", op.SearchRequest{Query: "kuberntes night"}, []string{"the kubernetes cluster restarts at night"},
			[]op.Respelling{{Word: "kuberntes", Terms: []string{"kubernet"}}}},
		{"an ending that no stemmer knows", op.SearchRequest{Query: "restartign night"}, []string{"the kubernetes cluster restarts at night"},
			[]op.Respelling{{Word: "restartign", Terms: []string{"restart"}}}},
		{"quoted beside a word", op.SearchRequest{Query: `"night" -"x" cluster_id clustr.go`}, []string{"the kubernetes cluster restarts at night"}, nil},
		{"part of a name", op.SearchRequest{Query: "night ClustrName clustr/ clustr2"}, []string{"the kubernetes cluster restarts at night"}, nil},
		{"another first letter", op.SearchRequest{Query: "buster night"}, []string{"the kubernetes cluster restarts at night"}, nil},
		{"nothing is like it", op.SearchRequest{Query: "xylophone"}, []string{}, nil},
		{"too short to be like anything", op.SearchRequest{Query: "thw"}, []string{}, nil},
		{"what is like it is refused", op.SearchRequest{Query: "kuberntes tag:home"}, []string{}, nil},
	} {
		res := do(t, e, op.Search, &c.req)
		got := names(res.Hits)
		for i, r := range res.Respelled {
			if res.Respelled[i].Meant = nil; len(r.Meant) == 0 || !strings.HasPrefix(r.Meant[0], r.Terms[0][:5]) {
				t.Errorf("%s: %q is shown as %q", c.name, r.Terms, r.Meant)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) || !reflect.DeepEqual(res.Respelled, c.instead) {
			t.Errorf("%s: %q with %+v, want %q with %+v", c.name, got, res.Respelled, c.want, c.instead)
		}
		if res.Similar && res.Total == 0 {
			t.Errorf("%s: no problems, and that is called similar", c.name)
		}
	}
}

func TestMisspeltWordsWithoutAVault(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	save(t, e, "the kubernetes cluster")
	res := do(t, e, op.Search, &op.SearchRequest{Query: "clustre", Explain: true})
	if len(res.Hits) != 1 || !res.Similar {
		t.Fatalf("found %q, similar %v, want the cluster as similar", names(res.Hits), res.Similar)
	}
	if term := res.Hits[0].Explain.Terms[0]; term.Term != "cluster" || term.For != "clustre" {
		t.Errorf("explained as %+v, want cluster for clustre", term)
	}
	if s := res.Hits[0].Snippet; len(s.Marks) != 1 || s.Text[s.Marks[0][0]:s.Marks[0][1]] != "cluster" {
		t.Errorf("snippet %+v, want cluster marked", s)
	}
}

// However many words of a query nobody knows, others are looked for in the place of a few.
func TestFewWordsAreRespelt(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	save(t, e, "the kubernetes cluster")
	for n, found := range map[int]bool{search.MaxMisspelt - 1: true, search.MaxMisspelt: false} {
		var query strings.Builder
		query.WriteString("clustre")
		for i := range n {
			query.WriteString(" aaaaaaa" + strings.Repeat("b", 1+i)) // before it in the order of words
		}
		if res := do(t, e, op.Search, &op.SearchRequest{Query: query.String()}); (len(res.Hits) > 0) != found {
			t.Errorf("beside %d words that nobody knows, %d hits", n, len(res.Hits))
		}
	}
}
