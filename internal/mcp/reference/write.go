package reference

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"emberd/internal/mcp/tool"
	"emberd/internal/refgraph"
	"emberd/memory"
	"emberd/op"
)

func createEntities(ctx context.Context, c *tool.Call, in *createEntitiesIn) (*entitiesOut, error) {
	items, now, first := make([]op.SaveRequest, len(in.Entities)), time.Now(), takePlaces(len(in.Entities))
	for i := range in.Entities {
		req, err := in.Entities[i].Save()
		if err != nil {
			return nil, inItem("entities", i, err)
		}
		refgraph.Stamp(req.Meta, now, first+i)
		items[i] = *req
	}
	answers, err := saveEntities(ctx, c, items)
	if err != nil {
		return nil, err
	}
	if err := createMentioned(ctx, c, in.Entities, func(i int, e *refgraph.Entity) *op.EditRequest {
		return e.Created(now, first+i)
	}, answers); err != nil {
		return nil, err
	}
	out := new(entitiesOut)
	for i, a := range answers {
		if isNew(a) {
			out.Entities = append(out.Entities, in.Entities[i])
		}
	}
	for i, a := range answers {
		if a.Error != nil && a.Error.Code != memory.Conflict { // a conflict is a name that is taken
			return nil, partly("entities", i, a.Error, len(out.Entities))
		}
	}
	return out, nil
}

// places is the number of entities and relations that this process was asked to create.
var places atomic.Int64

// takePlaces returns the first of n places, which order what several calls create within a millisecond.
func takePlaces(n int) int { return int(places.Add(int64(n))) - n }

func isNew(a op.SaveBatchAnswer) bool { return a.Error == nil && !a.Replayed }

// saveEntities saves entities and mentions, also those whose names belonged to entities that were deleted.
func saveEntities(ctx context.Context, c *tool.Call, items []op.SaveRequest) ([]op.SaveBatchAnswer, error) {
	answers, err := saveAll(ctx, c, items)
	if err != nil {
		return nil, err
	}
	return answers, saveAgain(ctx, c, items, answers)
}

// createMentioned makes entities of those whose names were in relations only, and answers that they are new.
func createMentioned(ctx context.Context, c *tool.Call, list []refgraph.Entity,
	created func(i int, e *refgraph.Entity) *op.EditRequest, answers []op.SaveBatchAnswer) error {
	if !slices.ContainsFunc(answers, isTaken) {
		return nil
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name)
	}
	there, err := openMany(ctx, c, entityIDs(names), false, false)
	if err != nil {
		return err
	}
	for i := range list {
		m := there[refgraph.ID(names[i])]
		if m == nil || !refgraph.Mentioned(&m.Memory.Memory) {
			continue
		}
		req := created(i, &list[i])
		req.ID, req.IfMatch = string(m.ID), m.Rev
		_, err := op.Edit.Call(ctx, c, req)
		if e, ok := errors.AsType[*memory.Error](err); ok && e.Code == memory.Conflict && e.Current != "" {
			continue // another caller, or an earlier item, has just created it
		}
		if err != nil {
			return inItem("entities", i, err)
		}
		answers[i] = op.SaveBatchAnswer{ID: m.ID}
	}
	return nil
}

func isTaken(a op.SaveBatchAnswer) bool {
	return a.Replayed || a.Error != nil && a.Error.Code == memory.Conflict
}

// requestBytes keeps a request below what the daemon's socket takes, which is 4 MiB, also
// if every character has to be escaped.
const requestBytes = 1 << 20

// saveAll saves under one journal entry and answers each in its place.
func saveAll(ctx context.Context, c *tool.Call, items []op.SaveRequest) ([]op.SaveBatchAnswer, error) {
	var out []op.SaveBatchAnswer
	tx := ""
	for len(items) > 0 {
		n, size := 0, 0
		for n < len(items) && n < op.MaxBatch && (n == 0 || size+len(items[n].Content) <= requestBytes) {
			size += len(items[n].Content)
			n++
		}
		res, err := op.SaveBatch.Call(ctx, c, &op.SaveBatchRequest{Tx: tx, Items: items[:n]})
		if err != nil {
			return nil, err
		}
		out, tx, items = append(out, res.Results...), res.Tx, items[n:]
	}
	return out, nil
}

// saveAgain saves those whose names belonged to entities that were deleted. Relations of
// that time, which would show again now that both ends are there, go for good.
func saveAgain(ctx context.Context, c *tool.Call, items []op.SaveRequest, answers []op.SaveBatchAnswer) error {
	var again []op.SaveRequest
	var at []int
	for i, a := range answers {
		if a.Error != nil && a.Error.Code == memory.Forgotten {
			items[i].Again = true
			again, at = append(again, items[i]), append(at, i)
		}
	}
	if len(again) == 0 {
		return nil
	}
	found, err := saveAll(ctx, c, again)
	if err != nil {
		return err
	}
	var ids []memory.ID
	for i, a := range found {
		answers[at[i]] = a
		if a.Error == nil && !a.Replayed {
			ids = append(ids, a.ID)
		}
	}
	there, err := openMany(ctx, c, ids, true, false)
	if err != nil {
		return err
	}
	var old []string
	for _, id := range ids {
		if m := there[id]; m != nil {
			for _, r := range slices.Concat(m.Relations.Outgoing, m.Relations.Incoming) {
				old = append(old, r.ID)
			}
		}
	}
	return unrelate(ctx, c, old)
}

