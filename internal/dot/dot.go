// Package dot is the arithmetic that vectors and a BERT model spend their time in: inner
// products, of single rows and of tiles of them, and the widening of weights that a model
// file keeps in fewer bits.
//
// Every function is there twice. The plain Go one defines what is computed; assembly for
// AVX2 with FMA and F16C and for NEON is chosen when the processor has it, and never under
// the build tag purego. What is summed in integers is equal bit for bit. Sums of floats
// are added up in another order and may be fused, so they differ within the bound that
// every order keeps (Higham, "Accuracy and Stability of Numerical Algorithms", section
// 3.1): |computed - exact| <= g * sum |a[i]*b[i]|, g = n*u/(1-n*u), u = 2^-24, as long as
// no product or sum overflows or underflows. On one machine the same values give the same
// bits, wherever they are in memory and whatever else computes.
//
// Nothing is read or written outside of the slices, which need no alignment, and nothing
// is kept of them. All functions may be called by many goroutines at once.
package dot

// Float32 returns the inner product of a and as many elements of b. It panics if b is
// shorter.
func Float32(a, b []float32) float32 {
	return sumFloat32(a, b[:len(a):len(b)])
}

// Int8 returns the inner product of a and as many elements of b. It panics if b is
// shorter. The result is exact up to 131,071 elements, whatever they are; of more, it is
// the exact result modulo 2^32.
func Int8(a, b []int8) int32 {
	return sumInt8(a, b[:len(a):len(b)])
}
