package review

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"emberd/engine/core"
	"emberd/engine/listnotes"
	"emberd/internal/notegen/reviewnote"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
)

// maxSums is how many lines of the review note are known as written by emberd.
const maxSums = 5000

// tickRun applies the ticks in the review note.
type tickRun struct {
	e    *Review
	file *listnotes.InboxFile
	all  map[string][]memory.ReviewItem // by token, with closed items
	now  time.Time
}

// applyTicks applies the ticked decisions and records their results for the note. Ticks
// outside of emberd's region that match no item are the user's own. An error means that
// something must be tried again, with the note as it is.
func (e *Review) applyTicks(ctx context.Context, inside, outside []reviewnote.CheckedBox) error {
	if len(inside)+len(outside) == 0 {
		return nil
	}
	t := tickRun{e: e, file: &e.Lists.Lists.Had.Inbox, all: make(map[string][]memory.ReviewItem),
		now: core.StampTime(e.Opt.Now())}
	for item := range e.ReviewItems() {
		token := reviewnote.Token(item.ID)
		t.all[token] = append(t.all[token], item)
	}
	seen := make(map[string]bool)
	for i, tick := range append(slices.Clone(inside), outside...) {
		if seen[tick.Item] {
			continue
		}
		seen[tick.Item] = true
		same := func(other reviewnote.CheckedBox) bool { return other.Item != tick.Item }
		of := slices.DeleteFunc(append(slices.Clone(inside), outside...), same)
		if err := t.item(ctx, of, i < len(inside)); err != nil {
			return err
		}
	}
	return nil
}

// item handles the ticks of one item.
func (t *tickRun) item(ctx context.Context, ticks []reviewnote.CheckedBox, inside bool) error {
	items := t.all[ticks[0].Item]
	if len(items) == 0 {
		if !t.wasApplied(ticks[0].Item) && inside {
			t.missed(ticks[0].Item, "a memory of this review item no longer exists", nil)
		}
		return nil
	}
	item := &items[0]
	now := t.e.seenOf(item)
	current := slices.DeleteFunc(slices.Clone(ticks), func(tick reviewnote.CheckedBox) bool { return tick.Seen != now })
	switch {
	case t.deletionBegun(item) && halfForgotten(item):
		return t.carryOut(ctx, item, op.DecideForget, ticks[0].Words)
	case item.Status == memory.ItemClosed:
		if inside && !t.wasApplied(ticks[0].Item) && !(len(ticks) == 1 && ticks[0].Choice == item.Decision) {
			t.missed(ticks[0].Item,
				"the review item "+
					"was already decided: "+core.FirstNonEmpty(item.Reason, item.Decision, "closed"), item.MemoryIDs)
		}
	case len(items) > 1:
		t.remark(item, now, "Another review item has the same short ID, so the checked "+
			"box has no effect. Decide this item with emberd review close.")
	case len(current) == 0 && inside:
		t.remark(item, now, "The review item changed after emberd wrote this note, "+
			"so the checked box has no effect. Read the item again.")
	case len(current) > 1:
		t.remark(item, now, "Several boxes of this review item are checked, so emberd did nothing. Check only one box.")
	case len(current) == 1:
		return t.decide(ctx, item, current[0])
	}
	return nil
}

// decide applies a decision. If it can never be applied, the note gets a remark.
func (t *tickRun) decide(ctx context.Context, item *memory.ReviewItem, tick reviewnote.CheckedBox) error {
	shown := t.e.inboxItem(item)
	decision, offered := shown.Decision(tick.Choice)
	if !offered {
		t.remark(item, shown.Seen, "The checked action is no longer possible. Check another box.")
		return nil
	}
	return t.carryOut(ctx, item, decision, tick.Words)
}

// deletionBegun reports whether deleting the memories of an item was interrupted.
func (t *tickRun) deletionBegun(item *memory.ReviewItem) bool {
	return slices.ContainsFunc(t.file.Done, func(d listnotes.DecidedItem) bool {
		return d.Item == item.ID && d.Tx == "" && d.Decision == op.DecideForget
	})
}

