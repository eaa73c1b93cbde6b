package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"emberd/internal/inbox"
	"emberd/memory"
	"emberd/op"
)

// mostSums bounds how many lines of the inbox are known as emberd's.
const mostSums = 5000

// inboxFile is what the state folder remembers of the inbox.
type inboxFile struct {
	// Sums are those of the lines that emberd wrote, the latest first.
	Sums []string `json:"sums,omitempty"`
	// Done are the decisions that were ticked. One without Tx was begun, and the daemon
	// ended before it knew how that ended.
	Done []decidedItem `json:"done,omitempty"`
	// Remarks are why a tick of an open item did nothing, by its id.
	Remarks map[string]inboxRemark `json:"remarks,omitempty"`
	Missed  []missedTick           `json:"missed,omitempty"`
}

// decidedItem is a decision about an item.
type decidedItem struct {
	Item     string      `json:"item"`
	At       time.Time   `json:"at"`
	Decision string      `json:"decision"`
	Reason   string      `json:"reason,omitempty"`
	Tx       string      `json:"tx,omitempty"`
	IDs      []memory.ID `json:"ids"`
}

// inboxRemark is of an item as it was seen then.
type inboxRemark struct {
	Seen string `json:"seen"`
	Text string `json:"text"`
}

// missedTick is a tick that came when there was nothing to decide any more.
type missedTick struct {
	At   time.Time   `json:"at"`
	Item string      `json:"item"` // its token
	Why  string      `json:"why"`
	IDs  []memory.ID `json:"ids,omitempty"`
}

// ticking carries out what is ticked in the inbox.
type ticking struct {
	e    *Engine
	file *inboxFile
	all  map[string][]memory.ReviewItem // by token, those that are closed too
	now  time.Time
}

// carryOutTicks does what the boxes say, and keeps what the note is to tell of it. Of those
// outside of emberd's region the ones that mean nothing are a human's own affair. An
// error says that something is to be tried again, with the note as it is.
func (e *Engine) carryOutTicks(ctx context.Context, inside, outside []inbox.Tick) error {
	if len(inside)+len(outside) == 0 {
		return nil
	}
	t := ticking{e: e, file: &e.lists.had.Inbox, all: make(map[string][]memory.ReviewItem), now: stampTime(e.opt.Now())}
	for item := range e.reviewItems() {
		token := inbox.Token(item.ID)
		t.all[token] = append(t.all[token], item)
	}
	seen := make(map[string]bool)
	for i, tick := range append(slices.Clone(inside), outside...) {
		if seen[tick.Item] {
			continue
		}
		seen[tick.Item] = true
		same := func(other inbox.Tick) bool { return other.Item != tick.Item }
		of := slices.DeleteFunc(append(slices.Clone(inside), outside...), same)
		if err := t.item(ctx, of, i < len(inside)); err != nil {
			return err
		}
	}
	return nil
}

// item judges the ticks of one item.
func (t *ticking) item(ctx context.Context, ticks []inbox.Tick, inside bool) error {
	items := t.all[ticks[0].Item]
	if len(items) == 0 {
		if !t.did(ticks[0].Item) && inside {
			t.missed(ticks[0].Item, "what it was about is not there any more", nil)
		}
		return nil
	}
	item := &items[0]
	now := t.e.seenOf(item)
	current := slices.DeleteFunc(slices.Clone(ticks), func(tick inbox.Tick) bool { return tick.Seen != now })
	switch {
	case t.begun(item) && halfForgotten(item):
		return t.carryOut(ctx, item, op.DecideForget, ticks[0].Words)
	case item.Status == memory.ItemClosed:
		if inside && !t.did(ticks[0].Item) && !(len(ticks) == 1 && ticks[0].Choice == item.Decision) {
			t.missed(ticks[0].Item, "it had been decided before: "+firstNonEmpty(item.Reason, item.Decision, "closed"), item.MemoryIDs)
		}
	case len(items) > 1:
		t.remark(item, now, "Another item cannot be told from this one; decide it with emberd review close.")
	case len(current) == 0 && inside:
		t.remark(item, now, "A box was ticked that showed this as it was before: it was changed since, so nothing was done. Look at it again.")
	case len(current) > 1:
		t.remark(item, now, "Several boxes were ticked, so nothing was done. Tick one.")
	case len(current) == 1:
		return t.decide(ctx, item, current[0])
	}
	return nil
}

