package vectors

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"emberd/internal/testutil/crashdisk"
)

// spread makes vectors of MiniLM's dimension in a certain manner.
type spread struct {
	name string
	make func(rng *rand.Rand, n int) [][]float32
	// least is the share of the ten nearest by float32 that must be found, of all queries.
	least float64
	// most is by how much a cosine of the ten may fall short of that of float32's.
	most float64
}

const roundDim = 384

func spreads() []spread {
	return []spread{
		{"in all directions", func(rng *rand.Rand, n int) [][]float32 {
			return times(n, func(int) []float32 { return unit(randomVector(rng, roundDim)) })
		}, 1, 1e-6},
		{"in clusters", func(rng *rand.Rand, n int) [][]float32 {
			centres := times(20, func(int) []float32 { return unit(randomVector(rng, roundDim)) })
			return times(n, func(i int) []float32 { return near(rng, centres[i%20], 0.3) })
		}, 1, 1e-6},
		{"in tight clusters", func(rng *rand.Rand, n int) [][]float32 {
			centres := times(20, func(int) []float32 { return unit(randomVector(rng, roundDim)) })
			return times(n, func(i int) []float32 { return near(rng, centres[i%20], 0.05) })
		}, 1, 1e-6},
		{"with one great component", func(rng *rand.Rand, n int) [][]float32 {
			return times(n, func(int) []float32 {
				v := randomVector(rng, roundDim)
				v[7] = 12
				return unit(v)
			})
		}, 1, 1e-6},
		{"in one narrow cone", func(rng *rand.Rand, n int) [][]float32 {
			centre := unit(randomVector(rng, roundDim))
			return times(n, func(int) []float32 { return near(rng, centre, 0.02) })
		}, 0, 0.001},
	}
}

func times(n int, make func(i int) []float32) (all [][]float32) {
	for i := range n {
		all = append(all, make(i))
	}
	return all
}

// near is a vector whose every component is off by so much of the average one.
func near(rng *rand.Rand, centre []float32, by float64) []float32 {
	v := slices.Clone(centre)
	for i := range v {
		v[i] += float32(by * rng.NormFloat64() / math.Sqrt(roundDim))
	}
	return unit(v)
}

// The ten nearest are those of float32. Only where more than 320 documents are nearer to each other
// than the rounding can tell are they others, which are as near for any purpose.
func TestTheTenNearestAreThoseOfFloat32(t *testing.T) {
	const rows, queries = 1000, 25
	for _, sp := range spreads() {
		t.Run(sp.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 3))
			all := sp.make(rng, rows+queries)
			s := storeOf(t, all[:rows])
			found, short := 0, 0.0
			for _, q := range all[rows:] {
				want := tenNearest(all[:rows], q)
				got, err := one(s.Nearest(t.Context(), q, Query{N: 10}))
				must(t, err)
				for i, m := range got {
					short = max(short, want[i].cosine-m.Cosine)
					if slices.ContainsFunc(want, func(r row) bool { return r.name == m.Doc }) {
						found++
					}
				}
			}
			share := float64(found) / (10 * queries)
			t.Logf("%.1f %% of the ten nearest found, cosines less by at most %.2g", 100*share, short)
			if share < sp.least || short > sp.most {
				t.Errorf("want at least %g %%, and at most %g", 100*sp.least, sp.most)
			}
		})
	}
}

// storeOf has a document for each vector, named by its number.
func storeOf(t *testing.T, all [][]float32) *Store {
	t.Helper()
	s, err := Open(folder, &Options{FS: crashdisk.New(), Identity: "a model", Dim: roundDim, Device: "a"})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	var entries []Entry
	var docs []Doc
	for i, v := range all {
		entries = append(entries, Entry{numbered(i), v})
		docs = append(docs, Doc{Name: fmt.Sprintf("%06d", i), Chunks: []Chunk{{Key: numbered(i)}}})
	}
	must(t, s.Put(entries))
	must(t, s.Place(docs, nil))
	return s
}

type row struct {
	name   string
	cosine float64
}

// tenNearest is by float64.
func tenNearest(all [][]float32, q []float32) []row {
	rows := make([]row, len(all))
	for i, v := range all {
		rows[i].name = fmt.Sprintf("%06d", i)
		for j, x := range v {
			rows[i].cosine += float64(x) * float64(q[j])
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(b.cosine, a.cosine) })
	return rows[:10]
}

// Equal vectors come in the order of their names, whatever was stored first, and zeros, in a row or
// as a query, are as near as anything that has nothing to do with it.
func TestTiesAndZeros(t *testing.T) {
	s, _ := newStore(t)
	apple := word("apple").Vector
	var docs []Doc
	for i := range 40 {
		name := fmt.Sprintf("n/%02d", (i*17)%40)
		must(t, s.Put([]Entry{{KeyOf(name), apple}, {KeyOf("zero", name), make([]float32, dim)}}))
		docs = append(docs, Doc{Name: name, Chunks: []Chunk{{Key: KeyOf("zero", name)}, {Key: KeyOf(name)}}})
	}
	must(t, s.Place(docs, nil))
	matches, err := one(s.Nearest(t.Context(), apple, Query{N: 40}))
	must(t, err)
	for i, m := range matches {
		if want := fmt.Sprintf("n/%02d", i); m.Doc != want || m.Chunk != 1 || math.Abs(m.Cosine-1) > 1e-6 {
			t.Errorf("place %d of equals is %+v, want %s", i, m, want)
		}
	}
	matches, err = one(s.Nearest(t.Context(), make([]float32, dim), Query{N: 5}))
	must(t, err)
	for _, m := range matches {
		if m.Cosine != 0 || m.Chunk != 0 {
			t.Errorf("near nothing is %+v, want cosine 0", m)
		}
	}
	if len(matches) != 5 {
		t.Errorf("near nothing are %d documents, want 5", len(matches))
	}
}

// accept is asked about few documents where any will do, at most once about each, and until there
// are enough where few will.
func TestAcceptIsAskedLittle(t *testing.T) {
	all := times(5000, func(i int) []float32 { return wordOf(fmt.Sprint(i), roundDim).Vector })
	s := storeOf(t, all)
	for _, c := range []struct {
		name   string
		accept func(doc string) bool
		most   int // times asked
		want   int
	}{
		{"any", func(string) bool { return true }, 40, 10},
		{"every tenth", func(doc string) bool { return doc[5] == '0' }, 1500, 10},
		{"three of all", func(doc string) bool { return doc < "000003" }, 5000, 3},
		{"none", func(string) bool { return false }, 5000, 0},
	} {
		asked := map[string]int{}
		got, err := one(s.Nearest(t.Context(), all[42], Query{N: 10, Accept: func(doc string) bool {
			asked[doc]++
			return c.accept(doc)
		}}))
		must(t, err)
		if len(got) != c.want || len(asked) > c.most {
			t.Errorf("%s: %d found, want %d; %d asked about, want at most %d", c.name, len(got), c.want, len(asked),
				c.most)
		}
		for doc, n := range asked {
			if n > 1 {
				t.Errorf("%s: asked %d times about %s", c.name, n, doc)
			}
		}
	}
}
