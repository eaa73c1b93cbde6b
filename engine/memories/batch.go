package memories

import (
	"context"
	"runtime"
	"slices"

	"emberd/engine/core"
	"emberd/internal/contain"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// item is one valid memory of a batch.
type item struct {
	at     int // index in the request
	req    *op.SaveRequest
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

// goodItems returns the valid items and sets the error of the others. It prepares them on all processors.
func (e *Memories) goodItems(ctx context.Context, reqs []op.SaveRequest, answers []op.SaveBatchAnswer) []item {
	all, errs := make([]item, len(reqs)), make([]error, len(reqs))
	links := make([]memory.Source, len(reqs))
	for i := range reqs { // one after the other, so that IDs and times are in the order of the items
		errs[i] = e.begin(ctx, &all[i], &reqs[i])
		if errs[i] == nil {
			all[i].at, links[i] = i, e.ImportLink(ctx, all[i].req)
		}
	}
	contain.Each(len(all), runtime.GOMAXPROCS(0), func(i int) {
		if errs[i] == nil {
			errs[i] = draftItem(e, &all[i], links[i])
		}
	})
	for i, err := range errs {
		if err != nil {
			answers[i].Error = op.ProblemOf(err)
		}
	}
	return slices.DeleteFunc(all, func(it item) bool { return it.tx == nil })
}

// begin fills in what the caller and the order of the items decide.
func (e *Memories) begin(ctx context.Context, it *item, req *op.SaveRequest) (err error) {
	if req.IdempotencyKey != "" {
		return memory.Errorf(memory.Invalid,
			"an item of a batch cannot have an Idempotency-Key; set the ID of the item instead").At("Idempotency-Key")
	}
	if len(req.Supersedes) > 0 {
		return memory.Errorf(memory.Invalid,
			"an item of a batch cannot supersede a memory; save the item in a separate request").At("supersedes")
	}
	if it.req, it.added, err = e.GrantedSave(req); err != nil {
		return err
	}
	by := op.CallerFrom(ctx)
	_, it.origin = e.RecordedOrigin(&it.req.Provenance, &by)
	it.again, it.rich = it.req.Again, e.Graph.Enriches(it.req)
	if it.req.ID == "" {
		own := *it.req
		own.ID, err = memory.NewID()
		it.req = &own
	}
	return err
}

// draftItem makes the memory of an item and the change that stores it.
func draftItem(e *Memories, it *item, link memory.Source) (err error) {
	if it.memory, err = e.Draft(it.req, link); err != nil {
		return err
	}
	if it.tx, err = newSaveTx(it.req, it.memory); err != nil {
		return err
	}
	for key, value := range it.tx.Changes[0].Set {
		it.size += len(key) + len(value)
	}
	return nil
}

// batchVerb is what the history calls a batch. On the command line a batch is an import.
func batchVerb(by *memory.Actor) string {
	if by.Via == core.ViaCLI {
		return stm.ImportVerb
	}
	return "save"
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
		tx, deleted := &stm.Tx{Verb: batchVerb(&by), By: by, Entry: res.Tx}, e.Stm.Deleted(ids...)
		for i, it := range items {
			before, err := e.earlierSave(it.tx, it.memory, stored{rows[i], deleted[ids[i]]}, it.again)
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
