package words

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"emberd/internal/relevance"
	"emberd/internal/text/spelling"
)

// The forms of terms in tests.
const (
	lower Forms = 1
	upper Forms = 2
)

// counted turns "a b B" into its terms, which are in lower case.
func counted(text string) (terms []TermCount, length int) {
	words := strings.Fields(strings.ReplaceAll(text, "|", " "))
	for _, w := range words {
		t := TermCount{Term: strings.ToLower(w), Count: 1, Forms: lower}
		if t.Term != w {
			t.Forms = upper
		}
		terms = append(terms, t)
	}
	return terms, len(words)
}

// passages turns "a b | B" into two; what has no bar has none.
func passages(text string) (out []Passage) {
	if !strings.Contains(text, "|") {
		return nil
	}
	for part := range strings.SplitSeq(text, "|") {
		terms, length := counted(part)
		out = append(out, Passage{terms, length})
	}
	return out
}

// query weighs every word 1.
func query(text string) []QueryTerm {
	var terms []QueryTerm
	for w := range strings.FieldsSeq(text) {
		terms = append(terms, QueryTerm{Term: w, Weight: 1})
	}
	return terms
}

// indexOf returns an index of the texts, numbered from zero.
func indexOf(t testing.TB, texts ...string) *Index {
	t.Helper()
	x := New()
	for _, text := range texts {
		add(t, x, text)
	}
	return x
}

func add(t testing.TB, x *Index, text string) Doc {
	t.Helper()
	terms, length := counted(text)
	doc, err := x.Add(terms, length, passages(text)...)
	if err != nil {
		t.Fatalf("Add(%q): %v", text, err)
	}
	return doc
}

// found returns the documents a query yields.
func found(x *Index, text string) []Doc {
	var docs []Doc
	for doc := range x.Search(query(text)).All() {
		docs = append(docs, doc)
	}
	return docs
}

// best returns the document with the highest relevance.
func best(m *Matches) (top Doc) {
	highest := math.Inf(-1)
	for doc, relevance := range m.All() {
		if relevance > highest {
			top, highest = doc, relevance
		}
	}
	return top
}

func TestSearch(t *testing.T) {
	x := indexOf(t, "red fox", "red red fish", "blue fish swims far away", "unique")
	tests := []struct {
		query string
		want  []Doc
	}{
		{"red", []Doc{0, 1}},
		{"red fish", []Doc{0, 1, 2}},
		{"unique", []Doc{3}},
		{"absent", nil},
		{"absent fox", []Doc{0}},
		{"", nil},
	}
	for _, test := range tests {
		if got := found(x, test.query); !slices.Equal(got, test.want) {
			t.Errorf("search %q = %v, want %v", test.query, got, test.want)
		}
	}
	if got := best(x.Search(query("red"))); got != 1 {
		t.Errorf("best for red is %d, want 1, which holds it twice", got)
	}
	if got := best(x.Search(query("fish"))); got != 1 {
		t.Errorf("best for fish is %d, want 1, which is shorter", got)
	}
	heavy := []QueryTerm{{Term: "fox", Weight: 1}, {Term: "swims", Weight: 3}}
	if got := best(x.Search(heavy)); got != 2 {
		t.Errorf("best for a heavy term is %d, want 2", got)
	}
	if got := found(x, "red"); len(got) != 2 {
		t.Errorf("second search for red = %v, want two documents: a search must leave nothing behind", got)
	}
}

func TestWeightOfZeroLeavesTermOut(t *testing.T) {
	x := indexOf(t, "red", "blue")
	m := x.Search([]QueryTerm{{Term: "red", Weight: 0}, {Term: "blue", Weight: 1}, {Term: "red", Weight: -1}})
	for doc := range m.All() {
		if doc != 1 {
			t.Errorf("found %d, want only 1", doc)
		}
	}
}

func TestSearchSeesOneMoment(t *testing.T) {
	x := indexOf(t, "red one", "red two")
	m := x.Search(query("red"))
	before, _ := m.Explain(0)
	for range 100 {
		add(t, x, "red")
	}
	after, _ := m.Explain(0)
	if before.Relevance != after.Relevance {
		t.Errorf("relevance went from %v to %v after adding, want no change", before.Relevance, after.Relevance)
	}
	n := 0
	for range m.All() {
		n++
	}
	if n != 2 {
		t.Errorf("old search yields %d documents, want 2", n)
	}
}

