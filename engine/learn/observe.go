package learn

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"emberd/decay"
	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const ObserveVerb = "observe"

// reinforceOff is CortexGraph's message when observed use is not counted.
const reinforceOff = "auto_reinforce is disabled in config"

// Observe counts a use and a review of the memories behind an answer. A memory whose tags are
// far from those of the conversation gains strength. A cold memory stays cold, unless a search
// found it relevant lately: then its text comes back.
func (e *Learn) Observe(ctx context.Context, req *op.ObserveRequest) (*op.ObserveResult, error) {
	if n := len(req.IDs); n > memory.MaxIDs {
		return nil, memory.Errorf(memory.TooLarge, "too many IDs: %d (limit %d); split the request", n,
			memory.MaxIDs).At("ids")
	} else if n == 0 {
		return nil, memory.Errorf(memory.Invalid, "missing ids; pass the memories that were used").At("ids")
	}
	tags, err := memory.NormalizeTags(req.Tags)
	if err != nil {
		return nil, err
	}
	if !e.Opt.Reinforce {
		return &op.ObserveResult{Reason: reinforceOff}, nil
	}
	o := observation{e: e, tags: tags, now: e.Opt.Now(), by: op.CallerFrom(ctx), res: new(op.ObserveResult)}
	ids, err := o.name(req.IDs)
	if err != nil || len(ids) == 0 {
		return o.res, err
	}
	receipt, err := e.Stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) { return o.all(rows) })
	if err != nil {
		return nil, err
	}
	o.res.Tx = receipt.Entry
	for _, told := range o.inNote {
		told.Pending = e.Promote.FollowEdit(ctx, memory.ID(told.ID))
	}
	return o.res, o.count()
}

// observation is one request in progress.
type observation struct {
	e    *Learn
	tags []string
	now  time.Time
	by   memory.Actor
	res  *op.ObserveResult
	at   []int // index in the results of each memory that may exist

	inNote []*op.Observed // whose notes are to be written
}

// name resolves IDs and lists each memory once. An unknown ID gets a result of its own; an
// ambiguous one is an error, before anything changes.
func (o *observation) name(short []string) ([]memory.ID, error) {
	var ids []memory.ID
	seen := make(map[string]bool)
	for _, s := range short {
		id, err := o.e.Stm.Resolve(s)
		if memory.CodeOf(err) == memory.Ambiguous {
			return nil, err
		}
		named := op.Observed{ID: s, Status: op.ObservedNotFound}
		if err == nil {
			named.ID = string(id)
		}
		if seen[named.ID] {
			continue
		}
		seen[named.ID] = true
		if err == nil {
			ids, o.at = append(ids, id), append(o.at, len(o.res.Results))
		}
		o.res.Results = append(o.res.Results, named)
	}
	return ids, nil
}

// all returns the changes. The memories must be locked.
func (o *observation) all(rows []*stm.Row) (*stm.Tx, error) {
	tx := &stm.Tx{Verb: ObserveVerb, By: o.by}
	for i, row := range rows {
		if row == nil {
			continue
		}
		m, err := row.Memory()
		if err != nil {
			return nil, err
		}
		set, err := o.one(&m, &o.res.Results[o.at[i]])
		if err != nil {
			return nil, err
		}
		tx.Changes = append(tx.Changes, stm.Change{ID: m.ID, Set: set})
	}
	if len(tx.Changes) == 0 {
		return nil, nil
	}
	return tx, nil
}

// one returns the change of one memory.
func (o *observation) one(m *memory.Memory, told *op.Observed) (map[string]json.RawMessage, error) {
	was := *m
	m.ReviewCount++
	m.LastReviewAt = core.StampTime(o.now)
	told.Status, told.CrossDomain = op.ObservedReinforced, decay.CrossDomain(m.Tags, o.tags)
	if told.CrossDomain {
		m.CrossDomainCount++
	}
	set, err := core.Changes(&was, m)
	if err != nil || !told.CrossDomain {
		return set, err
	}
	return set, o.strengthen(&was, set, told)
}

// strengthen adds more strength to set, for the memory's note too. A memory that is held keeps its strength.
func (o *observation) strengthen(m *memory.Memory, set map[string]json.RawMessage, told *op.Observed) error {
	stronger := *m
	if stronger.Strength = decay.Boosted(m.Strength); stronger.Strength == m.Strength || o.e.Held(m) != "" {
		return nil
	}
	stronger.StrengthFound, stronger.UpdatedAt = false, core.StampTime(o.now)
	more, err := core.Changes(m, &stronger)
	if err != nil {
		return err
	}
	inNote, err := o.e.Promote.EditedNote(m, more, o.by)
	if inNote {
		o.inNote = append(o.inNote, told)
	}
	maps.Copy(set, more)
	return err
}

// count counts the uses and completes the results.
func (o *observation) count() error {
	for _, i := range o.at {
		told := &o.res.Results[i]
		row, live := o.e.Stm.Get(memory.ID(told.ID))
		if told.Status != op.ObservedReinforced || !live {
			continue
		}
		o.e.Lifecycle.Used(row, o.now)
		if row, live = o.e.Stm.Get(row.ID()); !live {
			continue
		}
		m, err := row.Memory()
		if err != nil {
			return err
		}
		o.res.Count++
		if told.CrossDomain {
			o.res.CrossDomain++
		}
		told.UseCount, told.ReviewCount, told.Strength = m.UseCount, m.ReviewCount, m.Strength
		if m.Stage.Cold() {
			told.Stage = m.Stage
		}
	}
	o.res.Reinforced = o.res.Count > 0
	return nil
}
