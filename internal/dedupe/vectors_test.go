package dedupe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"emberd/internal/text/analysis"
)

// identical is a similarity that is the cosine.
func identical(cosine float64) float64 { return max(0, cosine) }

// vectorsOf has a vector for each item that is not nil.
func vectorsOf(all [][]float32) *Vectors {
	return &Vectors{Of: func(i int) ([]float32, bool) { return all[i], all[i] != nil }, Similarity: identical}
}

// normal makes a vector of length 1.
func normal(v []float64) []float32 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x / math.Sqrt(sum))
	}
	return out
}

// turned is a vector at a cosine to another.
func turned(v []float32, cosine float64, r *rand.Rand) []float32 {
	other, along := make([]float64, len(v)), 0.0
	for i := range other {
		other[i] = r.NormFloat64()
		along += other[i] * float64(v[i])
	}
	for i := range other {
		other[i] -= along * float64(v[i])
	}
	across, out := normal(other), make([]float64, len(v))
	for i := range out {
		out[i] = cosine*float64(v[i]) + math.Sqrt(1-cosine*cosine)*float64(across[i])
	}
	return normal(out)
}

// topics are n vectors around some topics, as those of texts are, every tenth being near
// to another one. It tells those pairs.
func topics(n, dim int, near float64) (all [][]float32, pairs [][2]int) {
	r := rand.New(rand.NewPCG(3, 5))
	random := func() []float32 {
		v := make([]float64, dim)
		for i := range v {
			v[i] = r.NormFloat64()
		}
		return normal(v)
	}
	var about [][]float32
	for range 50 {
		about = append(about, random())
	}
	for i := range n {
		if i > 0 && i%10 == 0 {
			of := r.IntN(i)
			all = append(all, turned(all[of], near, r))
			pairs = append(pairs, [2]int{of, i})
			continue
		}
		all = append(all, turned(about[r.IntN(len(about))], 0.5+0.2*r.Float64(), r))
	}
	return all, pairs
}

