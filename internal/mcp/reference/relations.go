package reference

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"emberd/internal/mcp/tool"
	"emberd/internal/refgraph"
	"emberd/memory"
	"emberd/op"
)

func createRelations(ctx context.Context, c *tool.Call, in *relationsIn) (*relationsOut, error) {
	if err := mentionEnds(ctx, c, in.Relations); err != nil {
		return nil, err
	}
	answers, err := relateAll(ctx, c, in.Relations)
	if err != nil {
		return nil, err
	}
	out := new(relationsOut)
	for i, a := range answers {
		if a.Error == nil {
			out.Relations = append(out.Relations, in.Relations[i])
		}
	}
	for i, a := range answers {
		if a.Error != nil && a.Error.Code != memory.Conflict { // a conflict is a relation that there is
			return nil, partly("relations", i, a.Error, len(out.Relations))
		}
	}
	return out, nil
}

// mentionEnds saves the names of entities at the ends of relations that do not exist.
func mentionEnds(ctx context.Context, c *tool.Call, relations []refgraph.Relation) error {
	var names []string
	for _, r := range relations {
		names = append(names, r.From, r.To)
	}
	there, err := openMany(ctx, c, entityIDs(names), false, false)
	if err != nil {
		return err
	}
	var items []op.SaveRequest
	for i, name := range names {
		if there[refgraph.ID(name)] != nil || slices.Contains(names[:i], name) {
			continue
		}
		req, err := refgraph.Mention(name)
		if err != nil {
			return inItem("relations", i/2, err)
		}
		items = append(items, *req)
	}
	answers, err := saveEntities(ctx, c, items)
	if err != nil {
		return err
	}
	for _, a := range answers {
		if a.Error != nil && a.Error.Code != memory.Conflict { // another caller has just created it
			return memory.Errorf(a.Error.Code, "%s", a.Error.Detail).At("relations")
		}
	}
	return nil
}

// relateAll relates under one journal entry and answers each in its place.
func relateAll(ctx context.Context, c *tool.Call, relations []refgraph.Relation) ([]op.RelateBatchAnswer, error) {
	var out []op.RelateBatchAnswer
	tx, first := "", takePlaces(len(relations))
	for some := range slices.Chunk(relations, op.MaxBatch) {
		req := &op.RelateBatchRequest{Tx: tx}
		for _, r := range some {
			place := map[string]json.RawMessage{}
			refgraph.Place(place, first+len(out)+len(req.Items))
			req.Items = append(req.Items, op.RelateRequest{From: string(refgraph.ID(r.From)),
				To: string(refgraph.ID(r.To)), Type: memory.Related, Kind: r.RelationType, Metadata: place})
		}
		res, err := op.RelateBatch.Call(ctx, c, req)
		if err != nil {
			return nil, err
		}
		out, tx = append(out, res.Results...), res.Tx
	}
	return out, nil
}

func deleteRelations(ctx context.Context, c *tool.Call, in *relationsIn) (*deletedOut, error) {
	var ids []string
	for _, r := range in.Relations {
		from, to := refgraph.ID(r.From), refgraph.ID(r.To)
		ids = append(ids, memory.RelationID(from, to, memory.Related, r.RelationType))
		if memory.CheckRelationType(r.RelationType) == nil { // as other tools make them
			ids = append(ids, memory.RelationID(from, to, r.RelationType, ""))
		}
	}
	if err := unrelate(ctx, c, ids); err != nil {
		return nil, err
	}
	return &deletedOut{Success: true, Message: "Relations deleted successfully"}, nil
}

// unrelate removes those of the relations that there are.
func unrelate(ctx context.Context, c *tool.Call, ids []string) error {
	for some := range slices.Chunk(ids, memory.MaxIDs) {
		if err := unrelateSome(ctx, c, some); err != nil {
			return err
		}
	}
	return nil
}

// unrelateSome removes relations all at once, or by halves where some are not there.
func unrelateSome(ctx context.Context, c *tool.Call, ids []string) error {
	_, err := op.Unrelate.Call(ctx, c, &op.UnrelateRequest{ID: strings.Join(ids, ",")})
	if code := memory.CodeOf(err); code != memory.NotFound && code != memory.Conflict {
		return err
	}
	if len(ids) == 1 {
		return nil
	}
	half := len(ids) / 2
	if err := unrelateSome(ctx, c, ids[:half]); err != nil {
		return err
	}
	return unrelateSome(ctx, c, ids[half:])
}
