package engine

import (
	"context"
	"strings"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// openedRelations is how many relations of an opened memory are shown either way.
const openedRelations = 1_000

// openMany opens memories whole, which counts as a use of each. The answer shows them
// as they were found, but for one that was merged into another: that comes back from its
// note first, or is shown cold if it cannot now. What names no live memory is listed; an
// id that fits several is an error.
func (e *Engine) openMany(ctx context.Context, req *op.OpenManyRequest) (*op.OpenManyResult, error) {
	switch n := len(req.IDs); {
	case n == 0:
		return nil, memory.Errorf(memory.Invalid, "no id is given; copy one from emberd list or emberd search").At("ids")
	case n > memory.MaxIDs:
		return nil, memory.Errorf(memory.TooLarge, "%d ids are given, more than %d; open them in parts", n, memory.MaxIDs).At("ids")
	}
	rows, missing, err := e.named(req.IDs)
	if err != nil {
		return nil, err
	}
	track := valueOrTrue(req.Track)
	back := make(map[memory.ID]bool)
	if track {
		for i, row := range rows {
			rows[i], back[row.ID()] = e.outOfMerged(ctx, row)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
		}
	}
	now := e.opt.Now()
	res := &op.OpenManyResult{Memories: make([]op.OpenedMemory, 0, len(rows)), NotFound: missing}
	for _, row := range rows {
		m, err := e.view(row, now)
		if err != nil {
			return nil, err
		}
		opened := op.OpenedMemory{Memory: m}
		if valueOrTrue(req.Relations) {
			opened.Relations = relationsOf(&e.stm.Memories, row)
		}
		res.Memories = append(res.Memories, opened)
	}
	if track {
		for _, row := range rows {
			if !back[row.ID()] { // that was counted
				e.used(row, now)
			}
		}
	}
	return res, nil
}

// outOfMerged brings a memory back that was merged into another, and reports whether it
// did.
func (e *Engine) outOfMerged(ctx context.Context, row *stm.Row) (*stm.Row, bool) {
	if !cold(row) || !row.Has("consolidated_into") {
		return row, false
	}
	res, err := e.rekindleAs(ctx, row.ID(), op.CallerFrom(ctx), true)
	if err != nil {
		e.opt.Logger.Info("merged memory is opened as it is", "memory", row.ID(), "error", err)
		return row, false
	}
	if now, live := e.stm.Get(row.ID()); live {
		return now, !res.Memory.Stage.Cold()
	}
	return row, false
}

// named are the live memories that texts name, each once, and the texts that name none.
func (e *Engine) named(texts []string) (rows []*stm.Row, missing []string, err error) {
	seen := make(map[memory.ID]bool)
	missing = []string{}
	for _, text := range texts {
		id, err := e.stm.Resolve(strings.TrimSpace(text))
		if memory.CodeOf(err) == memory.Ambiguous {
			return nil, nil, about(err, "ids")
		}
		row, ok := e.stm.Get(id)
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

// relationsOf lists what leads from a memory and to it.
func relationsOf(in *stm.Memories, row *stm.Row) *op.RelationsOf {
	out := &op.RelationsOf{Outgoing: in.Relations(row)}
	if len(out.Outgoing) > openedRelations {
		out.Outgoing, out.Truncated = out.Outgoing[:openedRelations], true
	}
	var total int
	out.Incoming, total = in.RelationsTo(row.ID(), openedRelations)
	out.Truncated = out.Truncated || total > openedRelations
	return out
}

// relationsIn is relationsOf, nil when there are none.
func relationsIn(in *stm.Memories, row *stm.Row) *op.RelationsOf {
	out := relationsOf(in, row)
	if len(out.Outgoing)+len(out.Incoming) == 0 {
		return nil
	}
	return out
}
