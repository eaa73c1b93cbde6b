package engine

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"emberd/internal/inbox"
	"emberd/internal/overview"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// inboxKind is the list in which decisions about memories are made.
const inboxKind = "inbox"

const (
	decidedShown = 7 * 24 * time.Hour // how long the inbox tells what was decided
	mostDecided  = 30                 // and of how many decisions
)

// inboxActor is who ticked a box in the note.
func inboxActor() memory.Actor { return memory.Actor{Via: "note", Client: inboxKind} }

// inboxPage is what the inbox is to say now, and when that changes by itself, zero for
// not.
func (e *Engine) inboxPage() (page *inbox.Page, until time.Time) {
	page = &inbox.Page{After: e.opt.DecideAfter}
	var open []memory.ReviewItem
	var closed []memory.ReviewItem
	for item := range e.reviewItems() {
		if item.Status != memory.ItemClosed {
			open = append(open, item)
		} else if !item.ClosedAt.IsZero() {
			closed = append(closed, item)
		}
	}
	slices.SortFunc(open, byUrgency)
	page.More = max(len(open)-inbox.Most, 0)
	for i := range open[:len(open)-page.More] {
		page.Open = append(page.Open, e.inboxItem(&open[i]))
	}
	page.Done, until = e.inboxDone(closed)
	return page, until
}

// openItems is how many items nobody has decided about.
func (e *Engine) openItems() (n int) {
	for item := range e.reviewItems() {
		if item.Status != memory.ItemClosed {
			n++
		}
	}
	return n
}

// inboxItem is what the inbox says of an open item.
func (e *Engine) inboxItem(item *memory.ReviewItem) inbox.Item {
	out := inbox.Item{ID: item.ID, Seen: e.seenOf(item), Agent: item.Agent, Action: item.Action, Urgency: item.Urgency, Claimed: item.ClaimedBy,
		Evidence: shownText(item.Evidence), Created: item.CreatedAt}
	if decision, at := e.policyOn(item); decision != "" {
		out.Policy, out.Due = one(len(item.MemoryIDs), "it stays as it is", "they stay as they are"), at
	}
	if r := e.lists.had.Inbox.Remarks[item.ID]; r.Seen == out.Seen {
		out.Remark = r.Text
	}
	var members []memory.Memory
	secret := false
	for _, id := range item.MemoryIDs {
		row, live := e.stm.Get(id)
		if !live {
			continue
		}
		m, err := row.Memory()
		if err != nil {
			continue // it is told elsewhere
		}
		secret = secret || listable(m.Content) != ""
		members = append(members, m)
		out.Memories = append(out.Memories, inboxEntry(&m))
	}
	if !secret {
		out.Diff = diffOf(members)
	}
	out.Choices = inboxChoices(item, e.choicesOf(item), members)
	return out
}

func one(n int, single, several string) string {
	if n == 1 {
		return single
	}
	return several
}

// inboxEntry is a memory as the inbox shows it.
func inboxEntry(m *memory.Memory) overview.Entry {
	entry := overview.EntryOf(m)
	if m.PromotedTo != "" && m.NoteGone.IsZero() {
		entry.Note = m.PromotedTo
	}
	if why := listable(m.Content + "\n" + entry.Source); why != "" {
		entry.Text, entry.Source = "not shown: "+why, ""
	}
	return entry
}

func shownText(text string) string {
	if why := listable(text); why != "" {
		return "not shown: " + why
	}
	return text
}

// inboxChoices are those of the decisions that can be carried out which an item offers:
// first what is proposed, then to keep, then what forgets. Of two that are alike it is
// the older one that may go, of two that contradict each other either; of several all,
// for one box each would be too many to choose from.
func inboxChoices(item *memory.ReviewItem, can []string, members []memory.Memory) []string {
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
	add(op.DecideMerge)
	if len(members) == 1 {
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

// seenOf stands for all that a decision about an item depends on: which filing of it, and
// what its memories say. A tick in a box that shows another one is for something else.
func (e *Engine) seenOf(item *memory.ReviewItem) string {
	parts := []string{item.ID}
	for i, id := range item.MemoryIDs {
		row, live := e.stm.Get(id)
		if !live {
			parts = append(parts, string(id), "gone")
			continue
		}
		if i == 0 {
			parts = append(parts, row.KeyRev(stm.ReviewKey(item.ID)))
		}
		parts = append(parts, string(id), row.Content(), string(row.SupersededBy()), strconv.FormatBool(row.Core()), strconv.FormatBool(row.Promoted()))
	}
	return inbox.Seen(parts...)
}

// inboxDone tells what was decided lately, the latest first, and when the first of it has
// been told for long enough.
func (e *Engine) inboxDone(closed []memory.ReviewItem) (out []inbox.Done, until time.Time) {
	file, since := &e.lists.had.Inbox, e.opt.Now().Add(-decidedShown)
	told := make(map[string]bool)
	for i := range file.Done {
		if d := &file.Done[i]; d.At.After(since) && d.Tx != "" {
			told[d.Item] = true
			out = append(out, e.doneLine(d))
		}
	}
	for i := range closed {
		if item := &closed[i]; item.ClosedAt.After(since) && !told[item.ID] {
			d := decidedItem{Item: item.ID, At: item.ClosedAt, Decision: item.Decision, Reason: item.Reason, IDs: item.MemoryIDs}
			if row, live := e.stm.Get(item.MemoryIDs[0]); live {
				d.Tx = e.stm.EntryOf(row, stm.ReviewKey(item.ID))
			}
			out = append(out, e.doneLine(&d))
		}
	}
	for _, m := range file.Missed {
		if m.At.After(since) {
			out = append(out, inbox.Done{At: m.At, What: "a tick did nothing", Reason: m.Why, Memories: e.entriesOf(m.IDs)})
		}
	}
	slices.SortStableFunc(out, func(a, b inbox.Done) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Tx, b.Tx)) })
	out = out[:min(mostDecided, len(out))]
	if len(out) > 0 {
		until = out[len(out)-1].At.Add(decidedShown)
	}
	return out, until
}

// doneLine is what the inbox says of a decision.
func (e *Engine) doneLine(d *decidedItem) inbox.Done {
	line := inbox.Done{At: d.At, Reason: shownText(d.Reason), Tx: d.Tx}
	ids := d.IDs
	switch id, forgot := strings.CutPrefix(d.Decision, op.DecideForgetOne); {
	case forgot:
		line.What, ids = "forgotten", []memory.ID{memory.ID(id)}
	case d.Decision == op.DecidePromote:
		line.What = "promoted"
	case d.Decision == op.DecideMerge:
		line.What = "merged"
	case d.Decision == op.DecideForget:
		line.What = "forgotten"
	case d.Decision == op.DecideKeep:
		line.What = "kept"
	default:
		line.What = "closed"
	}
	line.Memories = e.entriesOf(ids)
	return line
}

// entriesOf are memories as the inbox shows them, those in the trash too. What was purged
// is left out.
func (e *Engine) entriesOf(ids []memory.ID) []overview.Entry {
	var out []overview.Entry
	for _, id := range ids {
		var m memory.Memory
		var err error
		if row, live := e.stm.Get(id); live {
			m, err = row.Memory()
		} else {
			m, err = e.stm.Forgotten(id)
		}
		if err == nil {
			out = append(out, inboxEntry(&m))
		}
	}
	return out
}
