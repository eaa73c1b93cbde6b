package table_test

import (
	"testing"

	"emberd/stm/record"
	"emberd/stm/table"
)

// What a memory says does not matter to how it is stored: a text with the word null changes no field apart
// from the others, and a field that is null is none.
func TestNullInATextRemovesNothing(t *testing.T) {
	t.Parallel()
	at := record.Stamp{T: 7 << 16}
	for _, doc := range []string{
		`{"content":"a","stage":"active"}`,
		`{"content":"null","stage":"active"}`,
		`{"content":"a","stage":"active","meta":{"a":null}}`,
		`{"content":"a","stage":"active","project":null}`,
	} {
		c := record.Change{Op: record.OpPut, ID: idOf(1), Data: []byte(doc)}
		row, err := table.Merged(&table.Row{Key: idOf(1).Bytes()}, &c, at)
		if err != nil {
			t.Fatal(err)
		}
		if !row.Changed("stage").IsZero() || row.StampOf("stage") != at || row.Has("project") {
			t.Errorf("%s: the stage was changed at %v, the project is %s", doc, row.Changed("stage"), row.Value("project"))
		}
	}
}
