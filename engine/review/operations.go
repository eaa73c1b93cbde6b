package review

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const listedItems = 100 // default limit

// ReviewList returns a page of review items, most urgent first: by default the undecided ones.
func (e *Review) ReviewList(_ context.Context, req *op.ReviewListRequest) (*op.ReviewListResult, error) {
	status, limit := req.Status, cmp.Or(req.Limit, listedItems)
	if !slices.Contains([]string{"", memory.ItemOpen, memory.ItemClaimed, memory.ItemClosed, op.AnyStatus}, status) {
		return nil, memory.Errorf(memory.Invalid, "invalid status %.20q; use open, claimed, closed or all",
			status).At("status")
	}
	err := core.FirstError(memory.CheckRange("limit", float64(limit), 1, memory.MaxResults), checkAgent(req.Agent))
	if err != nil {
		return nil, err
	}
	res := &op.ReviewListResult{Items: []memory.ReviewItem{}}
	for item := range e.ReviewItems() {
		if hasStatus(&item, status) && (req.Agent == "" || item.Agent == req.Agent) &&
			(req.Label == "" || slices.Contains(item.Labels, req.Label)) {
			res.Items = append(res.Items, item)
		}
	}
	slices.SortFunc(res.Items, ByUrgency)
	res.Total = len(res.Items)
	if res.Items, err = itemsAfter(res.Items, req.Cursor); err != nil {
		return nil, err
	}
	if len(res.Items) > limit {
		res.Items = res.Items[:limit]
		if res.NextCursor, err = cursorAfter(&res.Items[limit-1]); err != nil {
			return nil, err
		}
	}
	for i := range res.Items {
		res.Items[i].Bead = e.Mirror.Bead(res.Items[i].ID)
	}
	return res, nil
}

// hasStatus reports whether an item has the status of a request; without one, whether it is undecided.
func hasStatus(item *memory.ReviewItem, status string) bool {
	if status == "" {
		return item.Status != memory.ItemClosed
	}
	return status == op.AnyStatus || item.Status == status
}

func checkAgent(name string) error {
	if name == "" || slices.Contains(op.ReviewAgents(), name) {
		return nil
	}
	return memory.Errorf(memory.Invalid, "invalid agent %.40q; use one of %s", name,
		strings.Join(op.ReviewAgents(), ", ")).At("agent")
}

