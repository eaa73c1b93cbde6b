package stm

import (
	"encoding/json"
	"slices"
	"testing"
)

// FuzzMerge: whatever devices did to a memory, met in any order and twice, it
// is the same. A byte is an operation: what, which key, which device.
func FuzzMerge(f *testing.F) {
	f.Add([]byte{0, 5, 9, 2}, uint64(1))        // put, sets, del
	f.Add([]byte{2, 0, 1, 1, 2, 0}, uint64(77)) // del before put, twice over
	f.Add([]byte{1, 1, 1, 16, 33, 50}, uint64(5))
	f.Fuzz(func(t *testing.T, ops []byte, seed uint64) {
		ops = ops[:min(len(ops), 64)]
		lines := make([]line, len(ops))
		for i, b := range ops {
			lines[i] = lineOfByte(b, i)
		}
		want := foldAll(t, lines)
		again := append(slices.Clone(lines), lines...)
		for i := range again { // a shuffle that the seed decides
			seed = seed*6364136223846793005 + 1442695040888963407
			j := i + int(seed>>33)%(len(again)-i)
			again[i], again[j] = again[j], again[i]
		}
		if got := foldAll(t, again); got != want {
			t.Fatalf("in another order: %s\nin order:         %s", got, want)
		}
	})
}

func lineOfByte(b byte, i int) line {
	dev := Device{'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a' + b>>6}
	l := line{stamp: Stamp{T: uint64(i+1) << 16, Dev: dev}}
	key := []string{"content", "source", "x"}[b>>2%3]
	c := change{op: []string{opPut, opSet, opDelete, opSet}[b%4], id: idOf(1)}
	switch {
	case c.op == opPut:
		c.data = encode(map[string]int{"content": i, key: i})
	case b&32 != 0:
		c.data = encode(map[string]json.RawMessage{key: null})
	case c.op == opSet:
		c.data = encode(map[string]int{key: i})
	}
	l.changes = []change{c}
	return l
}

func foldAll(t *testing.T, lines []line) string {
	row := &Row{key: idOf(1).Bytes()}
	for i := range lines {
		next, err := merged(row, &lines[i].changes[0], lines[i].stamp)
		if err != nil {
			t.Skip(err) // not something that a line can hold
		}
		row = next
	}
	return describe(row)
}
