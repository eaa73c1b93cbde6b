package memories

import (
	"context"
	"fmt"

	"emberd/decay"
	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Touch counts a use of a memory, and raises its strength on request.
func (e *Memories) Touch(ctx context.Context, req *op.TouchRequest) (*op.TouchResult, error) {
	row, err := e.Find(req.ID)
	if err == nil {
		err = e.MayChange(row)
	}
	if err != nil {
		return nil, err
	}
	now := e.Opt.Now()
	res := &op.TouchResult{MemoryID: row.ID(), OldScore: e.Score(row, now)}
	if req.Boost {
		if err := e.boost(ctx, row.ID(), res); err != nil {
			return nil, err
		}
	}
	e.Lifecycle.Used(row, now)
	if row, err = e.Find(string(row.ID())); err != nil {
		return nil, err
	}
	m, err := row.Memory()
	if err != nil {
		return nil, err
	}
	res.NewScore, res.UseCount, res.Strength = e.Score(row, now), m.UseCount, m.Strength
	res.Message = fmt.Sprintf("Memory reinforced. Score: %.2f -> %.2f", res.OldScore, res.NewScore)
	if res.Held != "" {
		res.Message += " The strength is unchanged: " + res.Held
	}
	return res, nil
}

// boost raises a memory's strength, in its note too, or records why not.
func (e *Memories) boost(ctx context.Context, id memory.ID, res *op.TouchResult) error {
	inNote := false
	receipt, err := e.Stm.Update(ctx, []memory.ID{id}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		if rows[0] == nil {
			return nil, e.Missing(id)
		}
		m, err := rows[0].Memory()
		if err != nil || decay.Boosted(m.Strength) == m.Strength {
			return nil, err
		}
		if res.Held = e.Held(&m); res.Held != "" {
			return nil, nil
		}
		stronger := m
		stronger.Strength, stronger.StrengthFound, stronger.UpdatedAt = decay.Boosted(m.Strength), false,
			core.StampTime(e.Opt.Now())
		set, err := core.Changes(&m, &stronger)
		if err != nil {
			return nil, err
		}
		if inNote, err = e.Promote.EditedNote(&m, set, op.CallerFrom(ctx)); err != nil {
			return nil, err
		}
		return &stm.Tx{Verb: "touch", By: op.CallerFrom(ctx), Changes: []stm.Change{{ID: id, Set: set}}}, nil
	})
	res.Tx = receipt.Entry
	if err == nil && inNote {
		res.Pending = e.Promote.FollowEdit(ctx, id)
	}
	return err
}
