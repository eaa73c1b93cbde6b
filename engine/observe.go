package engine

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"emberd/decay"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const observeVerb = "observe"

// reinforceOff is what CortexGraph says when use that is observed counts for nothing.
const reinforceOff = "auto_reinforce is disabled in config"

// observe counts a use and a review of memories that an answer was made with. One whose
// tags are far from what the conversation is about gets stronger. A cold memory stays
// cold: the answer was made with what is left of it, and only who asks for its text or
// means it in a search has that looked for.
func (e *Engine) observe(ctx context.Context, req *op.ObserveRequest) (*op.ObserveResult, error) {
	if n := len(req.IDs); n > memory.MaxIDs {
		return nil, memory.Errorf(memory.TooLarge, "%d ids given, more than %d; send them in parts", n, memory.MaxIDs).At("ids")
	} else if n == 0 {
		return nil, memory.Errorf(memory.Invalid, "ids is empty; name the memories that were used").At("ids")
	}
	tags, err := memory.NormalizeTags(req.Tags)
	if err != nil {
		return nil, err
	}
	if !e.opt.Reinforce {
		return &op.ObserveResult{Reason: reinforceOff}, nil
	}
	o := observation{e: e, tags: tags, now: e.opt.Now(), by: op.CallerFrom(ctx), res: new(op.ObserveResult)}
	ids, err := o.name(req.IDs)
	if err != nil || len(ids) == 0 {
		return o.res, err
	}
	receipt, err := e.stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) { return o.all(ctx, rows) })
	if err != nil {
		return nil, err
	}
	o.res.Tx = receipt.Entry
	return o.res, o.count()
}

// observation is one request under way.
type observation struct {
	e    *Engine
	tags []string
	now  time.Time
	by   memory.Actor
	res  *op.ObserveResult
	at   []int // the place among the results of each memory that may be there
}

// name resolves ids, and lists every memory once. What names none is not found; what may
// name several is an error, before anything has changed.
func (o *observation) name(short []string) ([]memory.ID, error) {
	var ids []memory.ID
	seen := make(map[string]bool)
	for _, s := range short {
		id, err := o.e.stm.Resolve(s)
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

// all is what the log is to say. It is called with the memories locked.
func (o *observation) all(ctx context.Context, rows []*stm.Row) (*stm.Tx, error) {
	tx := &stm.Tx{Verb: observeVerb, By: o.by}
	for i, row := range rows {
		if row == nil {
			continue
		}
		m, err := row.Memory()
		if err != nil {
			return nil, err
		}
		set, err := o.one(ctx, &m, &o.res.Results[o.at[i]])
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

// one reinforces one memory.
func (o *observation) one(ctx context.Context, m *memory.Memory, told *op.Observed) (map[string]json.RawMessage, error) {
	was := *m
	m.ReviewCount++
	m.LastReviewAt = stampTime(o.now)
	told.Status, told.CrossDomain = op.ObservedReinforced, decay.CrossDomain(m.Tags, o.tags)
	if told.CrossDomain {
		m.CrossDomainCount++
	}
	set, err := changes(&was, m)
	if err != nil || !told.CrossDomain {
		return set, err
	}
	return set, o.strengthen(ctx, &was, set, told)
}

// strengthen adds more strength to what is set, in the memory's note too. A note that is
// not to be written now keeps its strength, and so does the memory: that something was
// used is no reason to fail. What a tool or the web said keeps its own as well.
func (o *observation) strengthen(ctx context.Context, m *memory.Memory, set map[string]json.RawMessage, told *op.Observed) error {
	stronger := *m
	if stronger.Strength = decay.Boosted(m.Strength); stronger.Strength == m.Strength || m.DataOnly() {
		return nil
	}
	stronger.StrengthFound, stronger.UpdatedAt = false, stampTime(o.now)
	more, err := changes(m, &stronger)
	if err != nil {
		return err
	}
	told.Pending, err = o.e.editedNote(ctx, m, more, o.by)
	switch memory.CodeOf(err) {
	case memory.Conflict, memory.Busy:
		return nil
	}
	maps.Copy(set, more)
	return err
}

// changes is what turns one memory into another in the log.
func changes(was, is *memory.Memory) (map[string]json.RawMessage, error) {
	before, err := fields(was)
	if err != nil {
		return nil, err
	}
	after, err := fields(is)
	return difference(before, after), err
}

// count counts the uses and completes the results.
func (o *observation) count() error {
	for _, i := range o.at {
		told := &o.res.Results[i]
		row, live := o.e.stm.Get(memory.ID(told.ID))
		if told.Status != op.ObservedReinforced || !live {
			continue
		}
		o.e.used(row, o.now)
		if row, live = o.e.stm.Get(row.ID()); !live {
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