// inItem says of an error which item of a parameter it is about.
func inItem(param string, i int, err error) error {
	e, ok := errors.AsType[*memory.Error](err)
	if !ok {
		return err
	}
	return memory.Errorf(e.Code, "%s[%d]: %s", param, i, e.Message).At(param)
}

// partly returns the error of a call of which something was done nevertheless.
func partly(param string, i int, p *op.Problem, done int) error {
	rest := ""
	if done > 0 {
		rest = fmt.Sprintf("; of the others, %d were made", done)
	}
	return memory.Errorf(p.Code, "%s[%d]: %s%s", param, i, p.Detail, rest).At(param)
}

func addObservations(ctx context.Context, c *tool.Call, in *addObservationsIn) (*addObservationsOut, error) {
	var names []string
	for _, a := range in.Observations {
		names = append(names, a.EntityName)
	}
	if _, err := needEntities(ctx, c, names); err != nil {
		return nil, err
	}
	out := new(addObservationsOut)
	for i, a := range in.Observations {
		var fresh []string
		err := rewrite(ctx, c, a.EntityName, func(content string) string {
			known := refgraph.Observations(a.EntityName, content)
			fresh = slices.DeleteFunc(slices.Clone(a.Contents),
				func(text string) bool { return slices.Contains(known, text) })
			return refgraph.Add(content, fresh)
		})
		if err != nil {
			return nil, partlyEdited("observations", i, err)
		}
		out.Results = append(out.Results, added{EntityName: a.EntityName, AddedObservations: fresh})
	}
	return out, nil
}

// rewrite changes the content of an entity's memory, which others may change at the same
// time: then it is done again on what they made of it.
func rewrite(ctx context.Context, c *tool.Call, name string, change func(content string) string) error {
	for {
		there, err := needEntities(ctx, c, []string{name})
		if err != nil {
			return err
		}
		m, err := warm(ctx, c, &there[refgraph.ID(name)].Memory)
		if err != nil {
			return err
		}
		if refgraph.Shortened(&m.Memory) {
			return memory.Errorf(memory.Conflict, "the observations of %s are in a note that no longer exists, and "+
				"cannot be changed; to look for them, run: emberd rekindle %s", name, m.ID.Short())
		}
		content := change(m.Content)
		if content == m.Content {
			return nil
		}
		_, err = op.Edit.Call(ctx, c, &op.EditRequest{ID: string(m.ID), IfMatch: m.Rev, Content: &content})
		if e, ok := errors.AsType[*memory.Error](err); !ok || e.Code != memory.Conflict || e.Current == "" {
			return err
		}
	}
}

// partlyEdited says of an error what else was done.
func partlyEdited(param string, i int, err error) error {
	if e, ok := errors.AsType[*memory.Error](err); ok && i > 0 {
		return memory.Errorf(e.Code, "%s[%d]: %s; the items before it were saved", param, i, e.Message).At(param)
	}
	return inItem(param, i, err)
}

func deleteEntities(ctx context.Context, c *tool.Call, in *deleteEntitiesIn) (*deletedOut, error) {
	for some := range slices.Chunk(entityIDs(in.EntityNames), op.MaxBatch) {
		if err := forget(ctx, c, some); err != nil {
			return nil, err
		}
	}
	return &deletedOut{Success: true, Message: "Entities deleted successfully"}, nil
}

// forget moves those of the memories that exist to the trash.
func forget(ctx context.Context, c *tool.Call, ids []memory.ID) error {
	for {
		there, err := openMany(ctx, c, ids, false, false)
		if err != nil {
			return err
		}
		req := new(op.ForgetBatchRequest)
		for _, id := range ids {
			if there[id] != nil {
				req.IDs = append(req.IDs, string(id))
			}
		}
		if len(req.IDs) == 0 {
			return nil
		}
		res, err := op.ForgetBatch.Call(ctx, c, req)
		if memory.CodeOf(err) == memory.NotFound {
			continue // another caller has just deleted one of them
		}
		if err == nil && res.Error != nil {
			err = memory.Errorf(res.Error.Code, "%d of %d entities were deleted: %s", len(res.Forgotten), len(req.IDs),
				res.Error.Detail)
		}
		return err
	}
}

func deleteObservations(ctx context.Context, c *tool.Call, in *deleteObservationsIn) (*deletedOut, error) {
	for i, d := range in.Deletions {
		err := rewrite(ctx, c, d.EntityName, func(content string) string {
			return refgraph.Remove(d.EntityName, content, d.Observations)
		})
		if err != nil && memory.CodeOf(err) != memory.NotFound {
			return nil, partlyEdited("deletions", i, err)
		}
	}
	return &deletedOut{Success: true, Message: "Observations deleted successfully"}, nil
}
