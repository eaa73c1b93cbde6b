package wal

import (
	"maps"
	"slices"
	"sync"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
)

// TextsApart collects the memories whose text two devices may have changed without knowing of each
// other. It names some that only look so, since lines do not come in the order in which they were
// written; the log tells them apart. Any goroutine may use it.
type TextsApart struct {
	mu  sync.Mutex
	ids map[memory.ID]bool
}

// note looks at a change before the table has it: a text that was not made from the one that is here was
// made apart from it, as far as the two tell.
func (a *TextsApart) note(t *table.Table, c *record.Change, at record.Stamp) {
	if c.Op != record.OpSet || record.Member(c.Data, record.TextKey) == nil {
		return
	}
	from, row := c.From(), t.Get(c.ID)
	if len(from) == 0 || row == nil {
		return
	}
	here := row.StampOf(record.TextKey)
	if here.IsZero() || here == at || slices.Contains(from, here) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ids == nil {
		a.ids = make(map[memory.ID]bool)
	}
	a.ids[c.ID] = true
}

// Take returns what was collected since it was called last.
func (a *TextsApart) Take() []memory.ID {
	a.mu.Lock()
	defer a.mu.Unlock()
	ids := slices.Sorted(maps.Keys(a.ids))
	a.ids = nil
	return ids
}