func TestStoppedLoopLeavesNothingBehind(t *testing.T) {
	x := indexOf(t, "red", "red", "blue", "red")
	for range x.Search(query("red")).All() {
		break
	}
	if got := found(x, "blue"); !slices.Equal(got, []Doc{2}) {
		t.Errorf("search after a stopped one = %v, want [2]", got)
	}
}

func TestWindowBorders(t *testing.T) {
	x := New()
	for i := range 3*windowSize + 1 {
		text := "common"
		if i%windowSize == 0 || i%windowSize == windowSize-1 {
			text = "common edge"
		}
		add(t, x, text)
	}
	want := []Doc{0, windowSize - 1, windowSize, 2*windowSize - 1, 2 * windowSize, 3*windowSize - 1, 3 * windowSize}
	if got := found(x, "edge"); !slices.Equal(got, want) {
		t.Errorf("edge is found in %v, want %v", got, want)
	}
	if got := len(found(x, "common edge")); got != 3*windowSize+1 {
		t.Errorf("common edge is found in %d documents, want all %d", got, 3*windowSize+1)
	}
}

func TestRemove(t *testing.T) {
	x := indexOf(t, "red fox", "red fish", "red")
	if !x.Remove(1) || x.Remove(1) || x.Remove(99) {
		t.Error("Remove must be true once for a document that is there")
	}
	if got := found(x, "red fish"); !slices.Equal(got, []Doc{0, 2}) {
		t.Errorf("found %v, want [0 2]", got)
	}
	if _, ok := x.Search(query("red")).Explain(1); ok {
		t.Error("a removed document is explained")
	}
	e, _ := x.Search(query("red")).Explain(0)
	if e.Docs != 2 || e.Terms[0].DF != 2 || e.Passage != 1.5 {
		t.Errorf("statistics are %d documents, df %d, average %v, want 2, 2, 1.5", e.Docs, e.Terms[0].DF, e.Passage)
	}
	if x.Len() != 2 || x.Docs() != 3 {
		t.Errorf("Len = %d and Docs = %d, want 2 live of 3", x.Len(), x.Docs())
	}
	for doc, want := range []bool{true, false, true, false} {
		if got := x.Live(Doc(doc)); got != want {
			t.Errorf("Live(%d) = %v, want %v", doc, got, want)
		}
	}
}

func TestCompact(t *testing.T) {
	x := indexOf(t, "red", "blue", "red green", "red")
	x.Remove(1)
	if x.Compact() {
		t.Error("compacted with a quarter removed, want to wait for more")
	}
	x.Remove(2)
	before, _ := x.Search(query("red")).Explain(3)
	if !x.Compact() {
		t.Fatal("not compacted with half removed")
	}
	after, _ := x.Search(query("red")).Explain(3)
	if before.Relevance != after.Relevance {
		t.Errorf("relevance went from %v to %v by compaction", before.Relevance, after.Relevance)
	}
	if x.terms.used != 1 || len(x.lists) != 1 {
		t.Errorf("%d terms are left, want only red", x.terms.used)
	}
	if doc := add(t, x, "blue"); doc != 4 {
		t.Errorf("the next document is %d, want 4", doc)
	}
	if got := found(x, "red blue green"); !slices.Equal(got, []Doc{0, 3, 4}) {
		t.Errorf("found %v, want [0 3 4]", got)
	}
}

