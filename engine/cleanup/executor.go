package cleanup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/engine/memories"
	"emberd/engine/merge"
	"emberd/internal/cleanup"
	"emberd/internal/cleanup/runstore"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// CleanupVerb is the journal verb of a cleanup run, whose changes are one change.
const CleanupVerb = "cleanup"

// How many memories a batch locks, and how many of their bytes it writes. A batch is one log
// line, and the run saves its progress after each.
const (
	batchMemories = 256
	batchBytes    = lifecycle.CollectBytes
)

// cleanupExecutor applies the plan of one run. Each action checks its memories again with
// their locks held. It skips a memory that has changed since the plan, and one to which it was
// applied before. So a batch can be repeated, which a resumed run does.
type cleanupExecutor struct {
	e    *Cleanup
	run  *runstore.Run
	plan *runstore.Plan

	begun time.Time // start of the actions, by the wall clock
	first int       // the action that it started with
}

// cleanupBatch is one action of a batch.
type cleanupBatch struct {
	at     int // index in the plan
	act    *cleanup.Action
	ids    []memory.ID // the memories that it locks
	size   int
	merge  *merge.MergeRun // nil for other actions
	change func(ctx context.Context, rows map[memory.ID]*stm.Row) ([]stm.Change, error)
}

// execute applies the rest of the plan. It returns an error if the run cannot continue now;
// an action that cannot be applied gets a problem.
func (c *cleanupExecutor) execute(ctx context.Context) error {
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
		if err := c.e.Cleanups.Folder.Save(c.run); err != nil {
			return err
		}
		op.Report(ctx, next, len(c.plan.Actions))
	}
	return nil
}

