package engine

import (
	"context"
	"errors"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// chunkBytes is how much of a batch goes into one transaction of the log: far
// below the longest line stm writes, and enough to share one sync among many.
const chunkBytes = 512 << 10

// item is one good memory of a batch on its way.
type item struct {
	at     int // its place in the request
	memory *memory.Memory
	tx     *stm.Tx
	again  bool
	rich   bool   // enriched
	added  string // the scope that was added
	size   int
}

// saveBatch stores the good items of a batch under one journal entry and
// answers each in its place.
func (e *Engine) saveBatch(ctx context.Context, req *op.SaveBatchRequest) (*op.SaveBatchResult, error) {
	switch n := len(req.Items); {
	case n > op.MaxBatch:
		return nil, memory.Errorf(memory.TooLarge, "the batch has %d items, more than %d; send it in parts", n, op.MaxBatch).At("items")
	case n == 0:
		return nil, memory.Errorf(memory.Invalid, "the batch has no items; give at least one").At("items")
	}
	if err := e.joins(req.Tx); err != nil {
		return nil, err
	}
	res := &op.SaveBatchResult{Tx: req.Tx, Results: make([]op.SaveBatchAnswer, len(req.Items))}
	if err := e.saveItems(ctx, res, e.goodItems(ctx, req.Items, res.Results), req.DryRun); err != nil {
		return nil, err
	}
	return res, nil
}

// saveItems writes the log in a few transactions. When the first fails, nothing
// is saved and the batch fails with it; when a later one does, what came before
// stays, and the items from there on tell the error.
func (e *Engine) saveItems(ctx context.Context, res *op.SaveBatchResult, items []item, dry bool) error {
	saved := false
	for len(items) > 0 {
		n := oneLine(items)
		receipt, err := e.saveChunk(ctx, res, items[:n], dry)
		if err != nil && !saved {
			return err
		}
		if err != nil {
			for _, it := range items {
				res.Results[it.at] = op.SaveBatchAnswer{Error: problem(err)}
			}
			break
		}
		saved = saved || receipt.Entry != ""
		items = items[n:]
	}
	return nil
}

// goodItems checks every item and answers the bad ones.
func (e *Engine) goodItems(ctx context.Context, reqs []op.SaveRequest, answers []op.SaveBatchAnswer) []item {
	items := make([]item, 0, len(reqs))
	for i := range reqs {
		it, err := e.newItem(ctx, &reqs[i])
		if err != nil {
			answers[i].Error = problem(err)
			continue
		}
		it.at = i
		items = append(items, it)
	}
	return items
}

func (e *Engine) newItem(ctx context.Context, req *op.SaveRequest) (item, error) {
	if req.IdempotencyKey != "" {
		return item{}, memory.Errorf(memory.Invalid, "an item of a batch cannot have an Idempotency-Key; give it an id").At("Idempotency-Key")
	}
	if len(req.Supersedes) > 0 {
		return item{}, memory.Errorf(memory.Invalid, "an item of a batch cannot supersede a memory; save it alone").At("supersedes")
	}
	req, added, err := e.grantedSave(req)
	if err != nil {
		return item{}, err
	}
	m, err := e.draft(req, e.importLink(ctx, req))
	if err != nil {
		return item{}, err
	}
	tx, err := newSaveTx(req, m)
	if err != nil {
		return item{}, err
	}
	it := item{memory: m, tx: tx, again: req.Again, rich: e.enriches(req), added: added}
	for key, value := range tx.Changes[0].Set {
		it.size += len(key) + len(value)
	}
	return it, nil
}

// oneLine returns how many of the items, at least one, go into the next
// transaction. It ends before an id that is in it already, so that the second
// finds the first saved.
func oneLine(items []item) int {
	size := 0
	ids := make(map[memory.ID]bool)
	for i, it := range items {
		size += it.size
		if i > 0 && (size > chunkBytes || ids[it.memory.ID]) {
			return i
		}
		ids[it.memory.ID] = true
	}
	return len(items)
}

// saveChunk stores items in one transaction, less those that were saved before
// or cannot be, and answers all of them.
func (e *Engine) saveChunk(ctx context.Context, res *op.SaveBatchResult, items []item, dry bool) (stm.Receipt, error) {
	ids := make([]memory.ID, len(items))
	for i, it := range items {
		ids[i] = it.memory.ID
	}
	by := op.CallerFrom(ctx)
	receipt, err := e.stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		tx := &stm.Tx{Verb: "import", By: by, Entry: res.Tx}
		for i, it := range items {
			before, err := e.earlierSave(it.tx, it.memory, rows[i], it.again)
			if err != nil {
				res.Results[it.at].Error = problem(err)
				continue
			}
			answer := &res.Results[it.at]
			*answer = op.SaveBatchAnswer{ID: it.memory.ID, Replayed: before.row != nil, EnrichmentApplied: it.rich, Added: it.added}
			if before.row == nil {
				tx.Changes = append(tx.Changes, it.tx.Changes...)
				tx.Again = append(tx.Again, it.tx.Again...)
			} else if named, more := moreNames(before.row, it.memory.Aliases); more && e.grant == nil { // a token may see more than it may change
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
		e.names.learnFrom(receipt.Rows...)
	}
	return receipt, err
}

// problem is an error as one item of an answer carries it.
func problem(err error) *op.Problem {
	p := &op.Problem{Detail: err.Error(), Code: memory.CodeOf(err)}
	if e, ok := errors.AsType[*memory.Error](err); ok {
		p.Field, p.Current = e.Field, e.Current
	}
	return p
}