func TestExplainFollowsTheFormula(t *testing.T) {
	x := indexOf(t, "red red fox", "red", "blue sky above us all")
	m := x.Search([]QueryTerm{{Term: "red", Weight: 2}, {Term: "blue", Weight: 1}, {Term: "fox", Weight: 1}})
	e, ok := m.Explain(0)
	if !ok || len(e.Terms) != 2 || e.Terms[0].Term != "red" || e.Terms[1].Term != "fox" {
		t.Fatalf("explained terms are %+v, want red and fox", e.Terms)
	}
	norm := 1.2 * (1 - 0.3 + 0.3*3/3.0)
	want := 0.9 * (2*math.Log(1+1.5/2.5)*2/(2+norm) + math.Log(1+2.5/1.5)*1/(1+norm))
	if math.Abs(e.Relevance-want) > 1e-12 {
		t.Errorf("relevance = %v, want %v", e.Relevance, want)
	}
	for _, term := range e.Terms {
		score := 0.9 * term.Weight * term.IDF * float64(term.TF) / (float64(term.TF) + term.Norm)
		if math.Abs(term.Score-score) > 1e-12 {
			t.Errorf("score of %s = %v, want %v from its own parts", term.Term, term.Score, score)
		}
	}
}

func TestCountsStopAt255(t *testing.T) {
	x := New()
	doc, err := x.Add([]TermCount{{"many", math.MaxInt, 0}, {"many", math.MaxInt, 0}, {"none", 0, 0},
		{"none", -1, 0}}, -1)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := x.Search(query("many none")).Explain(doc)
	if len(e.Terms) != 1 || e.Terms[0].TF != 255 || e.Length != 0 || math.IsNaN(e.Relevance) {
		t.Errorf("explanation is %+v, want one term counted 255 and length 0", e)
	}
}

func TestLastNumberAndFull(t *testing.T) {
	x := New()
	x.sizes = make([]size, MaxDocs-1)
	x.dead = make([]atomic.Uint64, MaxDocs/64)
	if doc := add(t, x, "last"); doc != MaxDocs-1 {
		t.Fatalf("last document is %d, want %d", doc, MaxDocs-1)
	}
	if got := found(x, "last"); !slices.Equal(got, []Doc{MaxDocs - 1}) {
		t.Errorf("found %v, want the last document", got)
	}
	if _, err := x.Add(counted("more")); !errors.Is(err, ErrFull) {
		t.Errorf("Add to a full index: %v, want ErrFull", err)
	}
	if got := found(x, "more"); got != nil {
		t.Errorf("refused document is found: %v", got)
	}
}

// TestOneWriterManyReaders is meant for the race detector. Readers check that what
// they see adds up.
func TestOneWriterManyReaders(t *testing.T) {
	x := indexOf(t, "red fox", "red")
	var done atomic.Bool
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for !done.Load() {
				m := x.Search(query("red fox blue"))
				for doc, relevance := range m.All() {
					e, ok := m.Explain(doc)
					if ok && math.Abs(e.Relevance-relevance) > 1e-9 {
						t.Errorf("document %d: explained %v, found with %v", doc, e.Relevance, relevance)
						return
					}
				}
			}
		})
	}
	wg.Go(func() {
		for !done.Load() {
			var out bytes.Buffer
			if _, err := x.WriteTo(&out); err != nil {
				t.Errorf("WriteTo: %v", err)
			}
			if _, err := Read(out.Bytes()); err != nil {
				t.Errorf("Read of a snapshot taken while writing: %v", err)
			}
		}
	})
	for i := range 3000 {
		doc := add(t, x, []string{"red fox", "red blue", "fox fox blue"}[i%3])
		if i%4 != 0 {
			x.Remove(doc)
		}
		x.Compact()
	}
	done.Store(true)
	wg.Wait()
}

// TestTwoIndexesRankAsOne: documents split over two indexes get the relevance
// they would have in one, but for the average length.
func TestTwoIndexesRankAsOne(t *testing.T) {
	texts := []string{"red fox", "blue fox", "red sky", "blue sea", "green fox"}
	whole, left, right := New(), New(), New()
	for i, text := range texts {
		add(t, whole, text)
		if i%2 == 0 {
			add(t, left, text)
		} else {
			add(t, right, text)
		}
	}
	terms := []string{"fox", "red"}
	others, df := right.Frequencies(terms)
	if others != 2 || df[0] != 1 || df[1] != 0 {
		t.Fatalf("Frequencies = %d, %v; want 2, [1 0]", others, df)
	}
	q := []QueryTerm{{Term: "fox", Weight: 1, Elsewhere: df[0]}, {Term: "red", Weight: 1, Elsewhere: df[1]}}
	got, _ := left.SearchAmong(q, others, relevance.Lengths{}).Explain(0)
	want, _ := whole.Search(query("fox red")).Explain(0)
	if got.Relevance != want.Relevance || got.Docs != want.Docs || got.Terms[0].DF != want.Terms[0].DF {
		t.Errorf("split: %+v\nwhole: %+v", got, want)
	}
}

