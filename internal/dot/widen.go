package dot

import (
	"encoding/binary"
	"math"
)

// A block of Q8_0 stands for 32 numbers: a scale of 16 bits and 32 signed bytes that are
// multiplied by it, as ggml stores them (block_q8_0 in ggml-common.h).
const (
	Q8Elements = 32
	Q8Bytes    = 2 + Q8Elements
)

// Float16 widens len(dst) numbers of 16 bits (IEEE 754 binary16, little endian) of src. It
// panics if src holds fewer. Every number is represented exactly.
func Float16(dst []float32, src []byte) {
	widenFloat16(dst, src[:2*len(dst):len(src)])
}

// Q8 widens the blocks of Q8_0 that hold len(dst) numbers. It panics if that is not a
// whole number of blocks, or src holds fewer. Every number is rounded once.
func Q8(dst []float32, src []byte) {
	if len(dst)%Q8Elements != 0 {
		panic("dot: the length is not a multiple of the Q8_0 block size")
	}
	widenQ8(dst, src[:len(dst)/Q8Elements*Q8Bytes:len(src)])
}

func plainFloat16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = half(binary.LittleEndian.Uint16(src[2*i:]))
	}
}

func plainQ8(dst []float32, src []byte) {
	for ; len(dst) > 0; dst, src = dst[Q8Elements:], src[Q8Bytes:] {
		scale := half(binary.LittleEndian.Uint16(src))
		for i, c := range src[2:Q8Bytes] {
			dst[i] = scale * float32(int8(c))
		}
	}
}

// half is the value of a binary16: one bit of sign, five of exponent, ten of fraction.
func half(bits uint16) float32 {
	sign, exponent, fraction := uint32(bits>>15)<<31, uint32(bits>>10)&31, uint32(bits)&1023
	switch exponent {
	case 0:
		v := float32(fraction) * 0x1p-24
		return math.Float32frombits(sign | math.Float32bits(v))
	case 31:
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}
