package words

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/internal/relevance"
	"emberd/internal/text/spelling"
)

// A part is to answer as an index does that never held anything else.
func TestAPartAnswersAsAnIndexOfItsDocumentsAlone(t *testing.T) {
	vocabulary := []string{"ember", "embers", "emberd", "coal", "coat", "ash"}
	rapid.Check(t, func(t *rapid.T) {
		whole, alone := New(), New()
		mine := map[Doc]Doc{} // of whole to that of alone
		for range rapid.IntRange(0, 30).Draw(t, "documents") {
			text := rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, 6).Draw(t, "text")
			joined := strings.Join(text, rapid.SampledFrom([]string{" ", " | "}).Draw(t, "between"))
			terms, length := counted(joined)
			doc, err := whole.Add(terms, length, passages(joined)...)
			if err != nil {
				t.Fatal(err)
			}
			switch rapid.SampledFrom([]string{"mine", "other", "removed"}).Draw(t, "whose") {
			case "mine":
				own, err := alone.Add(terms, length, passages(joined)...)
				if err != nil {
					t.Fatal(err)
				}
				mine[doc] = own
			case "removed":
				whole.Remove(doc)
			}
		}
		part := whole.Part(func(d Doc) bool { _, ok := mine[d]; return ok })
		docs, df := part.Frequencies(vocabulary)
		wantDocs, wantDF := alone.Frequencies(vocabulary)
		if docs != wantDocs || !slices.Equal(df, wantDF) {
			t.Errorf("frequencies are %d %v, want %d %v", docs, df, wantDocs, wantDF)
		}
		same := func(got, want []spelling.Near) {
			slices.SortFunc(got, byWord)
			if slices.SortFunc(want, byWord); !slices.Equal(got, want) {
				t.Errorf("found %v, want %v", got, want)
			}
		}
		same(part.Expand("ember"), alone.Expand("ember"))
		same(part.Similar("coal", 1), alone.Similar("coal", 1))
		query := []QueryTerm{{Term: "ember", Weight: 1, Elsewhere: 1}, {Term: "ash", Weight: 2}}
		var found []string
		for doc, relevance := range part.SearchAmong(query, 3, relevance.Lengths{}).All() {
			found = append(found, fmt.Sprint(mine[doc], relevance))
		}
		var wanted []string
		for doc, relevance := range alone.SearchAmong(query, 3, relevance.Lengths{}).All() {
			wanted = append(wanted, fmt.Sprint(doc, relevance))
		}
		if !slices.Equal(found, wanted) {
			t.Errorf("found %v, want %v", found, wanted)
		}
	})
}

func byWord(a, b spelling.Near) int { return strings.Compare(a.Word, b.Word) }
