package memories

import (
	"context"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// checkRecalled returns the memory or note whose text a save repeats, nil if it is stored anyway: because
// the caller wants it, or because it has an ID, replaces a memory or was imported.
func (e *Memories) checkRecalled(req *op.SaveRequest, m *memory.Memory) *op.Echo {
	if req.EvenRecalled || mustStore(req) {
		return nil
	}
	return e.Recall.Find(m.Content, m.Collection, m.Project)
}

// mustStore reports whether a save stores a memory whatever is there already.
func mustStore(req *op.SaveRequest) bool {
	return req.Again || req.ID != "" || !req.CreatedAt.IsZero() || len(req.Supersedes) > 0
}

// saveEcho answers a save with the memory or note whose text it repeats.
func (e *Memories) saveEcho(ctx context.Context, req *op.SaveRequest, of *op.Echo, m *memory.Memory,
	tx *stm.Tx) (*op.SaveResult, error) {
	from := e.Source(ctx, &req.Provenance, m.Project)
	row, entry, err := e.Recall.CountUse(ctx, of, &from, tx.Key, tx.KeyHash)
	switch {
	case err != nil:
		return nil, err
	case of.Of == "":
		said := memory.Memory{Content: m.Content, Collection: m.Collection, Project: m.Project, VaultPath: of.Path}
		return &op.SaveResult{Memory: op.Memory{Memory: said}, Echo: of}, nil
	case row == nil: // it was deleted in the meantime
		return e.saveWithin(ctx, req)
	}
	answer, err := e.MemoryView(row, e.Opt.Now())
	return &op.SaveResult{Memory: answer, Tx: entry, Echo: of}, err
}
