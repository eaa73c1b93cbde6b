package ltm

import "math/bits"

// bitset is a set of numbers.
type bitset []uint64

func newBitset(size int) bitset { return make(bitset, (size+63)/64) }

func (b bitset) add(n uint32) { b[n/64] |= 1 << (n % 64) }

func (b bitset) remove(n uint32) { b[n/64] &^= 1 << (n % 64) }

func (b bitset) has(n uint32) bool { return b[n/64]>>(n%64)&1 == 1 }

func (b bitset) and(o bitset) {
	for i := range b {
		b[i] &= o[i]
	}
}

func (b bitset) andNot(o bitset) {
	for i := range b {
		b[i] &^= o[i]
	}
}

// next returns the first number of the set from n on, pastEnd if there is none.
func (b bitset) next(n uint32) uint32 {
	at := int(n / 64)
	if at >= len(b) {
		return pastEnd
	}
	some := b[at] >> (n % 64) << (n % 64)
	for some == 0 {
		if at++; at == len(b) {
			return pastEnd
		}
		some = b[at]
	}
	return uint32(64*at + bits.TrailingZeros64(some))
}
