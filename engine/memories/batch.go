package memories

import (
	"context"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// item is one valid memory of a batch.
type item struct {
	at     int // index in the request
	memory *memory.Memory
	tx     *stm.Tx
	again  bool
	rich   bool   // enriched
	added  string // the scope that was added
	origin string // that was recorded in place of the claimed one
	size   int
}

// SaveBatch stores the valid items of a batch as one change, and returns one answer for each
// item, in order.
func (e *Memories) SaveBatch(ctx context.Context, req *op.SaveBatchRequest) (*op.SaveBatchResult, error) {
	if err := core.FirstError(core.CheckBatch(len(req.Items), "items", "items"), e.Joins(req.Tx)); err != nil {
		return nil, err
	}
	res := &op.SaveBatchResult{Tx: req.Tx, Results: make([]op.SaveBatchAnswer, len(req.Items))}
	if err := e.saveItems(ctx, res, e.goodItems(ctx, req.Items, res.Results), req.DryRun); err != nil {
		return nil, err
	}
	return res, nil
}

// saveItems writes the items in a few transactions. If the first fails, nothing is saved and
// the batch fails. If a later one fails, the earlier ones stay, and the remaining items get
// the error.
func (e *Memories) saveItems(ctx context.Context, res *op.SaveBatchResult, items []item, dry bool) error {
	saved := false
	for len(items) > 0 {
		n := core.Chunk(items, func(it item) (memory.ID, int) { return it.memory.ID, it.size })
		receipt, err := e.saveChunk(ctx, res, items[:n], dry)
		if err != nil && !saved {
			return err
		}
		if err != nil {
			for _, it := range items {
				res.Results[it.at] = op.SaveBatchAnswer{Error: op.ProblemOf(err)}
			}
			break
		}
		saved = saved || receipt.Entry != ""
		items = items[n:]
	}
	return nil
}

// goodItems returns the valid items and sets the error of the others.
func (e *Memories) goodItems(ctx context.Context, reqs []op.SaveRequest, answers []op.SaveBatchAnswer) []item {
	items := make([]item, 0, len(reqs))
	for i := range reqs {
		it, err := e.newItem(ctx, &reqs[i])
		if err != nil {
			answers[i].Error = op.ProblemOf(err)
			continue
		}
		it.at = i
		items = append(items, it)
	}
	return items
}

func (e *Memories) newItem(ctx context.Context, req *op.SaveRequest) (item, error) {
	if req.IdempotencyKey != "" {
		return item{}, memory.Errorf(memory.Invalid,
			"an item of a batch cannot have an Idempotency-Key; give it an id").At("Idempotency-Key")
	}
	if len(req.Supersedes) > 0 {
		return item{}, memory.Errorf(memory.Invalid,
			"an item of a batch cannot supersede a memory; save it alone").At("supersedes")
	}
	req, added, err := e.GrantedSave(req)
	if err != nil {
		return item{}, err
	}
	m, err := e.Draft(req, e.ImportLink(ctx, req))
	if err != nil {
		return item{}, err
	}
	tx, err := newSaveTx(req, m)
	if err != nil {
		return item{}, err
	}
	it := item{memory: m, tx: tx, again: req.Again, rich: e.Graph.Enriches(req), added: added}
	by := op.CallerFrom(ctx)
	_, it.origin = e.RecordedOrigin(&req.Provenance, &by)
	for key, value := range tx.Changes[0].Set {
		it.size += len(key) + len(value)
	}
	return it, nil
}

// saveChunk stores items in one transaction and answers all of them. It leaves out items that
// were saved before or are refused.
func (e *Memories) saveChunk(ctx context.Context, res *op.SaveBatchResult, items []item,
	dry bool) (stm.Receipt, error) {
	ids := make([]memory.ID, len(items))
	for i, it := range items {
		ids[i] = it.memory.ID
	}
	by := op.CallerFrom(ctx)
	receipt, err := e.Stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		tx := &stm.Tx{Verb: "import", By: by, Entry: res.Tx}
		for i, it := range items {
			before, err := e.earlierSave(it.tx, it.memory, rows[i], it.again)
			if err != nil {
				res.Results[it.at].Error = op.ProblemOf(err)
				continue
			}
			answer := &res.Results[it.at]
			*answer = op.SaveBatchAnswer{ID: it.memory.ID, Replayed: before.row != nil, EnrichmentApplied: it.rich,
				Added: it.added, RecordedOrigin: it.origin}
			if before.row == nil {
				tx.Changes = append(tx.Changes, it.tx.Changes...)
				tx.Again = append(tx.Again, it.tx.Again...)
				// a token can read more than it can change
			} else if named, more := core.AddAliases(before.row, it.memory.Aliases); more && e.Grant == nil {
				tx.Changes, answer.Named = append(tx.Changes, named), true
			}
		}
		if len(tx.Changes) == 0 || dry {
			return nil, nil
		}
		return tx, nil
	})
	if err == nil && receipt.Entry != "" {
		res.Tx = receipt.Entry
		e.Graph.Names.LearnFrom(receipt.Rows...)
	}
	return receipt, err
}
