package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const listedItems = 100 // unless another number is asked for

// reviewList lists review items, the most urgent first.
func (e *Engine) reviewList(_ context.Context, req *op.ReviewListRequest) (*op.ReviewListResult, error) {
	status, limit := cmp.Or(req.Status, memory.ItemOpen), cmp.Or(req.Limit, listedItems)
	if !slices.Contains([]string{memory.ItemOpen, memory.ItemClaimed, memory.ItemClosed, op.AnyStatus}, status) {
		return nil, memory.Errorf(memory.Invalid, "status is %.20q; use open, claimed, closed or all", status).At("status")
	}
	err := firstError(memory.CheckRange("limit", float64(limit), 1, memory.MaxResults), checkAgent(req.Agent))
	if err != nil {
		return nil, err
	}
	res := &op.ReviewListResult{Items: []memory.ReviewItem{}}
	for item := range e.reviewItems() {
		if (status == op.AnyStatus || item.Status == status) && (req.Agent == "" || item.Agent == req.Agent) && (req.Label == "" || slices.Contains(item.Labels, req.Label)) {
			res.Items = append(res.Items, item)
		}
	}
	slices.SortFunc(res.Items, byUrgency)
	res.Total = len(res.Items)
	res.Items = res.Items[:min(limit, len(res.Items))]
	for i := range res.Items {
		res.Items[i].Bead = e.mirror.bead(res.Items[i].ID)
	}
	return res, nil
}

func checkAgent(name string) error {
	if name == "" || slices.Contains(op.ReviewAgents(), name) {
		return nil
	}
	return memory.Errorf(memory.Invalid, "agent is %.40q; use one of %s", name, strings.Join(op.ReviewAgents(), ", ")).At("agent")
}

// byUrgency orders items, those that are not closed and the most urgent first, then the
// oldest.
func byUrgency(a, b memory.ReviewItem) int {
	closed := func(i *memory.ReviewItem) int {
		if i.Status == memory.ItemClosed {
			return 1
		}
		return 0
	}
	order := []string{op.UrgencyHigh, op.UrgencyMedium, op.UrgencyLow}
	return cmp.Or(cmp.Compare(closed(&a), closed(&b)), cmp.Compare(slices.Index(order, a.Urgency), slices.Index(order, b.Urgency)),
		a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
}

// reviewShow shows an item with what is there of its memories. It is a use of none.
func (e *Engine) reviewShow(_ context.Context, req *op.ReviewShowRequest) (*op.ReviewShowResult, error) {
	item, err := e.findItem(req.ID)
	if err != nil {
		return nil, err
	}
	item.Bead = e.mirror.bead(item.ID)
	res := &op.ReviewShowResult{Item: item, Memories: []op.Memory{}, Choices: append([]string{}, e.choicesOf(&item)...)}
	var rows []*stm.Row
	for _, id := range item.MemoryIDs {
		if row, live := e.stm.Get(id); live {
			rows = append(rows, row)
		}
	}
	if res.Memories, err = e.views(&e.stm.Memories, rows, e.opt.Now()); err != nil {
		return nil, err
	}
	var texts []memory.Memory
	for i := range res.Memories {
		texts = append(texts, res.Memories[i].Memory)
	}
	res.Diff = diffOf(texts)
	if e.decidable(&item) == nil && len(rows) > 1 {
		res.MergeRefused = e.mergeRefused(rows)
	}
	if decision, at := e.policyOn(&item); decision != "" {
		res.DecidedBy, res.DecidedAt = decision, at.UTC().Format(time.RFC3339)
	}
	return res, nil
}

// reviewClaim claims an item for whoever is named, or else for who asks.
func (e *Engine) reviewClaim(ctx context.Context, req *op.ReviewClaimRequest) (*op.ReviewChangeResult, error) {
	by := op.CallerFrom(ctx)
	if err := e.refuseSecret(passage{field: "by", text: req.By}, false); err != nil {
		return nil, err
	}
	item, tx, err := e.claimItem(ctx, by, "", req.ID, cmp.Or(strings.TrimSpace(req.By), by.Client, by.Via, "somebody"))
	if err != nil {
		return nil, err
	}
	return &op.ReviewChangeResult{Item: item, Tx: tx}, nil
}

// reviewClose carries out a decision, if there is one, and closes the item.
func (e *Engine) reviewClose(ctx context.Context, req *op.ReviewCloseRequest) (*op.ReviewChangeResult, error) {
	if err := e.refuseSecret(passage{field: "reason", text: req.Reason}, req.AllowSecret); err != nil {
		return nil, err
	}
	change := e.decideItem
	if req.Decision == "" {
		change = func(ctx context.Context, by memory.Actor, id, decision, reason string) (memory.ReviewItem, string, error) {
			return e.closeItem(ctx, by, "", id, decision, reason)
		}
	}
	item, tx, err := change(ctx, op.CallerFrom(ctx), req.ID, req.Decision, req.Reason)
	if err != nil {
		return nil, err
	}
	return &op.ReviewChangeResult{Item: item, Tx: tx}, nil
}

// refuseSecret refuses a credential in what is kept of a decision.
func (e *Engine) refuseSecret(words passage, allowSecret bool) error {
	if allowSecret || !e.opt.DetectSecrets {
		return nil
	}
	return checkSecrets([]passage{words})
}

// reviewCreate files one item. One that is there already is the answer instead.
func (e *Engine) reviewCreate(ctx context.Context, req *op.ReviewCreateRequest) (*op.ReviewChangeResult, error) {
	ids, err := e.resolveAll(req.MemoryIDs, "memory_ids", memory.MaxIDs)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if _, live := e.stm.Get(id); !live {
			return nil, about(e.missing(id), "memory_ids")
		}
	}
	item := memory.ReviewItem{Agent: cmp.Or(req.Agent, op.ReviewUser), Action: cmp.Or(req.Action, needsReview),
		Urgency: req.Urgency, Labels: req.Labels, MemoryIDs: ids, Evidence: req.Evidence}
	if err := e.checkFiled(&item, req.AllowSecret); err != nil {
		return nil, err
	}
	tx, filed, err := e.fileItems(ctx, op.CallerFrom(ctx), "", []memory.ReviewItem{item})
	switch {
	case err != nil:
		return nil, err
	case len(filed) == 1:
		return &op.ReviewChangeResult{Item: filed[0], Made: true, Tx: tx}, nil
	}
	return e.filedBefore(&item)
}

