package review

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"emberd/engine/core"
	"emberd/internal/dedupe/similarity"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// FileItems creates review items as part of the change entry, or of a new one for "". Agent,
// Action and MemoryIDs must be set. Urgency defaults to medium; FileItems sets ID, status,
// time and the two standard labels, and truncates long evidence.
//
// It leaves out three kinds of items. The first is an item about memories with an open or
// claimed item of the same agent, or of another agent with the same action. The second is an
// item that was closed before and whose memories did not change since (nor were used, for the
// decay agent), unless the user creates it. The third is an item with a memory that does not
// exist. It closes open items of the same agent whose memories are all in a new item, see
// [Review.closeParts]. It returns the change, which is entry if no item is new, and the
// created items.
func (e *Review) FileItems(ctx context.Context, by memory.Actor, entry string,
	items []memory.ReviewItem) (string, []memory.ReviewItem, error) {
	byOwner := make(map[memory.ID][]memory.ReviewItem)
	for _, item := range items {
		if err := e.CompleteItem(&item); err != nil {
			return entry, nil, err
		}
		if item.Decision != "" {
			e.CloseNow(&item, item.Decision, item.Reason)
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
	f := filingRun{e: e, by: by, entry: entry, items: byOwner}
	for len(owners) > 0 {
		n, size := 0, 0
		for n < len(owners) && n < memory.MaxIDs && (n == 0 || size < core.ChunkBytes) {
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

// CompleteItem checks a new item and sets the derived fields.
func (e *Review) CompleteItem(item *memory.ReviewItem) error {
	item.MemoryIDs = slices.Compact(slices.Sorted(slices.Values(item.MemoryIDs)))
	item.Urgency = cmp.Or(item.Urgency, op.UrgencyMedium)
	item.Evidence = similarity.Truncate(item.Evidence, op.MaxEvidence)
	if err := core.CheckItem(item); err != nil {
		return err
	}
	item.ID = memory.ReviewItemID(item.Agent, item.MemoryIDs)
	item.Status, item.CreatedAt = memory.ItemOpen, core.StampTime(e.Opt.Now())
	labels := append(core.StandardLabels(item), item.Labels...)
	item.Labels = nil
	for _, label := range labels {
		if !slices.Contains(item.Labels, label) {
			item.Labels = append(item.Labels, label)
		}
	}
	return nil
}

// filingRun creates items as one change.
type filingRun struct {
	e     *Review
	by    memory.Actor
	entry string
	items map[memory.ID][]memory.ReviewItem // by their first memory
	filed []memory.ReviewItem
}

func (f *filingRun) some(ctx context.Context, owners []memory.ID) error {
	var filed []memory.ReviewItem
	receipt, err := f.e.Stm.Update(ctx, owners, "", func(rows []*stm.Row) (*stm.Tx, error) {
		tx := &stm.Tx{Verb: core.FileVerb, By: f.by, Entry: f.entry}
		for i, row := range rows {
			if row == nil {
				continue
			}
			s := ReviewItems{E: f.e, Row: row, Items: row.ReviewItems(), Set: make(map[string]json.RawMessage)}
			for _, item := range f.items[owners[i]] {
				if s.Add(item) {
					filed = append(filed, item)
				}
			}
			if len(s.Set) > 0 {
				tx.Changes = append(tx.Changes, stm.Change{ID: owners[i], Set: s.Set})
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

// ReviewItems is the items of one locked memory, and the fields to write to it.
type ReviewItems struct {
	E     *Review
	Row   *stm.Row
	Items []memory.ReviewItem
	Set   map[string]json.RawMessage
}

// Add adds an item, or returns false if it must not be created.
func (s *ReviewItems) Add(item memory.ReviewItem) bool {
	if s.E.goneReason(&item) != "" {
		return false
	}
	open := 0
	for _, there := range s.Items {
		isOpen := s.E.currentItem(there).Status != memory.ItemClosed
		if isOpen {
			open++
		}
		sameSet := slices.Equal(there.MemoryIDs, item.MemoryIDs)
		if isOpen && sameSet && (there.Agent == item.Agent || there.Action == item.Action) ||
			!isOpen && there.ID == item.ID && item.Agent != op.ReviewUser && !s.E.ChangedSince(&there) {
			return false
		}
	}
	if open >= core.MaxItemsOpen {
		return false
	}
	s.put(item)
	return true
}

// put stores an item, replacing its earlier state, and drops the oldest of too many closed
// items.
func (s *ReviewItems) put(item memory.ReviewItem) {
	s.Items = slices.DeleteFunc(s.Items, func(i memory.ReviewItem) bool { return i.ID == item.ID })
	s.Items = append(s.Items, item)
	s.Set[stm.ReviewKey(item.ID)] = stm.ReviewValue(&item)
	closed := slices.DeleteFunc(slices.Clone(s.Items),
		func(i memory.ReviewItem) bool { return i.Status != memory.ItemClosed })
	slices.SortFunc(closed, func(a, b memory.ReviewItem) int {
		return cmp.Or(b.ClosedAt.Compare(a.ClosedAt), cmp.Compare(a.ID, b.ID))
	})
	for _, old := range closed[min(len(closed), core.MaxItemsClosed):] {
		s.Set[stm.ReviewKey(old.ID)] = json.RawMessage("null")
		s.Items = slices.DeleteFunc(s.Items, func(i memory.ReviewItem) bool { return i.ID == old.ID })
	}
}

// ChangedSince reports whether a memory of a closed item has changed since. For the decay
// agent a use counts too.
func (e *Review) ChangedSince(item *memory.ReviewItem) bool {
	return slices.ContainsFunc(item.MemoryIDs, func(id memory.ID) bool {
		row, ok := e.Stm.Get(id)
		return ok && (row.UpdatedAt().After(item.ClosedAt) || item.Agent == op.ReviewDecay &&
			row.LastUsed().After(item.ClosedAt))
	})
}

// goneReason returns why an item can no longer be decided, "" if it can.
func (e *Review) goneReason(item *memory.ReviewItem) string {
	for _, id := range item.MemoryIDs {
		switch row, ok := e.Stm.Get(id); {
		case !ok && e.Stm.Trashed(id):
			return "memory " + id.Short() + " is in the trash"
		case !ok:
			return "memory " + id.Short() + " no longer exists"
		case row.Has("consolidated_into"):
			return "emberd merged memory " + id.Short() + " with other memories"
		case item.Agent == op.ReviewDecay && row.Stage().Cold():
			return "memory " + id.Short() + " was archived, and its text is in a note"
		case (item.Agent == op.ReviewCluster || item.Agent == op.ReviewDecay) && e.Superseded(row):
			return "memory " + id.Short() + " was superseded by another memory"
		default:
			if why := e.claimOverReason(item, row); why != "" {
				return why
			}
		}
	}
	return ""
}

// currentItem returns an item as closed while one of its memories does not exist. Nothing is
// written, so that it is open again when the memory returns.
func (e *Review) currentItem(item memory.ReviewItem) memory.ReviewItem {
	if item.Status == memory.ItemClosed {
		return item
	}
	if why := e.goneReason(&item); why != "" {
		item.Status, item.Reason = memory.ItemClosed, why
	}
	return item
}

// ReviewItems yields the items of live memories in their current state, in no order. An item
// with a missing memory is closed, without a time, and has the reason.
func (e *Review) ReviewItems() iter.Seq[memory.ReviewItem] {
	return func(yield func(memory.ReviewItem) bool) {
		for item := range e.stored() {
			if !yield(e.currentItem(item)) {
				return
			}
		}
	}
}

// ItemOwners caches which memory has an item as a field, so that claiming and closing items
// does not scan all memories. An entry may be out of date; callers check it. Any number of
// goroutines may use it.
type ItemOwners struct {
	mu sync.Mutex
	of map[string]memory.ID
}

const maxOwners = 100_000

func (o *ItemOwners) note(item *memory.ReviewItem) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil || len(o.of) >= maxOwners {
		o.of = make(map[string]memory.ID)
	}
	o.of[item.ID] = item.MemoryIDs[0]
}

// known looks up an item by its whole ID in the cache.
func (e *Review) known(id string) (memory.ReviewItem, bool) {
	e.owners.mu.Lock()
	owner := e.owners.of[id]
	e.owners.mu.Unlock()
	if row, live := e.Stm.Get(owner); live {
		for _, item := range row.ReviewItems() {
			if item.ID == id {
				return e.currentItem(item), true
			}
		}
	}
	return memory.ReviewItem{}, false
}

// FindItem returns an item by its ID, or by the first of its digits.
func (e *Review) FindItem(short string) (memory.ReviewItem, error) {
	digits := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(short)), "rev-")
	if digits == "" || len(digits) > 32 || strings.Trim(digits, "0123456789abcdef") != "" {
		return memory.ReviewItem{},
			memory.Errorf(memory.Invalid,
				"invalid review item ID %.40q; use rev- and the first digits of the ID, such as rev-3f9a",
				short).At("id")
	}
	if item, found := e.known("rev-" + digits); found {
		return item, nil
	}
	var fit []memory.ReviewItem
	for item := range e.ReviewItems() {
		e.owners.note(&item)
		if strings.HasPrefix(item.ID, "rev-"+digits) {
			fit = append(fit, item)
		}
	}
	switch len(fit) {
	case 0:
		return memory.ReviewItem{}, memory.Errorf(memory.NotFound,
			"review item rev-%s not found; run: emberd review list", digits).At("id")
	case 1:
		return fit[0], nil
	}
	return memory.ReviewItem{}, memory.Errorf(memory.Ambiguous,
		"several review items start with rev-%s (%s, %s); use more digits", digits, fit[0].ID, fit[1].ID).At("id")
}

// ClaimItem claims an open item for a person or client, and returns it with the change. An
// item that they have already stays as it is. It returns an error of code Conflict if the item
// is closed or claimed by another.
func (e *Review) ClaimItem(ctx context.Context, by memory.Actor, entry, id,
	who string) (memory.ReviewItem, string, error) {
	if err := memory.CheckText("by", who, memory.MaxName); err != nil {
		return memory.ReviewItem{}, "", err
	}
	return e.changeItem(ctx, by, core.ClaimVerb, entry, id, func(item *memory.ReviewItem) error {
		if err := e.checkDecidable(item); err != nil {
			return err
		}
		if item.Status == memory.ItemClaimed && item.ClaimedBy != who {
			return alreadyClaimed(item)
		}
		if item.Status == memory.ItemOpen {
			item.Status, item.ClaimedBy, item.ClaimedAt = memory.ItemClaimed, who, core.StampTime(e.Opt.Now())
		}
		return nil
	})
}

// CloseItem closes an item and does nothing else, even if it is claimed or a memory is
// missing, and returns it with the change. It returns an error of code Conflict if the item is
// closed already.
func (e *Review) CloseItem(ctx context.Context, by memory.Actor, entry, id, decision,
	reason string) (memory.ReviewItem, string, error) {
	if err := memory.CheckText("reason", reason, op.MaxReason); err != nil {
		return memory.ReviewItem{}, "", err
	}
	return e.changeItem(ctx, by, core.CloseVerb, entry, id, func(item *memory.ReviewItem) error {
		e.CloseNow(item, decision, reason)
		return nil
	})
}

// CloseAsListed closes an item, unless it was claimed, closed or removed since it was listed.
// It returns the change, which is entry if nothing was closed.
func (e *Review) CloseAsListed(ctx context.Context, by memory.Actor, entry string, was memory.ReviewItem, decision,
	reason string) (string, error) {
	_, next, err := e.changeFound(ctx, by, core.CloseVerb, entry, was, func(item *memory.ReviewItem) error {
		if item.Status != was.Status || item.ClaimedBy != was.ClaimedBy {
			return alreadyClaimed(item)
		}
		e.CloseNow(item, decision, reason)
		return nil
	})
	switch memory.CodeOf(err) {
	case memory.Conflict, memory.NotFound:
		return entry, nil
	}
	return next, err
}

// CloseNow sets the fields of a closed item. Its texts are in the history then.
func (e *Review) CloseNow(item *memory.ReviewItem, decision, reason string) {
	item.Status, item.ClosedAt = memory.ItemClosed, core.StampTime(e.Opt.Now())
	item.Decision, item.Reason, item.Texts = decision, reason, nil
}

// changeItem changes an item that is not closed, with its memory locked.
func (e *Review) changeItem(ctx context.Context, by memory.Actor, verb, entry, id string,
	change func(*memory.ReviewItem) error) (memory.ReviewItem, string, error) {
	item, err := e.FindItem(id)
	if err != nil {
		return item, "", err
	}
	return e.changeFound(ctx, by, verb, entry, item, change)
}

func (e *Review) changeFound(ctx context.Context, by memory.Actor, verb, entry string, item memory.ReviewItem,
	change func(*memory.ReviewItem) error) (memory.ReviewItem, string, error) {
	receipt, err := e.Stm.Update(ctx, item.MemoryIDs[:1], "", func(rows []*stm.Row) (*stm.Tx, error) {
		set, err := e.changedItem(rows[0], &item, change)
		if err != nil || len(set) == 0 {
			return nil, err
		}
		return &stm.Tx{Verb: verb, By: by, Entry: entry, Changes: []stm.Change{{ID: item.MemoryIDs[0], Set: set}}}, nil
	})
	return item, cmp.Or(receipt.Entry, entry), err
}

// changedItem returns the change of a locked memory for a change of an item. It reads the item
// again.
func (e *Review) changedItem(row *stm.Row, item *memory.ReviewItem,
	change func(*memory.ReviewItem) error) (map[string]json.RawMessage, error) {
	gone := memory.Errorf(memory.Conflict, "review item %s no longer exists; run: emberd review list", item.ID).At("id")
	if row == nil {
		return nil, gone
	}
	s := ReviewItems{E: e, Row: row, Items: row.ReviewItems(), Set: make(map[string]json.RawMessage)}
	i := slices.IndexFunc(s.Items, func(i memory.ReviewItem) bool { return i.ID == item.ID })
	if i < 0 {
		return nil, gone
	}
	before := s.Items[i]
	if *item = before; item.Status == memory.ItemClosed {
		return nil, alreadyClosed(item)
	}
	if err := change(item); err != nil {
		return nil, err
	}
	if string(stm.ReviewValue(item)) != string(stm.ReviewValue(&before)) {
		s.put(*item)
	}
	return s.Set, nil
}

// checkDecidable returns an error if an item is closed or has a missing memory.
func (e *Review) checkDecidable(item *memory.ReviewItem) error {
	if is := e.currentItem(*item); is.Status == memory.ItemClosed {
		return alreadyClosed(&is)
	}
	return nil
}

func alreadyClaimed(item *memory.ReviewItem) error {
	err := memory.Errorf(memory.Conflict, "%s claimed review item %s at %s; choose another item, or close this item",
		item.ClaimedBy, item.ID, item.ClaimedAt.Format(time.DateTime)).At("id")
	err.Current = item.ClaimedBy
	return err
}

func alreadyClosed(item *memory.ReviewItem) error {
	why := cmp.Or(item.Reason, item.Decision, "without a reason")
	err := memory.Errorf(memory.Conflict,
		"review item %s is already closed: %s; to see open items, run: emberd review list", item.ID, why).At("id")
	err.Current = memory.ItemClosed
	return err
}
