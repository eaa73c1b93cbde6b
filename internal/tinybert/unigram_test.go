package tinybert

import (
	"encoding/binary"
	"slices"
	"testing"
)

func TestPiecesDiffer(t *testing.T) {
	pieces := Pieces()
	if n := len(slices.Compact(slices.Sorted(slices.Values(pieces)))); n != len(pieces) {
		t.Errorf("%d of %d pieces differ, want all: llama.cpp ends on two that are equal", n, len(pieces))
	}
	if got := []string{pieces[beginPiece], pieces[padPiece], pieces[endPiece], pieces[unknownPiece]}; !slices.Equal(got, []string{"<s>", "<pad>", "</s>", "<unk>"}) {
		t.Errorf("the first pieces are %q", got)
	}
}

// The strings that a charsmap leads to are behind its tables, whose size it begins with.
func TestCharsmapHasItsStringsAtTheEnd(t *testing.T) {
	b := Charsmap(map[string]string{"ﬁ": "fi", "Ａ": "A"})
	size := binary.LittleEndian.Uint32(b)
	if got := string(b[4+size:]); got != "A\x00fi\x00" && got != "fi\x00A\x00" {
		t.Errorf("behind tables of %d bytes are %q", size, got)
	}
	if size%1024 != 0 {
		t.Errorf("the tables have %d bytes, want whole nodes", size)
	}
}
