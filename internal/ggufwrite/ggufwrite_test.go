package ggufwrite

import (
	"bytes"
	"math"
	"testing"
)

// number is what the bits of a half stand for, by the definition of IEEE 754.
func number(half uint16) float64 {
	exponent, fraction := int(half>>10&31), float64(half&1023)
	if exponent == 0 {
		return math.Ldexp(fraction, -24)
	}
	return math.Ldexp(1024+fraction, exponent-25)
}

// Every number in half the bits, the middles between them, and what is just above those.
func TestHalvesAreTheNearest(t *testing.T) {
	for h := range uint16(0x7bff) {
		low, high := number(h), number(h+1)
		middle := float32((low + high) / 2)
		even := h + h&1
		for x, want := range map[float32]uint16{
			float32(low): h, middle: even, math.Nextafter32(middle, 1e9): h + 1, math.Nextafter32(middle, 0): h,
		} {
			if got := half(x); got != want {
				t.Errorf("%g: got %04x, want %04x", x, got, want)
			}
			if got := half(-x); x != 0 && got != want|0x8000 {
				t.Errorf("%g: got %04x, want %04x", -x, got, want|0x8000)
			}
		}
	}
	for x, want := range map[float32]uint16{65504: 0x7bff, 65519: 0x7bff, 65520: 0x7c00, float32(math.Inf(-1)): 0xfc00} {
		if got := half(x); got != want {
			t.Errorf("%g: got %04x, want %04x", x, got, want)
		}
	}
	if got := half(float32(math.NaN())); got&0x7c00 != 0x7c00 || got&0x3ff == 0 {
		t.Errorf("NaN: got %04x, which is none", got)
	}
}

func TestBlocks(t *testing.T) {
	numbers := make([]float32, block)
	if got := appendBlock(nil, numbers); !bytes.Equal(got, make([]byte, 2+block)) {
		t.Errorf("zeros: got % x", got)
	}
	numbers[0], numbers[1], numbers[2], numbers[3] = 127, -127, 0.5, -63.4
	if got, want := appendBlock(nil, numbers)[:6], []byte{0x00, 0x3c, 127, 0x81, 1, 0xc1}; !bytes.Equal(got, want) {
		t.Errorf("got % x, want % x", got, want)
	}
}