const needsReview = "needs_review"

// checkFiled refuses what is only cut off of what the agents here file, and credentials.
func (e *Engine) checkFiled(item *memory.ReviewItem, allowSecret bool) error {
	err := memory.CheckText("evidence", item.Evidence, op.MaxEvidence)
	if err != nil || allowSecret || !e.opt.DetectSecrets {
		return err
	}
	return checkSecrets(appendEach([]passage{{field: "evidence", text: item.Evidence}, {field: "action", text: item.Action}}, "labels", item.Labels))
}

// checkReviewItems refuses a record with a review item that was never filed. That its other
// memories are there is not asked: they may come later.
func checkReviewItems(r *op.Record) error {
	n := 0
	for key, value := range r.Fields {
		if !stm.IsReviewKey(key) {
			continue
		}
		item, err := stm.ParseReviewItem(key, value)
		if err == nil && (item.MemoryIDs[0] != r.ID || !slices.IsSorted(item.MemoryIDs) || item.ID != memory.ReviewItemID(item.Agent, item.MemoryIDs)) {
			err = errors.New("it is about other memories, or of another agent")
		}
		if err == nil && !slices.Contains([]string{memory.ItemOpen, memory.ItemClaimed, memory.ItemClosed}, item.Status) {
			err = errors.New("it is neither open, claimed nor closed")
		}
		if err == nil {
			err = checkItem(&item)
		}
		if err != nil {
			return memory.Errorf(memory.Invalid, "the memory's %.60s cannot be a review item: %w; send what emberd export wrote", key, err).At("memory")
		}
		n++
	}
	if n > mostItemsOpen+mostItemsClosed {
		return memory.Errorf(memory.TooLarge, "the memory has %d review items, more than %d; remove closed ones", n, mostItemsOpen+mostItemsClosed).At("memory")
	}
	return nil
}

// filedBefore is the item because of which one was not filed.
func (e *Engine) filedBefore(item *memory.ReviewItem) (*op.ReviewChangeResult, error) {
	if err := e.completeItem(item); err != nil {
		return nil, err
	}
	var there *memory.ReviewItem
	if row, live := e.stm.Get(item.MemoryIDs[0]); live {
		for _, other := range row.ReviewItems() {
			if slices.Equal(other.MemoryIDs, item.MemoryIDs) && (there == nil || other.ID == item.ID) {
				there = &other
			}
		}
	}
	if there == nil {
		return nil, memory.Errorf(memory.Conflict, "memory %s is the first of %d open review items already; decide some of them before another is filed", item.MemoryIDs[0], mostItemsOpen).At("memory_ids")
	}
	return &op.ReviewChangeResult{Item: *there}, nil
}
