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