func (t *tickRun) carryOut(ctx context.Context, item *memory.ReviewItem, decision, words string) error {
	d := listnotes.DecidedItem{Item: item.ID, At: t.now, Decision: decision, Reason: "box checked in this note",
		IDs: item.MemoryIDs}
	// otherwise they are only in the note
	if words != "" && t.e.refuseSecret(core.Passage{Field: "reason", Text: words}, false) == nil {
		d.Reason = text.First(d.Reason+": "+text.OneLine(words), op.MaxReason)
	}
	if err := t.begin(&d); err != nil {
		return err
	}
	_, tx, err := t.e.DecideItem(ctx, InboxActor(), item.ID, decision, d.Reason)
	switch {
	case err == nil:
		t.ended(item.ID, tx)
		t.e.Opt.Logger.Info("applied a decision from the review note", "item", item.ID, "entry", tx)
	case ctx.Err() != nil || isTemporary(err):
		return fmt.Errorf("cannot apply a decision from the review note: %w", err)
	default:
		t.file.Done = slices.DeleteFunc(t.file.Done, func(o listnotes.DecidedItem) bool { return o.Item == item.ID })
		t.remark(item, t.e.seenOf(item), "emberd did not apply the decision: "+err.Error())
	}
	return nil
}

// isTemporary reports whether another try may succeed after this error.
func isTemporary(err error) bool {
	switch memory.CodeOf(err) {
	case memory.Busy, memory.ReadOnly, memory.DiskFull, memory.Unknown, memory.Unavailable, memory.Internal:
		return true
	}
	return false
}

// begin records a decision before it is applied, so that after a crash its tick does not count
// as too late.
func (t *tickRun) begin(d *listnotes.DecidedItem) error {
	return t.e.Lists.Lists.Remember(func(f *listnotes.ListFile) bool {
		f.Inbox.Done = slices.DeleteFunc(f.Inbox.Done, func(o listnotes.DecidedItem) bool { return o.Item == d.Item })
		f.Inbox.Done = append(f.Inbox.Done, *d)
		return true
	})
}

func (t *tickRun) ended(id, tx string) {
	for i := range t.file.Done {
		if t.file.Done[i].Item == id {
			t.file.Done[i].Tx = tx
		}
	}
	delete(t.file.Remarks, id)
}

// wasApplied reports whether a tick of an item was applied, or may have been.
func (t *tickRun) wasApplied(token string) bool {
	return slices.ContainsFunc(t.file.Done,
		func(d listnotes.DecidedItem) bool { return reviewnote.Token(d.Item) == token })
}

func (t *tickRun) remark(item *memory.ReviewItem, seen, text string) {
	if t.file.Remarks == nil {
		t.file.Remarks = make(map[string]listnotes.InboxRemark)
	}
	t.file.Remarks[item.ID] = listnotes.InboxRemark{Seen: seen, Text: text}
}

func (t *tickRun) missed(token, why string, ids []memory.ID) {
	if !slices.ContainsFunc(t.file.Missed, func(m listnotes.MissedTick) bool { return m.Item == token }) {
		t.file.Missed = append(t.file.Missed, listnotes.MissedTick{At: t.now, Item: token, Why: why, IDs: ids})
	}
}

// tidyInbox drops what the review note no longer shows: old or undone decisions, and remarks
// about an earlier state of an item.
func (e *Review) tidyInbox(f *listnotes.InboxFile) {
	since := e.Opt.Now().Add(-decidedShown)
	open := make(map[string]string)
	for item := range e.ReviewItems() {
		if item.Status != memory.ItemClosed {
			open[item.ID] = e.seenOf(&item)
		}
	}
	f.Done = slices.DeleteFunc(f.Done,
		func(d listnotes.DecidedItem) bool { return !d.At.After(since) || open[d.Item] != "" })
	f.Missed = slices.DeleteFunc(f.Missed, func(m listnotes.MissedTick) bool { return !m.At.After(since) })
	maps.DeleteFunc(f.Remarks, func(id string, r listnotes.InboxRemark) bool { return open[id] != r.Seen })
}
