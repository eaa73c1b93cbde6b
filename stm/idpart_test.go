package stm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// A part is found in the bytes of an id where it is one of its text.
func TestPartsOfIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := memory.IDFromBytes([16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id")))
		from := rapid.IntRange(0, 32).Draw(t, "from")
		to := rapid.IntRange(from+4, table.IdLength).Draw(t, "to")
		text := string(id)[from:to]
		if rapid.Bool().Draw(t, "another") {
			text = rapid.StringMatching("[0-9a-f-]{4,40}").Draw(t, "text")
		}
		want := strings.HasPrefix(string(id), text) || strings.HasSuffix(string(id), text) || strings.HasPrefix(id.Short(), text)
		if got := table.Naming(text).Parts().AnyOf(id.Bytes()); got != want {
			t.Fatalf("%q of %s: %t, want %t", text, id, got, want)
		}
	})
}

// What reads as a part of an id and is an alias is looked for in all ids first.
func BenchmarkResolveHexAlias(b *testing.B) {
	s := openStore(b, wal.Options{}).Store
	for i := range 100 {
		tx := wal.Tx{Verb: "save"}
		for j := range 1000 {
			id, _ := memory.NewID()
			tx.Changes = append(tx.Changes, wal.Change{ID: id, Set: map[string]json.RawMessage{"content": record.Encode("a drop"),
				"created_at": record.Encode("2026-01-02T03:04:05Z"), "aliases": record.Encode([]string{fmt.Sprintf("%08d", i*1000+j)})}})
		}
		if _, err := s.Update(context.Background(), nil, "", func([]*table.Row) (*wal.Tx, error) { return &tx, nil }); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := s.Resolve("00099999"); err != nil {
			b.Fatal(err)
		}
	}
}
