package api

import (
	"context"
	"strings"
	"time"

	"emberd/memory"
	"emberd/op"
)

// The shelf keeps no relations: it answers as if one had just been made.
func (s *shelf) addGraphVerbs(add func(*op.Spec, op.Handler)) {
	add(op.Relate.Handle(s.relate))
	add(op.RelateBatch.Handle(s.relateBatch))
	add(op.Unrelate.Handle(s.unrelate))
	add(op.Graph.Handle(s.graph))
	add(op.OpenMany.Handle(s.openMany))
	add(op.ForgetBatch.Handle(s.forgetBatch))
}

func related(from, to, kind string) memory.Relation {
	r := memory.Relation{From: memory.ID(from), To: memory.ID(to), Type: memory.Related, Kind: kind, Strength: 1, CreatedAt: time.UnixMilli(0).UTC()}
	r.ID = memory.RelationID(r.From, r.To, r.Type, r.Kind)
	return r
}

func (s *shelf) relate(_ context.Context, req *op.RelateRequest) (*op.RelateResult, error) {
	return &op.RelateResult{Relation: related(req.From, req.To, req.Kind), Tx: "a"}, nil
}

func (s *shelf) relateBatch(_ context.Context, req *op.RelateBatchRequest) (*op.RelateBatchResult, error) {
	res := &op.RelateBatchResult{Tx: "a"}
	for _, it := range req.Items {
		res.Results = append(res.Results, op.RelateBatchAnswer{ID: related(it.From, it.To, it.Kind).ID})
	}
	return res, nil
}

func (s *shelf) unrelate(_ context.Context, req *op.UnrelateRequest) (*op.UnrelateResult, error) {
	return &op.UnrelateResult{Removed: []memory.Relation{related(req.ID, req.ID, "")}, Tx: "a"}, nil
}

func (s *shelf) graph(_ context.Context, req *op.GraphRequest) (*op.GraphResult, error) {
	return &op.GraphResult{Stats: op.GraphStats{StatusFilter: req.Status}, Pagination: op.Pagination{Page: 1, PageSize: 10}}, nil
}

func (s *shelf) openMany(_ context.Context, req *op.OpenManyRequest) (*op.OpenManyResult, error) {
	res := &op.OpenManyResult{}
	for _, text := range req.IDs {
		if m, err := s.find(text); err == nil {
			res.Memories = append(res.Memories, op.OpenedMemory{Memory: *m, Relations: new(op.RelationsOf)})
			continue
		}
		res.NotFound = append(res.NotFound, text)
	}
	return res, nil
}

func (s *shelf) forgetBatch(ctx context.Context, req *op.ForgetBatchRequest) (*op.ForgetResult, error) {
	return s.forget(ctx, &op.ForgetRequest{ID: strings.Join(req.IDs, ","), DryRun: req.DryRun})
}
