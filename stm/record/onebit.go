package record

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math/bits"
)

// OneBit reports whether a line whose checksum does not fit is a sound one of which one bit is wrong. That is
// a fault of a disk or of memory, and nothing that a person meant to write but in the rarest case.
func OneBit(b []byte) bool {
	b = bytes.TrimSuffix(b, []byte("\n"))
	n := len(b) - SuffixLen
	if n < 1 {
		return false
	}
	sum := crc32.Checksum(b[:n], Castagnoli)
	suffix := fmt.Appendf(nil, `,"c":"%08x"}`, sum)
	wrong := 0
	for i, c := range suffix {
		wrong += bits.OnesCount8(c ^ b[n+i])
	}
	if wrong <= 1 {
		return true
	}
	if !bytes.HasPrefix(b[n:], suffix[:6]) || !bytes.HasSuffix(b, suffix[14:]) {
		return false
	}
	var want [4]byte
	if _, err := hex.Decode(want[:], b[n+6:n+14]); err != nil || hex.EncodeToString(want[:]) != string(b[n+6:n+14]) {
		return false
	}
	return flips(n, sum^binary.BigEndian.Uint32(want[:]))
}

// flips reports whether one wrong bit among n bytes changes their checksum by a difference.
func flips(n int, difference uint32) bool {
	var by [8]uint32 // what each bit of a byte changes, of the last byte first
	for bit := range by {
		by[bit] = Castagnoli[1<<bit]
	}
	for range n {
		for bit := range by {
			if by[bit] == difference {
				return true
			}
			by[bit] = Castagnoli[byte(by[bit])] ^ by[bit]>>8
		}
	}
	return false
}
