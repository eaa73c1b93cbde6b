package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"emberd/internal/similarity"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// The journal's words for what happens to review items.
const (
	fileVerb  = "file review"
	claimVerb = "claim review"
	closeVerb = "close review"
)

// Bounds of the review items that one memory is the first of.
const (
	mostItemsOpen   = 64
	mostItemsClosed = 20
)

// fileItems files review items in one journal entry, which goes on with entry unless that
// is "". Agent, Action and MemoryIDs have to be given, Urgency is medium unless it is; id,
// state, time and the two standard labels are filled in, and what is too long of evidence
// is cut off. These are left out: an item about a set of memories about which there is an
// open or claimed one of the same agent, or of another that proposes the same; one that was
// closed and of whose memories none was changed since, nor used if the agent is decay, unless
// a person asks again; and one of whose memories not all are there. Open items of an agent that a new one of it
// holds all memories of are closed, see [Engine.closeParts]. It returns the entry, entry itself
// if there is nothing new, and which items were filed.
func (e *Engine) fileItems(ctx context.Context, by memory.Actor, entry string, items []memory.ReviewItem) (string, []memory.ReviewItem, error) {
	byOwner := make(map[memory.ID][]memory.ReviewItem)
	for _, item := range items {
		if err := e.completeItem(&item); err != nil {
			return entry, nil, err
		}
		byOwner[item.MemoryIDs[0]] = append(byOwner[item.MemoryIDs[0]], item)
	}
	owners := make([]memory.ID, 0, len(byOwner))
	for id, items := range byOwner {
		owners = append(owners, id)
		for i := range items {
			e.owners.note(&items[i])
		}
	}
	slices.Sort(owners)
	f := filing{e: e, by: by, entry: entry, items: byOwner}
	for len(owners) > 0 {
		n, size := 0, 0
		for n < len(owners) && n < memory.MaxIDs && (n == 0 || size < chunkBytes) {
			for i := range byOwner[owners[n]] {
				size += len(stm.ReviewValue(&byOwner[owners[n]][i]))
			}
			n++
		}
		if err := f.some(ctx, owners[:n]); err != nil {
			return f.entry, f.filed, err
		}
		owners = owners[n:]
	}
	var err error
	f.entry, err = e.closeParts(ctx, by, f.entry, f.filed)
	return f.entry, f.filed, err
}

// completeItem checks a new item and fills in what follows from the rest.
func (e *Engine) completeItem(item *memory.ReviewItem) error {
	item.MemoryIDs = slices.Compact(slices.Sorted(slices.Values(item.MemoryIDs)))
	item.Urgency = cmp.Or(item.Urgency, op.UrgencyMedium)
	item.Evidence = similarity.Truncate(item.Evidence, op.MaxEvidence)
	if err := checkItem(item); err != nil {
		return err
	}
	item.ID = memory.ReviewItemID(item.Agent, item.MemoryIDs)
	item.Status, item.CreatedAt = memory.ItemOpen, stampTime(e.opt.Now())
	labels := append(standardLabels(item), item.Labels...)
	item.Labels = nil
	for _, label := range labels {
		if !slices.Contains(item.Labels, label) {
			item.Labels = append(item.Labels, label)
		}
	}
	return nil
}

// standardLabels are those that every item has, besides its own.
func standardLabels(item *memory.ReviewItem) []string {
	return []string{"consolidation:" + item.Agent, "urgency:" + item.Urgency}
}

// checkItem refuses an item with a field out of bounds.
func checkItem(item *memory.ReviewItem) error {
	switch {
	case len(item.MemoryIDs) == 0:
		return memory.Errorf(memory.Invalid, "the review item is about no memory; give at least one id").At("memory_ids")
	case len(item.MemoryIDs) > memory.MaxIDs:
		return memory.Errorf(memory.TooLarge, "the review item is about %d memories, more than %d; file several", len(item.MemoryIDs), memory.MaxIDs).At("memory_ids")
	case !slices.Contains(op.ReviewAgents(), item.Agent):
		return memory.Errorf(memory.Invalid, "agent is %.40q; use one of %s", item.Agent, strings.Join(op.ReviewAgents(), ", ")).At("agent")
	case item.Action == "":
		return memory.Errorf(memory.Invalid, "action is missing; say what is proposed, such as needs_review").At("action")
	case !slices.Contains([]string{op.UrgencyHigh, op.UrgencyMedium, op.UrgencyLow}, item.Urgency):
		return memory.Errorf(memory.Invalid, "urgency is %.20q; use high, medium or low", item.Urgency).At("urgency")
	case len(item.Labels) > op.MaxLabels+len(standardLabels(item)):
		return memory.Errorf(memory.TooLarge, "the review item has %d labels, more than %d; leave some out", len(item.Labels), op.MaxLabels).At("labels")
	}
	for _, label := range item.Labels {
		if strings.TrimSpace(label) == "" {
			return memory.Errorf(memory.Invalid, "a label is empty; leave it out").At("labels")
		}
		if err := memory.CheckText("labels", label, memory.MaxName); err != nil {
			return err
		}
	}
	return firstError(memory.CheckText("action", item.Action, memory.MaxName), memory.CheckText("evidence", item.Evidence, op.MaxEvidence+len("...")))
}

