package dot

import "math"

// Quantize rounds v to int8: row becomes v over scale, so that the element farthest from
// zero is 127 or -127 and [Int8] of two rows, times both scales, is about the inner product
// of what they were made of. finite is false, and row is left as it is, when v holds a NaN
// or an infinity; a v of next to nothing becomes zeros. It panics if row is shorter than v.
func Quantize(row []int8, v []float32) (scale float32, finite bool) {
	var top float32
	for _, x := range v {
		top = max(top, float32(math.Abs(float64(x)))) // of NaN it is NaN
	}
	if !(top <= math.MaxFloat32) {
		return 0, false
	}
	scale = top / 127
	if scale < 1e-30 { // too small to divide by
		clear(row)
		return 0, true
	}
	inverse := 127 / top
	for i, x := range v {
		row[i] = int8(int32(x*inverse+128.5) - 128) // positive numbers are cut, others not
	}
	return scale, true
}
