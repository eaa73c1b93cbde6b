package contradiction

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	_ "emberd/internal/testutil/racescale"
	"emberd/internal/text/analysis"
)

// clauses are sentences of words that this package looks at.
func clauses() *rapid.Generator[string] {
	words := strings.Fields(`the port cache service Redis Postgres Ann uses is not no never without lacks runs on in 5432 5433
		12ms 12 s 40% v1.2 2.1 2024-05-01 May 3 Tuesday Wednesday two three from to now moved instead of rather than and but or
		enabled disabled increases reduces latency about at most , . ; - | 9:30 港口 不 ない`)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 24).Draw(t, "words"), " ")
	})
}

// Whatever comes first, two texts disagree in the same, and none disagrees with itself.
func TestFindIsSymmetric(t *testing.T) {
	a := analysis.New()
	rapid.Check(t, func(t *rapid.T) {
		s, u := clauses().Draw(t, "s"), clauses().Draw(t, "u")
		f, g := Of(a, s), Of(a, u)
		if there, back := f.Find(g), g.Find(f); (len(there) == 0) != (len(back) == 0) {
			t.Fatalf("%q and %q: %+v there, %+v back", s, u, there, back)
		}
		if there, back := f.Differ(g), g.Differ(f); (there == "") != (back == "") {
			t.Fatalf("%q and %q: %q there, %q back", s, u, there, back)
		}
		if f.Shares(g) != g.Shares(f) {
			t.Fatalf("%q and %q: a subject is shared one way only", s, u)
		}
		same := Of(a, " "+s+"\n")
		if found, why, adds := f.Find(same), f.Differ(same), f.Adds(same); len(found) > 0 || why != "" || adds != "" {
			t.Fatalf("%q and itself: %+v, %q, %q", s, found, why, adds)
		}
	})
}

// What is found stands in the texts, and is found no more where the subject is another.
func TestWhatIsFoundStandsThere(t *testing.T) {
	a := analysis.New()
	rapid.Check(t, func(t *rapid.T) {
		s, u := clauses().Draw(t, "s"), clauses().Draw(t, "u")
		for _, f := range Of(a, s).Find(Of(a, u)) {
			if !strings.Contains(s, f.A) || !strings.Contains(u, f.B) || f.Why == "" || f.Kind == "" {
				t.Fatalf("%q and %q: found %+v", s, u, f)
			}
		}
	})
}

// Another number in the same words is a conflict, whatever sentences stand around it.
func TestAnotherNumberIsFoundAnywhere(t *testing.T) {
	a := analysis.New()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 60000).Draw(t, "n")
		m := rapid.IntRange(2, 60000).Filter(func(m int) bool { return m != n }).Draw(t, "m")
		before := rapid.SampledFrom([]string{"", "The tide turns at six. ", "# Ports\n\n- "}).Draw(t, "before")
		after := rapid.SampledFrom([]string{"", ". Boats lie there", "; the kettle leaks"}).Draw(t, "after")
		s, u := "The gateway listens on port "+strconv.Itoa(n), before+"The gateway listens on port "+strconv.Itoa(m)+after
		found := Of(a, s).Find(Of(a, u))
		if len(found) != 1 || found[0].A != strconv.Itoa(n) || found[0].B != strconv.Itoa(m) {
			t.Fatalf("%q and %q: found %+v", s, u, found)
		}
	})
}

// FuzzFind looks for texts that panic, and for findings that stand nowhere.
func FuzzFind(f *testing.F) {
	for _, seed := range [][2]string{
		{"The port is 5432", "the port is 5433"},
		{"Raised from 12ms to 1e999 s", "v1.2.3-rc.1 at 9:30pm, 2024-13-45"},
		{"$~<5%+ ((— not no n't never", "May 99999999999999999999 May"},
		{"港口是 5432 不 ない", "\xff\xfe not \x80 1\u0301"},
		{"lacks without rather than", "from to from to"},
	} {
		f.Add(seed[0], seed[1])
	}
	a := analysis.New()
	f.Fuzz(func(t *testing.T, s, u string) {
		x, y := Of(a, s), Of(a, u)
		x.Differ(y)
		x.Adds(y)
		x.Shares(y)
		for _, found := range x.Find(y) {
			if !strings.Contains(s, found.A) || !strings.Contains(u, found.B) {
				t.Errorf("found %+v, which does not stand there", found)
			}
			if utf8.ValidString(s) && !utf8.ValidString(found.A) {
				t.Errorf("found %q, which is cut within a letter", found.A)
			}
		}
	})
}

// A text of the greatest size is taken apart and held against another one: what one
// sentence is compared with is bounded, so this ends. go test tries a quarter of that size, and make proof all of it.
func TestTheLongestTexts(t *testing.T) {
	a, size := analysis.New(), 50<<10
	if os.Getenv("EMBERD_PROOF") != "" {
		size *= 4
	}
	for _, unit := range []string{"port 5432 is not open ", "The port is 5432. ", "a", "5 ", "not ", "- x\n", "港"} {
		long := strings.Repeat(unit, size/len(unit))
		f, g := Of(a, long), Of(a, strings.ReplaceAll(long, "5", "6"))
		if found := f.Find(g); len(found) > maxFindings {
			t.Errorf("%q: %d findings, want %d at most", unit, len(found), maxFindings)
		}
		f.Differ(g)
		f.Differ(Of(a, strings.Repeat("木", len(long)/6)+long[:len(long)/2]))
		f.Differ(Of(a, strings.Repeat("林", len(long)/3)))
	}
}

func BenchmarkFind(b *testing.B) {
	a := analysis.New()
	claim := Of(a, "The main database of the billing service runs on port 5432 with a timeout of 30s")
	known := Of(a, "Billing's database runs on port 5433 in the main cluster, and Ann owns it")
	for b.Loop() {
		claim.Against(known, 0.7, Related)
	}
}

func BenchmarkOf(b *testing.B) {
	a := analysis.New()
	for b.Loop() {
		Of(a, "The main database of the billing service runs on port 5432 with a timeout of 30s")
	}
}