// filing files items under one journal entry.
type filing struct {
	e     *Engine
	by    memory.Actor
	entry string
	items map[memory.ID][]memory.ReviewItem // by the first of their memories
	filed []memory.ReviewItem
}

func (f *filing) some(ctx context.Context, owners []memory.ID) error {
	var filed []memory.ReviewItem
	receipt, err := f.e.stm.Update(ctx, owners, "", func(rows []*stm.Row) (*stm.Tx, error) {
		tx := &stm.Tx{Verb: fileVerb, By: f.by, Entry: f.entry}
		for i, row := range rows {
			if row == nil {
				continue
			}
			s := itemShelf{e: f.e, row: row, items: row.ReviewItems(), set: make(map[string]json.RawMessage)}
			for _, item := range f.items[owners[i]] {
				if s.add(item) {
					filed = append(filed, item)
				}
			}
			if len(s.set) > 0 {
				tx.Changes = append(tx.Changes, stm.Change{ID: owners[i], Set: s.set})
			}
		}
		return tx, nil
	})
	if err != nil {
		return err
	}
	if receipt.Entry != "" {
		f.entry = receipt.Entry
	}
	f.filed = append(f.filed, filed...)
	return nil
}

// itemShelf is the items of one locked memory, and what is written to it.
type itemShelf struct {
	e     *Engine
	row   *stm.Row
	items []memory.ReviewItem
	set   map[string]json.RawMessage
}

// add files an item unless there is reason not to.
func (s *itemShelf) add(item memory.ReviewItem) bool {
	if s.e.itemGone(&item) != "" {
		return false
	}
	open := 0
	for _, there := range s.items {
		isOpen := s.e.asItIs(there).Status != memory.ItemClosed
		if isOpen {
			open++
		}
		sameSet := slices.Equal(there.MemoryIDs, item.MemoryIDs)
		if isOpen && sameSet && (there.Agent == item.Agent || there.Action == item.Action) ||
			!isOpen && there.ID == item.ID && item.Agent != op.ReviewUser && !s.e.changedSince(&there) {
			return false
		}
	}
	if open >= mostItemsOpen {
		return false
	}
	s.put(item)
	return true
}

// put stores an item in place of what it was, and drops the oldest closed ones of too many.
func (s *itemShelf) put(item memory.ReviewItem) {
	s.items = slices.DeleteFunc(s.items, func(i memory.ReviewItem) bool { return i.ID == item.ID })
	s.items = append(s.items, item)
	s.set[stm.ReviewKey(item.ID)] = stm.ReviewValue(&item)
	closed := slices.DeleteFunc(slices.Clone(s.items), func(i memory.ReviewItem) bool { return i.Status != memory.ItemClosed })
	slices.SortFunc(closed, func(a, b memory.ReviewItem) int {
		return cmp.Or(b.ClosedAt.Compare(a.ClosedAt), cmp.Compare(a.ID, b.ID))
	})
	for _, old := range closed[min(len(closed), mostItemsClosed):] {
		s.set[stm.ReviewKey(old.ID)] = json.RawMessage("null")
		s.items = slices.DeleteFunc(s.items, func(i memory.ReviewItem) bool { return i.ID == old.ID })
	}
}

// changedSince reports whether a memory of a closed item was changed after that, or used if
// it had been about to fade.
func (e *Engine) changedSince(item *memory.ReviewItem) bool {
	return slices.ContainsFunc(item.MemoryIDs, func(id memory.ID) bool {
		row, ok := e.stm.Get(id)
		return ok && (row.UpdatedAt().After(item.ClosedAt) || item.Agent == op.ReviewDecay && row.LastUsed().After(item.ClosedAt))
	})
}

