package memories

import (
	"context"

	"emberd/engine/core"
	"emberd/engine/recall"
	"emberd/engine/similar"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const confirmVerb = "confirm"

// Confirm marks memories from a tool or the web as confirmed by the user. It does not change
// memories that need no confirmation.
func (e *Memories) Confirm(ctx context.Context, req *op.ConfirmRequest) (*op.ConfirmResult, error) {
	by := op.CallerFrom(ctx)
	if by.Via == core.ViaMCP {
		return nil, memory.Errorf(memory.Forbidden,
			"a model cannot confirm a text from a tool or the web; ask the user to run emberd edit --confirm")
	}
	if e.Grant != nil {
		return nil, memory.Errorf(memory.Forbidden, "token %s is limited and cannot confirm a text from a tool "+
			"or the web; ask the user to run emberd edit --confirm", e.Grant.Token)
	}
	ids, err := e.ResolveAll(e.SplitNames(req.ID), "id", memory.MaxIDs)
	if err != nil {
		return nil, err
	}
	link := e.Source(ctx, &op.Provenance{Origin: memory.FromUser}, "")
	receipt, err := e.Stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		tx := &stm.Tx{Verb: confirmVerb, By: by}
		for i, row := range rows {
			if row == nil {
				return nil, e.Missing(ids[i])
			}
			set, err := e.ConfirmedFields(row, link)
			if err != nil {
				return nil, err
			}
			if len(set) > 0 {
				tx.Changes = append(tx.Changes, stm.Change{ID: ids[i], Set: set})
			}
		}
		return tx, nil
	})
	if err != nil {
		return nil, err
	}
	res := &op.ConfirmResult{Tx: receipt.Entry, Memories: []op.Memory{}}
	for _, id := range ids {
		row, live := e.Stm.Get(id)
		if !live {
			continue // it was deleted in the meantime
		}
		view, err := e.MemoryView(row, e.Opt.Now())
		if err != nil {
			return nil, err
		}
		res.Memories = append(res.Memories, view)
	}
	return res, nil
}

// unconfirmedSame returns an unconfirmed memory with the text that the user saves at the
// command line. It returns nil if there is none, or the save contains more than the text.
func (e *Memories) unconfirmedSame(req *op.SaveRequest, m *memory.Memory) *stm.Row {
	more := m.Core || req.Importance != nil || req.Strength != nil || len(req.Tags)+len(req.Meta) > 0 ||
		req.Source+req.Context != ""
	if more || mustStore(req) || !core.Confirms(m.Sources[0]) {
		return nil
	}
	if _, used := e.Stm.Replay(req.IdempotencyKey); used {
		return nil
	}
	terms, wording := e.Similar.NewSimilarity(m.Content).Terms(), stm.NormalizeText(m.Content)
	found, _ := e.Similar.Ask(new(similar.Candidates), terms[:min(1, len(terms))], 1, func(r *stm.Row) bool {
		return recall.SameScope(r, m.Collection, m.Project) && wording.Of(r.Content()) && core.DataOnly(r)
	})
	if len(found) == 0 {
		return nil
	}
	return found[0]
}

// saveConfirming confirms an existing memory instead of saving it again.
func (e *Memories) saveConfirming(ctx context.Context, req *op.SaveRequest, m *memory.Memory, id memory.ID,
	tx *stm.Tx) (*op.SaveResult, error) {
	stands := false
	receipt, err := e.Stm.Update(ctx, []memory.ID{id}, tx.Key, func(rows []*stm.Row) (*stm.Tx, error) {
		stands = rows[0] != nil && stm.NormalizeText(m.Content).Of(rows[0].Content())
		if !stands {
			return nil, nil
		}
		set, err := e.ConfirmedFields(rows[0], m.Sources[0])
		if stands = set != nil; !stands {
			return nil, err
		}
		return &stm.Tx{Verb: confirmVerb, By: tx.By, Key: tx.Key, KeyHash: tx.KeyHash,
			Changes: []stm.Change{{ID: id, Set: set, Allowed: true}}}, nil
	})
	switch {
	case err != nil:
		return nil, err
	case !stands: // it has just changed
		return e.saveWithin(ctx, req)
	}
	view, err := e.MemoryView(receipt.Rows[0], e.Opt.Now())
	return &op.SaveResult{Memory: view, Tx: receipt.Entry, Confirmed: true}, err
}
