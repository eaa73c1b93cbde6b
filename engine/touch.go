package engine

import (
	"context"
	"fmt"

	"emberd/decay"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// touch counts a use of a memory, and raises its strength if it is asked to.
func (e *Engine) touch(ctx context.Context, req *op.TouchRequest) (*op.TouchResult, error) {
	row, err := e.find(req.ID)
	if err == nil {
		err = e.mayChange(row)
	}
	if err != nil {
		return nil, err
	}
	now := e.opt.Now()
	res := &op.TouchResult{MemoryID: row.ID(), OldScore: e.score(row, now)}
	if req.Boost {
		if err := e.boost(ctx, row.ID(), res); err != nil {
			return nil, err
		}
	}
	e.used(row, now)
	if row, err = e.find(string(row.ID())); err != nil {
		return nil, err
	}
	m, err := row.Memory()
	if err != nil {
		return nil, err
	}
	res.NewScore, res.UseCount, res.Strength = e.score(row, now), m.UseCount, m.Strength
	res.Message = fmt.Sprintf("Memory reinforced. Score: %.2f -> %.2f", res.OldScore, res.NewScore)
	if res.Held != "" {
		res.Message += " The strength stays: " + res.Held
	}
	return res, nil
}

// boost raises a memory's strength, in its note too, or says why it does not.
func (e *Engine) boost(ctx context.Context, id memory.ID, res *op.TouchResult) error {
	receipt, err := e.stm.Update(ctx, []memory.ID{id}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		if rows[0] == nil {
			return nil, e.missing(id)
		}
		m, err := rows[0].Memory()
		if err != nil || decay.Boosted(m.Strength) == m.Strength {
			return nil, err
		}
		if m.DataOnly() {
			res.Held = onlyData(&m)
			return nil, nil
		}
		stronger := m
		stronger.Strength, stronger.StrengthFound, stronger.UpdatedAt = decay.Boosted(m.Strength), false, stampTime(e.opt.Now())
		set, err := changes(&m, &stronger)
		if err != nil {
			return nil, err
		}
		if res.Pending, err = e.editedNote(ctx, &m, set, op.CallerFrom(ctx)); err != nil {
			return nil, err
		}
		return &stm.Tx{Verb: "touch", By: op.CallerFrom(ctx), Changes: []stm.Change{{ID: id, Set: set}}}, nil
	})
	res.Tx = receipt.Entry
	return err
}
