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
