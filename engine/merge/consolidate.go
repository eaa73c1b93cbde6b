package merge

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"emberd/engine/core"
	"emberd/internal/dedupe"
	"emberd/internal/dedupe/similarity"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const mergedPreview = 200 // in characters

// Consolidate merges or links a cluster, or all clusters above a cohesion, or returns what a
// merge would create.
func (e *Merge) Consolidate(ctx context.Context, req *op.ConsolidateRequest) (*op.ConsolidateResult, error) {
	mode, limit := cmp.Or(req.Mode, op.ModePreview), cmp.Or(req.Limit, listedClusters)
	if err := e.checkConsolidate(req, mode, limit); err != nil {
		return nil, err
	}
	g, chosen, err := e.toConsolidate(ctx, req)
	if err != nil {
		return nil, err
	}
	c := consolidation{e: e, res: op.ConsolidateResult{Mode: mode, AutoDetect: req.AutoDetect, Found: len(chosen)}}
	runs, err := e.MergesOf(g, chosen[:min(limit, len(chosen))], op.CallerFrom(ctx))
	if err == nil {
		err = c.all(ctx, runs, 2*len(g.Items))
	}
	if err != nil {
		return nil, err
	}
	c.finish()
	return &c.res, nil
}

// MergesOf returns the merges of clusters.
func (e *Merge) MergesOf(g *ClusterInput, clusters []dedupe.Cluster, by memory.Actor) ([]*MergeRun, error) {
	runs := make([]*MergeRun, len(clusters))
	for i, one := range clusters {
		rows := make([]*stm.Row, len(one.Members))
		for k, member := range one.Members {
			rows[k] = g.Rows[member]
		}
		var err error
		if runs[i], err = e.NewMerge(rows, one.Cohesion, by); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// A consolidation merges, links or previews clusters, as one change.
type consolidation struct {
	e   *Merge
	res op.ConsolidateResult
}

// all runs the merges. It returns an error if nothing was done, and stops early after a
// cancellation. found is the progress reported before.
func (c *consolidation) all(ctx context.Context, runs []*MergeRun, found int) error {
	for i, m := range runs {
		op.Report(ctx, found+i, found+len(runs))
		if c.res.Mode == op.ModeApply && i%MaxMergedAhead == 0 {
			c.e.KeepMergesAhead(ctx, runs[i:min(i+MaxMergedAhead, len(runs))])
		}
		err := context.Cause(ctx)
		if err == nil {
			err = c.one(ctx, m)
		}
		switch {
		case err == nil:
		case ctx.Err() != nil && c.res.Tx != "": // the caller can undo the part that was done
			return nil
		case ctx.Err() != nil || !c.res.AutoDetect:
			return err
		default:
			c.res.Refused = append(c.res.Refused, op.RefusedCluster{ClusterID: m.clusterID(), Reason: err.Error()})
		}
	}
	return nil
}

func (e *Merge) checkConsolidate(req *op.ConsolidateRequest, mode string, limit int) error {
	switch {
	case !slices.Contains([]string{op.ModePreview, op.ModeApply, op.ModeLink}, mode):
		return memory.Errorf(memory.Invalid, "invalid mode %.20q; use preview, apply or link", mode).At("mode")
	case req.ClusterID == "" && !req.AutoDetect:
		return memory.Errorf(memory.Invalid,
			"missing cluster_id; copy an ID from the list of groups, or set auto_detect").At("cluster_id")
	case req.ClusterID != "" && req.AutoDetect:
		return memory.Errorf(memory.Invalid, "cluster_id and auto_detect cannot be combined").At("cluster_id")
	}
	err := core.FirstError(
		memory.CheckRange("cohesion_threshold", core.ValueOr(req.CohesionThreshold, op.CohesionThreshold), 0, 1),
		memory.CheckRange("limit", float64(limit), 1, memory.MaxResults),
	)
	if err == nil && mode == op.ModeApply {
		err = e.Notes.NeedVault()
	}
	return err
}

// toConsolidate returns the clusters of a request. For a lower cohesion than that of reported
// clusters, it links members at a lower similarity.
func (e *Merge) toConsolidate(ctx context.Context,
	req *op.ConsolidateRequest) (*ClusterInput, []dedupe.Cluster, error) {
	if !req.AutoDetect {
		g, one, err := e.clusterOf(ctx, req.ClusterID)
		return g, []dedupe.Cluster{one}, err
	}
	least := core.ValueOr(req.CohesionThreshold, op.CohesionThreshold)
	g, err := e.grouped(ctx, dedupe.Options{Threshold: min(max(least, MinLinked), op.ClusterThreshold),
		MaxSize: op.MaxClusterSize})
	if err != nil {
		return nil, nil, err
	}
	return g, slices.DeleteFunc(g.Clusters, func(c dedupe.Cluster) bool { return c.Cohesion < least }), nil
}

// MinLinked is the similarity below which CortexGraph does not link memories.
const MinLinked = 0.40

// clusterID returns the ID of the cluster of the parts.
func (m *MergeRun) clusterID() string { return dedupe.IDOf(m.Parts()) }

func (c *consolidation) one(ctx context.Context, m *MergeRun) error {
	switch c.res.Mode {
	case op.ModeApply:
		receipt, err := m.Apply(ctx, core.ConsolidateVerb, c.res.Tx)
		if err == nil {
			c.res.Tx = receipt.Entry
			c.res.Merged = append(c.res.Merged, m.Result())
		}
		return err
	case op.ModeLink:
		return c.link(ctx, m)
	}
	return c.preview(m)
}

// Result returns the result of an applied merge.
func (m *MergeRun) Result() op.MergedCluster {
	return op.MergedCluster{ClusterID: m.clusterID(), NewMemoryID: m.Plan.Into, SourceIDs: m.Parts(),
		RelationIDs: m.Plan.Sources()}
}

// preview adds what a merge would create.
func (c *consolidation) preview(m *MergeRun) error {
	p := op.MergePreview{ClusterID: m.clusterID(), Cohesion: m.Rules.Cohesion, MemoryCount: len(m.Rows),
		MemoryIDs: m.Parts()}
	plan, err := m.planOf(m.Rows)
	if err != nil {
		p.Refused = err.Error()
	}
	if plan != nil {
		merged := &plan.Memory
		p.MergedContentPreview, p.MergedEntities = similarity.Truncate(merged.Content, mergedPreview), merged.Entities
		p.MergedTags, p.CalculatedStrength = merged.Tags, merged.Strength
	}
	c.res.Previews = append(c.res.Previews, p)
	return nil
}

// finish describes the result in a sentence.
func (c *consolidation) finish() {
	res := &c.res
	memories, relations := 0, 0
	for _, m := range res.Merged {
		memories += len(m.SourceIDs)
	}
	for _, l := range res.Linked {
		memories, relations = memories+len(l.MemoryIDs), relations+l.Pairs()
	}
	switch {
	case res.Mode == op.ModePreview:
		res.Message = "Found " + core.NumberOf(res.Found, "group", "groups") + " to consolidate"
	case res.Mode == op.ModeLink:
		res.Message = "Created " + core.NumberOf(relations, "bidirectional relation", "bidirectional relations") +
			" linking " + core.NumberOf(memories, "memory", "memories")
	case len(res.Merged) == 1:
		res.Message = fmt.Sprintf("Merged %d memories into %s", memories, res.Merged[0].NewMemoryID)
	default:
		res.Message = fmt.Sprintf("Merged %d memories into %d memories", memories, len(res.Merged))
	}
	if n := len(res.Refused); n > 0 {
		res.Message += fmt.Sprintf("; groups not merged: %d", n)
	}
	if done := len(res.Previews) + len(res.Merged) + len(res.Linked) + len(res.Refused); done < res.Found {
		res.Message += fmt.Sprintf("; remaining groups: %d; repeat the request", res.Found-done)
	}
}
