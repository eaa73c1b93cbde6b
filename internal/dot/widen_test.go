package dot

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// Every binary16 there is, in every lane and in the rest behind the lanes.
func TestFloat16(t *testing.T) {
	var src []byte
	for bits := range 1 << 16 {
		src = binary.LittleEndian.AppendUint16(src, uint16(bits))
	}
	for shift := range 9 {
		dst := make([]float32, 1<<16-shift)
		Float16(dst, src[2*shift:])
		for i, got := range dst {
			bits := uint16(i + shift)
			want := halfByDefinition(bits)
			if got != want && (got == got || want == want) || math.Signbit(float64(got)) != (bits>>15 == 1) {
				t.Fatalf("binary16 %#04x became %v, want %v", bits, got, want)
			}
		}
	}
}

func halfByDefinition(bits uint16) float32 {
	sign := 1 - 2*float64(bits>>15)
	exponent, fraction := int(bits>>10&31), float64(bits&1023)
	switch {
	case exponent == 31 && fraction > 0:
		return float32(math.NaN())
	case exponent == 31:
		return float32(sign * math.Inf(1))
	case exponent == 0:
		return float32(sign * fraction * 0x1p-24)
	}
	return float32(sign * math.Ldexp(1+fraction/1024, exponent-15))
}

func TestQ8(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 18))
	for blocks := range 13 {
		src := make([]byte, blocks*Q8Bytes)
		for i := range src {
			src[i] = byte(random.Uint32())
		}
		for i := range blocks {
			src[i*Q8Bytes+1] &= 0xbf // a scale below 2, which is finite
		}
		dst := make([]float32, blocks*Q8Elements)
		Q8(dst, src)
		for i, got := range dst {
			block := src[i/Q8Elements*Q8Bytes:]
			scale := halfByDefinition(binary.LittleEndian.Uint16(block))
			if want := scale * float32(int8(block[2+i%Q8Elements])); got != want {
				t.Fatalf("element %d of %d blocks = %v, want %v", i, blocks, got, want)
			}
		}
		plain := make([]float32, len(dst))
		plainQ8(plain, src)
		for i := range dst {
			if plain[i] != dst[i] {
				t.Fatalf("element %d of %d blocks = %v, without assembly %v", i, blocks, dst[i], plain[i])
			}
		}
	}
}

func TestTooFewBytesAreRefused(t *testing.T) {
	for name, call := range map[string]func(){
		"binary16":     func() { Float16(make([]float32, 8), make([]byte, 15, 32)) },
		"Q8_0":         func() { Q8(make([]float32, 64), make([]byte, 2*Q8Bytes-1, 100)) },
		"half a block": func() { Q8(make([]float32, 16), make([]byte, Q8Bytes)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was widened from too few bytes", name)
				}
			}()
			call()
		}()
	}
}
