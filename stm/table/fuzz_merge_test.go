package table_test

import (
	"encoding/json"
	"slices"
	"testing"

	"emberd/stm/record"
	"emberd/stm/table"
)

// FuzzMerge: whatever devices did to a memory, met in any order and twice, it
// is the same. A byte is an operation: what, which key, which device.
func FuzzMerge(f *testing.F) {
	f.Add([]byte{0, 5, 9, 2}, uint64(1))        // put, sets, del
	f.Add([]byte{2, 0, 1, 1, 2, 0}, uint64(77)) // del before put, twice over
	f.Add([]byte{1, 1, 1, 16, 33, 50}, uint64(5))
	f.Fuzz(func(t *testing.T, ops []byte, seed uint64) {
		ops = ops[:min(len(ops), 64)]
		lines := make([]record.Line, len(ops))
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

func lineOfByte(b byte, i int) record.Line {
	dev := record.Device{'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a' + b>>6}
	l := record.Line{Stamp: record.Stamp{T: uint64(i+1) << 16, Dev: dev}}
	key := []string{"content", "source", "x"}[b>>2%3]
	c := record.Change{Op: []string{record.OpPut, record.OpSet, record.OpDelete, record.OpSet}[b%4], ID: idOf(1)}
	switch {
	case c.Op == record.OpPut:
		c.Data = record.Encode(map[string]int{"content": i, key: i})
	case b&32 != 0:
		c.Data = record.Encode(map[string]json.RawMessage{key: record.Null})
	case c.Op == record.OpSet:
		c.Data = record.Encode(map[string]int{key: i})
	}
	l.Changes = []record.Change{c}
	return l
}

func foldAll(t *testing.T, lines []record.Line) string {
	row := &table.Row{Key: idOf(1).Bytes()}
	for i := range lines {
		next, err := table.Merged(row, &lines[i].Changes[0], lines[i].Stamp)
		if err != nil {
			t.Skip(err) // not something that a line can hold
		}
		row = next
	}
	return describe(row)
}
