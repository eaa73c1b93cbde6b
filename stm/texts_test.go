package stm_test

import (
	"testing"

	"emberd/stm"
)

// textsAt returns edits of one memory, each by its stamp with those of the texts that it was made from.
func textsAt(of map[uint64][]uint64) (edits []stm.TextEdit) {
	at := func(n uint64) stm.Stamp { return stm.Stamp{T: n} }
	for n, from := range of {
		e := stm.TextEdit{Stamp: at(n), Text: string(rune('a' + n))}
		for i, f := range from {
			if e.From = append(e.From, at(f)); i == 0 {
				e.Before = string(rune('a' + f))
			}
		}
		edits = append(edits, e)
	}
	return edits
}

// Text 1 is the memory's first, which no edit wrote.
func TestTextsApart(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		edits map[uint64][]uint64
		shown uint64
		apart uint64 // 0 for none
		base  uint64
	}{
		"one after the other":            {map[uint64][]uint64{2: {1}, 3: {2}}, 3, 0, 0},
		"two of one":                     {map[uint64][]uint64{2: {1}, 3: {1}}, 3, 2, 1},
		"two of one, and one went on":    {map[uint64][]uint64{2: {1}, 3: {1}, 4: {2}, 5: {3}}, 5, 4, 1},
		"joined":                         {map[uint64][]uint64{2: {1}, 3: {1}, 4: {3, 2}}, 4, 0, 0},
		"joined, and one more of before": {map[uint64][]uint64{2: {1}, 3: {1}, 4: {1}, 5: {4, 2}}, 5, 3, 1},
		"of a text that the log lost":    {map[uint64][]uint64{2: {1}, 5: {4}}, 5, 0, 0},
		"shown by an earlier version":    {map[uint64][]uint64{2: {1}}, 3, 0, 0},
	} {
		got := stm.TextsApart(textsAt(c.edits), stm.Stamp{T: c.shown})
		switch {
		case c.apart == 0 && len(got) > 0:
			t.Errorf("%s: %+v", what, got)
		case c.apart == 0:
		case len(got) != 1 || got[0].Stamp.T != c.apart || !got[0].HasBase || got[0].Base != string(rune('a'+c.base)):
			t.Errorf("%s: %+v, want %d made of %d", what, got, c.apart, c.base)
		}
	}
}
