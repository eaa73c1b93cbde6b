package bench

import (
	"emberd/memory"
	"emberd/op"
	"encoding/json"
	"testing"
	"time"
)

func importAll(t *testing.T, inv op.Invoker, records []op.Record) {
	t.Helper()
	for len(records) > 0 {
		n := min(op.MaxBatch, len(records))
		for _, a := range call(t, inv, op.Import, &op.ImportRequest{Records: records[:n]}).Results {
			if a.Error != nil {
				t.Fatal(a.Error.Detail)
			}
		}
		records = records[n:]
	}
}

// recordOf is a memory that says which document it is.
func recordOf(t *testing.T, m memory.Memory, name string) op.Record {
	t.Helper()
	ref, _ := json.Marshal(name) // a string has no error
	m.Meta = map[string]json.RawMessage{"ref": ref}
	m.Confidence, m.Importance, m.Strength, m.Collection = 1, 0.5, 1, memory.DefaultCollection
	m.CreatedAt = m.CreatedAt.UTC().Truncate(time.Millisecond)
	m.LastUsed = m.CreatedAt
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	r := op.Record{ID: memory.DeriveID([]byte(name))}
	if err := json.Unmarshal(raw, &r.Fields); err != nil {
		t.Fatal(err)
	}
	delete(r.Fields, "id")
	return r
}
