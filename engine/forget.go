package engine

import (
	"context"
	"slices"
	"strings"
	"time"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// forget moves memories to the trash, all of them or none. A dry run makes the
// same checks and tells the same.
func (e *Engine) forget(ctx context.Context, req *op.ForgetRequest) (*op.ForgetResult, error) {
	ids, err := e.resolveAll(e.splitNames(req.ID), "id", memory.MaxIDs)
	if err != nil {
		return nil, err
	}
	if req.IfMatch != "" && len(ids) != 1 {
		return nil, memory.Errorf(memory.Invalid, "If-Match goes with one id, not with %d; forget them one by one", len(ids)).At("If-Match")
	}
	f := forgetting{e: e, ifMatch: req.IfMatch, dryRun: req.DryRun, at: e.opt.Now()}
	if err := f.some(ctx, ids); err != nil {
		return nil, err
	}
	return f.result()
}

// forgetBatch moves many memories to the trash under one journal entry: none if one of
// them is not there. Of many long ones not all fit one line of the log; when one of its
// lines fails, those before it stand, and the answer says why the others do not.
func (e *Engine) forgetBatch(ctx context.Context, req *op.ForgetBatchRequest) (*op.ForgetResult, error) {
	ids, err := e.resolveAll(req.IDs, "ids", op.MaxBatch)
	if err != nil {
		return nil, err
	}
	parts, err := e.forgettable(ids)
	if err != nil {
		return nil, err
	}
	f := forgetting{e: e, dryRun: req.DryRun, at: e.opt.Now()}
	for _, part := range parts {
		if err = f.some(ctx, part); err != nil {
			break
		}
	}
	if err != nil && f.entry == "" {
		return nil, err
	}
	res, failed := f.result()
	if err != nil && failed == nil {
		res.Error = problem(err)
	}
	return res, failed
}

// forgettable divides live memories into parts of which each fits a line of the log.
func (e *Engine) forgettable(ids []memory.ID) (parts [][]memory.ID, err error) {
	begin, size := 0, 0
	for i, id := range ids {
		row, ok := e.stm.Get(id)
		if !ok {
			return nil, e.missing(id)
		}
		if size += row.Size(); size > collectBytes && i > begin {
			parts, begin, size = append(parts, ids[begin:i]), i, row.Size()
		}
	}
	return append(parts, ids[begin:]), nil
}

// forgetting moves memories to the trash under one journal entry.
type forgetting struct {
	e       *Engine
	ifMatch string
	dryRun  bool
	entry   string
	at      time.Time
	gone    []*stm.Row
}

func (f *forgetting) some(ctx context.Context, ids []memory.ID) error {
	var rows []*stm.Row
	receipt, err := f.e.stm.Update(ctx, ids, "", func(now []*stm.Row) (*stm.Tx, error) {
		rows = slices.Clone(now)
		tx, err := f.tx(ctx, ids, rows)
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
		f.entry, f.at = receipt.Entry, receipt.At
	}
	return nil
}

func (f *forgetting) result() (*op.ForgetResult, error) {
	res := &op.ForgetResult{Tx: f.entry, DryRun: f.dryRun, Until: stampTime(f.at.Add(f.e.opt.TrashKeep))}
	var err error
	res.Forgotten, err = f.e.views(&f.e.stm.Memories, f.gone, f.e.opt.Now())
	for _, m := range res.Forgotten {
		res.Notes = append(res.Notes, f.e.notesOf(&m.Memory)...)
	}
	return res, err
}

// tx deletes all of the rows, or says why it cannot.
func (f *forgetting) tx(ctx context.Context, ids []memory.ID, rows []*stm.Row) (*stm.Tx, error) {
	tx := &stm.Tx{Verb: "forget", By: op.CallerFrom(ctx), Entry: f.entry}
	for i, r := range rows {
		if r == nil {
			return nil, f.e.missing(ids[i])
		}
		if err := checkRev(r, f.ifMatch); err != nil {
			return nil, err
		}
		m, err := r.Memory()
		if err != nil {
			return nil, err
		}
		tx.Changes = append(tx.Changes, stm.Change{ID: ids[i], Delete: true, Text: f.e.wholeText(ctx, &m)})
	}
	return tx, nil
}

// splitNames are the names of memories in a list with commas between them. An alias may have
// commas of its own, so the longest run that is one is taken for it.
func (e *Engine) splitNames(list string) []string {
	parts := strings.SplitAfter(list, ",")
	if len(parts) > memory.MaxIDs { // which is refused
		return parts
	}
	var out []string
	for i := 0; i < len(parts); {
		n := len(parts)
		for ; n > i+1; n-- {
			if run := strings.TrimSpace(strings.TrimSuffix(strings.Join(parts[i:n], ""), ",")); strings.Contains(run, ",") && e.stm.Called(run) {
				break
			}
		}
		out = append(out, strings.TrimSuffix(strings.Join(parts[i:n], ""), ","))
		i = n
	}
	return out
}

// resolveAll returns the ids of what is named, each once.
func (e *Engine) resolveAll(texts []string, field string, most int) ([]memory.ID, error) {
	switch n := len(texts); {
	case n == 0 || n == 1 && strings.TrimSpace(texts[0]) == "":
		return nil, memory.Errorf(memory.Invalid, "no id is given; copy one from emberd list or emberd search").At(field)
	case n > most:
		return nil, memory.Errorf(memory.TooLarge, "%d ids are given, more than %d; do it in parts", n, most).At(field)
	}
	var ids []memory.ID
	seen := make(map[memory.ID]bool)
	for _, text := range texts {
		id, err := e.stm.Resolve(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		if !seen[id] {
			ids = append(ids, id)
		}
		seen[id] = true
	}
	return ids, nil
}
