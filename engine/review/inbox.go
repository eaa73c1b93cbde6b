package review

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"emberd/engine/listnotes"
	"emberd/internal/notegen"
	"emberd/internal/notegen/reviewnote"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	decidedShown = 7 * 24 * time.Hour // how long the review note shows a decision
	maxDecided   = 30                 // maximum number of shown decisions
	waitsShown   = time.Hour          // how long the review note may show what no longer waits
)

// InboxActor returns the actor of a ticked box.
func InboxActor() memory.Actor { return memory.Actor{Via: "note", Client: listnotes.InboxKind} }

// inboxPage returns the content of the review note, and when it changes without a new event,
// zero for never.
func (e *Review) inboxPage(ctx context.Context) (page *reviewnote.Page, until time.Time) {
	page = &reviewnote.Page{After: e.Opt.DecideAfter}
	var open []memory.ReviewItem
	var closed []memory.ReviewItem
	for item := range e.ReviewItems() {
		if hasStatus(&item, "") {
			open = append(open, item)
		} else if !item.ClosedAt.IsZero() {
			closed = append(closed, item)
		}
	}
	slices.SortFunc(open, ByUrgency)
	page.More = max(len(open)-reviewnote.Most, 0)
	for i := range open[:len(open)-page.More] {
		page.Open = append(page.Open, e.inboxItem(&open[i]))
	}
	page.Done, until = e.inboxDone(closed)
	for _, w := range e.Lists.Lists.Waits(ctx) {
		page.Waits = append(page.Waits, reviewnote.Wait{Text: w.Text, Command: w.Command})
	}
	if again := e.Opt.Now().Add(waitsShown); len(page.Waits) > 0 && (until.IsZero() || again.Before(until)) {
		until = again
	}
	return page, until
}

// UndecidedItems returns how many items are undecided, and how many of those are claimed.
func (e *Review) UndecidedItems() (n, claimed int) {
	for item := range e.ReviewItems() {
		if hasStatus(&item, "") {
			n++
		}
		if item.Status == memory.ItemClaimed {
			claimed++
		}
	}
	return n, claimed
}

// inboxItem returns an open item as the review note shows it.
func (e *Review) inboxItem(item *memory.ReviewItem) reviewnote.Item {
	out := reviewnote.Item{ID: item.ID, Seen: e.seenOf(item), Agent: item.Agent, Action: item.Action,
		Urgency:  item.Urgency,
		Claimed:  item.ClaimedBy,
		Evidence: shownText(item.Evidence), Created: item.CreatedAt}
	if decision, at := e.policyOn(item); decision != "" {
		out.Policy, out.Due = one(len(item.MemoryIDs), "the memory stays", "the memories stay"), at
	}
	if r := e.Lists.Lists.Had.Inbox.Remarks[item.ID]; r.Seen == out.Seen {
		out.Remark = r.Text
	}
	var members []memory.Memory
	secret := false
	for _, id := range item.MemoryIDs {
		row, live := e.Stm.Get(id)
		if !live {
			continue
		}
		m, err := row.Memory()
		if err != nil {
			continue // reported elsewhere
		}
		secret = secret || listnotes.Listable(m.Content) != ""
		members = append(members, m)
		out.Memories = append(out.Memories, inboxEntry(&m))
	}
	if item.Agent == op.ReviewText && len(members) > 0 {
		members = withTexts(members, item)
		for i := range members[1:] {
			secret = secret || listnotes.Listable(members[1+i].Content) != ""
			out.Memories = append(out.Memories, inboxEntry(&members[1+i]))
		}
	}
	if !secret {
		out.Diff = DiffOf(members)
	}
	out.Choices = inboxChoices(item, e.ChoicesOf(item), members)
	return out
}

func one(n int, single, several string) string {
	if n == 1 {
		return single
	}
	return several
}

// inboxEntry returns a memory as the review note shows it.
func inboxEntry(m *memory.Memory) notegen.Entry {
	entry := notegen.EntryOf(m)
	if m.PromotedTo != "" && m.NoteGone.IsZero() {
		entry.Note = m.PromotedTo
	}
	if why := listnotes.Listable(m.Content + "\n" + entry.Source); why != "" {
		entry.Text, entry.Source = "not shown: "+why, ""
	}
	return entry
}

func shownText(text string) string {
	if why := listnotes.Listable(text); why != "" {
		return "not shown: " + why
	}
	return text
}

