package review

import (
	"context"
	"fmt"
	"slices"
	"time"

	"emberd/engine/promote"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// policyActor returns the actor of decisions by policy.
func policyActor() memory.Actor { return memory.Actor{Via: stm.Itself, Client: "review policy"} }

// policyOn returns the decision that policy makes about an open item, and when, if no reviewer
// decides before; "" for none. Policy never deletes, merges or promotes: the memories stay,
// and fade as usual. It leaves alone what asks for one of two texts, for one of them would be lost to
// searches.
func (e *Review) policyOn(item *memory.ReviewItem) (decision string, at time.Time) {
	if e.Opt.DecideAfter == 0 || item.Status == memory.ItemClosed || item.Agent == op.ReviewText {
		return "", time.Time{}
	}
	from := item.CreatedAt
	if item.ClaimedAt.After(from) {
		from = item.ClaimedAt
	}
	return op.DecideKeep, from.Add(e.Opt.DecideAfter)
}

// DecideOverdue closes the items that no reviewer decided in time, as one change. That does
// not count as a use of their memories.
func (e *Review) DecideOverdue(ctx context.Context) error {
	now, entry := e.Opt.Now(), ""
	var due []memory.ReviewItem
	for item := range e.ReviewItems() {
		if decision, at := e.policyOn(&item); decision != "" && !at.After(now) {
			due = append(due, item)
		}
	}
	slices.SortFunc(due, func(a, b memory.ReviewItem) int { return a.CreatedAt.Compare(b.CreatedAt) })
	for _, item := range due {
		decision, _ := e.policyOn(&item)
		var err error
		entry, err = e.CloseAsListed(ctx, policyActor(), entry, item, decision,
			fmt.Sprintf("closed automatically: no decision within %s", promote.InDays(e.Opt.DecideAfter)))
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return fmt.Errorf("cannot apply the default decisions to review items: %w", err)
		}
	}
	return nil
}
