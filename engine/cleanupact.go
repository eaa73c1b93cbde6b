package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"emberd/internal/cleanrun"
	"emberd/internal/cleanup"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// cleanupVerb is the journal's word for all that a run of the cleanup changes, which is
// one entry.
const cleanupVerb = "cleanup"

// How many memories a batch of a run locks and how many bytes of them it writes; a batch
// is one line of the log, and progress is kept after each.
const (
	batchMemories = 256
	batchBytes    = collectBytes
)

// cleaner carries out the plan of one run. Each action looks at its memories again inside
// the store's lock and does nothing to one that is not as it was planned, nor to one on
// which it was carried out before: so a batch may be repeated, which is what going on
// after a crash does.
type cleaner struct {
	e    *Engine
	run  *cleanrun.Run
	plan *cleanrun.Plan

	begun time.Time // of the actions, by the wall clock
	first int       // action that it began with
}

// cleaning is an action on its way.
type cleaning struct {
	at     int // in the plan
	act    *cleanup.Action
	ids    []memory.ID // that are locked for it
	size   int
	join   *joining // of a merge
	change func(ctx context.Context, rows map[memory.ID]*stm.Row) ([]stm.Change, error)
}

// carryOut does what is left of the plan. An error means that the run cannot go on now;
// what cannot be done of the plan is told with its action.
func (c *cleaner) carryOut(ctx context.Context) error {
	c.begun, c.first = time.Now(), c.run.Next
	for c.run.Next < len(c.plan.Actions) {
		batch, next, err := c.batch(ctx)
		if err == nil {
			err = c.commit(ctx, batch)
		}
		if err != nil {
			return err
		}
		c.run.Next = next
		if err := c.e.cleanups.folder.Save(c.run); err != nil {
			return err
		}
		op.Report(ctx, next, len(c.plan.Actions))
	}
	return nil
}

// batch prepares the next actions that go into one line of the log, and says with which
// to go on. No two of them have to do with one memory.
func (c *cleaner) batch(ctx context.Context) (batch []cleaning, next int, err error) {
	taken := make(map[memory.ID]bool)
	size, most := 0, cmp.Or(c.e.opt.Cleanup.batch, batchMemories)
	for next = c.run.Next; next < len(c.plan.Actions); next++ {
		if err := context.Cause(ctx); err != nil {
			return nil, 0, err
		}
		one, err := c.prepare(ctx, next)
		if err != nil {
			if err = c.problem(next, err); err != nil {
				return nil, 0, err
			}
			continue
		}
		if one == nil { // nothing to do, or done before
			continue
		}
		full := len(taken)+len(one.ids) > most || size+one.size > batchBytes
		again := slices.ContainsFunc(one.ids, func(id memory.ID) bool { return taken[id] })
		if len(batch) > 0 && (full || again) {
			return batch, next, nil
		}
		for _, id := range one.ids {
			taken[id] = true
		}
		size += one.size
		batch = append(batch, *one)
	}
	return batch, next, nil
}

// prepare looks at what an action is about, before anything is locked.
func (c *cleaner) prepare(ctx context.Context, at int) (*cleaning, error) {
	one := &cleaning{at: at, act: &c.plan.Actions[at]}
	switch one.act.Action {
	case op.CleanupDelete:
		return one, c.deleting(one)
	case op.CleanupMerge:
		return c.merging(ctx, one)
	case op.CleanupHierarchy:
		return one, c.relating(one)
	case op.CleanupUpdate:
		return c.rewriting(ctx, one)
	}
	return nil, nil
}

// problem notes why an action was not carried out, or returns what ends the run.
func (c *cleaner) problem(at int, err error) error {
	switch memory.CodeOf(err) {
	case memory.Conflict, memory.NotFound, memory.Invalid, memory.TooLarge, memory.Secret:
	default:
		return err
	}
	if c.run.Problems == nil {
		c.run.Problems = make(map[int]string)
	}
	c.run.Problems[at] = err.Error()
	return nil
}

