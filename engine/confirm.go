package engine

import (
	"context"
	"encoding/json"
	"strings"

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
	ids, err := e.resolveAll(strings.Split(req.ID, ","), "id", memory.MaxIDs)
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
