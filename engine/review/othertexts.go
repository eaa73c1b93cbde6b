package review

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// maxOtherTexts is how many texts an item keeps beside the memory's; earlier ones are in the history.
const maxOtherTexts = 4

// AddTexts adds to the change of a locked memory the item that asks which text it is to have. others are
// texts beside the one that it has after the change; the item keeps those that it asked about before. A text
// that was decided about is not asked about again.
func (e *Review) AddTexts(row *stm.Row, set map[string]json.RawMessage, others []memory.OtherText) {
	ids := []memory.ID{row.ID()}
	s := ReviewItems{E: e, Row: row, Items: row.ReviewItems(), Set: set}
	id := memory.ReviewItemID(op.ReviewText, ids)
	i := slices.IndexFunc(s.Items, func(item memory.ReviewItem) bool { return item.ID == id })
	item := memory.ReviewItem{Agent: op.ReviewText, Action: op.ChooseText, MemoryIDs: ids}
	switch {
	case i < 0:
	case s.Items[i].Status != memory.ItemClosed:
		item = s.Items[i]
	default:
		others = slices.DeleteFunc(slices.Clone(others), func(o memory.OtherText) bool {
			return slices.Contains(s.Items[i].Labels, textLabel(&o))
		})
	}
	before := len(item.Texts)
	for _, o := range others {
		if !slices.ContainsFunc(item.Texts, func(have memory.OtherText) bool { return have.Text == o.Text }) {
			item.Texts = append(item.Texts, o)
		}
	}
	if len(item.Texts) == before {
		return
	}
	item.Texts = item.Texts[max(0, len(item.Texts)-maxOtherTexts):]
	e.describeTexts(&item)
	s.put(item)
}

// describeTexts sets the fields of an item that say which texts it is about.
func (e *Review) describeTexts(item *memory.ReviewItem) {
	asked := *item
	item.Labels = nil
	for _, o := range item.Texts {
		item.Labels = append(item.Labels, textLabel(&o))
	}
	item.Evidence = "two edits changed the same part of the text; until you decide, the memory keeps one text, this " +
		"review item keeps the other, and searches match both texts"
	if err := e.CompleteItem(item); err != nil {
		e.Opt.Logger.Warn("review item about two texts of a memory incomplete", "memory", item.MemoryIDs[0], "error",
			err)
	}
	if !asked.CreatedAt.IsZero() {
		item.Status, item.CreatedAt, item.ClaimedBy, item.ClaimedAt = asked.Status, asked.CreatedAt, asked.ClaimedBy,
			asked.ClaimedAt
	}
}

func textLabel(o *memory.OtherText) string { return op.TextLabel + o.Digits() }

// textChoices returns the decisions about an item of several texts.
func textChoices(item *memory.ReviewItem, row *stm.Row) []string {
	out := []string{op.DecideKeep}
	if row.Stage().Cold() || row.Has("text_digest") {
		return out
	}
	for _, o := range item.Texts {
		out = append(out, op.DecideTake+o.Digits())
	}
	return append(out, op.DecideMerge)
}

// chooseText gives the memory the text that was decided for and closes the item, in one log line. That line
// says which texts it knew, so that no device asks about them again.
func (d *DecisionRun) chooseText(ctx context.Context) error {
	ctx = op.WithCaller(ctx, d.By)
	receipt, err := d.E.Stm.Update(ctx, d.Item.MemoryIDs[:1], "", func(rows []*stm.Row) (*stm.Tx, error) {
		texts := d.Item.Texts
		set, err := d.E.changedItem(rows[0], &d.Item, func(item *memory.ReviewItem) error {
			texts = item.Texts
			return d.shut(item)
		})
		if err != nil {
			return nil, err
		}
		text, err := chosenText(rows[0], texts, d.Decision)
		if err != nil {
			return nil, err
		}
		if err := d.E.setText(ctx, rows[0], text, set); err != nil {
			return nil, err
		}
		return &stm.Tx{Verb: core.CloseVerb, By: d.By,
			Changes: []stm.Change{{ID: rows[0].ID(), Set: set, Knows: stampsOf(texts), Allowed: true}}}, nil
	})
	if err != nil {
		return err
	}
	d.Entry, d.closed = receipt.Entry, true
	if d.Decision == op.DecideKeep {
		d.E.Lifecycle.Used(receipt.Rows[0], d.Item.ClosedAt)
	} else {
		d.E.Promote.FollowEdit(ctx, d.Item.MemoryIDs[0])
	}
	return nil
}

// chosenText returns the text that a decision is for.
func chosenText(row *stm.Row, texts []memory.OtherText, decision string) (string, error) {
	content := row.Content()
	switch digits, taken := strings.CutPrefix(decision, op.DecideTake); {
	case decision == op.DecideKeep:
		return content, nil
	case decision == op.DecideMerge:
		for _, o := range texts {
			content += "\n\n" + o.Text
		}
		return content, nil
	case taken:
		if i := slices.IndexFunc(texts, func(o memory.OtherText) bool { return o.Digits() == digits }); i >= 0 {
			return texts[i].Text, nil
		}
	}
	return "", memory.Errorf(memory.Invalid, "invalid decision %.40q; use keep, merge or take:DIGITS; "+
		"to see the digits of each text, run: emberd review show ID", decision).At("decision")
}

// setText adds to the change of a locked memory a text, which it may have already.
func (e *Review) setText(ctx context.Context, row *stm.Row, text string, set map[string]json.RawMessage) error {
	if text == row.Content() {
		set[core.ContentField] = row.Value(core.ContentField)
		return nil
	}
	fields, err := e.Memories.TextChange(ctx, row, text)
	maps.Copy(set, fields)
	return err
}

// stampsOf returns the stamps of the texts that the log has.
func stampsOf(texts []memory.OtherText) (at []stm.Stamp) {
	for _, o := range texts {
		if s, err := stm.ParseStamp(o.Rev); err == nil {
			at = append(at, s)
		}
	}
	return at
}

// withTexts returns the memories of an item with its texts as further ones, for a comparison.
func withTexts(members []memory.Memory, item *memory.ReviewItem) []memory.Memory {
	for _, o := range item.Texts {
		m := memory.Memory{ID: members[0].ID, Content: o.Text, CreatedAt: o.At}
		members = append(members, m)
	}
	return members
}