// commit writes a batch as one line, or as one an action, if that would be too long or one
// of them would make a credential.
func (c *cleaner) commit(ctx context.Context, batch []cleaning) error {
	c.ahead(ctx, batch)
	err := c.line(ctx, batch)
	if code := memory.CodeOf(err); len(batch) < 2 || code != memory.TooLarge && code != memory.Secret {
		return c.orTold(batch, err)
	}
	for i := range batch {
		if err := c.orTold(batch[i:i+1], c.line(ctx, batch[i:i+1])); err != nil {
			return err
		}
	}
	return nil
}

// orTold is an error that ends the run; any other is told with the one action it is of.
func (c *cleaner) orTold(batch []cleaning, err error) error {
	if err != nil && len(batch) == 1 {
		return c.problem(batch[0].at, err)
	}
	return err
}

func (c *cleaner) line(ctx context.Context, batch []cleaning) error {
	if len(batch) == 0 {
		return nil
	}
	var ids []memory.ID
	for _, one := range batch {
		ids = append(ids, one.ids...)
	}
	receipt, err := c.e.stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		tx := &stm.Tx{Verb: cleanupVerb, By: c.run.By, Entry: c.run.Tx}
		of := make(map[memory.ID]*stm.Row, len(ids))
		for i, id := range ids {
			of[id] = rows[i]
		}
		for _, one := range batch {
			changes, err := one.change(ctx, of)
			if err != nil {
				if err = c.problem(one.at, err); err != nil {
					return nil, err
				}
				continue
			}
			tx.Changes = append(tx.Changes, changes...)
		}
		return tx, nil
	})
	if receipt.Entry != "" {
		c.run.Tx = receipt.Entry
	}
	return err
}

// deleting moves memories to the trash.
func (c *cleaner) deleting(one *cleaning) error {
	for _, id := range one.act.MemoryIDs {
		row, live := c.e.stm.Get(id)
		switch {
		case id == one.act.Keep:
		case live:
			one.ids, one.size = append(one.ids, id), one.size+row.Size()
		case c.run.Restarts == 0: // else it may be the run that moved it
			return gone()
		}
	}
	one.change = func(_ context.Context, rows map[memory.ID]*stm.Row) ([]stm.Change, error) {
		var changes []stm.Change
		for _, id := range one.ids {
			if err := c.asPlanned(rows[id]); err != nil {
				return nil, err
			}
			changes = append(changes, stm.Change{ID: id, Delete: true})
		}
		return changes, nil
	}
	return nil
}

func gone() error { return memory.Errorf(memory.Conflict, "it was forgotten meanwhile") }

// asPlanned refuses a memory that is not what the plan was made for, whatever the plan
// says: core, promoted and automated ones are never touched, and what was used or changed
// since is somebody's.
func (c *cleaner) asPlanned(row *stm.Row) error {
	switch {
	case row == nil:
		return gone()
	case row.Core():
		return memory.Errorf(memory.Conflict, "it is a core memory, and those are left alone")
	case row.Promoted():
		return memory.Errorf(memory.Conflict, "it was promoted, and its note decides")
	case !isManual(row.Fields()):
		return memory.Errorf(memory.Conflict, "it has fields of an index and is left alone")
	case row.UpdatedAt().After(c.run.Started) || row.LastUsed().After(c.run.Started) || c.changed(row) || c.used(row):
		return memory.Errorf(memory.Conflict, "it was used or changed meanwhile")
	}
	return nil
}

// changed reports whether somebody wrote a text since the plan was made.
func (c *cleaner) changed(row *stm.Row) bool {
	seen, planned := c.plan.Seen[row.ID()]
	return planned && row.TextRev() != seen.Text
}

func (c *cleaner) used(row *stm.Row) bool {
	seen, planned := c.plan.Seen[row.ID()]
	return planned && !row.LastUsed().Equal(seen.Used)
}

// relating makes the relations of a hierarchy: versions and platforms under a parent, and
// what superseded what.
func (c *cleaner) relating(one *cleaning) error {
	for i := range one.act.Links {
		one.ids = append(one.ids, one.act.Links[i].From, one.act.Links[i].To)
	}
	slices.Sort(one.ids)
	one.ids = slices.Compact(one.ids)
	one.change = func(_ context.Context, rows map[memory.ID]*stm.Row) ([]stm.Change, error) {
		g := growth{e: c.e, ends: make(map[memory.ID]*growing, len(one.ids))}
		for _, id := range one.ids {
			row := rows[id]
			if row == nil {
				return nil, gone()
			}
			if err := c.related(one.act, row); err != nil {
				return nil, err
			}
			g.ends[id] = &growing{row: row}
		}
		for i := range one.act.Links {
			w, err := c.linked(&one.act.Links[i])
			if err != nil {
				return nil, err
			}
			if there, err := g.add(w); err != nil && !there {
				return nil, err
			}
		}
		return g.changes(one.ids), nil
	}
	return nil
}

