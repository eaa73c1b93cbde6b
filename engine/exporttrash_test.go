package engine_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"emberd/internal/durable"
	"emberd/op"
)

// counting counts the files that are opened to be read.
type counting struct {
	durable.OS
	reads atomic.Int64
}

func (d *counting) OpenRead(name string) (durable.ReadFile, error) {
	d.reads.Add(1)
	return d.OS.OpenRead(name)
}

// What one entry forgot is read in one go, whether it is listed, exported or compared with an
// export: a trash of thousands took hours.
func TestATrashIsReadInOneGo(t *testing.T) {
	t.Parallel()
	h, disk := newHouse(t), &counting{}
	h.Options.FS = disk
	h.unasked()
	e := h.open(t)
	req := &op.SaveBatchRequest{}
	for n := range 50 {
		req.Items = append(req.Items, op.SaveRequest{Content: fmt.Sprintf("plan %d of many", n)})
	}
	do(t, e, op.Undo, &op.UndoRequest{Tx: do(t, e, op.SaveBatch, req).Tx})
	var records []op.Record
	for name, look := range map[string]func() int{
		"an export": func() int { records = exported(t, e); return len(records) },
		"a list":    func() int { return len(do(t, e, op.TrashList, &op.TrashListRequest{Limit: 50}).Items) },
	} {
		disk.reads.Store(0)
		if n, reads := look(), disk.reads.Load(); n != 50 || reads > 2 {
			t.Errorf("%s has %d of 50, with %d reads", name, n, reads)
		}
	}
	disk.reads.Store(0)
	if got := fates(t, e, &op.ImportRequest{Records: records}); got[op.ImportPresent] != 50 || disk.reads.Load() > 2 {
		t.Errorf("the import found %v, with %d reads", got, disk.reads.Load())
	}
}
