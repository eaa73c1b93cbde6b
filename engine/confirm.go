package engine

import (
	"context"
	"encoding/json"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const confirmVerb = "confirm"

// confirm takes a person's word for it that what a tool or the web said holds. Memories
// of which nobody has to say so stay as they are.
func (e *Engine) confirm(ctx context.Context, req *op.ConfirmRequest) (*op.ConfirmResult, error) {
	by := op.CallerFrom(ctx)
	if by.Via == viaMCP {
		return nil, memory.Errorf(memory.Forbidden, "a model cannot confirm what a tool or the web said; ask the person to run emberd confirm")
	}
	ids, err := e.resolveAll(e.splitNames(req.ID), "id", memory.MaxIDs)
	if err != nil {
		return nil, err
	}
	link := e.source(ctx, &op.Provenance{Origin: memory.FromUser}, "")
	receipt, err := e.stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		tx := &stm.Tx{Verb: confirmVerb, By: by}
		for i, row := range rows {
			if row == nil {
				return nil, e.missing(ids[i])
			}
			set, err := e.confirming(row, link)
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
		row, live := e.stm.Get(id)
		if !live {
			continue // it was forgotten meanwhile
		}
		view, err := e.view(row, e.opt.Now())
		if err != nil {
			return nil, err
		}
		res.Memories = append(res.Memories, view)
	}
	return res, nil
}

// confirming is what the log is to say of a locked memory that a person stands for, who
// is the writer of a link; nothing if it is not data only.
func (e *Engine) confirming(row *stm.Row, link memory.Source) (map[string]json.RawMessage, error) {
	m, err := row.Memory()
	if err != nil || !m.DataOnly() {
		return nil, err
	}
	set := map[string]json.RawMessage{}
	if set["confirmed_at"], err = encode(link.At); err != nil {
		return nil, err
	}
	set["updated_at"] = set["confirmed_at"]
	link.Project = m.Project
	e.learn(row, link, set)
	return set, nil
}

// unconfirmedSame is a memory, data only, of the very text that a person saves at the
// command line, nil if there is none or the save says more than the text.
func (e *Engine) unconfirmedSame(req *op.SaveRequest, m *memory.Memory) *stm.Row {
	more := m.Core || req.Importance != nil || req.Strength != nil || len(req.Tags)+len(req.Meta) > 0 || req.Source+req.Context != ""
	if more || onPurpose(req) || !confirms(m.Sources[0]) {
		return nil
	}
	if _, used := e.stm.Replay(req.IdempotencyKey); used {
		return nil
	}
	terms, wording := e.like(m.Content).terms(), stm.WordingOf(m.Content)
	found, _ := e.ask(new(nearness), terms[:min(1, len(terms))], 1, func(r *stm.Row) bool {
		return sameScope(r, m.Collection, m.Project) && wording.Of(r.Content()) && dataOnly(r)
	})
	if len(found) == 0 {
		return nil
	}
	return found[0]
}

// saveConfirming takes a save for a person's word for a memory that is there.
func (e *Engine) saveConfirming(ctx context.Context, req *op.SaveRequest, m *memory.Memory, id memory.ID, tx *stm.Tx) (*op.SaveResult, error) {
	stands := false
	receipt, err := e.stm.Update(ctx, []memory.ID{id}, tx.Key, func(rows []*stm.Row) (*stm.Tx, error) {
		stands = rows[0] != nil && stm.WordingOf(m.Content).Of(rows[0].Content())
		if !stands {
			return nil, nil
		}
		set, err := e.confirming(rows[0], m.Sources[0])
		if stands = set != nil; !stands {
			return nil, err
		}
		return &stm.Tx{Verb: confirmVerb, By: tx.By, Key: tx.Key, KeyHash: tx.KeyHash, Changes: []stm.Change{{ID: id, Set: set, Allowed: true}}}, nil
	})
	switch {
	case err != nil:
		return nil, err
	case !stands: // it was changed just now
		return e.saveWithin(ctx, req)
	}
	view, err := e.view(receipt.Rows[0], e.opt.Now())
	return &op.SaveResult{Memory: view, Tx: receipt.Entry, Confirmed: true}, err
}
