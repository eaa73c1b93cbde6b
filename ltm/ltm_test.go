package ltm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"emberd/internal/text/analysis"
)

// open opens an index in a fresh folder and closes it with the test.
func open(t testing.TB) *Index {
	t.Helper()
	return openIn(t, filepath.Join(t.TempDir(), "index"))
}

func openIn(t testing.TB, dir string) *Index {
	t.Helper()
	x, err := Open(dir, nil)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

// tester is what testing.TB and rapid's tests have in common.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// reopened closes the index and opens it again.
func reopened(t testing.TB, x *Index) *Index {
	t.Helper()
	if err := x.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	return openIn(t, x.dir)
}

// note is a document whose path is its name and whose text is one section.
func named(name, body string) Doc {
	return Doc{
		Path:     name + ".md",
		Title:    name,
		Sections: []Section{{Line: 1, Text: body}},
		Created:  time.Unix(1000, 0),
		Cursor:   cursorOf(name + body),
	}
}

// cursorOf is a cursor that tells contents apart.
func cursorOf(content string) Cursor {
	var c Cursor
	copy(c.Digest[:], fmt.Sprintf("%032x", hashOf(content)))
	c.Size, c.Inode = int64(len(content)), 7
	c.ModTime, c.ChangeTime = time.Unix(1, 2), time.Unix(3, 4)
	return c
}

func put(t tester, x *Index, docs ...Doc) {
	t.Helper()
	if err := x.Update(context.Background(), docs, nil); err != nil {
		t.Fatalf("Update: %v", err)
	}
}

func remove(t tester, x *Index, paths ...string) {
	t.Helper()
	if err := x.Update(context.Background(), nil, paths); err != nil {
		t.Fatalf("Update: %v", err)
	}
}

// words is the query of a text as the engine makes it.
func words(s string) Query {
	q := Query{Limit: 10}
	for _, t := range analysis.New().Query(s) {
		q.Terms = append(q.Terms, Term{Text: t.Text, Weight: 1})
	}
	return q
}

func search(t tester, x *Index, q Query) Result {
	t.Helper()
	r, err := x.Search(context.Background(), q)
	if err != nil {
		t.Fatalf("Search(%v): %v", q.Terms, err)
	}
	return r
}

// found returns the names of the hits, best first, parted by spaces.
func found(t testing.TB, x *Index, q Query) string {
	t.Helper()
	return names(search(t, x, q))
}

func names(r Result) string {
	var list []string
	for _, h := range r.Hits {
		list = append(list, strings.TrimSuffix(h.Path, ".md"))
	}
	return strings.Join(list, " ")
}

func known(x *Index) string {
	return strings.Join(slices.Sorted(maps.Keys(maps.Collect(x.Known()))), " ")
}

func TestSearchRanks(t *testing.T) {
	x := open(t)
	put(t, x,
		named("otters", "Otters float on their backs. An otter holds hands."),
		named("rivers", "A river may have otters."),
		named("seas", "The sea has whales and seals."),
		named("日本語", "東京都に住んでいます。"),
	)
	tests := []struct{ query, want string }{
		{"otter", "otters rivers"},
		{"otters whales", "otters seas rivers"}, // the rarer word in one, the name of the other
		{"whale", "seas"},
		{"giraffe", ""},
		{"東京", "日本語"},
		{"日本語", "日本語"},
	}
	for _, tt := range tests {
		if got := found(t, x, words(tt.query)); got != tt.want {
			t.Errorf("search %q finds %q, want %q", tt.query, got, tt.want)
		}
	}
}

func TestUpdateReplacesAndRemoves(t *testing.T) {
	x := open(t)
	put(t, x, named("a", "first apple"), named("b", "banana"), named("c", "cherry"))
	put(t, x, named("a", "second avocado"))
	remove(t, x, "b.md", "never there.md")
	put(t, x, named("d", "date"))
	check := func(when string) {
		t.Helper()
		for query, want := range map[string]string{"apple": "", "avocado": "a", "banana": "", "cherry": "c", "date": "d"} {
			if got := found(t, x, words(query)); got != want {
				t.Errorf("%s: search %q finds %q, want %q", when, query, got, want)
			}
		}
		if got, want := known(x), "a.md c.md d.md"; got != want {
			t.Errorf("%s: known %q, want %q", when, got, want)
		}
	}
	check("at once")
	x = reopened(t, x)
	check("reopened")
	if s := x.Status(); s.Reason != "" || s.Notes != 3 {
		t.Errorf("status after reopening %+v, want 3 notes and no reason to begin anew", s)
	}
}

func TestLaterOfTwoDocumentsWithOnePathStays(t *testing.T) {
	x := open(t)
	long := strings.Repeat("many words of the earlier one\n", 2000)
	put(t, x, named("a", long), named("a", "later"))
	if got := search(t, x, words("earlier")).Total; got != 0 {
		t.Errorf("%d notes hold a word of the earlier document, want none", got)
	}
	if got, want := found(t, x, words("later")), "a"; got != want {
		t.Errorf("found %q, want %q", got, want)
	}
	if s := reopened(t, x).Status(); s.Notes != 1 || s.Reason != "" {
		t.Errorf("status after reopening %+v, want one note and no reason to begin anew", s)
	}
}

func TestRemovedAndPutInOneUpdateIsPut(t *testing.T) {
	x := open(t)
	put(t, x, named("a", "before"))
	if err := x.Update(t.Context(), []Doc{named("a", "after")}, []string{"a.md"}); err != nil {
		t.Fatal(err)
	}
	if got, want := found(t, x, words("before after")), "a"; got != want {
		t.Errorf("found %q, want %q", got, want)
	}
	put(t, x, named("b", "other"))
	if got, want := found(t, x, words("after")), "a"; got != want {
		t.Errorf("after another note came, found %q, want %q", got, want)
	}
}

func TestCursorsComeBack(t *testing.T) {
	x := open(t)
	want := map[string]Cursor{}
	for _, name := range []string{"a", "b", "folder/c"} {
		d := named(name, "text of "+name)
		put(t, x, d)
		want[d.Path] = d.Cursor
	}
	x = reopened(t, x)
	got := maps.Collect(x.Known())
	if len(got) != len(want) {
		t.Errorf("%d cursors, want %d", len(got), len(want))
	}
	for path, c := range want {
		if !got[path].Equal(c) {
			t.Errorf("cursor of %s is %+v, want %+v", path, got[path], c)
		}
	}
}

func TestHitPointsAtTheBestSection(t *testing.T) {
	x := open(t)
	filler := strings.Repeat("Words that nobody asks for, in a line of ten.\n", 15)
	put(t, x, Doc{
		Path: "guide.md", Title: "Guide", MemoryID: "m1", Created: time.Unix(5, 0), Modified: time.Unix(6, 0),
		Sections: []Section{
			{Line: 3, Text: "An introduction.\n" + filler},
			{HeadingPath: []string{"Install"}, Line: 30, Text: filler},
			{HeadingPath: []string{"Install", "On Linux"}, Line: 50, Text: filler + filler + "Run the apt command.\n" + filler},
			{HeadingPath: []string{"Remove"}, Line: 120, Text: "Delete the folder.\n"},
		},
	})
	tests := []struct {
		query, heading string
		from, to       int
	}{
		{"introduction", "", 3, 3},
		{"linux", "Install > On Linux", 50, 50},
		{"apt command", "Install > On Linux", 71, 81}, // the passage begins at most a hundred words before
		{"delete folder", "Remove", 120, 120},
		{"guide", "", 3, 3},
	}
	for _, tt := range tests {
		r := search(t, x, words(tt.query))
		if len(r.Hits) != 1 {
			t.Errorf("%q finds %d notes, want one", tt.query, len(r.Hits))
			continue
		}
		h := r.Hits[0]
		if got := strings.Join(h.HeadingPath, " > "); got != tt.heading || h.Line < tt.from || h.Line > tt.to {
			t.Errorf("%q points at %q, line %d; want %q, line %d to %d", tt.query, got, h.Line, tt.heading, tt.from, tt.to)
		}
		if h.Title != "Guide" || h.MemoryID != "m1" || !h.Created.Equal(time.Unix(5, 0)) || !h.Modified.Equal(time.Unix(6, 0)) {
			t.Errorf("hit %+v does not show its note", h)
		}
	}
}

// TestManyPassages has a note that is several documents of the store.
func TestManyPassages(t *testing.T) {
	x := open(t)
	var d Doc
	d.Path, d.Title = "long.md", "long"
	for i := range 300 {
		d.Sections = append(d.Sections, Section{HeadingPath: []string{fmt.Sprintf("Chapter %d", i)}, Line: i*2 + 1, Text: fmt.Sprintf("Here stands token%d alone.", i)})
	}
	put(t, x, d, named("short", "token299"))
	for _, i := range []int{0, 15, 16, 299} {
		r := search(t, x, words(fmt.Sprintf("token%d", i)))
		at := slices.IndexFunc(r.Hits, func(h Hit) bool { return h.Path == "long.md" })
		if at < 0 || r.Hits[at].Line != i*2+1 {
			t.Errorf("token%d is found in %+v, want line %d", i, r.Hits, i*2+1)
		}
	}
	put(t, x, named("long", "short now"))
	if got, want := found(t, x, words("token0 token299")), "short"; got != want {
		t.Errorf("after the long note became short, found %q, want %q", got, want)
	}
	if s := reopened(t, x).Status(); s.Reason != "" || s.Passages != 2 {
		t.Errorf("status %+v, want two passages", s)
	}
}

func TestLimitAndTotal(t *testing.T) {
	x := open(t)
	for i := range 50 {
		put(t, x, named(fmt.Sprintf("n%02d", i), "common "+strings.Repeat("filler ", i)))
	}
	all := search(t, x, Query{Terms: words("common").Terms, Limit: 100})
	if len(all.Hits) != 50 || all.Total != 50 {
		t.Fatalf("%d hits of %d, want 50 of 50", len(all.Hits), all.Total)
	}
	for _, limit := range []int{-1, 0, 1, 3, 12, 13, 49, 50, 51} {
		r := search(t, x, Query{Terms: words("common").Terms, Limit: limit})
		want := all.Hits[:min(max(limit, 0), 50)]
		if got := names(r); got != names(Result{Hits: want}) || r.Total != 50 {
			t.Errorf("limit %d gives %q of %d, want the first of all", limit, got, r.Total)
		}
	}
}

func TestQueryWithoutTermsListsLatestFirst(t *testing.T) {
	x := open(t)
	for i, name := range []string{"old", "new", "middle"} {
		d := named(name, "text")
		d.Created = time.Unix(int64([]int{1, 3, 2}[i]), 0)
		put(t, x, d)
	}
	r := search(t, x, Query{Limit: 2})
	if got, want := names(r), "new middle"; got != want || r.Total != 3 || r.Hits[0].Relevance != 1 {
		t.Errorf("found %q of %d with relevance %v, want %q of 3 with 1", got, r.Total, r.Hits[0].Relevance, want)
	}
}

func TestFrequencies(t *testing.T) {
	x := open(t)
	put(t, x, named("a", strings.Repeat("apple pear\n", 3000)), named("b", "apple"), named("c", "plum"))
	docs, df, err := x.Frequencies(t.Context(), []string{"appl", "plum", "none"})
	if err != nil {
		t.Fatal(err)
	}
	if docs != 3 || df["appl"] != 2 || df["plum"] != 1 || df["none"] != 0 {
		t.Errorf("frequencies of %d notes: %v, want apple 2, plum 1, none 0 of 3", docs, df)
	}
}

func TestEmptyNoteIsFoundByItsName(t *testing.T) {
	x := open(t)
	put(t, x, Doc{Path: "folder/Meeting notes.md", Aliases: []string{"Protocol"}})
	for _, q := range []string{"meeting", "protocol"} {
		if got := search(t, x, words(q)).Total; got != 1 {
			t.Errorf("%q finds %d notes, want one", q, got)
		}
	}
}

func TestClosed(t *testing.T) {
	x := open(t)
	if err := errors.Join(x.Close(), x.Close()); err != nil {
		t.Fatalf("Close twice: %v", err)
	}
	_, err := x.Search(t.Context(), Query{})
	if !errors.Is(err, ErrClosed) {
		t.Errorf("Search after Close: %v, want ErrClosed", err)
	}
	if err := x.Update(t.Context(), nil, []string{"a"}); !errors.Is(err, ErrClosed) {
		t.Errorf("Update after Close: %v, want ErrClosed", err)
	}
}

func TestCancelled(t *testing.T) {
	x := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := x.Update(ctx, []Doc{named("a", "text")}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Update: %v, want context.Canceled", err)
	}
	if _, err := x.Search(ctx, words("text")); !errors.Is(err, context.Canceled) {
		t.Errorf("Search: %v, want context.Canceled", err)
	}
}

func TestSecondOpenIsRefused(t *testing.T) {
	x := open(t)
	put(t, x, named("a", "text"))
	if _, err := Open(x.dir, nil); err == nil {
		t.Fatal("second Open succeeds, want an error")
	}
	if got := found(t, x, words("text")); got != "a" {
		t.Errorf("the first one finds %q, want a", got)
	}
}

// TestTogether updates and searches from many goroutines. Every note always holds its
// generation's word, and one note never shows two.
func TestTogether(t *testing.T) {
	x := open(t)
	const notes, generations, writers = 12, 15, 3
	for i := range notes {
		put(t, x, named(fmt.Sprintf("n%d", i), "always gen0"))
	}
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for g := 1; g <= generations; g++ {
				var docs []Doc
				for i := w; i < notes; i += writers {
					docs = append(docs, named(fmt.Sprintf("n%d", i), fmt.Sprintf("always gen%d", g)))
				}
				if err := x.Update(context.Background(), docs, nil); err != nil {
					t.Errorf("Update: %v", err)
				}
			}
		})
	}
	for range 3 {
		all.Go(func() {
			for range 60 {
				r, err := x.Search(context.Background(), Query{Terms: words("always").Terms, Limit: 100, Explain: true})
				if err != nil || r.Total != notes {
					t.Errorf("Search finds %d notes, %v; want %d", r.Total, err, notes)
				}
			}
		})
	}
	all.Wait()
	if got := search(t, x, words(fmt.Sprintf("gen%d", generations))).Total; got != notes {
		t.Errorf("%d notes are of the last generation, want all %d", got, notes)
	}
	if got := reopened(t, x).Status().Notes; got != notes {
		t.Errorf("%d notes after reopening, want %d", got, notes)
	}
}
