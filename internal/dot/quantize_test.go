package dot

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestQuantizedRowsKeepTheirProduct(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 18))
	for n := 1; n < 400; n += 7 {
		a, b := float32s(random, n), float32s(random, n)
		qa, qb := make([]int8, n), make([]int8, n)
		sa, _ := Quantize(qa, a)
		sb, _ := Quantize(qb, b)
		got := float64(Int8(qa, qb)) * float64(sa) * float64(sb)
		// An element is off by half a step at most, of a step that is a 127th of the largest.
		var want, off float64
		for i := range a {
			want += float64(a[i]) * float64(b[i])
			off += (math.Abs(float64(a[i]))*float64(sb)+math.Abs(float64(b[i]))*float64(sa))/2 + float64(sa)*float64(sb)/4
		}
		if math.Abs(got-want) > 1.0001*off {
			t.Errorf("%d elements: %v, want %v within %v", n, got, want, off)
		}
	}
}

func TestQuantizeOfOddRows(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for _, v := range [][]float32{{1, nan}, {nan, 1}, {inf, 0}} {
		row := []int8{5, 5}
		if _, finite := Quantize(row, v); finite || row[0] != 5 || row[1] != 5 {
			t.Errorf("%v became %v, finite %v; want nothing changed", v, row, finite)
		}
	}
	row := []int8{5, 5}
	if scale, finite := Quantize(row, []float32{0, 1e-38}); scale != 0 || !finite || row[0] != 0 || row[1] != 0 {
		t.Errorf("next to nothing became %v by %v", row, scale)
	}
	if scale, _ := Quantize(row, []float32{2, -2}); row[0] != 127 || row[1] != -127 || scale != float32(2)/127 {
		t.Errorf("the farthest became %v by %v", row, scale)
	}
}
