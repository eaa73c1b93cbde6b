//go:build !purego

package dot

import "golang.org/x/sys/cpu"

// accelerated never changes. HasAVX2 includes that the system saves the registers.
var accelerated = cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasF16C

func sumFloat32(a, b []float32) float32 {
	if accelerated {
		return float32AVX2(a, b)
	}
	return plainFloat32(a, b)
}

func sumInt8(a, b []int8) int32 {
	if accelerated {
		return int8AVX2(a, b)
	}
	return plainInt8(a, b)
}

// float32AVX2 reads len(a) elements of both.
//
//go:noescape
func float32AVX2(a, b []float32) float32

// int8AVX2 reads len(a) elements of both.
//
//go:noescape
func int8AVX2(a, b []int8) int32

func (s *strip) multiply() { stripAVX2(s) }

// stripAVX2 sets three elements of the rows of dst for every three rows of b.
//
//go:noescape
func stripAVX2(s *strip)

func widenFloat16(dst []float32, src []byte) {
	whole := 0
	if accelerated {
		whole = len(dst) &^ 7
		float16AVX2(dst[:whole], src)
	}
	plainFloat16(dst[whole:], src[2*whole:])
}

func widenQ8(dst []float32, src []byte) {
	if accelerated {
		q8AVX2(dst, src)
		return
	}
	plainQ8(dst, src)
}

func softmax(x []float32) {
	if accelerated && len(x)%lanes == 0 {
		softmaxAVX2(x, &coefficients)
		return
	}
	plainSoftmax(x)
}

func gelu(x []float32) {
	if accelerated && len(x)%lanes == 0 {
		geluAVX2(x, &coefficients)
		return
	}
	plainGELU(x)
}

// float16AVX2 widens len(dst) numbers, a multiple of 8.
//
//go:noescape
func float16AVX2(dst []float32, src []byte)

// q8AVX2 widens len(dst) numbers, a multiple of 32.
//
//go:noescape
func q8AVX2(dst []float32, src []byte)

// softmaxAVX2 takes a multiple of 8 elements, and not none.
//
//go:noescape
func softmaxAVX2(x []float32, c *table)

// geluAVX2 takes a multiple of 8 elements.
//
//go:noescape
func geluAVX2(x []float32, c *table)
