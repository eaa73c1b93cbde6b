package memories

import (
	"context"
	"strings"

	"emberd/engine/core"
	"emberd/engine/search"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// OpenMany returns whole memories and counts that each was opened. The answer has their state before
// it. A merged memory is rekindled from its note first, or returned cold if that is not
// possible now. The answer lists the names without a live memory; an ambiguous ID is an error.
func (e *Memories) OpenMany(ctx context.Context, req *op.OpenManyRequest) (*op.OpenManyResult, error) {
	switch n := len(req.IDs); {
	case n == 0:
		return nil, memory.Errorf(memory.Invalid, "missing memory ID; run: emberd list, or emberd search").At("ids")
	case n > memory.MaxIDs:
		return nil, memory.Errorf(memory.TooLarge, "too many IDs: %d (limit %d); split the request", n,
			memory.MaxIDs).At("ids")
	}
	rows, missing, err := e.named(req.IDs)
	if err != nil {
		return nil, err
	}
	track := search.ValueOrTrue(req.Track)
	if track {
		for i, row := range rows {
			row = e.rekindleMerged(ctx, row)
			if opened := e.Lifecycle.Open(ctx, row); opened.Stage() != row.Stage() {
				row = opened
			}
			rows[i] = row
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
		}
	}
	now := e.Opt.Now()
	res := &op.OpenManyResult{Memories: make([]op.OpenedMemory, 0, len(rows)), NotFound: missing}
	for _, row := range rows {
		m, err := e.MemoryView(row, now)
		if err != nil {
			return nil, err
		}
		opened := op.OpenedMemory{Memory: m}
		if search.ValueOrTrue(req.Relations) {
			opened.Relations = core.RelationsOf(&e.Stm.MemorySet, row)
		}
		res.Memories = append(res.Memories, opened)
	}
	return res, nil
}

// rekindleMerged rekindles a memory that was merged into another, if its note can be read now.
func (e *Memories) rekindleMerged(ctx context.Context, row *stm.Row) *stm.Row {
	if !core.Cold(row) || !row.Has("consolidated_into") {
		return row
	}
	if _, err := e.Lifecycle.RekindleAs(ctx, row.ID(), op.CallerFrom(ctx), true); err != nil {
		e.Opt.Logger.Info("full text of an opened merged memory not restored", "memory", row.ID(), "error", err)
		return row
	}
	if now, live := e.Stm.Get(row.ID()); live {
		return now
	}
	return row
}

// named returns the live memories with these names, each once, and the names without one.
func (e *Memories) named(texts []string) (rows []*stm.Row, missing []string, err error) {
	seen := make(map[memory.ID]bool)
	missing = []string{}
	for _, text := range texts {
		id, err := e.Stm.Resolve(strings.TrimSpace(text))
		if memory.CodeOf(err) == memory.Ambiguous {
			return nil, nil, core.About(err, "ids")
		}
		row, ok := e.Stm.Get(id)
		switch {
		case err != nil || !ok:
			missing = append(missing, text)
		case !seen[id]:
			rows = append(rows, row)
		}
		seen[id] = true
	}
	return rows, missing, nil
}
