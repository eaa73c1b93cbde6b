package table

import (
	"encoding/binary"
	"strings"

	"emberd/memory"
)

// idFragment is the beginning or the end of an id, as the bits of the id that it says. So all
// memories are looked through in a few milliseconds, where their ids as texts took a tenth
// of a second.
type idFragment struct{ mask, bits [2]uint64 }

// IdLength is how many characters an id has.
const IdLength = 36

// isDash reports where in an id a dash stands.
func isDash(at int) bool { return at == 8 || at == 13 || at == 18 || at == 23 }

// partAt reads characters that stand in an id from a place on. It is false if no id has them
// there.
func partAt(text string, at int) (p idFragment, can bool) {
	if at < 0 || at+len(text) > IdLength {
		return p, false
	}
	digit := 0
	for i := range at {
		if !isDash(i) {
			digit++
		}
	}
	for i := range len(text) {
		value := strings.IndexByte("0123456789abcdef", text[i])
		if isDash(at+i) != (text[i] == '-') || text[i] != '-' && value < 0 {
			return p, false
		}
		if text[i] != '-' {
			shift := 60 - 4*(digit%16)
			p.mask[digit/16] |= 0xf << shift
			p.bits[digit/16] |= uint64(value) << shift
			digit++
		}
	}
	return p, true
}

func (p idFragment) isOf(key [16]byte) bool {
	return binary.BigEndian.Uint64(key[:8])&p.mask[0] == p.bits[0] &&
		binary.BigEndian.Uint64(key[8:])&p.mask[1] == p.bits[1]
}

// idParts are several, of which an id has to have one.
type idParts []idFragment

func (ps idParts) AnyOf(key [16]byte) bool {
	for _, p := range ps {
		if p.isOf(key) {
			return true
		}
	}
	return false
}

// shownAt is where in an id the characters begin that people are shown, see [memory.ID.Short].
const shownAt = IdLength - 8

// Parts are what is named, as a beginning, as an end, and as the beginning of what is shown of an id.
func (n Named) Parts() (ps idParts) {
	for _, at := range []int{0, IdLength - len(n.short), shownAt} {
		if p, can := partAt(n.short, at); can {
			ps = append(ps, p)
		}
	}
	return ps
}

// withPart are the cells of the memories whose ids begin or end so.
func (t *Table) withPart(ps idParts) (cells []*Cell) {
	t.Mu.RLock()
	defer t.Mu.RUnlock()
	for key, c := range t.Cells {
		if ps.AnyOf(key) {
			cells = append(cells, c)
		}
	}
	return cells
}

// BuriedWithPart are the memories in the trash whose ids begin or end so.
func (t *Table) BuriedWithPart(ps idParts) (ids []memory.ID) {
	t.Mu.RLock()
	defer t.Mu.RUnlock()
	for key := range t.Graves {
		if ps.AnyOf(key) {
			ids = append(ids, memory.IDFromBytes(key))
		}
	}
	return ids
}
