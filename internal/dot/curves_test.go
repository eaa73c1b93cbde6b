package dot

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestExpOverItsRange(t *testing.T) {
	for x := float32(-80); x <= 80; x += 0.001 {
		want := math.Exp(float64(x))
		if got := float64(exp(x)); math.Abs(got-want) > 3e-7*want {
			t.Fatalf("exp(%v) = %v, want %v within 3e-7 of it", x, got, want)
		}
	}
}

func TestSoftmaxOfEveryLength(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	for n := range 301 {
		for _, spread := range []float32{0.1, 1, 30} {
			x := float32s(random, n)
			for i := range x {
				x[i] = x[i]*spread + 5
			}
			for name, got := range map[string][]float32{"Softmax": applied(Softmax, x), "plainSoftmax": applied(plainSoftmax, x)} {
				checkSoftmax(t, name, got, x)
			}
		}
	}
}

func checkSoftmax(t *testing.T, name string, got, x []float32) {
	t.Helper()
	largest, sum := math.Inf(-1), 0.0
	for _, v := range x {
		largest = max(largest, float64(v))
	}
	for _, v := range x {
		sum += math.Exp(float64(v) - largest)
	}
	for i, v := range x {
		// The difference to the largest is rounded too, to 2^-24 of at most some 200.
		want := math.Exp(float64(v)-largest) / sum
		if diff := math.Abs(float64(got[i]) - want); diff > 1e-5*want+1e-30 {
			t.Fatalf("%s: element %d of %d became %v, want %v", name, i, len(x), got[i], want)
		}
	}
}

func TestGELUOfEveryLength(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 16))
	for n := range 301 {
		x := float32s(random, n)
		for i := range x {
			x[i] *= 4
		}
		for name, got := range map[string][]float32{"GELU": applied(GELU, x), "plainGELU": applied(plainGELU, x)} {
			for i, v := range x {
				u := math.Sqrt(2/math.Pi) * (float64(v) + 0.044715*math.Pow(float64(v), 3))
				want := float64(v) / 2 * (1 + math.Tanh(u))
				if diff := math.Abs(float64(got[i]) - want); diff > 1e-6*math.Abs(want)+1e-6 {
					t.Fatalf("%s(%v) = %v, want %v", name, v, got[i], want)
				}
			}
		}
	}
}

// Sums and weights that have run away must be seen at the end.
func TestCurvesPassOnWhatIsNotFinite(t *testing.T) {
	for n := 1; n <= 40; n++ {
		for at := range n {
			for _, bad := range []float64{math.NaN(), math.Inf(1)} {
				x := make([]float32, n)
				x[at] = float32(bad)
				for i, got := range applied(Softmax, x) {
					if got == got {
						t.Fatalf("Softmax of %d zeros and a %v made element %d %v, want NaN", n, bad, i, got)
					}
				}
				if got := applied(GELU, x)[at]; got-got == 0 {
					t.Fatalf("GELU(%v) of %d elements = %v", bad, n, got)
				}
			}
		}
	}
}

func applied(f func([]float32), x []float32) []float32 {
	x = append([]float32(nil), x...)
	f(x)
	return x
}
