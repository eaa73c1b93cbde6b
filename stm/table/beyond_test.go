package table_test

import (
	"testing"

	"pgregory.net/rapid"

	"emberd/stm/record"
	"emberd/stm/table"
)

func mergedFrom(t *rapid.T, row *table.Row, lines []record.Line) *table.Row {
	for i := range lines {
		for j := range lines[i].Changes {
			next, err := table.Merged(row, &lines[i].Changes[j], lines[i].Stamp)
			if err != nil {
				t.Fatal(err)
			}
			row = next
		}
	}
	return row
}

// TestBeyondBringsWhatIsMissing gives two rows any two parts of one history, and the second what
// the first has beyond it: it is what both parts together make.
func TestBeyondBringsWhatIsMissing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := history(t)
		var first, second []record.Line
		for _, l := range lines {
			where := rapid.IntRange(1, 3).Draw(t, "where")
			if where&1 != 0 {
				first = append(first, l)
			}
			if where&2 != 0 {
				second = append(second, l)
			}
		}
		key := idOf(1).Bytes()
		held, have := mergedFrom(t, &table.Row{Key: key}, first), mergedFrom(t, &table.Row{Key: key}, second)
		got := mergedFrom(t, have, table.Beyond(held, have))
		want := mergedFrom(t, mergedFrom(t, &table.Row{Key: key}, first), second)
		if describe(got) != describe(want) {
			t.Errorf("got  %s\nwant %s", describe(got), describe(want))
		}
		if more := table.Beyond(held, got); len(more) > 0 {
			t.Errorf("still missing: %+v", more)
		}
	})
}
