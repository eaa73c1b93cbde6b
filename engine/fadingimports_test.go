package engine_test

import (
	"emberd/memory"
	"emberd/op"
	"encoding/json"
	"fmt"
	"testing"
)

// A text with the word null is not taken for a change that removes fields, which would start its time in the
// stage anew.
func TestATextWithNullFadesLikeAnother(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	e := h.following(t)
	h.saved(t, e, 400, tides)
	h.saved(t, e, 400, "db.Column(db.String(80), unique=True, nullable=False)\n\n"+tides)
	wantMoves(t, runs(t, e), map[string]int{op.MoveArchive: 2})
}

// What other systems dated long ago fades from its import on, and has its dates.
func TestWhatIsImportedFadesFromItsImport(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	e := h.following(t)
	var records []op.Record
	for i := range 30 {
		fields := map[string]json.RawMessage{"content": json.RawMessage(fmt.Sprintf(`"pebble %d"`, i))}
		fields["created_at"], _ = json.Marshal(h.daysAgo(300))
		id, err := memory.NewID()
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, op.Record{ID: id, Fields: fields})
	}
	do(t, e, op.Import, &op.ImportRequest{Foreign: true, Records: records})
	wantMoves(t, runs(t, e), map[string]int{})
	if m := look(t, e, records[0].ID); !m.CreatedAt.Equal(h.daysAgo(300)) || m.UseCount != 0 {
		t.Errorf("it is of %s and was used %d times", m.CreatedAt, m.UseCount)
	}
	if would := do(t, e, op.GC, &op.GCRequest{}); would.TotalAffected != 0 {
		t.Errorf("gc would take %d", would.TotalAffected)
	}
	h.advance(8 * day)
	wantMoves(t, runs(t, e), map[string]int{op.MoveDemote: 20})
}