// ByUrgency orders items: open before closed, most urgent first, then oldest first.
func ByUrgency(a, b memory.ReviewItem) int {
	closed := func(i *memory.ReviewItem) int {
		if i.Status == memory.ItemClosed {
			return 1
		}
		return 0
	}
	order := []string{op.UrgencyHigh, op.UrgencyMedium, op.UrgencyLow}
	return cmp.Or(cmp.Compare(closed(&a), closed(&b)),
		cmp.Compare(slices.Index(order, a.Urgency), slices.Index(order, b.Urgency)),
		a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
}

// ReviewShow returns an item with its existing memories. It does not count as a use.
func (e *Review) ReviewShow(_ context.Context, req *op.ReviewShowRequest) (*op.ReviewShowResult, error) {
	item, err := e.FindItem(req.ID)
	if err != nil {
		return nil, err
	}
	item.Bead = e.Mirror.Bead(item.ID)
	res := &op.ReviewShowResult{Item: item, Memories: []op.Memory{}, Choices: append([]string{}, e.ChoicesOf(&item)...)}
	var rows []*stm.Row
	for _, id := range item.MemoryIDs {
		if row, live := e.Stm.Get(id); live {
			rows = append(rows, row)
		}
	}
	if res.Memories, err = e.Views(&e.Stm.MemorySet, rows, e.Opt.Now()); err != nil {
		return nil, err
	}
	var texts []memory.Memory
	for i := range res.Memories {
		texts = append(texts, res.Memories[i].Memory)
	}
	if len(texts) > 0 {
		texts = withTexts(texts, &item)
	}
	res.Diff = DiffOf(texts)
	if e.checkDecidable(&item) == nil && len(rows) > 1 {
		res.MergeRefused = e.mergeRefused(rows)
	}
	if decision, at := e.policyOn(&item); decision != "" {
		res.DecidedBy, res.DecidedAt = decision, at.UTC().Format(time.RFC3339)
	}
	return res, nil
}

// ReviewClaim claims an item for the named person or client, or else for the caller.
func (e *Review) ReviewClaim(ctx context.Context, req *op.ReviewClaimRequest) (*op.ReviewChangeResult, error) {
	by := op.CallerFrom(ctx)
	if err := e.refuseSecret(core.Passage{Field: "by", Text: req.By}, false); err != nil {
		return nil, err
	}
	item, tx, err := e.ClaimItem(ctx, by, "", req.ID, cmp.Or(strings.TrimSpace(req.By), by.Client, by.Via, "somebody"))
	if err != nil {
		return nil, err
	}
	return &op.ReviewChangeResult{Item: item, Tx: tx}, nil
}

// ReviewClose applies a decision, if there is one, and closes the item.
func (e *Review) ReviewClose(ctx context.Context, req *op.ReviewCloseRequest) (*op.ReviewChangeResult, error) {
	if err := e.refuseSecret(core.Passage{Field: "reason", Text: req.Reason}, req.AllowSecret); err != nil {
		return nil, err
	}
	change := e.DecideItem
	if req.Decision == "" {
		change = func(ctx context.Context, by memory.Actor, id, decision, reason string) (memory.ReviewItem, string,
			error) {
			return e.CloseItem(ctx, by, "", id, decision, reason)
		}
	}
	item, tx, err := change(ctx, op.CallerFrom(ctx), req.ID, req.Decision, req.Reason)
	if err != nil {
		return nil, err
	}
	return &op.ReviewChangeResult{Item: item, Tx: tx}, nil
}

// refuseSecret returns an error for a credential in the stored text of a decision.
func (e *Review) refuseSecret(words core.Passage, allowSecret bool) error {
	if allowSecret || !e.Opt.DetectSecrets {
		return nil
	}
	return core.CheckSecrets([]core.Passage{words})
}

// ReviewCreate creates one item, with a decision a closed one. If an equal one exists, it returns that, and
// applies the decision if it is open.
func (e *Review) ReviewCreate(ctx context.Context, req *op.ReviewCreateRequest) (*op.ReviewChangeResult, error) {
	if req.Decision != "" && req.Decision != op.DecideKeep {
		return nil, memory.Errorf(memory.Invalid, "invalid decision %.40q; for a new review item, use keep",
			req.Decision).At("decision")
	}
	ids, err := e.ResolveAll(req.MemoryIDs, "memory_ids", memory.MaxIDs)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if _, live := e.Stm.Get(id); !live {
			return nil, core.About(e.Missing(id), "memory_ids")
		}
	}
	item := memory.ReviewItem{Agent: cmp.Or(req.Agent, op.ReviewUser), Action: cmp.Or(req.Action, NeedsReview),
		Urgency: req.Urgency, Labels: req.Labels, MemoryIDs: ids, Evidence: req.Evidence, Decision: req.Decision}
	if err := e.checkFiled(&item, req.AllowSecret); err != nil {
		return nil, err
	}
	tx, filed, err := e.FileItems(ctx, op.CallerFrom(ctx), "", []memory.ReviewItem{item})
	switch {
	case err != nil:
		return nil, err
	case len(filed) == 1:
		countKept(e, &filed[0])
		return &op.ReviewChangeResult{Item: filed[0], Made: true, Tx: tx}, nil
	}
	there, err := e.filedBefore(&item)
	if err != nil || req.Decision == "" || there.Item.Status == memory.ItemClosed {
		return there, err
	}
	there.Item, there.Tx, err = e.DecideItem(ctx, op.CallerFrom(ctx), there.Item.ID, req.Decision, "")
	return there, err
}

const NeedsReview = "needs_review"

// checkFiled returns an error for evidence that is too long, which is truncated for the
// maintenance agents, and for credentials.
func (e *Review) checkFiled(item *memory.ReviewItem, allowSecret bool) error {
	err := memory.CheckText("evidence", item.Evidence, op.MaxEvidence)
	if err != nil || allowSecret || !e.Opt.DetectSecrets {
		return err
	}
	return core.CheckSecrets(core.AppendEach([]core.Passage{{Field: "evidence", Text: item.Evidence},
		{Field: "action", Text: item.Action}}, "labels", item.Labels))
}

// filedBefore returns the existing item because of which a new one was not created.
func (e *Review) filedBefore(item *memory.ReviewItem) (*op.ReviewChangeResult, error) {
	if err := e.CompleteItem(item); err != nil {
		return nil, err
	}
	var there *memory.ReviewItem
	if row, live := e.Stm.Get(item.MemoryIDs[0]); live {
		for _, other := range row.ReviewItems() {
			if slices.Equal(other.MemoryIDs, item.MemoryIDs) && (there == nil || other.ID == item.ID) {
				there = &other
			}
		}
	}
	if there == nil {
		return nil, memory.Errorf(memory.Conflict, "too many open review items for memory %s (limit %d); "+
			"close some of these items before you create another item", item.MemoryIDs[0],
			core.MaxItemsOpen).At("memory_ids")
	}
	return &op.ReviewChangeResult{Item: *there}, nil
}
