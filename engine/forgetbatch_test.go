package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"emberd/engine"
	"emberd/internal/testutil/crashdisk"
	"emberd/memory"
	"emberd/op"
)

// 500 long memories take several lines of the log, and are one journal entry.
func TestForgetBatchIsOneEntry(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	var ids []string
	for i := range 500 {
		ids = append(ids, string(save(t, e, fmt.Sprint(i)+strings.Repeat(" sardine", 500)).ID))
	}
	keep := save(t, e, "whale")
	if res := do(t, e, op.ForgetBatch, &op.ForgetBatchRequest{IDs: ids, DryRun: true}); len(res.Forgotten) != 500 || res.Tx != "" || !res.DryRun {
		t.Errorf("the dry run would forget %d in %q", len(res.Forgotten), res.Tx)
	}
	before := do(t, e, op.Journal, &op.JournalRequest{})
	res := do(t, e, op.ForgetBatch, &op.ForgetBatchRequest{IDs: ids})
	if len(res.Forgotten) != 500 || res.Tx == "" || res.Until.IsZero() || res.Error != nil {
		t.Errorf("forgot %d in %q until %v: %v", len(res.Forgotten), res.Tx, res.Until, res.Error)
	}
	after := do(t, e, op.Journal, &op.JournalRequest{})
	if after.Total != before.Total+1 || after.Entries[0].IDs != 500 || after.Entries[0].Verb != "forget" {
		t.Errorf("%d journal entries after %d, the last %+v", after.Total, before.Total, after.Entries[0])
	}
	if got := contents(do(t, e, op.List, &op.ListRequest{}).Memories); len(got) != 1 || got[0] != keep.Content {
		t.Errorf("left are %q", got)
	}
	do(t, e, op.Undo, &op.UndoRequest{})
	if n := do(t, e, op.List, &op.ListRequest{}).Total; n != 501 {
		t.Errorf("%d memories after undoing", n)
	}
}

func TestForgetBatchIsAllOrNone(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	a, b := save(t, e, "anchor"), save(t, e, "boat")
	const nobody = "0192f3a1-b2c3-7000-8000-000000000000"
	for _, dry := range []bool{true, false} {
		req := &op.ForgetBatchRequest{IDs: []string{string(a.ID), nobody, string(b.ID)}, DryRun: dry}
		wantCode(t, refused(t, e, op.ForgetBatch, req), memory.NotFound, nobody)
	}
	wantCode(t, refused(t, e, op.ForgetBatch, &op.ForgetBatchRequest{}), memory.Invalid, "missing memory ID; run: emberd list, or emberd search")
	wantCode(t, refused(t, e, op.ForgetBatch, &op.ForgetBatchRequest{IDs: make([]string, 501)}), memory.TooLarge, "split the request")
	if n := do(t, e, op.List, &op.ListRequest{}).Total; n != 2 {
		t.Errorf("%d memories are left of 2", n)
	}
	res := do(t, e, op.ForgetBatch, &op.ForgetBatchRequest{IDs: []string{a.ID.Short(), string(b.ID), string(a.ID)}})
	if len(res.Forgotten) != 2 {
		t.Errorf("forgot %q", contents(res.Forgotten))
	}
}

// When the disk stops half-way, the answer has what was forgotten and says why the rest
// was not.
func TestForgetBatchTellsHowFarItCame(t *testing.T) {
	t.Parallel()
	const memories = 6 // of 200 KB, of which a line of the log holds only some
	opt, req := onDisk(t, crashdisk.New()).Options, new(op.ForgetBatchRequest)
	on := func(disk *crashdisk.Disk) *engine.Engine {
		opt.FS = disk
		e, err := engine.Open(opt)
		ok(t, err)
		return e
	}
	full := crashdisk.New()
	e := on(full)
	for i := range memories {
		text := fmt.Sprint(i) + strings.Repeat("🐟", memory.MaxContent-1)
		req.IDs = append(req.IDs, string(save(t, e, text).ID))
	}
	ok(t, e.Close())
	disk := full.Kill()
	e = on(disk)
	begin := disk.Ops()
	do(t, e, op.ForgetBatch, req)
	most, halfway := disk.Ops()-begin, 0
	ok(t, e.Close())
	for n := range most + 1 {
		disk := full.Kill()
		e := on(disk)
		disk.StopAfter(disk.Ops() + n) // which opening need not take as many of as before
		res, err := op.ForgetBatch.Call(t.Context(), e, req)
		if err != nil {
			res = new(op.ForgetResult)
		}
		left := e.Stm.Len()
		if left+len(res.Forgotten) != memories {
			t.Errorf("stopped after %d of %d operations: %d are left, and %d are said to be forgotten", n, most, left, len(res.Forgotten))
		}
		if told := err != nil || res.Error != nil; told != (left > 0) {
			t.Errorf("stopped after %d of %d operations: %d are left, and the answer is %v, %v", n, most, left, res.Error, err)
		}
		if left > 0 && left < memories {
			halfway++
		}
		_ = e.Close() // fails where the disk did
	}
	if halfway == 0 {
		t.Error("the disk never stopped half-way")
	}
}
