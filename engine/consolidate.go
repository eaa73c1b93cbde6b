package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"emberd/internal/cluster"
	"emberd/internal/similarity"
	"emberd/memory"
	"emberd/op"
)

// consolidateVerb is the journal's word for a merge, linkVerb for relations between the
// members of a cluster.
const (
	consolidateVerb = "consolidate"
	linkVerb        = "link"
)

const mergedPreview = 200 // characters

// consolidate merges or links a cluster, or all that are cohesive enough, or tells what
// that would come to.
func (e *Engine) consolidate(ctx context.Context, req *op.ConsolidateRequest) (*op.ConsolidateResult, error) {
	mode, limit := cmp.Or(req.Mode, op.ModePreview), cmp.Or(req.Limit, listedClusters)
	if err := e.checkConsolidate(req, mode, limit); err != nil {
		return nil, err
	}
	g, chosen, err := e.toConsolidate(ctx, req)
	if err != nil {
		return nil, err
	}
	c := consolidating{e: e, g: g, by: op.CallerFrom(ctx)}
	c.res = op.ConsolidateResult{Mode: mode, AutoDetect: req.AutoDetect, Found: len(chosen)}
	if err := c.all(ctx, mode, chosen[:min(limit, len(chosen))]); err != nil {
		return nil, err
	}
	c.finish()
	return &c.res, nil
}

// all is an error if nothing was done, and ends early when nobody waits any more.
func (c *consolidating) all(ctx context.Context, mode string, chosen []cluster.Cluster) error {
	found := 2 * len(c.g.items) // what finding them told
	for i, one := range chosen {
		op.Report(ctx, found+i, found+len(chosen))
		if mode == op.ModeApply && i%mergedAtOnce == 0 {
			c.made = c.e.keepParts(ctx, c.g, chosen[i:])
		}
		err := context.Cause(ctx)
		if err == nil {
			err = c.one(ctx, mode, one)
		}
		switch {
		case err == nil:
		case ctx.Err() != nil && c.res.Tx != "": // what was done can be undone by that
			return nil
		case ctx.Err() != nil || !c.res.AutoDetect:
			return err
		default:
			c.res.Refused = append(c.res.Refused, op.RefusedCluster{ClusterID: one.ID, Reason: err.Error()})
		}
	}
	return nil
}

func (e *Engine) checkConsolidate(req *op.ConsolidateRequest, mode string, limit int) error {
	switch {
	case !slices.Contains([]string{op.ModePreview, op.ModeApply, op.ModeLink}, mode):
		return memory.Errorf(memory.Invalid, "mode is %.20q; use preview, apply or link", mode).At("mode")
	case req.ClusterID == "" && !req.AutoDetect:
		return memory.Errorf(memory.Invalid, "cluster_id is missing; copy one from the clusters, or set auto_detect").At("cluster_id")
	case req.ClusterID != "" && req.AutoDetect:
		return memory.Errorf(memory.Invalid, "cluster_id and auto_detect exclude each other; leave one out").At("cluster_id")
	}
	err := firstError(
		memory.CheckRange("cohesion_threshold", valueOr(req.CohesionThreshold, op.CohesionThreshold), 0, 1),
		memory.CheckRange("limit", float64(limit), 1, memory.MaxResults),
	)
	if err == nil && mode == op.ModeApply {
		err = e.needVault()
	}
	return err
}

// toConsolidate chooses the clusters that a request is about. To find those that are less
// cohesive than clusters are by themselves, the members are linked at less.
func (e *Engine) toConsolidate(ctx context.Context, req *op.ConsolidateRequest) (*gathering, []cluster.Cluster, error) {
	if !req.AutoDetect {
		g, one, err := e.clusterOf(ctx, req.ClusterID)
		return g, []cluster.Cluster{one}, err
	}
	least := valueOr(req.CohesionThreshold, op.CohesionThreshold)
	g, err := e.grouped(ctx, cluster.Options{Threshold: min(max(least, leastLinked), op.ClusterThreshold), MaxSize: op.MaxClusterSize})
	if err != nil {
		return nil, nil, err
	}
	return g, slices.DeleteFunc(g.Clusters, func(c cluster.Cluster) bool { return c.Cohesion < least }), nil
}

// leastLinked is the similarity below which CortexGraph does not even link memories.
const leastLinked = 0.40

// consolidating is one run.
type consolidating struct {
	e       *Engine
	g       *gathering
	by      memory.Actor
	answers *memory.ReviewItem   // that a merge closes, see [merger]
	made    map[memory.ID]string // notes of members, see [archiver]
	res     op.ConsolidateResult
}

func (c *consolidating) one(ctx context.Context, mode string, one cluster.Cluster) error {
	switch mode {
	case op.ModeApply:
		return c.apply(ctx, one)
	case op.ModeLink:
		return c.link(ctx, one)
	}
	return c.preview(one)
}

// preview tells what a merge would make.
func (c *consolidating) preview(one cluster.Cluster) error {
	members, err := c.g.memories(one)
	if err != nil {
		return err
	}
	merged, err := cluster.Merge(members, one.Cohesion)
	p := op.MergePreview{ClusterID: one.ID, Cohesion: one.Cohesion, MemoryCount: len(members), MemoryIDs: c.ids(one),
		MergedContentPreview: similarity.Truncate(merged.Content, mergedPreview), MergedEntities: merged.Entities,
		MergedTags: merged.Tags, CalculatedStrength: merged.Strength}
	if err != nil {
		p.Refused = err.Error()
	}
	c.res.Previews = append(c.res.Previews, p)
	return nil
}

func (c *consolidating) ids(one cluster.Cluster) []memory.ID { return c.g.ids(one) }

// finish says in a sentence what was done.
func (c *consolidating) finish() {
	res := &c.res
	memories, relations := 0, 0
	for _, m := range res.Merged {
		memories += len(m.SourceIDs)
	}
	for _, l := range res.Linked {
		memories, relations = memories+len(l.MemoryIDs), relations+len(l.RelationIDs)
	}
	switch {
	case res.Mode == op.ModePreview && res.Found == 1:
		res.Message = "Found 1 cluster to consolidate"
	case res.Mode == op.ModePreview:
		res.Message = fmt.Sprintf("Found %d clusters to consolidate", res.Found)
	case res.Mode == op.ModeLink:
		res.Message = fmt.Sprintf("Created %d bidirectional relations linking %d memories", relations, memories)
	case len(res.Merged) == 1:
		res.Message = fmt.Sprintf("Merged %d memories into %s", memories, res.Merged[0].NewMemoryID)
	default:
		res.Message = fmt.Sprintf("Merged %d memories into %d", memories, len(res.Merged))
	}
	if n := len(res.Refused); n > 0 {
		res.Message += fmt.Sprintf("; not merged: %d", n)
	}
	if done := len(res.Previews) + len(res.Merged) + len(res.Linked) + len(res.Refused); done < res.Found {
		res.Message += fmt.Sprintf("; %d more left, ask again", res.Found-done)
	}
}
