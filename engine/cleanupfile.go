package engine

import (
	"context"
	"encoding/json"

	"emberd/internal/cleanup"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// rewriting gives a memory a better wording, by a model, if that is checked to say the
// same. Where there is no model, or its answer cannot be taken, a human is asked.
func (c *cleaner) rewriting(ctx context.Context, one *cleaning) (*cleaning, error) {
	if len(one.act.MemoryIDs) != 1 || c.e.opt.Cleanup.Ask == nil {
		return nil, nil
	}
	id := one.act.MemoryIDs[0]
	row, live := c.e.stm.Get(id)
	if !live {
		return nil, gone()
	}
	if c.run.Restarts > 0 && c.wrote(ctx, id) {
		return nil, nil // before a crash
	}
	text, err := cleanup.Rewrite(ctx, c.e.opt.Cleanup.Ask, c.e.text, &cleanup.Entry{ID: id, Text: row.Content(), Manual: true})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err == nil {
		err = memory.CheckContent(text)
	}
	if err != nil || text == row.Content() || secretIn(c.e.opt.DetectSecrets, text, row.Content()) {
		return nil, nil // it is filed for review
	}
	one.ids, one.size = []memory.ID{id}, 2*row.Size()
	one.change = func(_ context.Context, rows map[memory.ID]*stm.Row) ([]stm.Change, error) {
		if err := c.asPlanned(rows[id]); err != nil {
			return nil, err
		}
		set := make(map[string]json.RawMessage)
		for key, value := range map[string]any{contentField: text, "updated_at": stampTime(c.e.opt.Now())} {
			raw, err := encode(value)
			if err != nil {
				return nil, err
			}
			set[key] = raw
		}
		return []stm.Change{{ID: id, Set: set}}, nil
	}
	return one, nil
}

// wrote reports whether the run has changed the text of a memory already.
func (c *cleaner) wrote(ctx context.Context, id memory.ID) bool {
	if c.run.Tx == "" {
		return false
	}
	versions, err := c.e.stm.History(ctx, id)
	if err != nil || len(versions) == 0 {
		return false
	}
	for _, v := range versions {
		if v.Entry.Tx != c.run.Tx {
			continue
		}
		for _, f := range v.Fields {
			if f.Name == contentField {
				return true
			}
		}
	}
	return false
}

// file asks a human about what the plan leaves to one, and about what was to be rewritten
// and was not.
func (c *cleaner) file(ctx context.Context) error {
	var items []memory.ReviewItem
	c.run.Asked = nil
	for i := range c.plan.Actions {
		a := &c.plan.Actions[i]
		if c.run.Problems[i] != "" {
			continue
		}
		item := memory.ReviewItem{Agent: op.ReviewCleanup, Urgency: op.UrgencyMedium, MemoryIDs: a.MemoryIDs, Evidence: a.Evidence}
		switch {
		case a.Action == op.CleanupReview:
			item.Action = contradictionAction
			if len(a.MemoryIDs) == 1 {
				item.Action = "needs_review"
			}
		case a.Action == op.CleanupUpdate && len(a.MemoryIDs) == 1 && !c.wrote(ctx, a.MemoryIDs[0]):
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
	entry, _, err := c.e.fileItems(ctx, c.run.By, c.run.Tx, items)
	if entry != "" {
		c.run.Tx = entry
	}
	switch memory.CodeOf(err) {
	case memory.Conflict, memory.Invalid, memory.TooLarge: // nobody can be asked, which is no reason to take all back
		c.e.opt.Logger.Warn("review items of the cleanup not filed", "run", c.run.ID, "err", err)
		return nil
	}
	return err
}
