package engine_test

import (
	"os"
	"path/filepath"
	"testing"

	"emberd/engine/storage"
	"emberd/op"
)

// Who gives up the texts of the trash that a loss took is told how many those are.
func TestARepairTellsHowManyTextsAreGivenUp(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	m := save(t, e, "quixotic zeppelin")
	save(t, e, "apple pie")
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(m.ID)})
	name := filepath.Join(h.Data, "stm", status(t, e).Device, "s-00000001.jsonl")
	ok(t, e.Close())
	ok(t, os.Remove(name))
	h.Repair = true // else the log would be gone
	e = h.open(t)
	res, err := e.Storage.Repair(t.Context(), storage.RepairOptions{Accept: true})
	if ok(t, err); res.GivenUpTexts != 1 || res.BareTrash != 0 {
		t.Errorf("the repair tells %+v", res)
	}
	res, err = e.Storage.Repair(t.Context(), storage.RepairOptions{Accept: true})
	if ok(t, err); res.GivenUpTexts != 0 {
		t.Errorf("a second one tells %+v", res)
	}
	ok(t, e.Close())
}
