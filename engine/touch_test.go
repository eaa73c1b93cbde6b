package engine_test

import (
	"fmt"
	"math"
	"testing"

	"emberd/memory"
	"emberd/op"
)

func TestTouch(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	id := h.saved(t, e, 10, "a pebble")
	wantMoves(t, runs(t, e), map[string]int{op.MoveDemote: 1})
	was := look(t, e, id).Score

	got := do(t, e, op.Touch, &op.TouchRequest{ID: string(id)})
	want := math.Pow(2, 0.6)
	if got.MemoryID != id || got.OldScore != was || math.Abs(got.NewScore-want) > 1e-9 || got.UseCount != 1 || got.Strength != 1 || got.Tx != "" ||
		got.Message != fmt.Sprintf("Memory reinforced. Score: %.2f -> 1.52", was) {
		t.Errorf("it answers %+v", got)
	}
	e.Lifecycle.ActivateUsed(t.Context())
	wantStage(t, e, id, memory.Active)

	for i, strength := range []float64{1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2, 2} {
		got := do(t, e, op.Touch, &op.TouchRequest{ID: string(id), Boost: true})
		if math.Abs(got.Strength-strength) > 1e-6 || got.UseCount != int64(i+2) || (got.Tx == "") != (i == 10) {
			t.Errorf("boost %d: %+v, want strength %v", i, got, strength)
		}
	}
	err := refused(t, e, op.Touch, &op.TouchRequest{ID: "00000000"})
	wantCode(t, err, memory.NotFound, "00000000")
}

// The strength of a promoted memory is that of its note.
func TestTouchBoostsTheNoteToo(t *testing.T) {
	t.Parallel()
	h, e, m := promotedHouse(t, "the tide turns at six")
	path := m.PromotedTo
	got := do(t, e, op.Touch, &op.TouchRequest{ID: string(m.ID), Boost: true})
	if got.Strength != 1.1 || got.Tx == "" {
		t.Errorf("it answers %+v", got)
	}
	h.rest(t, e)
	wantProperty(t, h.note(t, path), "strength: 1.1")
}
