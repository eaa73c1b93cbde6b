//go:build !purego

package dot

import "golang.org/x/sys/cpu"

// accelerated never changes. Go runs on no arm64 without NEON, but the kernel may say so.
var accelerated = cpu.ARM64.HasASIMD

func sumFloat32(a, b []float32) float32 {
	if accelerated {
		return float32NEON(a, b)
	}
	return plainFloat32(a, b)
}

func sumInt8(a, b []int8) int32 {
	if accelerated {
		return int8NEON(a, b)
	}
	return plainInt8(a, b)
}

// float32NEON reads len(a) elements of both.
//
//go:noescape
func float32NEON(a, b []float32) float32

// int8NEON reads len(a) elements of both.
//
//go:noescape
func int8NEON(a, b []int8) int32

func (s *strip) multiply() { stripNEON(s) }

func widenFloat16(dst []float32, src []byte) {
	whole := 0
	if accelerated {
		whole = len(dst) &^ 7
		float16NEON(dst[:whole], src)
	}
	plainFloat16(dst[whole:], src[2*whole:])
}

func widenQ8(dst []float32, src []byte) {
	if accelerated {
		q8NEON(dst, src)
		return
	}
	plainQ8(dst, src)
}

func softmax(x []float32) {
	if accelerated && len(x)%lanes == 0 {
		softmaxNEON(x, &coefficients)
		return
	}
	plainSoftmax(x)
}

func gelu(x []float32) {
	if accelerated && len(x)%lanes == 0 {
		geluNEON(x, &coefficients)
		return
	}
	plainGELU(x)
}

// stripNEON sets three elements of the rows of dst for every three rows of b.
//
//go:noescape
func stripNEON(s *strip)

// float16NEON widens len(dst) numbers, a multiple of 8.
//
//go:noescape
func float16NEON(dst []float32, src []byte)

// q8NEON widens len(dst) numbers, a multiple of 32.
//
//go:noescape
func q8NEON(dst []float32, src []byte)

// softmaxNEON takes a multiple of 8 elements, and not none.
//
//go:noescape
func softmaxNEON(x []float32, c *table)

// geluNEON takes a multiple of 8 elements.
//
//go:noescape
func geluNEON(x []float32, c *table)