// batch prepares the next actions for one log line, and returns the index of the action after
// them. No two of them have a memory in common.
func (c *cleanupExecutor) batch(ctx context.Context) (batch []cleanupBatch, next int, err error) {
	taken := make(map[memory.ID]bool)
	size, most := 0, cmp.Or(c.e.Opt.Cleanup.Batch, batchMemories)
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

// prepare reads the memories of an action, before anything is locked.
func (c *cleanupExecutor) prepare(ctx context.Context, at int) (*cleanupBatch, error) {
	one := &cleanupBatch{at: at, act: &c.plan.Actions[at]}
	switch one.act.Action {
	case op.CleanupDelete:
		return one, c.prepareDeletion(one)
	case op.CleanupMerge:
		return c.prepareMerge(ctx, one)
	case op.CleanupHierarchy:
		return one, c.prepareRelations(one)
	case op.CleanupUpdate:
		return c.prepareRewrite(ctx, one)
	}
	return nil, nil
}

// problem records why an action was not applied, or returns an error that ends the run.
func (c *cleanupExecutor) problem(at int, err error) error {
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

// commit writes a batch as one line. If that is too long, or one of the actions would create a
// credential, it writes one line for each action.
func (c *cleanupExecutor) commit(ctx context.Context, batch []cleanupBatch) error {
	c.createNotesAhead(ctx, batch)
	err := c.line(ctx, batch)
	if code := memory.CodeOf(err); len(batch) < 2 || code != memory.TooLarge && code != memory.Secret {
		return c.errorOrProblem(batch, err)
	}
	for i := range batch {
		if err := c.errorOrProblem(batch[i:i+1], c.line(ctx, batch[i:i+1])); err != nil {
			return err
		}
	}
	return nil
}

// errorOrProblem returns an error that ends the run; an error of a single action becomes its problem.
func (c *cleanupExecutor) errorOrProblem(batch []cleanupBatch, err error) error {
	if err != nil && len(batch) == 1 {
		return c.problem(batch[0].at, err)
	}
	return err
}

func (c *cleanupExecutor) line(ctx context.Context, batch []cleanupBatch) error {
	if len(batch) == 0 {
		return nil
	}
	var ids []memory.ID
	for _, one := range batch {
		ids = append(ids, one.ids...)
	}
	receipt, err := c.e.Stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		tx := &stm.Tx{Verb: CleanupVerb, By: c.run.By, Entry: c.run.Tx}
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

// prepareDeletion prepares a deletion.
func (c *cleanupExecutor) prepareDeletion(one *cleanupBatch) error {
	for _, id := range one.act.MemoryIDs {
		row, live := c.e.Stm.Get(id)
		switch {
		case id == one.act.Keep:
		case live:
			one.ids, one.size = append(one.ids, id), one.size+row.Size()
		case c.run.Restarts == 0: // after a restart this run may have deleted it
			return errGone()
		}
	}
	one.change = func(_ context.Context, rows map[memory.ID]*stm.Row) ([]stm.Change, error) {
		var changes []stm.Change
		for _, id := range one.ids {
			if err := c.checkUnchanged(rows[id]); err != nil {
				return nil, err
			}
			changes = append(changes, stm.Change{ID: id, Delete: true})
		}
		return changes, nil
	}
	return nil
}

func errGone() error {
	return memory.Errorf(memory.Conflict, "the memory was deleted in the meantime")
}

// checkUnchanged returns an error if a memory must not be changed, whatever the plan contains: a
// core, promoted or automated one, and one that was used or changed since the plan.
func (c *cleanupExecutor) checkUnchanged(row *stm.Row) error {
	switch {
	case row == nil:
		return errGone()
	case row.Core():
		return memory.Errorf(memory.Conflict, "a cleanup does not change core memories")
	case row.Promoted():
		return memory.Errorf(memory.Conflict, "the memory was promoted, and its note contains the text")
	case !core.IsManual(row.Fields()):
		return memory.Errorf(memory.Conflict, "an indexer created the memory, so the cleanup did not change it")
	case row.UpdatedAt().After(c.run.Started) || row.LastUsed().After(c.run.Started) || c.changed(row) || c.used(row):
		return memory.Errorf(memory.Conflict, "the memory was used or changed in the meantime")
	}
	return nil
}

// changed reports whether a text has changed since the plan.
func (c *cleanupExecutor) changed(row *stm.Row) bool {
	seen, planned := c.plan.Seen[row.ID()]
	return planned && row.TextRev() != seen.Text
}

func (c *cleanupExecutor) used(row *stm.Row) bool {
	seen, planned := c.plan.Seen[row.ID()]
	return planned && !row.LastUsed().Equal(seen.Used)
}

// prepareRelations prepares the relations of a hierarchy: versions and platforms under a parent, and
// supersessions.
func (c *cleanupExecutor) prepareRelations(one *cleanupBatch) error {
	for i := range one.act.Links {
		one.ids = append(one.ids, one.act.Links[i].From, one.act.Links[i].To)
	}
	slices.Sort(one.ids)
	one.ids = slices.Compact(one.ids)
	one.change = func(_ context.Context, of map[memory.ID]*stm.Row) ([]stm.Change, error) {
		rows := make([]*stm.Row, len(one.ids))
		for i, id := range one.ids {
			if rows[i] = of[id]; rows[i] == nil {
				return nil, errGone()
			}
			if err := c.checkRelatable(one.act, rows[i]); err != nil {
				return nil, err
			}
		}
		g := c.e.Memories.NewTxBuilder(one.ids, rows)
		for i := range one.act.Links {
			w, err := c.newRelation(&one.act.Links[i])
			if err != nil {
				return nil, err
			}
			if there, err := g.Add(w); err != nil && !there {
				return nil, err
			}
		}
		return g.Changes(), nil
	}
	return nil
}

// checkRelatable returns an error if a memory has changed since a hierarchy was planned. A superseded
// one needs the checks of a deletion.
func (c *cleanupExecutor) checkRelatable(act *cleanup.Action, row *stm.Row) error {
	switch {
	case !core.IsManual(row.Fields()):
		return memory.Errorf(memory.Conflict, "an indexer created memory %s, so the cleanup did not change it",
			row.ID())
	case c.changed(row):
		return memory.Errorf(memory.Conflict, "memory %s has changed since the cleanup read it", row.ID())
	// after a restart it may be done already
	case act.Strategy == cleanup.Supersedes && row.ID() != act.Keep && c.run.Restarts == 0:
		return c.checkUnchanged(row)
	}
	return nil
}

// newRelation returns a relation of a hierarchy.
func (c *cleanupExecutor) newRelation(l *cleanup.Link) (*memories.RelationRequest, error) {
	r := memory.Relation{From: l.From, To: l.To, Type: memory.Related, Kind: l.Kind, Strength: 1,
		CreatedAt: core.StampTime(c.run.Started), Metadata: make(map[string]json.RawMessage)}
	for key, text := range map[string]string{"kind": l.Kind, "value": l.Value} {
		raw, err := core.Encode(text)
		if err != nil {
			return nil, err
		}
		if text != "" {
			r.Metadata[key] = raw
		}
	}
	return memories.NewRelationRequest(r)
}

// writeScores stores the quality of the remaining memories, a thousand in a line.
func (c *cleanupExecutor) writeScores(ctx context.Context) error {
	for some := range slices.Chunk(slices.Sorted(maps.Keys(c.plan.Quality)), lifecycle.ShiftAtOnce) {
		_, err := c.write(ctx, some, func(rows []*stm.Row) (changes []stm.Change) {
			for i, row := range rows {
				value := c.plan.Quality[some[i]]
				if row != nil && core.IsManual(row.Fields()) && string(row.Value(qualityField)) != string(value) {
					changes = append(changes,
						stm.Change{ID: some[i], Set: map[string]json.RawMessage{qualityField: value}})
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

func (c *cleanupExecutor) write(ctx context.Context, ids []memory.ID,
	fn func([]*stm.Row) []stm.Change) (stm.Receipt, error) {
	receipt, err := c.e.Stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		return &stm.Tx{Verb: CleanupVerb, By: c.run.By, Entry: c.run.Tx, Changes: fn(rows)}, nil
	})
	if receipt.Entry != "" {
		c.run.Tx = receipt.Entry
	}
	return receipt, err
}

// entryOf finds the change of a run that was killed before it could record it. One run at a
// time is in progress, so it is the only change of a cleanup on this device since the run
// started.
func (e *Cleanup) entryOf(run *runstore.Run) (tx string, undone bool, err error) {
	since, err := stm.ParseStamp(run.Since)
	if err != nil {
		return "", false, errors.New("the record of the run does not contain its start time")
	}
	const page = 200
	var before stm.Stamp
	for {
		entries, _ := e.Stm.Entries(before, page)
		for _, j := range entries {
			at, err := stm.ParseStamp(j.Tx)
			if err != nil || at.Compare(since) <= 0 {
				return tx, undone, err
			}
			if before = at; j.Verb == CleanupVerb && at.Dev == since.Dev {
				tx, undone = j.Tx, j.Undone
			}
		}
		if len(entries) < page {
			return tx, undone, nil
		}
	}
}
