package knowledge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/internal/entity"
	"emberd/memory"
)

func day(n int) time.Time { return time.Date(2026, 3, n, 0, 0, 0, 0, time.UTC) }

// mem is a memory that names entities, and note a note about one.
func mem(n int, names ...string) *Doc {
	return &Doc{Ref: Ref{ID: memory.ID(fmt.Sprintf("m%02d", n))}, Names: names, Counts: 1, First: day(n), Last: day(n)}
}

func note(path, title string, links ...string) *Doc {
	return &Doc{Ref: Ref{Path: path}, Title: title, Links: links, Counts: 1, First: day(1), Last: day(2)}
}

func put(g *Graph, docs ...*Doc) {
	for _, d := range docs {
		g.Put(d)
	}
}

// all says of every entity what is known, by name.
func all(g *Graph) []string {
	page, _ := g.List(Listing{Order: ByName, Limit: 1000})
	var out []string
	for _, e := range page {
		out = append(out, fmt.Sprintf("%s %q %d=%d+%d %s %v %v", e.Name, e.Aliases, e.Mentions, e.Memories, e.Notes, e.FirstSeen.Format("02"), e.LastSeen.Format("02"), e.About))
	}
	return out
}

func wantAll(t *testing.T, g *Graph, want ...string) {
	t.Helper()
	var got []string
	for _, line := range all(g) {
		name, rest, _ := strings.Cut(line, " [")
		_, counts, _ := strings.Cut(rest, "] ")
		got = append(got, name+" "+strings.Fields(counts)[0])
	}
	if !slices.Equal(got, want) {
		t.Errorf("entities %q, want %q", got, want)
	}
}

func TestSpellings(t *testing.T) {
	g := New()
	put(g, mem(1, "node-js"), mem(2, "Node.js"), mem(3, "Node.js"))
	wantAll(t, g, "Node.js 3=3+0")
	found := mem(4, "NODE JS")
	found.Found = true
	put(g, found, mem(5, "NODE JS"), mem(6, "NODE JS"))
	wantAll(t, g, "NODE JS 6=6+0") // a tie of those that were given: found once more
	g.Remove(Ref{ID: "m06"})
	wantAll(t, g, "Node.js 5=5+0")
}

func TestAliases(t *testing.T) {
	ada := note("Ada Lovelace.md", "Ada Lovelace")
	ada.Aliases = []string{"Ada", "Countess"}
	g := New()
	put(g, mem(1, "Ada"), mem(2, "ada lovelace", "Countess"), ada)
	wantAll(t, g, "Ada Lovelace 2=2+0")

	language := note("Ada.md", "Ada") // a title comes before an alias
	put(g, language)
	wantAll(t, g, "Ada 1=1+0", "Ada Lovelace 1=1+0")
	g.Remove(language.Ref)
	wantAll(t, g, "Ada Lovelace 2=2+0")
	g.Remove(ada.Ref)
	wantAll(t, g, "Ada 1=1+0", "ada lovelace 1=1+0", "Countess 1=1+0")
}

func TestTagsAndLinks(t *testing.T) {
	tagging := note("a.md", "", "Grace", "2026-03-09")
	tagging.Tags = []string{"ada", "todo", "42"}
	g := New()
	put(g, tagging)
	wantAll(t, g, "Grace 1=0+1") // a tag alone is no entity, and neither is a date
	put(g, mem(1, "Ada"))
	wantAll(t, g, "Ada 2=1+1", "Grace 1=0+1")

	apart := note("Grace.md", "")
	apart.Apart = []string{"Grace"}
	put(g, apart)
	wantAll(t, g, "Ada 2=1+1")
	g.Remove(apart.Ref)
	wantAll(t, g, "Ada 2=1+1", "Grace 1=0+1")
}

func TestNotesOfOneName(t *testing.T) {
	g := New()
	put(g, note("a/README.md", "README"))
	if e, known := g.Entity("readme"); !known || e.Name != "README" || e.Mentions != 0 {
		t.Errorf("the note of a name that nothing mentions is %+v, %t", e, known)
	}
	put(g, note("b/README.md", "README"), note("c.md", "", "README"))
	wantAll(t, g) // nobody can tell which is meant
	put(g, mem(1, "readme"))
	wantAll(t, g, "README 2=1+1")
	g.Remove(Ref{ID: "m01"})
	g.Remove(Ref{Path: "a/README.md"})
	wantAll(t, g, "README 1=0+1")
}

func TestTogether(t *testing.T) {
	g := New()
	put(g, mem(1, "Ada", "Babbage"), mem(2, "Ada", "Babbage", "Engine"), mem(3, "Engine"))
	var got []string
	for _, t := range g.Together("ADA", "", 10, false) {
		got = append(got, fmt.Sprintf("%s %d", t.Name, t.Weight))
	}
	if want := []string{"Babbage 2", "Engine 1"}; !slices.Equal(got, want) {
		t.Errorf("together with Ada: %q, want %q", got, want)
	}
	if got := g.Together("nobody", "", 10, false); got != nil {
		t.Errorf("together with nobody: %v", got)
	}
}

