package cleanup

import (
	"context"
	"encoding/json"

	"emberd/engine/core"
	"emberd/internal/cleanup"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// prepareRewrite prepares a better wording of a memory by a model, after a check that it says the
// same. Without a model or a valid answer, the action goes to review.
func (c *cleanupExecutor) prepareRewrite(ctx context.Context, one *cleanupBatch) (*cleanupBatch, error) {
	if len(one.act.MemoryIDs) != 1 || c.e.Opt.Cleanup.Ask == nil {
		return nil, nil
	}
	id := one.act.MemoryIDs[0]
	row, live := c.e.Stm.Get(id)
	if !live {
		return nil, errGone()
	}
	if c.run.Restarts > 0 && c.wroteText(ctx, id) {
		return nil, nil // before a crash
	}
	text, err := cleanup.Rewrite(ctx, c.e.Opt.Cleanup.Ask, c.e.Text,
		&cleanup.Entry{ID: id, Text: row.Content(), Manual: true})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err == nil {
		err = memory.CheckContent(text)
	}
	if err != nil || text == row.Content() || core.SecretIn(c.e.Opt.DetectSecrets, text, row.Content()) {
		return nil, nil // it goes to review
	}
	one.ids, one.size = []memory.ID{id}, 2*row.Size()
	one.change = func(_ context.Context, rows map[memory.ID]*stm.Row) ([]stm.Change, error) {
		if err := c.checkUnchanged(rows[id]); err != nil {
			return nil, err
		}
		set := make(map[string]json.RawMessage)
		for key, value := range map[string]any{core.ContentField: text, "updated_at": core.StampTime(c.e.Opt.Now())} {
			raw, err := core.Encode(value)
			if err != nil {
				return nil, err
			}
			set[key] = raw
		}
		return []stm.Change{{ID: id, Set: set}}, nil
	}
	return one, nil
}

// wroteText reports whether the run has already changed the text of a memory.
func (c *cleanupExecutor) wroteText(ctx context.Context, id memory.ID) bool {
	if c.run.Tx == "" {
		return false
	}
	versions, err := c.e.Stm.History(ctx, id)
	if err != nil || len(versions) == 0 {
		return false
	}
	for _, v := range versions {
		if v.Entry.Tx != c.run.Tx {
			continue
		}
		for _, f := range v.Fields {
			if f.Name == core.ContentField {
				return true
			}
		}
	}
	return false
}

// file creates review items for actions that the plan leaves to the user, and for texts that
// were not reworded.
func (c *cleanupExecutor) file(ctx context.Context) error {
	var items []memory.ReviewItem
	c.run.Asked = nil
	for i := range c.plan.Actions {
		a := &c.plan.Actions[i]
		if c.run.Problems[i] != "" {
			continue
		}
		item := memory.ReviewItem{Agent: op.ReviewCleanup, Urgency: op.UrgencyMedium, MemoryIDs: a.MemoryIDs,
			Evidence: a.Evidence}
		switch {
		case a.Action == op.CleanupReview:
			item.Action = core.ContradictionAction
			if len(a.MemoryIDs) == 1 {
				item.Action = "needs_review"
			}
		case a.Action == op.CleanupUpdate && len(a.MemoryIDs) == 1 && !c.wroteText(ctx, a.MemoryIDs[0]):
			item.Action, item.Urgency = "update", op.UrgencyLow
			c.run.Asked = append(c.run.Asked, i)
		default:
			continue
		}
		items = append(items, item)
	}
	countActions(c.run, c.plan)
	if len(items) == 0 {
		return nil
	}
	entry, _, err := c.e.Review.FileItems(ctx, c.run.By, c.run.Tx, items)
	if entry != "" {
		c.run.Tx = entry
	}
	switch memory.CodeOf(err) {
	case memory.Conflict, memory.Invalid, memory.TooLarge: // a refused review item is no reason to roll back
		c.e.Opt.Logger.Warn("review items of the cleanup not created", "run", c.run.ID, "err", err)
		return nil
	}
	return err
}