// decide carries out a decision. What will not do another time either is told in the note.
func (t *ticking) decide(ctx context.Context, item *memory.ReviewItem, tick inbox.Tick) error {
	shown := t.e.inboxItem(item)
	decision, offered := shown.Decision(tick.Choice)
	if !offered {
		t.remark(item, shown.Seen, "What was ticked cannot be done any more. Tick another box.")
		return nil
	}
	return t.carryOut(ctx, item, decision, tick.Words)
}

// begun reports that to forget an item was begun, and broken off before it was known to have
// ended.
func (t *ticking) begun(item *memory.ReviewItem) bool {
	return slices.ContainsFunc(t.file.Done, func(d decidedItem) bool {
		return d.Item == item.ID && d.Tx == "" && d.Decision == op.DecideForget
	})
}

func (t *ticking) carryOut(ctx context.Context, item *memory.ReviewItem, decision, words string) error {
	d := decidedItem{Item: item.ID, At: t.now, Decision: decision, Reason: "ticked in this note", IDs: item.MemoryIDs}
	if words != "" && t.e.refuseSecret(passage{field: "reason", text: words}, false) == nil { // else they are in the note alone
		d.Reason = clipped(d.Reason+": "+printable(words), op.MaxReason)
	}
	if err := t.begin(&d); err != nil {
		return err
	}
	_, tx, err := t.e.decideItem(ctx, inboxActor(), item.ID, decision, d.Reason)
	switch {
	case err == nil:
		t.ended(item.ID, tx)
		t.e.opt.Logger.Info("what was ticked in the inbox was done", "item", item.ID, "entry", tx)
	case ctx.Err() != nil || passing(err):
		return fmt.Errorf("do what was ticked in the inbox: %w", err)
	default:
		t.file.Done = slices.DeleteFunc(t.file.Done, func(o decidedItem) bool { return o.Item == item.ID })
		t.remark(item, t.e.seenOf(item), "It was not done: "+err.Error())
	}
	return nil
}

// clipped is at most so many characters of a text.
func clipped(text string, most int) string {
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most])
	}
	return text
}

// printable leaves out what a reason cannot hold.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
}

// passing reports an error that another try may not meet.
func passing(err error) bool {
	switch memory.CodeOf(err) {
	case memory.Busy, memory.ReadOnly, memory.DiskFull, memory.Unknown, memory.Unavailable, memory.Internal:
		return true
	}
	return false
}

// begin remembers a decision before it is carried out, so that a crash behind it is no
// tick that came too late.
func (t *ticking) begin(d *decidedItem) error {
	return t.e.lists.remember(func(f *listFile) bool {
		f.Inbox.Done = slices.DeleteFunc(f.Inbox.Done, func(o decidedItem) bool { return o.Item == d.Item })
		f.Inbox.Done = append(f.Inbox.Done, *d)
		return true
	})
}

func (t *ticking) ended(id, tx string) {
	for i := range t.file.Done {
		if t.file.Done[i].Item == id {
			t.file.Done[i].Tx = tx
		}
	}
	delete(t.file.Remarks, id)
}

// did reports whether a tick of an item was carried out, or may have been.
func (t *ticking) did(token string) bool {
	return slices.ContainsFunc(t.file.Done, func(d decidedItem) bool { return inbox.Token(d.Item) == token })
}

func (t *ticking) remark(item *memory.ReviewItem, seen, text string) {
	if t.file.Remarks == nil {
		t.file.Remarks = make(map[string]inboxRemark)
	}
	t.file.Remarks[item.ID] = inboxRemark{Seen: seen, Text: text}
}

func (t *ticking) missed(token, why string, ids []memory.ID) {
	if !slices.ContainsFunc(t.file.Missed, func(m missedTick) bool { return m.Item == token }) {
		t.file.Missed = append(t.file.Missed, missedTick{At: t.now, Item: token, Why: why, IDs: ids})
	}
}

// tidyInbox drops what the inbox has not to tell any more: what was decided long ago or
// taken back, and remarks about items as they were.
func (e *Engine) tidyInbox(f *inboxFile) {
	since := e.opt.Now().Add(-decidedShown)
	open := make(map[string]string)
	for item := range e.reviewItems() {
		if item.Status != memory.ItemClosed {
			open[item.ID] = e.seenOf(&item)
		}
	}
	f.Done = slices.DeleteFunc(f.Done, func(d decidedItem) bool { return !d.At.After(since) || open[d.Item] != "" })
	f.Missed = slices.DeleteFunc(f.Missed, func(m missedTick) bool { return !m.At.After(since) })
	maps.DeleteFunc(f.Remarks, func(id string, r inboxRemark) bool { return open[id] != r.Seen })
}
