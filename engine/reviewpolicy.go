package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// policyActor is who decides what nobody else does.
func policyActor() memory.Actor { return memory.Actor{Via: stm.Itself, Client: "review policy"} }

// policyOn is what policy decides about an item that is not closed, and when, if nobody
// does before; "" for nothing. Policy never forgets, merges or promotes: what nobody looked
// at stays as it is, and fades by itself.
func (e *Engine) policyOn(item *memory.ReviewItem) (decision string, at time.Time) {
	if e.opt.DecideAfter == 0 || item.Status == memory.ItemClosed {
		return "", time.Time{}
	}
	from := item.CreatedAt
	if item.ClaimedAt.After(from) {
		from = item.ClaimedAt
	}
	return op.DecideKeep, from.Add(e.opt.DecideAfter)
}

// decideOverdue closes the items that nobody decided in time, in one journal entry. To
// close one is no use of its memories.
func (e *Engine) decideOverdue(ctx context.Context) error {
	now, entry := e.opt.Now(), ""
	var due []memory.ReviewItem
	for item := range e.reviewItems() {
		if decision, at := e.policyOn(&item); decision != "" && !at.After(now) {
			due = append(due, item)
		}
	}
	slices.SortFunc(due, func(a, b memory.ReviewItem) int { return a.CreatedAt.Compare(b.CreatedAt) })
	for _, item := range due {
		decision, _ := e.policyOn(&item)
		var err error
		entry, err = e.closeAsListed(ctx, policyActor(), entry, item, decision, fmt.Sprintf("decided by policy, for nobody did in %s", inDays(e.opt.DecideAfter)))
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return fmt.Errorf("close what nobody decided: %w", err)
		}
	}
	return nil
}
