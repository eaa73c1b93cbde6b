package engine

import (
	"context"
	"slices"
	"strings"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// forget moves memories to the trash, all of them or none. A dry run makes the
// same checks and tells the same.
func (e *Engine) forget(ctx context.Context, req *op.ForgetRequest) (*op.ForgetResult, error) {
	ids, err := e.resolveAll(strings.Split(req.ID, ","), "id")
	if err != nil {
		return nil, err
	}
	if req.IfMatch != "" && len(ids) != 1 {
		return nil, memory.Errorf(memory.Invalid, "If-Match goes with one id, not with %d; forget them one by one", len(ids)).At("If-Match")
	}
	var gone []*stm.Row
	receipt, err := e.stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		gone = slices.Clone(rows)
		tx, err := e.forgetting(ctx, ids, rows, req.IfMatch)
		if err != nil || req.DryRun {
			return nil, err
		}
		tx.By = op.CallerFrom(ctx)
		return tx, nil
	})
	if err != nil {
		return nil, err
	}
	now := e.opt.Now()
	res := &op.ForgetResult{Tx: receipt.Entry, DryRun: req.DryRun, Until: stampTime(now.Add(e.opt.TrashKeep))}
	if receipt.Entry != "" {
		res.Until = stampTime(receipt.At.Add(e.opt.TrashKeep))
	}
	res.Forgotten, err = e.views(gone, now)
	for _, m := range res.Forgotten {
		res.Notes = append(res.Notes, e.notesOf(&m.Memory)...)
	}
	return res, err
}

// forgetting is the transaction that deletes all of the rows, or why it cannot.
func (e *Engine) forgetting(ctx context.Context, ids []memory.ID, rows []*stm.Row, ifMatch string) (*stm.Tx, error) {
	tx := &stm.Tx{Verb: "forget"}
	for i, r := range rows {
		if r == nil {
			return nil, e.missing(ids[i])
		}
		if err := checkRev(r, ifMatch); err != nil {
			return nil, err
		}
		m, err := r.Memory()
		if err != nil {
			return nil, err
		}
		tx.Changes = append(tx.Changes, stm.Change{ID: ids[i], Delete: true, Text: e.wholeText(ctx, &m)})
	}
	return tx, nil
}

// resolveAll returns the ids that full or shortened ones name, each once.
func (e *Engine) resolveAll(texts []string, field string) ([]memory.ID, error) {
	switch n := len(texts); {
	case n == 0 || n == 1 && strings.TrimSpace(texts[0]) == "":
		return nil, memory.Errorf(memory.Invalid, "no id is given; copy one from emberd list or emberd search").At(field)
	case n > memory.MaxIDs:
		return nil, memory.Errorf(memory.TooLarge, "%d ids are given, more than %d; do it in parts", n, memory.MaxIDs).At(field)
	}
	var ids []memory.ID
	for _, text := range texts {
		id, err := e.stm.Resolve(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
