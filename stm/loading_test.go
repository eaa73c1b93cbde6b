package stm_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/internal/text/analysis"
	"emberd/internal/words"
	"emberd/memory"
	"emberd/stm"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// matching are the memories that a search without an index finds.
func matching(t *testing.T, s *stm.Store, query string) (ids []memory.ID) {
	t.Helper()
	q := table.Query{Limit: 10}
	for _, term := range s.Words.Analyzer.Query(query) {
		q.Terms = append(q.Terms, words.QueryTerm{Term: term.Text, Weight: 1})
	}
	found := s.Search(q)
	if !found.Loading {
		t.Fatal("the index is there")
	}
	for _, m := range found.Matches {
		ids = append(ids, m.Row.ID())
	}
	return ids
}

// While the index is made, a search finds what it will find later: by the stem,
// whatever the word in the text looks like, and not by any piece of a word.
func TestASearchWhileLoadingFindsByTheStem(t *testing.T) {
	a := newAgeing(t, wal.Options{})
	wantCode(t, "save", put(a.Store, 1, "Happy hoping: a jelly of rose hips, sensible stability, o'Brien's"), "")
	wantCode(t, "save", put(a.Store, 2, "Café Über"), "")
	s, err := openOn(a.disk.Kill())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, query := range []string{
		"jelly", "jellies", "happiness", "hope", "hopes", "sensibility", "Obrien", "o'brien", "rose", "hip hop",
	} {
		if got := matching(t, s, query); len(got) != 1 || got[0] != idOf(1) {
			t.Errorf("%s finds %v, want the first memory", query, got)
		}
	}
	for _, query := range []string{"cafe", "uber", "Cafés"} {
		if got := matching(t, s, query); len(got) != 1 || got[0] != idOf(2) {
			t.Errorf("%s finds %v, want the second memory", query, got)
		}
	}
	for _, query := range []string{"ell", "able", "caf"} {
		if got := matching(t, s, query); len(got) > 0 {
			t.Errorf("%s finds %v", query, got)
		}
	}
}

// What is passed over unread holds none of the terms.
func TestNoTermIsPassedOver(t *testing.T) {
	a := analysis.New()
	endings := []string{"", "s", "ies", "ied", "y", "ing", "ed", "ational", "ization", "ibility", "bly", "fulness", "iveness", "eed", "logy", "'s", "ment", "sses"}
	word := rapid.Custom(func(t *rapid.T) string {
		stem := rapid.StringMatching(`[a-zA-Z]{1,9}|[a-z]{1,4}['._:/-][a-z0-9]{1,4}|[0-9]{1,4}[.,]?[0-9]{0,3}|[!-~]{1,6}`).Draw(t, "stem")
		return stem + rapid.SampledFrom(endings).Draw(t, "ending")
	})
	rapid.Check(t, func(t *rapid.T) {
		doc := strings.Join(rapid.SliceOfN(word, 1, 4).Draw(t, "words"), rapid.SampledFrom([]string{" ", ", ", "\n"}).Draw(t, "between"))
		for _, term := range a.Terms(doc) {
			q := table.Query{Terms: []words.QueryTerm{{Term: term.Text, Weight: 1}}, All: []string{term.Text}}
			if !q.MayMatch(doc) {
				t.Fatalf("%q holds %q and is passed over", doc, term.Text)
			}
		}
	})
}
