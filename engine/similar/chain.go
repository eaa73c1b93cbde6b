package similar

import (
	"cmp"
	"slices"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// maxChainLen is the maximum length of a reported chain.
const maxChainLen = 50

// ChainOf returns the memories that superseded each other, including r, oldest first, and none
// if r is in no chain.
func (e *Similar) ChainOf(r *stm.Row) []op.ChainLink {
	in := map[memory.ID]bool{r.ID(): true}
	rows := []*stm.Row{r}
	add := func(id memory.ID) {
		if row, live := e.Stm.Get(id); live && !in[id] && len(rows) < maxChainLen {
			in[id], rows = true, append(rows, row)
		}
	}
	for i := 0; i < len(rows); i++ {
		add(rows[i].SupersededBy())
		for _, rel := range e.Stm.Relations(rows[i]) {
			if rel.IsSupersession() {
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
		out[i] = op.ChainLink{ID: row.ID(), Text: core.BeginningOf(row.Content()), At: core.StampTime(row.CreatedAt())}
		if by := row.SupersededBy(); in[by] {
			out[i].SupersededBy, out[i].SupersededAt = by, core.StampTime(row.StampOf(core.SupersededBy).Time())
		}
	}
	return out
}
