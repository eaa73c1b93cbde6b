package memories

import (
	"context"
	"slices"
	"time"

	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Forget moves memories to the trash, all of them or none. A dry run makes the same checks and
// returns the same result.
func (e *Memories) Forget(ctx context.Context, req *op.ForgetRequest) (*op.ForgetResult, error) {
	ids, err := e.ResolveAll(e.SplitNames(req.ID), "id", memory.MaxIDs)
	if err != nil {
		return nil, err
	}
	if req.IfMatch != "" && len(ids) != 1 {
		return nil, memory.Errorf(memory.Invalid,
			"If-Match requires exactly one ID, not %d; delete the memories one by one", len(ids)).At("If-Match")
	}
	f := ForgetRun{E: e, ifMatch: req.IfMatch, dryRun: req.DryRun, At: e.Opt.Now()}
	if err := f.Some(ctx, ids); err != nil {
		return nil, err
	}
	return f.result()
}

// ForgetBatch moves many memories to the trash as one change, or none if one does not exist.
// Many long memories do not fit one line of the log. If one of its lines fails, those before
// it stay, and the answer has the reason for the others.
func (e *Memories) ForgetBatch(ctx context.Context, req *op.ForgetBatchRequest) (*op.ForgetResult, error) {
	ids, err := e.ResolveAll(req.IDs, "ids", op.MaxBatch)
	if err != nil {
		return nil, err
	}
	parts, err := e.SplitForLog(ids)
	if err != nil {
		return nil, err
	}
	f := ForgetRun{E: e, dryRun: req.DryRun, At: e.Opt.Now()}
	for _, part := range parts {
		if err = f.Some(ctx, part); err != nil {
			break
		}
	}
	if err != nil && f.Entry == "" {
		return nil, err
	}
	res, failed := f.result()
	if err != nil && failed == nil {
		res.Error = op.ProblemOf(err)
	}
	return res, failed
}

// SplitForLog splits live memories into parts that fit a line of the log.
func (e *Memories) SplitForLog(ids []memory.ID) (parts [][]memory.ID, err error) {
	begin, size := 0, 0
	for i, id := range ids {
		row, ok := e.Stm.Get(id)
		if !ok {
			return nil, e.Missing(id)
		}
		if size += row.Size(); size > lifecycle.CollectBytes && i > begin {
			parts, begin, size = append(parts, ids[begin:i]), i, row.Size()
		}
	}
	return append(parts, ids[begin:]), nil
}

// ForgetRun moves memories to the trash as one change.
type ForgetRun struct {
	E       *Memories
	ifMatch string
	dryRun  bool
	Entry   string
	At      time.Time
	gone    []*stm.Row
}

// Some moves some of the memories to the trash in one transaction.
func (f *ForgetRun) Some(ctx context.Context, ids []memory.ID) error {
	var rows []*stm.Row
	receipt, err := f.E.Stm.Update(ctx, ids, "", func(now []*stm.Row) (*stm.Tx, error) {
		rows = slices.Clone(now)
		tx, err := f.Tx(ctx, ids, rows)
		if err != nil || f.dryRun {
			return nil, err
		}
		return tx, nil
	})
	if err != nil {
		return err
	}
	f.gone = append(f.gone, rows...)
	if receipt.Entry != "" {
		f.Entry, f.At = receipt.Entry, receipt.At
	}
	return nil
}

func (f *ForgetRun) result() (*op.ForgetResult, error) {
	res := &op.ForgetResult{Tx: f.Entry, DryRun: f.dryRun, Until: core.StampTime(f.At.Add(f.E.Opt.TrashKeep))}
	var err error
	res.Forgotten, err = f.E.Views(&f.E.Stm.MemorySet, f.gone, f.E.Opt.Now())
	for _, m := range res.Forgotten {
		res.Notes = append(res.Notes, f.E.Promote.NotesOf(&m.Memory)...)
	}
	return res, err
}

// Tx returns the transaction that deletes all of the rows, or an error.
func (f *ForgetRun) Tx(ctx context.Context, ids []memory.ID, rows []*stm.Row) (*stm.Tx, error) {
	tx := &stm.Tx{Verb: "forget", By: op.CallerFrom(ctx), Entry: f.Entry}
	for i, r := range rows {
		if r == nil {
			return nil, f.E.Missing(ids[i])
		}
		if err := checkRev(r, f.ifMatch); err != nil {
			return nil, err
		}
		m, err := r.Memory()
		if err != nil {
			return nil, err
		}
		tx.Changes = append(tx.Changes, stm.Change{ID: ids[i], Delete: true, Text: f.E.Lifecycle.WholeText(ctx, &m)})
	}
	return tx, nil
}
