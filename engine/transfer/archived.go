package transfer

import (
	"context"

	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
)

// importedReason is the archive reason of memories that another system had archived.
const importedReason = "import"

// archiveImported archives the memories of a chunk that were archived where they come from, in the import's journal
// entry. Without a vault, and if no note can be written now, they stay demoted with their text, and their status
// says archived. An error is one of the log: what was imported stays.
func (e *Transfer) archiveImported(ctx context.Context, req *op.ImportRequest, res *op.ImportResult,
	records []importRecord) error {
	if req.DryRun || !req.Foreign || e.Lifecycle.Notes.NeedVault() != nil {
		return nil
	}
	var moves []rekindle.Move
	for _, r := range records {
		row, live := e.Stm.Get(r.ID)
		if !live || res.Results[r.at].Fate != op.ImportAdded || row.Stage() != memory.Demoted {
			continue
		}
		if m, err := row.Memory(); err == nil && m.Status() == "archived" {
			moves = append(moves, rekindle.Move{ID: r.ID, From: memory.Demoted, To: memory.Archived,
				Used: stm.LastTouched(row)})
		}
	}
	if len(moves) == 0 {
		return nil
	}
	_, err := e.Lifecycle.Archive(ctx, moves, importedReason, op.CallerFrom(ctx), res.Tx)
	return err
}
