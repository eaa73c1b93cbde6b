package engine

import (
	"cmp"
	"slices"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// longestChain bounds how many memories a chain is told of.
const longestChain = 50

// chainOf are the memories that took each other's place, r among them, the oldest first,
// and none if r has nothing to do with any.
func (e *Engine) chainOf(r *stm.Row) []op.ChainLink {
	in := map[memory.ID]bool{r.ID(): true}
	rows := []*stm.Row{r}
	add := func(id memory.ID) {
		if row, live := e.stm.Get(id); live && !in[id] && len(rows) < longestChain {
			in[id], rows = true, append(rows, row)
		}
	}
	for i := 0; i < len(rows); i++ {
		add(rows[i].SupersededBy())
		for _, rel := range e.stm.Relations(rows[i]) {
			if isSupersession(&rel) {
				add(rel.To)
			}
		}
	}
	if len(rows) == 1 {
		return nil
	}
	slices.SortFunc(rows, func(a, b *stm.Row) int {
		return cmp.Or(a.CreatedAt().Compare(b.CreatedAt()), a.CompareID(b))
	})
	out := make([]op.ChainLink, len(rows))
	for i, row := range rows {
		out[i] = op.ChainLink{ID: row.ID(), Text: beginningOf(row.Content()), At: stampTime(row.CreatedAt())}
		if by := row.SupersededBy(); in[by] {
			out[i].SupersededBy, out[i].SupersededAt = by, stampTime(row.Changed(supersededBy))
		}
	}
	return out
}
