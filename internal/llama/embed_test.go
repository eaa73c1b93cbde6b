package llama

import (
	"math"
	"slices"
	"testing"
)

func TestUnit(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, test := range []struct{ of, want []float32 }{
		{[]float32{3, -4}, []float32{0.6, -0.8}},
		{[]float32{0, 1e-40}, []float32{0, 1}},
		{[]float32{math.MaxFloat32, 0, 0}, []float32{1, 0, 0}},
		{[]float32{0, 0}, nil},
		{[]float32{1, nan}, nil},
		{[]float32{1, inf}, nil},
		{[]float32{-inf, 1}, nil},
	} {
		if got := unit(test.of); !slices.Equal(got, test.want) {
			t.Errorf("%v: got %v, want %v", test.of, got, test.want)
		}
	}
}