// inboxChoices returns those of the possible decisions that the review note offers: first the
// proposed one, then keep, then those that delete. Of two similar memories it offers to delete
// the older one, of two that contradict each other either one, and of several all of them,
// because a box for each would be too many.
func inboxChoices(item *memory.ReviewItem, can []string, members []memory.Memory) []string {
	if item.Agent == op.ReviewText {
		return can
	}
	var out []string
	add := func(decision string) {
		if slices.Contains(can, decision) && !slices.Contains(out, decision) {
			out = append(out, decision)
		}
	}
	if item.Action == "merge" {
		add(op.DecideMerge)
	}
	if item.Action == "promote" {
		add(op.DecidePromote)
	}
	add(op.DecideKeep)
	for _, decision := range can {
		if strings.HasPrefix(decision, op.DecideSupersede) {
			add(decision)
		}
	}
	add(op.DecideMerge)
	if len(members) == 1 && item.Agent != op.ReviewNote { // a tick cannot confirm a note
		add(op.DecidePromote)
	}
	switch {
	case len(members) == 2 && item.Action == "merge":
		add(op.DecideForgetOne + string(olderOf(members).ID))
	case len(members) == 2:
		add(op.DecideForgetOne + string(members[0].ID))
		add(op.DecideForgetOne + string(members[1].ID))
	default:
		add(op.DecideForget)
	}
	return out
}

func olderOf(pair []memory.Memory) *memory.Memory {
	if pair[1].CreatedAt.Before(pair[0].CreatedAt) {
		return &pair[1]
	}
	return &pair[0]
}

// seenOf returns a digest of everything that a decision depends on: the item and the texts of
// its memories. A tick in a box with another digest is for an earlier state.
func (e *Review) seenOf(item *memory.ReviewItem) string {
	parts := []string{item.ID}
	for i, id := range item.MemoryIDs {
		row, live := e.Stm.Get(id)
		if !live {
			parts = append(parts, string(id), "gone")
			continue
		}
		if i == 0 {
			parts = append(parts, row.KeyRev(stm.ReviewKey(item.ID)))
		}
		parts = append(parts, string(id), row.Content(), string(row.SupersededBy()), strconv.FormatBool(row.Core()),
			strconv.FormatBool(row.Promoted()))
	}
	return reviewnote.Seen(parts...)
}

// inboxDone returns the recent decisions, latest first, and when the first of them is no
// longer shown.
func (e *Review) inboxDone(closed []memory.ReviewItem) (out []reviewnote.Done, until time.Time) {
	file, since := &e.Lists.Lists.Had.Inbox, e.Opt.Now().Add(-decidedShown)
	told := make(map[string]bool)
	for i := range file.Done {
		if d := &file.Done[i]; d.At.After(since) && d.Tx != "" {
			told[d.Item] = true
			out = append(out, e.doneLine(d))
		}
	}
	for i := range closed {
		if item := &closed[i]; item.ClosedAt.After(since) && !told[item.ID] {
			d := listnotes.DecidedItem{Item: item.ID, At: item.ClosedAt, Decision: item.Decision, Reason: item.Reason,
				IDs: item.MemoryIDs}
			if row, live := e.Stm.Get(item.MemoryIDs[0]); live {
				d.Tx = e.Stm.EntryOf(row, stm.ReviewKey(item.ID))
			}
			out = append(out, e.doneLine(&d))
		}
	}
	for _, m := range file.Missed {
		if m.At.After(since) {
			out = append(out,
				reviewnote.Done{At: m.At, What: "a checked box " +
					"had no effect", Reason: m.Why, Memories: e.entriesOf(m.IDs)})
		}
	}
	slices.SortStableFunc(out,
		func(a, b reviewnote.Done) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Tx, b.Tx)) })
	out = out[:min(maxDecided, len(out))]
	if len(out) > 0 {
		until = out[len(out)-1].At.Add(decidedShown)
	}
	return out, until
}

// doneLine returns a decision as the review note shows it.
func (e *Review) doneLine(d *listnotes.DecidedItem) reviewnote.Done {
	line := reviewnote.Done{At: d.At, Reason: shownText(d.Reason), Tx: d.Tx}
	ids := d.IDs
	old, supersedes := strings.CutPrefix(d.Decision, op.DecideSupersede)
	switch id, forgot := strings.CutPrefix(d.Decision, op.DecideForgetOne); {
	case forgot:
		line.What, ids = "forgotten", []memory.ID{memory.ID(id)}
	case supersedes:
		line.What, ids = "superseded", []memory.ID{memory.ID(old)}
	case d.Decision == op.DecidePromote:
		line.What = "promoted"
	case d.Decision == op.DecideMerge:
		line.What = "merged"
	case d.Decision == op.DecideForget:
		line.What = "forgotten"
	case strings.HasPrefix(d.Decision, op.DecideTake):
		line.What = "text replaced"
	case d.Decision == op.DecideKeep:
		line.What = "kept"
	default:
		line.What = "closed"
	}
	line.Memories = e.entriesOf(ids)
	return line
}

// entriesOf returns memories as the review note shows them, also from the trash. Purged ones
// are left out.
func (e *Review) entriesOf(ids []memory.ID) []notegen.Entry {
	var out []notegen.Entry
	for _, id := range ids {
		var m memory.Memory
		var err error
		if row, live := e.Stm.Get(id); live {
			m, err = row.Memory()
		} else {
			m, err = e.Stm.ReadTrashed(id)
		}
		if err == nil {
			out = append(out, inboxEntry(&m))
		}
	}
	return out
}
