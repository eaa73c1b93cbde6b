package history

import (
	"context"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/stm"
)

// archivedBy returns the memories that a change archived, with the paths of the notes that have their texts.
func (e *History) archivedBy(would *stm.Undone) map[memory.ID]string {
	paths := make(map[memory.ID]string)
	staged := stagedBy(would)
	for _, item := range would.Items {
		row, live := e.Stm.Get(item.ID)
		if !staged[item.ID] || item.Action != stm.Reverted || !live || !row.Stage().Cold() {
			continue
		}
		m, err := row.Memory()
		if err == nil && m.PromotedTo == "" && e.Notes.Vault.InArchive(m.VaultPath) {
			paths[item.ID] = m.VaultPath
		}
	}
	return paths
}

// keepTexts makes notes for memories that an undo archives again, whose notes an earlier undo removed.
func (e *History) keepTexts(ctx context.Context, would *stm.Undone) error {
	var rows []*stm.Row
	for _, item := range would.Items {
		row, live := e.Stm.Get(item.ID)
		if item.Action == stm.Reverted && item.Stage.Cold() && live && !row.Stage().Cold() {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	number := core.NumberOf(len(rows), "memory", "memories")
	if away := e.Notes.VaultUnavailable(); away != "" {
		return memory.Errorf(memory.Busy, "cannot undo the change: emberd would archive %s again, but %s", number, away)
	}
	made := e.Lifecycle.KeepAhead(ctx, rows)
	for _, row := range rows {
		m, err := row.Memory()
		if err == nil && core.NotePath(&m) == "" && made[m.ID].Path == "" && len(e.Notes.Vault.Carriers.Of(m.ID)) == 0 {
			return memory.Errorf(memory.Busy, "cannot undo the change: emberd would archive %s again, but "+
				"cannot write the note of memory %s now; try again in a minute", number, m.ID)
		}
	}
	return context.Cause(ctx)
}
