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
// as they were found. What names no live memory is listed; an id that fits several is
// an error.
func (e *Engine) openMany(_ context.Context, req *op.OpenManyRequest) (*op.OpenManyResult, error) {
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
	now := e.opt.Now()
	res := &op.OpenManyResult{Memories: make([]op.OpenedMemory, 0, len(rows)), NotFound: missing}
	for _, row := range rows {
		m, err := e.view(row, now)
		if err != nil {
			return nil, err
		}
		opened := op.OpenedMemory{Memory: m}
		if valueOrTrue(req.Relations) {
			opened.Relations = e.relationsOf(row)
		}
		res.Memories = append(res.Memories, opened)
	}
	if valueOrTrue(req.Track) {
		for _, row := range rows {
			e.used(row, now)
		}
	}
	return res, nil
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
func (e *Engine) relationsOf(row *stm.Row) *op.RelationsOf {
	out := &op.RelationsOf{Outgoing: e.stm.Relations(row)}
	if len(out.Outgoing) > openedRelations {
		out.Outgoing, out.Truncated = out.Outgoing[:openedRelations], true
	}
	var total int
	out.Incoming, total = e.stm.RelationsTo(row.ID(), openedRelations)
	out.Truncated = out.Truncated || total > openedRelations
	return out
}