func TestListing(t *testing.T) {
	g := New()
	docs := []*Doc{mem(1, "Ada Lovelace"), mem(2, "Ada Lovelace", "Zed"), mem(3, "Zed"), mem(4, "読書ノート"), mem(5, "Ada")}
	docs[2].Project = "p"
	put(g, docs...)
	for _, tt := range []struct {
		Listing
		total int
		want  string
	}{
		{Listing{Limit: 2}, 4, "Zed, Ada Lovelace"},
		{Listing{Limit: 2, Skip: 2}, 4, "Ada, 読書ノート"},
		{Listing{Limit: 9, Order: ByRecent}, 4, "Ada, 読書ノート, Zed, Ada Lovelace"},
		{Listing{Limit: 9, Words: "love ADA"}, 1, "Ada Lovelace"},
		{Listing{Limit: 9, Words: "ノート"}, 1, "読書ノート"},
		{Listing{Limit: 9, Words: "ovelace"}, 0, ""},
		{Listing{Limit: 9, Project: "p"}, 1, "Zed"},
		{Listing{Limit: 9, Skip: 9}, 4, ""},
	} {
		page, total := g.List(tt.Listing)
		var names []string
		for _, e := range page {
			names = append(names, e.Name)
		}
		if got := strings.Join(names, ", "); got != tt.want || total != tt.total {
			t.Errorf("%+v lists %q of %d, want %q of %d", tt.Listing, got, total, tt.want, tt.total)
		}
	}
}

// names are few, so that documents share them in every way.
var few = []string{"ada", "Ada", "Ada Lovelace", "Bob", "bob", "Eve", "2026", "Zoë"}

func anyDoc(t *rapid.T) *Doc {
	names := rapid.SliceOfN(rapid.SampledFrom(few), 0, 3)
	d := &Doc{Counts: rapid.IntRange(1, 3).Draw(t, "counts"), First: day(rapid.IntRange(1, 9).Draw(t, "first")), Project: rapid.SampledFrom([]string{"", "p"}).Draw(t, "project")}
	d.Last = d.First.AddDate(0, 0, rapid.IntRange(0, 3).Draw(t, "days"))
	if n := rapid.IntRange(0, 5).Draw(t, "doc"); n < 3 {
		d.ID = memory.ID(fmt.Sprintf("m%d", n))
		d.Names, d.Found = names.Draw(t, "names"), rapid.Bool().Draw(t, "found")
	} else {
		d.Path = fmt.Sprintf("%d.md", n)
		d.Links, d.Tags, d.Apart = names.Draw(t, "links"), names.Draw(t, "tags"), names.Draw(t, "apart")
	}
	if rapid.Bool().Draw(t, "about") {
		d.Title, d.Aliases = rapid.SampledFrom(few).Draw(t, "title"), names.Draw(t, "aliases")
	}
	return d
}

// Whatever came and went, a graph is what one is that only ever saw what is left.
func TestAGraphIsWhatItsDocumentsMakeIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, left := New(), make(map[Ref]*Doc)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			d := anyDoc(t)
			if rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
				g.Remove(d.Ref)
				delete(left, d.Ref)
				continue
			}
			g.Put(d)
			left[d.Ref] = d
		}
		fresh := New()
		for _, d := range left {
			fresh.Put(d)
		}
		if got, want := all(g), all(fresh); !slices.Equal(got, want) {
			t.Fatalf("%d documents make\n%s\nwant\n%s", len(left), strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if got, want := g.Sizes(), fresh.Sizes(); got != want {
			t.Fatalf("sizes %+v, want %+v", got, want)
		}
		checkCounts(t, g, left)
	})
}

// checkCounts compares what is counted with the documents themselves.
func checkCounts(t *rapid.T, g *Graph, left map[Ref]*Doc) {
	page, _ := g.List(Listing{Limit: 100})
	for _, e := range page {
		judge, mentions := g.Judge(e.Name), 0
		called := append([]string{e.Name}, e.Aliases...)
		for ref, d := range left {
			names := slices.Concat(d.Names, withLetters(d.Links), withLetters(d.Tags))
			names1 := slices.ContainsFunc(names, func(n string) bool {
				return slices.ContainsFunc(called, func(c string) bool { return entity.Key(c) == entity.Key(n) })
			})
			if names1 {
				mentions += d.Counts
			}
			if about := slices.Contains(e.About, ref); judge.Holds(ref) != (names1 || about) {
				t.Fatalf("%+v names %s: %v, and is about it: %v; the judge says %v", d, e.Name, names1, about, judge.Holds(ref))
			}
		}
		if e.Mentions != mentions {
			t.Fatalf("%s is mentioned %d times, want %d", e.Name, e.Mentions, mentions)
		}
	}
	if !slices.IsSortedFunc(page, func(a, b Entity) int { return cmp.Compare(b.Mentions, a.Mentions) }) {
		t.Fatalf("not by mentions: %+v", page)
	}
}

func withLetters(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !hasLetter(n) })
}