// related refuses a memory that a hierarchy was not planned for as it is. One whose place
// is taken has to be as for a deletion.
func (c *cleaner) related(act *cleanup.Action, row *stm.Row) error {
	switch {
	case !isManual(row.Fields()):
		return memory.Errorf(memory.Conflict, "memory %s has fields of an index and is left alone", row.ID())
	case c.changed(row):
		return memory.Errorf(memory.Conflict, "memory %s was changed meanwhile", row.ID())
	case act.Strategy == cleanup.Supersedes && row.ID() != act.Keep && c.run.Restarts == 0: // else it may be done already
		return c.asPlanned(row)
	}
	return nil
}

// linked is a relation of a hierarchy on its way.
func (c *cleaner) linked(l *cleanup.Link) (*wanted, error) {
	w := &wanted{Relation: memory.Relation{From: l.From, To: l.To, Type: memory.Related, Kind: l.Kind, Strength: 1,
		CreatedAt: stampTime(c.run.Started), Metadata: make(map[string]json.RawMessage)}}
	kind, err := encode(l.Kind)
	if err != nil {
		return nil, err
	}
	w.Metadata["kind"] = kind
	if l.Value != "" {
		if w.Metadata["value"], err = encode(l.Value); err != nil {
			return nil, err
		}
	}
	w.ID = memory.RelationID(w.From, w.To, w.Type, w.Kind)
	w.value, err = stm.RelationValue(&w.Relation)
	return w, err
}

// changes are what the memories of a growth get, in the order of ids.
func (g *growth) changes(ids []memory.ID) []stm.Change {
	var out []stm.Change
	for _, id := range ids {
		if set := g.ends[id].set; len(set) > 0 {
			out = append(out, stm.Change{ID: id, Set: set})
		}
	}
	return out
}

// scored keeps the quality of the memories that are left, a thousand in a line.
func (c *cleaner) scored(ctx context.Context) error {
	for some := range slices.Chunk(slices.Sorted(maps.Keys(c.plan.Quality)), shiftAtOnce) {
		_, err := c.write(ctx, some, func(rows []*stm.Row) (changes []stm.Change) {
			for i, row := range rows {
				value := c.plan.Quality[some[i]]
				if row != nil && isManual(row.Fields()) && string(row.Value(qualityField)) != string(value) {
					changes = append(changes, stm.Change{ID: some[i], Set: map[string]json.RawMessage{qualityField: value}})
				}
			}
			return changes
		})
		if err != nil {
			return err
		}
	}
	return nil
}

const qualityField = "quality"

func (c *cleaner) write(ctx context.Context, ids []memory.ID, fn func([]*stm.Row) []stm.Change) (stm.Receipt, error) {
	receipt, err := c.e.stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		return &stm.Tx{Verb: cleanupVerb, By: c.run.By, Entry: c.run.Tx, Changes: fn(rows)}, nil
	})
	if receipt.Entry != "" {
		c.run.Tx = receipt.Entry
	}
	return receipt, err
}

// entryOf finds the journal entry of a run that was killed before it could note it: since
// one runs at a time, it is the only one of a cleanup on this device since the run began.
func (e *Engine) entryOf(run *cleanrun.Run) (tx string, undone bool, err error) {
	since, err := stm.ParseStamp(run.Since)
	if err != nil {
		return "", false, errors.New("the run does not tell when it began")
	}
	const page = 200
	var before stm.Stamp
	for {
		entries, _ := e.stm.Entries(before, page)
		for _, j := range entries {
			at, err := stm.ParseStamp(j.Tx)
			if err != nil || at.Compare(since) <= 0 {
				return tx, undone, err
			}
			if before = at; j.Verb == cleanupVerb && at.Dev == since.Dev {
				tx, undone = j.Tx, j.Undone
			}
		}
		if len(entries) < page {
			return tx, undone, nil
		}
	}
}
