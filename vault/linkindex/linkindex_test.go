package linkindex

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"emberd/vault/notename"
)

func linksOf(paths ...string) *Index {
	l := New()
	for _, p := range paths {
		l.Add(p, nil, nil)
	}
	return l
}

func TestResolve(t *testing.T) {
	l := linksOf("Target.md", "dir/Target.md", "dir/deep/Other.md", "dup/Same.md", "dup2/Same.md", "dup2/x/Same.md", "names/Case.md", "names/case.md",
		"names/SHOUT.MD", "v1.2.md", "a.md.md", norm.NFC.String("names/café.md"), norm.NFD.String("names/café.md"), "Straße.md", "pic.png.md")
	l.Add("people/Ann.md", []string{"Annie", "Target", "The Boss"}, nil)
	for _, c := range []struct{ from, target, want string }{
		{"x.md", "Target", "Target.md"},
		{"x.md", "Target.md", "Target.md"},
		{"x.md", "target", "Target.md"},
		{"x.md", " Target ", "Target.md"},
		{"x.md", "dir/Target", "dir/Target.md"},
		{"dir/x.md", "Target", "Target.md"},          // the path from the root comes first
		{"dir/x.md", "./Target", "dir/Target.md"},    // unless the link says where
		{"dir/x.md", "../Target.md", "Target.md"},    //
		{"dir/x.md", "../../Target.md", ""},          // outside
		{"dir/x.md", "/dir/Target", "dir/Target.md"}, //
		{"dir/x.md", "/Other", ""},                   //
		{"x.md", "Other", "dir/deep/Other.md"},
		{"x.md", "deep/other", "dir/deep/Other.md"},
		{"x.md", "eep/Other", ""},
		{"x.md", "Same", "dup/Same.md"},
		{"dup2/x.md", "Same", "dup2/Same.md"},
		{"dup2/x/y.md", "Same", "dup2/x/Same.md"},
		{"x.md", "Case", "names/Case.md"},
		{"x.md", "case", "names/case.md"},
		{"x.md", "cAse", "names/Case.md"},
		{"x.md", "shout", "names/SHOUT.MD"},
		{"x.md", "v1.2", "v1.2.md"},
		{"x.md", "a.md", "a.md.md"},
		{"x.md", norm.NFC.String("café"), norm.NFC.String("names/café.md")},
		{"x.md", norm.NFD.String("café"), norm.NFD.String("names/café.md")},
		{"x.md", "STRASSE", "Straße.md"},
		{"x.md", "annie", "people/Ann.md"},
		{"x.md", "the boss", "people/Ann.md"},
		{"x.md", "pic.png", "pic.png.md"},
		{"x.md", "other.png", ""},
		{"Target.md", "", "Target.md"},
		{"x.md", "nowhere", ""},
	} {
		if got, ok := l.Resolve(c.from, c.target); got != c.want && (ok || c.want != "") {
			t.Errorf("%q in %s leads to %q, want %q", c.target, c.from, got, c.want)
		}
	}
}

func TestBacklinks(t *testing.T) {
	l := New()
	l.Add("a/Note.md", []string{"Nick"}, nil)
	l.Add("x.md", nil, []string{"note", "Note.md", "a/Note"})
	l.Add("y.md", nil, []string{"nick", "elsewhere"})
	l.Add("b/z.md", nil, []string{"../a/note.md"})
	check := func(when string, want ...string) {
		t.Helper()
		if got := l.Backlinks("a/Note.md"); !slices.Equal(got, want) {
			t.Errorf("%s: linked from %q, want %q", when, got, want)
		}
	}
	check("at first", "b/z.md", "x.md", "y.md")
	l.Add("Note.md", nil, nil)
	check("with a note nearer", "b/z.md", "x.md", "y.md")
	l.Add("x.md", nil, []string{"note"})
	check("with the nearer one meant", "b/z.md", "y.md")
	l.Remove("Note.md")
	check("without it", "b/z.md", "x.md", "y.md")
	l.Remove("y.md")
	check("without the alias", "b/z.md", "x.md")
	l.Remove("a/Note.md")
	check("when it is gone")
	if l.Len() != 2 {
		t.Errorf("%d notes left, want 2", l.Len())
	}
}

// Notes that come and go below the one that is meant leave nothing behind.
func TestRemovedNotesAreLetGo(t *testing.T) {
	l := linksOf("index.md", "a/index.md", "a/b/index.md")
	for i := range 1_000 {
		p := fmt.Sprintf("a/b/%d/index.md", i)
		l.Add(p, nil, nil)
		l.Add(p, []string{"start"}, nil) // as another note, with other names
		l.Remove(p)
	}
	b := l.suffix["index"]
	for folder, p := range b.places {
		if len(p.heap) > 3*p.count+8 {
			t.Errorf("%d notes are kept for the %d in folder %q", len(p.heap), p.count, folder)
		}
	}
	if len(b.places) != 3 || len(l.suffix) != 4 || len(l.aliases) != 0 {
		t.Errorf("%d folders, %d ends and %d aliases are left, want 3, 4 and none", len(b.places), len(l.suffix), len(l.aliases))
	}
	l.Remove("index.md")
	if got, _ := l.Resolve("x.md", "index"); got != "a/index.md" {
		t.Errorf("without the shortest, index leads to %q", got)
	}
	l.Remove("a/b/index.md")
	if got, _ := l.Resolve("a/b/x.md", "index"); got != "a/index.md" {
		t.Errorf("with one left, index leads to %q", got)
	}
}

