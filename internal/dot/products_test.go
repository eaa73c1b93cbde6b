package dot

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestProductsOfRandomShapes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(0, 14).Draw(t, "rows of a"), rapid.IntRange(0, 14).Draw(t, "rows of b")
		k := rapid.IntRange(1, 100).Draw(t, "elements")
		random := rand.New(rand.NewPCG(uint64(n), rapid.Uint64().Draw(t, "seed")))
		a, b := rows(random, n, k, 3), rows(random, m, k, 5)
		dst := rows(random, n, m, 2)
		untouched := append([]float32(nil), dst.Data...)

		Products(dst, a, b)

		for i := range n {
			for j := range m {
				checkNear(t, fmt.Sprintf("product %d,%d", i, j), dst.Row(i)[j], a.Row(i), b.Row(j))
			}
		}
		for i, got := range dst.Data {
			if between := i%dst.Stride >= dst.Len; between && got != untouched[i] {
				t.Fatalf("element %d between rows of %d became %v", i, dst.Len, got)
			}
		}
	})
}

// A text's vector must not depend on how many others there are, nor on its place.
func TestProductsDependOnTheirTwoRowsAlone(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, k := range []int{1, 8, 31, 64, 384} {
		a, b := rows(random, 9, k, 0), rows(random, 8, k, 0)
		all := rows(random, 9, 8, 0)
		Products(all, a, b)
		for i := range a.N {
			for j := range b.N {
				one := rows(random, 1, 1, 0)
				Products(one, Rows{Data: a.Row(i), N: 1, Len: k, Stride: k}, Rows{Data: b.Row(j), N: 1, Len: k, Stride: k})
				if got, want := one.Data[0], all.Row(i)[j]; got != want {
					t.Fatalf("product %d,%d of %d elements alone = %v, among others %v", i, j, k, got, want)
				}
			}
		}
	}
}

func TestProductsOfShapesThatDoNotGoTogether(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for name, dst := range map[string]Rows{"too few rows": rows(random, 1, 3, 0), "too short rows": rows(random, 2, 2, 0)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: 2 rows by 3 rows went into %d by %d", name, dst.N, dst.Len)
				}
			}()
			Products(dst, rows(random, 2, 8, 0), rows(random, 3, 8, 0))
		}()
	}
}

// rows returns n random rows of k elements, with gap elements between them.
func rows(random *rand.Rand, n, k, gap int) Rows {
	return Rows{Data: float32s(random, n*(k+gap)), N: n, Len: k, Stride: k + gap}
}

func checkNear(t fataler, what string, got float32, a, b []float32) {
	t.Helper()
	var exact, size float64
	for i := range a {
		exact += float64(a[i]) * float64(b[i])
		size += math.Abs(float64(a[i]) * float64(b[i]))
	}
	if diff := math.Abs(float64(got) - exact); !(diff <= gamma(len(a))*size) {
		t.Fatalf("%s of %d elements = %v, want %v within %g", what, len(a), got, exact, gamma(len(a))*size)
	}
}

func BenchmarkProducts(b *testing.B) {
	random := rand.New(rand.NewPCG(11, 12))
	for _, k := range []int{32, 384, 1536} {
		x, w := rows(random, 64, k, 0), rows(random, 33, k, 0)
		dst := rows(random, 64, 33, 0)
		b.Run(fmt.Sprintf("elements=%d", k), func(b *testing.B) {
			for b.Loop() {
				Products(dst, x, w)
			}
			b.ReportMetric(float64(b.N)*64*33*float64(k)/b.Elapsed().Seconds()/1e9, "GMAC/s")
		})
	}
}
