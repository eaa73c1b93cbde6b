package record

import (
	"bytes"
	"testing"
)

func TestEveryWrongBitOfALineIsFoundOut(t *testing.T) {
	good := MetaLine(OpSegment, Stamp{T: 1 << 40, Dev: Device{'k', '7', 'q', '2', 'm', 'z', 'x', 'a'}},
		Header{Dev: "k7q2mzxa", Segment: 42, First: 7, Format: FormatVersion})
	for i := range len(good) - 1 {
		for bit := range 8 {
			b := bytes.Clone(good)
			if b[i] ^= 1 << bit; !OneBit(b) {
				t.Errorf("%q is one bit away from a sound line", b)
			}
			other := (i + 5) % (len(good) - 1)
			if b[other] ^= 1 << ((bit + 3) % 8); OneBit(b) {
				t.Errorf("%q has two wrong bits", b)
			}
		}
	}
	if edited := bytes.Replace(good, []byte(`"seg":42`), []byte(`"seg":43`), 1); !OneBit(edited) {
		t.Error("2 and 3 differ in one bit")
	}
	if edited := bytes.Replace(good, []byte(`"first":7`), []byte(`"first":12`), 1); OneBit(edited) || OneBit(nil) {
		t.Error("an edit is taken for a wrong bit")
	}
}
