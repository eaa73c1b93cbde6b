package table_test

import (
	"encoding/json"
	"slices"
	"testing"

	"emberd/stm/record"
	"emberd/stm/table"
)

// Of more memories than asked for, those come that were written last, and all that were written with the oldest of them.
func TestLatestMemories(t *testing.T) {
	set := table.MemorySet{Table: table.NewTable()}
	for n, at := range []uint64{1, 5, 3, 4, 4, 2} {
		c := record.Change{Op: record.OpPut, ID: idOf(n), Data: json.RawMessage(`{"content":"a"}`)}
		l := record.Line{Op: record.OpPut, Stamp: record.Stamp{T: at << 16}, Changes: []record.Change{c}}
		if _, err := set.Table.Apply(&l.Changes[0], &l, record.Place{}); err != nil {
			t.Fatal(err)
		}
	}
	for n, want := range map[int][]uint64{1: {5}, 2: {4, 4, 5}, 4: {3, 4, 4, 5}, 6: {1, 2, 3, 4, 4, 5}, 9: {1, 2, 3, 4, 4, 5}} {
		var got []uint64
		for _, r := range set.Latest(n) {
			got = append(got, r.Latest().T>>16)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("the latest %d are those of %d, want %d", n, got, want)
		}
	}
}