// The resolver answers as one that looks at all notes for each link would, whatever
// was added and removed before.
func TestResolveAgainstAllNotes(t *testing.T) {
	name := rapid.SampledFrom([]string{"a", "b", "A", "é", "e\u0301", "c.d"})
	notePath := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(name, 1, 4).Draw(t, "path"), "/") + ".md"
	})
	rapid.Check(t, func(t *rapid.T) {
		links, all := New(), map[string]bool{}
		for range rapid.IntRange(1, 40).Draw(t, "changes") {
			p := notePath.Draw(t, "note")
			if rapid.Bool().Draw(t, "add") {
				links.Add(p, nil, nil)
				all[p] = true
			} else {
				links.Remove(p)
				delete(all, p)
			}
		}
		for range 10 {
			from, target := notePath.Draw(t, "from"), strings.TrimSuffix(notePath.Draw(t, "target"), ".md")
			got, _ := links.Resolve(from, target)
			if want := slowly(all, from, target); got != want {
				t.Fatalf("%q in %s leads to %q, want %q of %v", target, from, got, want, all)
			}
			rooted, ok := links.Resolve("", target)
			if of := links.Meanings(target); ok != slices.Contains(of, rooted) || len(of) > 1 && len(of) != ending(all, target) {
				t.Fatalf("%q means %q, one of them %q, of %v", target, of, rooted, all)
			}
		}
	})
}

// ending is how many notes end in a target.
func ending(all map[string]bool, target string) (n int) {
	for p := range all {
		if strings.HasSuffix("/"+notename.Fold(notename.TrimExtension(p)), "/"+notename.Fold(target)) {
			n++
		}
	}
	return n
}

// slowly is the rule of [Links.Resolve], for targets from the root, in the simplest
// way.
func slowly(all map[string]bool, from, target string) string {
	if all[target+".md"] {
		return target + ".md"
	}
	best, rank := "", ""
	for p := range all {
		folded := notename.Fold(notename.TrimExtension(p))
		if folded != notename.Fold(target) && !strings.HasSuffix(folded, "/"+notename.Fold(target)) {
			continue
		}
		whole, near := "1", "1"
		if folded == notename.Fold(target) {
			whole = "0"
		} else if dir := path.Dir(notename.Fold(from)); dir == "." || strings.HasPrefix(folded, dir+"/") {
			near = "0"
		}
		if r := fmt.Sprintf("%s %s %04d %s", whole, near, len(p), p); best == "" || r < rank {
			best, rank = p, r
		}
	}
	if best == "" || notename.Fold(notename.TrimExtension(best)) == notename.Fold(target) {
		return best
	}
	if exact := path.Join(path.Dir(best), path.Base(target)) + ".md"; all[exact] {
		return exact
	}
	return best
}

func BenchmarkResolve(b *testing.B) {
	for _, shape := range []struct {
		name string
		path func(i int) string
	}{
		{"own names", func(i int) string { return fmt.Sprintf("dir%d/sub%d/Note %d.md", i%10, i%100, i) }},
		{"one name", func(i int) string { return fmt.Sprintf("dir%d/sub%d/index.md", i%100, i) }},
	} {
		b.Run(shape.name+", 100,000 links over 10,000 notes", func(b *testing.B) {
			const notes, links = 10_000, 100_000
			l, random := New(), rand.New(rand.NewPCG(1, 2))
			for i := range notes {
				l.Add(shape.path(i), nil, nil)
			}
			from, to := make([]string, links), make([]string, links)
			for i := range links {
				from[i], to[i] = shape.path(random.IntN(notes)), notename.TrimExtension(path.Base(shape.path(random.IntN(notes))))
			}
			for b.Loop() {
				for i := range links {
					if _, ok := l.Resolve(from[i], to[i]); !ok {
						b.Fatal(to[i])
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/links, "ns/link")
		})
	}
}

// BenchmarkRemove removes all notes, which have one name, the best first: each is the
// one that a link means.
func BenchmarkRemove(b *testing.B) {
	for _, notes := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("%d notes with one name", notes), func(b *testing.B) {
			paths := make([]string, notes)
			for i := range paths {
				paths[i] = fmt.Sprintf("dir%d/sub%d/index.md", i%100, i)
			}
			slices.SortFunc(paths, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
			for b.Loop() {
				b.StopTimer()
				l := linksOf(paths...)
				b.StartTimer()
				for _, p := range paths {
					l.Remove(p)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(notes), "ns/note")
		})
	}
}

// isNotePath reports whether p is clean UTF-8, below the root and nowhere hidden, as all paths are that the
// vault lists.
func isNotePath(p string) bool {
	hidden := func(element string) bool { return strings.HasPrefix(element, ".") }
	return utf8.ValidString(p) && p == path.Clean(p) && !path.IsAbs(p) && !slices.ContainsFunc(strings.Split(p, "/"), hidden)
}

func FuzzLinks(f *testing.F) {
	f.Fuzz(func(t *testing.T, path, alias, from, target string) {
		if !isNotePath(path) || !isNotePath(from) {
			t.Skip("the vault has no note with this path")
		}
		l := New()
		l.Add(path, []string{alias}, []string{target})
		l.Add(from, nil, []string{target})
		found, ok := l.Resolve(from, target)
		if ok && found != path && found != from {
			t.Fatalf("%q in %q leads to %q, which is no note", target, from, found)
		}
		if target != "" && ok {
			linked := false
			for _, source := range l.Backlinks(found) {
				linked = linked || source == from
			}
			if !linked && strings.TrimSpace(target) != "" {
				t.Fatalf("%q in %q leads to %q, which is not linked from there", target, from, found)
			}
		}
		l.Remove(path)
		l.Remove(from)
		if l.Len() != 0 || len(l.suffix) != 0 || len(l.folded) != 0 || len(l.aliases) != 0 || len(l.targets) != 0 {
			t.Fatal("something is left when all notes are removed")
		}
	})
}