// itemGone is why an item cannot be decided any more, "" if it can be.
func (e *Engine) itemGone(item *memory.ReviewItem) string {
	for _, id := range item.MemoryIDs {
		switch row, ok := e.stm.Get(id); {
		case !ok && e.stm.Trashed(id):
			return "memory " + id.Short() + " is in the trash"
		case !ok:
			return "memory " + id.Short() + " is not there any more"
		case row.Has("consolidated_into"):
			return "memory " + id.Short() + " was merged with others"
		case item.Agent == op.ReviewDecay && row.Stage().Cold():
			return "memory " + id.Short() + " was archived, with its text in a note"
		}
	}
	return ""
}

// asItIs closes an item whose memories are not all there, as long as that is so: nothing is
// written, so that it is open again when they come back.
func (e *Engine) asItIs(item memory.ReviewItem) memory.ReviewItem {
	if item.Status == memory.ItemClosed {
		return item
	}
	if why := e.itemGone(&item); why != "" {
		item.Status, item.Reason = memory.ItemClosed, why
	}
	return item
}

// reviewItems yields the items of live memories as they are, in no order. One whose
// memories are not all there any more is closed, without a time, and says why.
func (e *Engine) reviewItems() iter.Seq[memory.ReviewItem] {
	return func(yield func(memory.ReviewItem) bool) {
		for item := range e.stm.ReviewItems() {
			if !yield(e.asItIs(item)) {
				return
			}
		}
	}
}

// itemOwners remembers of which memory an item is a key, so that not every memory is looked
// at for each item that is claimed or closed. What it says is tried, and may be old. It may
// be used by any number of goroutines.
type itemOwners struct {
	mu sync.Mutex
	of map[string]memory.ID
}

const mostOwners = 100_000

func (o *itemOwners) note(item *memory.ReviewItem) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil || len(o.of) >= mostOwners {
		o.of = make(map[string]memory.ID)
	}
	o.of[item.ID] = item.MemoryIDs[0]
}

// known looks where an item with a whole id was met.
func (e *Engine) known(id string) (memory.ReviewItem, bool) {
	e.owners.mu.Lock()
	owner := e.owners.of[id]
	e.owners.mu.Unlock()
	if row, live := e.stm.Get(owner); live {
		for _, item := range row.ReviewItems() {
			if item.ID == id {
				return e.asItIs(item), true
			}
		}
	}
	return memory.ReviewItem{}, false
}

// findItem finds an item by its id, or by at least four digits of its beginning.
func (e *Engine) findItem(short string) (memory.ReviewItem, error) {
	digits := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(short)), "rev-")
	if len(digits) < 4 || len(digits) > 32 || strings.Trim(digits, "0123456789abcdef") != "" {
		return memory.ReviewItem{}, memory.Errorf(memory.Invalid, "%.40q is not the id of a review item; give rev- and at least the first four digits after it", short).At("id")
	}
	if item, found := e.known("rev-" + digits); found {
		return item, nil
	}
	var fit []memory.ReviewItem
	for item := range e.reviewItems() {
		e.owners.note(&item)
		if strings.HasPrefix(item.ID, "rev-"+digits) {
			fit = append(fit, item)
		}
	}
	switch len(fit) {
	case 0:
		return memory.ReviewItem{}, memory.Errorf(memory.NotFound, "there is no review item rev-%s; emberd review list shows those there are", digits).At("id")
	case 1:
		return fit[0], nil
	}
	return memory.ReviewItem{}, memory.Errorf(memory.Ambiguous, "several review items begin with rev-%s (%s, %s); give more digits", digits, fit[0].ID, fit[1].ID).At("id")
}

// claimItem claims an open item for somebody, and returns it with the journal entry. One
// that is theirs already stays as it is. One that somebody else has, or that is closed, is
// an error of code Conflict.
func (e *Engine) claimItem(ctx context.Context, by memory.Actor, entry, id, who string) (memory.ReviewItem, string, error) {
	if err := memory.CheckText("by", who, memory.MaxName); err != nil {
		return memory.ReviewItem{}, "", err
	}
	return e.changeItem(ctx, by, claimVerb, entry, id, func(item *memory.ReviewItem) error {
		if err := e.decidable(item); err != nil {
			return err
		}
		if item.Status == memory.ItemClaimed && item.ClaimedBy != who {
			return alreadyClaimed(item)
		}
		if item.Status == memory.ItemOpen {
			item.Status, item.ClaimedBy, item.ClaimedAt = memory.ItemClaimed, who, stampTime(e.opt.Now())
		}
		return nil
	})
}

