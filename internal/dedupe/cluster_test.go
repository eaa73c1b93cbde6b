package dedupe

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/internal/text/analysis"
	"emberd/memory"
)

// items are texts with ids in their order.
func items(texts ...string) []Item {
	var out []Item
	for i, s := range texts {
		out = append(out, Item{ID: memory.ID(fmt.Sprintf("%06d", i)), Text: s})
	}
	return out
}

func find(t testing.TB, in []Item, opt Options) Grouping {
	t.Helper()
	got, err := Find(t.Context(), analysis.New(), in, opt, quietly)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func quietly(int, int) {}

func usual() Options { return Options{Threshold: 0.83, MaxSize: 12} }

func kitchen() []string {
	return []string{
		"The kettle leaks at the seam",
		"At the seam the kettle is leaking",
		"The staging database of the web shop in Leith listens on port 5432",
		"The staging database of the web shop in Leith listens on port 5433",
		"Water the tomatoes in the morning",
		"Kettle leaks at its seam",
		"The tide turns at six in the harbour",
	}
}

func TestFind(t *testing.T) {
	in := items(kitchen()...)
	got := find(t, in, usual())
	if len(got.Clusters) != 1 || !slices.Equal(got.Clusters[0].Members, []int{0, 1, 5}) || got.Clusters[0].Cohesion < 0.99 {
		t.Errorf("the clusters are %+v", got.Clusters)
	}
	if want := IDOf([]memory.ID{in[5].ID, in[0].ID, in[1].ID}); got.Clusters[0].ID != want {
		t.Errorf("its id is %s, want %s", got.Clusters[0].ID, want)
	}
	if len(got.Apart) != 1 || got.Apart[0].A != 2 || got.Apart[0].B != 3 || got.Apart[0].Why != "different numbers or dates: 5432 and 5433" {
		t.Errorf("apart are %+v", got.Apart)
	}
	for i := range in {
		in[i].Group = fmt.Sprint(i)
	}
	if got := find(t, in, usual()); len(got.Clusters)+len(got.Apart) > 0 {
		t.Errorf("of different groups are %+v", got)
	}
}

func TestPairs(t *testing.T) {
	pairs, err := Pairs(t.Context(), analysis.New(), items(kitchen()...), Options{Threshold: 0.6}, quietly)
	if err != nil || len(pairs) != 4 {
		t.Fatalf("got %+v, %v", pairs, err)
	}
	for i, p := range pairs[1:] {
		if p.Similarity > pairs[i].Similarity {
			t.Errorf("%+v comes behind %+v", p, pairs[i])
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Pairs(ctx, analysis.New(), items(kitchen()...), Options{Threshold: 0.6}, quietly); err == nil {
		t.Error("went on when nobody waited any more")
	}
	if _, err := Find(ctx, analysis.New(), items(kitchen()...), usual(), quietly); err == nil {
		t.Error("went on when nobody waited any more")
	}
}

func TestClustersHaveAMaximum(t *testing.T) {
	got := find(t, items(slices.Repeat([]string{"the kettle leaks"}, 25)...), Options{Threshold: 0.83, MaxSize: 10})
	n := 0
	for _, c := range got.Clusters {
		if len(c.Members) > 10 {
			t.Errorf("a cluster has %d members", len(c.Members))
		}
		n += len(c.Members)
	}
	if len(got.Clusters) != 3 || n != 25 {
		t.Errorf("%d clusters of %d", len(got.Clusters), n)
	}
}

// What leads from one end of a chain to the other does not make the ends say the same.
func TestNoClusterHoldsWhatDiffers(t *testing.T) {
	got := find(t, items(
		"the backup of the ledger runs at night on host alder",
		"the backup of the ledger never runs at night on host alder",
		"the backup of the ledger runs at night on host alder, alder",
	), Options{Threshold: 0.5, MaxSize: 12})
	if len(got.Clusters) != 1 || !slices.Equal(got.Clusters[0].Members, []int{0, 2}) || len(got.Apart) != 2 {
		t.Errorf("got %+v", got)
	}
}

// The index finds what comparing each with each finds.
func TestTheIndexFindsEveryPair(t *testing.T) {
	words := rapid.SampledFrom(strings.Fields("kettle leaks seam gasket 4417 tide harbour turns port listens ledger alder birch rowan"))
	analyzer := analysis.New()
	rapid.Check(t, func(rt *rapid.T) {
		var texts []string
		for range rapid.IntRange(2, 30).Draw(rt, "texts") {
			texts = append(texts, strings.Join(rapid.SliceOfN(words, 1, 9).Draw(rt, "words"), " "))
		}
		threshold := rapid.Float64Range(0.3, 0.99).Draw(rt, "threshold")
		in := items(texts...)
		got, err := Pairs(t.Context(), analyzer, in, Options{Threshold: threshold}, quietly)
		if err != nil {
			rt.Fatal(err)
		}
		s, err := newComparer(t.Context(), analyzer, in, nil, quietly)
		if err != nil {
			rt.Fatal(err)
		}
		want := 0
		for i := range in {
			for j := range i {
				if s.similarity(i, j) >= threshold {
					want++
				}
			}
		}
		if len(got) < want {
			rt.Fatalf("%d pairs, want %d of %q at %v", len(got), want, texts, threshold)
		}
	})
}

// The order that items come in makes no difference.
func TestClustersAreStable(t *testing.T) {
	in := items(slices.Concat(kitchen(), kitchen(), slices.Repeat([]string{"the kettle leaks again"}, 30))...)
	want := find(t, in, usual())
	for seed := range uint64(5) {
		mixed := slices.Clone(in)
		rand.New(rand.NewPCG(1, seed)).Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		got := find(t, mixed, usual())
		if !slices.EqualFunc(got.Clusters, want.Clusters, func(a, b Cluster) bool { return a.ID == b.ID && a.Cohesion == b.Cohesion }) {
			t.Errorf("got %+v, want %+v", got.Clusters, want.Clusters)
		}
	}
}

// randomTexts are texts of which one in ten is another one reworded.
func randomTexts(n int) []Item {
	r := rand.New(rand.NewPCG(7, 7))
	var out []string
	for range n {
		var b strings.Builder
		for range 12 + r.IntN(16) {
			// Few words are frequent and most are rare, as in any language.
			fmt.Fprintf(&b, "w%c%d ", 'a'+rune(r.IntN(26)), int(float64(2000)*r.Float64()*r.Float64()*r.Float64()))
		}
		text := b.String()
		if len(out) > 0 && r.IntN(10) == 0 {
			text = out[r.IntN(len(out))] + "again"
		}
		out = append(out, text)
	}
	return items(out...)
}

func BenchmarkFind(b *testing.B) {
	for _, n := range []int{1_000, 2_000, 10_000, 100_000} {
		in := randomTexts(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if got := find(b, in, usual()); len(got.Clusters) == 0 {
					b.Fatal("no clusters")
				}
			}
		})
	}
}

// Progress only grows, and whoever gives up is not waited for.
func TestFindTellsHowFarItIs(t *testing.T) {
	in := randomTexts(1_000)
	var last int
	_, err := Find(t.Context(), analysis.New(), in, usual(), func(done, total int) {
		if done < last || done > total || total != 2*len(in) {
			t.Errorf("told %d of %d after %d", done, total, last)
		}
		last = done
	})
	if err != nil || last < len(in) {
		t.Errorf("told %d at last, %v", last, err)
	}
	for _, when := range []int{0, 512, 1_536} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := Find(ctx, analysis.New(), in, usual(), func(done, _ int) {
			if last = done; done >= when {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) || last > when+256 {
			t.Errorf("given up at %d it went on to %d: %v", when, last, err)
		}
	}
}

// Of too many pairs the most similar are told, whatever the order of the texts.
func TestPairsAreBounded(t *testing.T) {
	in := randomTexts(300)
	all := func(most int) []string {
		s, err := newComparer(t.Context(), analysis.New(), in, nil, quietly)
		if err != nil {
			t.Fatal(err)
		}
		s.most = most
		pairs, err := s.pairs(t.Context(), 0.3)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, p := range pairs {
			out = append(out, fmt.Sprint(in[p.A].ID, in[p.B].ID, p.Similarity))
		}
		return out
	}
	want := all(maxPairs)
	if len(want) < 20 {
		t.Fatalf("only %d pairs", len(want))
	}
	for range 2 {
		if got := all(5); !slices.Equal(got, want[:5]) {
			t.Errorf("of %d pairs the best are %q, want %q", len(want), got, want[:5])
		}
		slices.Reverse(in)
	}
}