func TestVectorsDecideWhereBothHaveOne(t *testing.T) {
	in := items("the kettle leaks", "a boiler drips", "the kettle leaks", "the boiler drips")
	r := rand.New(rand.NewPCG(1, 1))
	kettle := turned(normal([]float64{1, 2, 3, 4, 5, 6, 7, 8}), 0.5, r)
	all := [][]float32{kettle, turned(kettle, 0.9, r), nil, nil}
	pairs, err := Pairs(t.Context(), analysis.New(), in, Options{Threshold: 0.8, Vectors: vectorsOf(all)}, quietly)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range pairs {
		got = append(got, fmt.Sprintf("%d-%d %.2f %v", p.A, p.B, p.Similarity, p.ByVectors))
	}
	// 0 and 2, and 1 and 3, have the same words, and 2 and 3 no vector; 0 and 1 share no word.
	if want := []string{"0-2 1.00 false", "1-3 1.00 false", "0-1 0.90 true"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	all[2] = turned(kettle, 0.1, r)
	if got, err := Pairs(t.Context(), analysis.New(), in[:3], Options{Threshold: 0.8, Vectors: vectorsOf(all)}, quietly); err != nil || len(got) != 1 || got[0].B != 1 {
		t.Errorf("with a vector that is far away equal words make %+v, %v", got, err)
	}
}

// No similarity of vectors puts together what says something else.
func TestVectorsJoinNothingThatDiffers(t *testing.T) {
	in := items("the store listens on port 5432", "the database runs on port 5433", "the database is on port 5432")
	all := make([][]float32, len(in))
	r := rand.New(rand.NewPCG(1, 1))
	all[0] = turned(normal([]float64{1, 2, 3, 4, 5, 6, 7, 8}), 0.5, r)
	all[1], all[2] = turned(all[0], 0.995, r), turned(all[0], 0.99, r)
	got, err := Find(t.Context(), analysis.New(), in, Options{Threshold: 0.83, MaxSize: 12, Vectors: vectorsOf(all)}, quietly)
	if err != nil || len(got.Clusters) != 1 || !slices.Equal(got.Clusters[0].Members, []int{0, 2}) || !got.Clusters[0].ByVectors || len(got.Apart) != 2 || !got.Apart[0].ByVectors {
		t.Errorf("got %+v, %v", got, err)
	}
}

// What the cells lead to is what comparing each with each finds.
func TestTheCellsFindEveryPair(t *testing.T) {
	analyzer := analysis.New()
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		n, dim := rapid.IntRange(2, 40).Draw(rt, "items"), rapid.IntRange(2, 40).Draw(rt, "dim")
		var texts []string
		var all [][]float32
		for i := range n {
			texts = append(texts, fmt.Sprintf("word%d", i))
			v := make([]float64, dim)
			for k := range v {
				v[k] = r.NormFloat64()
			}
			all = append(all, normal(v))
			if i > 0 && r.IntN(3) == 0 {
				all[i] = turned(all[r.IntN(i)], 0.7+0.3*r.Float64(), r)
			}
			if r.IntN(5) == 0 {
				all[i] = normal(v)
			}
		}
		threshold := rapid.Float64Range(0.3, 0.99).Draw(rt, "threshold")
		pairs, err := Pairs(t.Context(), analyzer, items(texts...), Options{Threshold: threshold, Vectors: vectorsOf(all)}, quietly)
		if err != nil {
			rt.Fatal(err)
		}
		found := make(map[[2]int]bool)
		for _, p := range pairs {
			found[[2]int{p.A, p.B}] = true
		}
		for i := range n {
			for j := range i {
				sum := 0.0
				for k, x := range all[i] {
					sum += float64(x) * float64(all[j][k])
				}
				if is := math.Round(1e6*identical(sum))/1e6 >= threshold; is != found[[2]int{j, i}] {
					rt.Fatalf("%d and %d with cosine %v: found %v at %v", j, i, sum, !is, threshold)
				}
			}
		}
	})
}

// Of many the cells lead to nearly all.
func TestTheCellsOfManyFindNearlyEveryPair(t *testing.T) {
	n := 2 * maxInCell
	all, near := topics(n, 64, 0.9)
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("word%d", i)
	}
	pairs, err := Pairs(t.Context(), analysis.New(), items(texts...), Options{Threshold: 0.85, Vectors: vectorsOf(all)}, quietly)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[[2]int]bool)
	for _, p := range pairs {
		found[[2]int{p.A, p.B}] = true
	}
	missed := 0
	for _, p := range near {
		if !found[p] {
			missed++
		}
	}
	t.Logf("%d of %d pairs missed", missed, len(near))
	if missed*50 > len(near) {
		t.Errorf("%d of %d pairs are missed, more than one in fifty", missed, len(near))
	}
}

func BenchmarkFindByVectors(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		in := randomTexts(n)
		all, _ := topics(n, 384, 0.9)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			opt := usual()
			opt.Vectors = vectorsOf(all)
			for b.Loop() {
				if got := find(b, in, opt); len(got.Apart) == 0 { // random texts say other things
					b.Fatal("no pairs")
				}
			}
		})
	}
}

// Vectors are read from a disk, and whoever gives up is not waited for.
func TestTakingInVectorsEnds(t *testing.T) {
	in := randomTexts(1_000)
	ctx, cancel := context.WithCancel(t.Context())
	read := 0
	of := &Vectors{Similarity: identical, Of: func(int) ([]float32, bool) {
		if read++; read == 100 {
			cancel()
		}
		return []float32{1, 0}, true
	}}
	_, err := Pairs(ctx, analysis.New(), in, Options{Threshold: 0.9, Vectors: of}, quietly)
	if !errors.Is(err, context.Canceled) || read > 256 {
		t.Errorf("given up after 100 vectors it went on to %d: %v", read, err)
	}
}