func TestExpand(t *testing.T) {
	x := New()
	for _, text := range []string{"memory memo", "memory", "member", "zoo"} {
		add(t, x, text)
	}
	want := []spelling.Near{{Word: "memory", Docs: 2}, {Word: "memo", Docs: 1}, {Word: "member", Docs: 1}}
	if got := x.Expand("mem"); !slices.Equal(got, want) {
		t.Errorf("Expand(mem) = %v, want %v", got, want)
	}
	if got := x.Expand("q"); len(got) != 0 {
		t.Errorf("Expand(q) = %v", got)
	}
	group := x.Search([]QueryTerm{{Term: "mem*", Weight: 1, Of: []string{"memory", "memo", "member", "none"}}})
	if e, _ := group.Explain(0); e.Terms[0].TF != 2 || e.Terms[0].DF != 3 || e.Terms[0].Term != "mem*" {
		t.Errorf("the group is explained as %+v, want two words in the text, and three texts", e.Terms)
	}
}

func TestSimilar(t *testing.T) {
	x := indexOf(t, "compost heap", "compost", "composts", "camposto", "zebra")
	x.Remove(1)
	x.Remove(2)
	want := []spelling.Near{{Word: "compost", Edits: 1, Docs: 1}, {Word: "composts", Edits: 2}}
	if got := x.Similar("compst", 2); !slices.Equal(got, want) {
		t.Errorf("2 edits from compst there are %+v, want %+v", got, want)
	}
	if got := x.Similar("compst", 1); !slices.Equal(got, want[:1]) {
		t.Errorf("1 edit from compst there are %+v, want %+v", got, want[:1])
	}
	if got := x.Similar("elephant", 2); len(got) != 0 {
		t.Errorf("elephant resembles %+v", got)
	}
}

func TestTogether(t *testing.T) {
	x := indexOf(t, "red fox", "red hen", "fox", "red fox hen")
	x.Remove(3)
	query := []QueryTerm{{Term: "red", Weight: 1}, {Term: "others", Of: []string{"fox", "hen"}, Weight: 1}}
	if got := x.Search(query).Together(); got != 2 {
		t.Errorf("red stands beside a fox or a hen in %d texts, want 2", got)
	}
}

// A long document counts once whatever its passages hold, and lies within one window.
func TestLongDocuments(t *testing.T) {
	x := New()
	for range windowSize - 2 {
		add(t, x, "other")
	}
	long := add(t, x, "red fox | blue fox | red red sky")
	if long != windowSize {
		t.Errorf("the long document is %d, want %d, where its passages fit", long, windowSize)
	}
	if docs, df := x.Frequencies([]string{"red", "fox"}); docs != windowSize-1 || df[0] != 1 || df[1] != 1 {
		t.Errorf("frequencies are %d %v, want %d documents and 1 of each", docs, df, windowSize-1)
	}
	if got := found(x, "fox red"); !slices.Equal(got, []Doc{long}) {
		t.Errorf("found %v, want %d alone", got, long)
	}
	e, ok := x.Search(query("red sky")).Explain(long)
	if !ok || e.Best != 3 || e.Terms[0].BestTF != 2 || e.Terms[0].TF != 3 || e.Length != 7 {
		t.Errorf("explained as %+v, want the third passage as the best", e)
	}
	if x.Live(long+1) || x.Remove(long+1) {
		t.Error("a passage is live or can be removed, and is no document")
	}
	if !x.Remove(long) || len(found(x, "sky")) > 0 || x.Len() != windowSize-2 {
		t.Error("a removed long document is still there")
	}
	if docs, df := x.Frequencies([]string{"red"}); docs != windowSize-2 || df[0] != 0 {
		t.Errorf("after removal frequencies are %d %v", docs, df)
	}
}