// closeItem closes an item without doing anything else, whoever has claimed it and whether
// or not its memories are there, and returns it with the journal entry. One that was closed
// before is an error of code Conflict.
func (e *Engine) closeItem(ctx context.Context, by memory.Actor, entry, id, decision, reason string) (memory.ReviewItem, string, error) {
	if err := memory.CheckText("reason", reason, op.MaxReason); err != nil {
		return memory.ReviewItem{}, "", err
	}
	return e.changeItem(ctx, by, closeVerb, entry, id, func(item *memory.ReviewItem) error {
		e.closeNow(item, decision, reason)
		return nil
	})
}

// closeAsListed closes an item unless somebody has claimed or closed it since it was listed, or
// it went. It returns the journal entry: the one given, if nothing was closed.
func (e *Engine) closeAsListed(ctx context.Context, by memory.Actor, entry string, was memory.ReviewItem, decision, reason string) (string, error) {
	_, next, err := e.changeFound(ctx, by, closeVerb, entry, was, func(item *memory.ReviewItem) error {
		if item.Status != was.Status || item.ClaimedBy != was.ClaimedBy {
			return alreadyClaimed(item)
		}
		e.closeNow(item, decision, reason)
		return nil
	})
	switch memory.CodeOf(err) {
	case memory.Conflict, memory.NotFound:
		return entry, nil
	}
	return next, err
}

// closeNow makes an item a closed one.
func (e *Engine) closeNow(item *memory.ReviewItem, decision, reason string) {
	item.Status, item.ClosedAt = memory.ItemClosed, stampTime(e.opt.Now())
	item.Decision, item.Reason = decision, reason
}

// changeItem changes an item that is not closed, with its memory locked.
func (e *Engine) changeItem(ctx context.Context, by memory.Actor, verb, entry, id string, change func(*memory.ReviewItem) error) (memory.ReviewItem, string, error) {
	item, err := e.findItem(id)
	if err != nil {
		return item, "", err
	}
	return e.changeFound(ctx, by, verb, entry, item, change)
}

func (e *Engine) changeFound(ctx context.Context, by memory.Actor, verb, entry string, item memory.ReviewItem, change func(*memory.ReviewItem) error) (memory.ReviewItem, string, error) {
	receipt, err := e.stm.Update(ctx, item.MemoryIDs[:1], "", func(rows []*stm.Row) (*stm.Tx, error) {
		set, err := e.changedItem(rows[0], &item, change)
		if err != nil || len(set) == 0 {
			return nil, err
		}
		return &stm.Tx{Verb: verb, By: by, Entry: entry, Changes: []stm.Change{{ID: item.MemoryIDs[0], Set: set}}}, nil
	})
	return item, cmp.Or(receipt.Entry, entry), err
}

// changedItem is what a change of an item writes to its locked memory. It reads the item
// anew.
func (e *Engine) changedItem(row *stm.Row, item *memory.ReviewItem, change func(*memory.ReviewItem) error) (map[string]json.RawMessage, error) {
	gone := memory.Errorf(memory.Conflict, "the review item %s went just now; list them again with emberd review list", item.ID).At("id")
	if row == nil {
		return nil, gone
	}
	s := itemShelf{e: e, row: row, items: row.ReviewItems(), set: make(map[string]json.RawMessage)}
	i := slices.IndexFunc(s.items, func(i memory.ReviewItem) bool { return i.ID == item.ID })
	if i < 0 {
		return nil, gone
	}
	before := s.items[i]
	if *item = before; item.Status == memory.ItemClosed {
		return nil, alreadyClosed(item)
	}
	if err := change(item); err != nil {
		return nil, err
	}
	if string(stm.ReviewValue(item)) != string(stm.ReviewValue(&before)) {
		s.put(*item)
	}
	return s.set, nil
}

// decidable refuses an item that is closed, or whose memories are not all there.
func (e *Engine) decidable(item *memory.ReviewItem) error {
	if is := e.asItIs(*item); is.Status == memory.ItemClosed {
		return alreadyClosed(&is)
	}
	return nil
}

func alreadyClaimed(item *memory.ReviewItem) error {
	err := memory.Errorf(memory.Conflict, "%s has claimed the review item %s at %s; leave it to them, or close it", item.ClaimedBy, item.ID, item.ClaimedAt.Format(time.DateTime)).At("id")
	err.Current = item.ClaimedBy
	return err
}

func alreadyClosed(item *memory.ReviewItem) error {
	why := cmp.Or(item.Reason, item.Decision, "without a reason")
	err := memory.Errorf(memory.Conflict, "the review item %s is closed already: %s; emberd review list shows those that are open", item.ID, why).At("id")
	err.Current = memory.ItemClosed
	return err
}
