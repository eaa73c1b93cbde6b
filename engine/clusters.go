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
	"emberd/stm"
)

// Bounds of clusterings, and what their answers show.
const (
	largestCluster  = 100
	listedClusters  = 20 // unless more are asked for
	previewLength   = 100
	clusterPreviews = 3
	strategy        = "similarity"
)

// gathering is the memories that are compared, and what was found among them.
type gathering struct {
	rows  []*stm.Row
	items []cluster.Item
	cluster.Grouping
}

// gather takes the memories that a clustering is about: those whose text is all there,
// in no note that decides about it. Core memories are only ever told to be similar, and
// what was superseded is not put together again with what took its place.
func (e *Engine) gather(core bool) *gathering {
	g := new(gathering)
	for r := range e.stm.Rows() {
		if r.Stage().Cold() || r.Promoted() || r.Has("text_digest") || r.Core() && !core || e.superseded(r) {
			continue
		}
		g.rows = append(g.rows, r)
		g.items = append(g.items, cluster.Item{ID: r.ID(), Group: r.Collection() + "\x00" + r.Project(), Text: r.Content()})
	}
	return g
}

// grouped gathers memories and groups them.
func (e *Engine) grouped(ctx context.Context, opt cluster.Options) (*gathering, error) {
	return e.group(ctx, e.gather(false), opt)
}

// keep leaves out what accept does not want.
func (g *gathering) keep(accept func(*stm.Row) bool) {
	n := 0
	for i, row := range g.rows {
		if accept(row) {
			g.rows[n], g.items[n] = row, g.items[i]
			n++
		}
	}
	g.rows, g.items = g.rows[:n], g.items[:n]
}

// group groups memories that were gathered.
func (e *Engine) group(ctx context.Context, g *gathering, opt cluster.Options) (*gathering, error) {
	with := opt
	with.Vectors = e.clusterVectors(ctx, g)
	var err error
	if g.Grouping, err = cluster.Find(ctx, e.text, g.items, with, telling(ctx)); err != nil {
		return nil, err
	}
	if err := e.listed.add(g.Clusters, foundBy{opt.Threshold, opt.MaxSize}); err != nil {
		e.opt.Logger.Warn("clusters may not be found by their ids after a restart", "err", err)
	}
	return g, nil
}

// telling reports how far a clustering is.
func telling(ctx context.Context) cluster.Progress {
	return func(done, total int) { op.Report(ctx, done, total) }
}

// clusters lists clusters of similar memories, or pairs of them.
func (e *Engine) clusters(ctx context.Context, req *op.ClustersRequest) (*op.ClustersResult, error) {
	usual := usualClusters(&e.opt)
	opt := cluster.Options{Threshold: cmp.Or(req.Threshold, usual.Threshold), MaxSize: cmp.Or(req.MaxClusterSize, usual.MaxSize)}
	pairs, limit := cmp.Or(req.DuplicateThreshold, e.opt.Duplicate, op.DuplicateThreshold), cmp.Or(req.Limit, listedClusters)
	err := firstError(
		checkStrategy(req.Strategy),
		memory.CheckRange("threshold", opt.Threshold, 0, 1),
		memory.CheckRange("max_cluster_size", float64(opt.MaxSize), 1, largestCluster),
		memory.CheckRange("duplicate_threshold", pairs, 0, 1),
		memory.CheckRange("limit", float64(limit), 1, memory.MaxResults),
	)
	if err != nil {
		return nil, err
	}
	if req.FindDuplicates {
		return e.duplicates(ctx, pairs, limit)
	}
	g, err := e.grouped(ctx, opt)
	if err != nil {
		return nil, err
	}
	res := &op.ClustersResult{Mode: op.ModeClustering, Strategy: strategy, Threshold: opt.Threshold, Memories: len(g.items), Found: len(g.Clusters)}
	for _, c := range g.Clusters[:min(limit, len(g.Clusters))] {
		res.Clusters = append(res.Clusters, g.shown(c))
	}
	res.Apart, res.ApartFound = g.pairs(g.Apart, limit), len(g.Apart)
	res.Compared = comparedBy(res)
	res.Message = fmt.Sprintf("Found %d clusters using %s strategy", res.Found, strategy)
	return res, nil
}

func checkStrategy(name string) error {
	if name != "" && name != strategy {
		return memory.Errorf(memory.Invalid, "strategy is %.20q; use similarity, which is the only one", name).At("strategy")
	}
	return nil
}

func (e *Engine) duplicates(ctx context.Context, threshold float64, limit int) (*op.ClustersResult, error) {
	g := e.gather(true)
	found, err := cluster.Pairs(ctx, e.text, g.items, cluster.Options{Threshold: threshold, Vectors: e.clusterVectors(ctx, g)}, telling(ctx))
	if err != nil {
		return nil, err
	}
	var same []cluster.Pair
	for _, p := range found {
		if p.Why == "" {
			same = append(same, p)
		} else {
			g.Apart = append(g.Apart, p)
		}
	}
	res := &op.ClustersResult{Mode: op.ModeDuplicates, Strategy: strategy, Threshold: threshold, Memories: len(g.items),
		Found: len(same), Pairs: g.pairs(same, limit), Apart: g.pairs(g.Apart, limit), ApartFound: len(g.Apart),
		Message: fmt.Sprintf("Found %d potential duplicate pairs", len(same))}
	res.Compared = comparedBy(res)
	return res, nil
}

// comparedBy is by what any of the pairs and clusters that are told were compared, "" for
// words.
func comparedBy(res *op.ClustersResult) string {
	vectors := slices.ContainsFunc(res.Clusters, func(c op.Cluster) bool { return c.Compared != "" })
	for _, pairs := range [][]op.SimilarPair{res.Pairs, res.Apart} {
		vectors = vectors || slices.ContainsFunc(pairs, func(p op.SimilarPair) bool { return p.Compared != "" })
	}
	return byVectors(vectors)
}

// byVectors is what an answer says of what was compared by vectors.
func byVectors(is bool) string {
	if is {
		return op.ComparedByVectors
	}
	return ""
}

func (g *gathering) shown(c cluster.Cluster) op.Cluster {
	out := op.Cluster{ID: c.ID, Size: len(c.Members), Cohesion: c.Cohesion, SuggestedAction: string(cluster.ActionFor(c.Cohesion)), Compared: byVectors(c.ByVectors)}
	for i, m := range c.Members {
		out.MemoryIDs = append(out.MemoryIDs, g.items[m].ID)
		if i < clusterPreviews {
			out.ContentPreviews = append(out.ContentPreviews, g.preview(m))
		}
	}
	return out
}

func (g *gathering) preview(i int) string { return similarity.Truncate(g.items[i].Text, previewLength) }

func (g *gathering) pairs(all []cluster.Pair, limit int) []op.SimilarPair {
	var out []op.SimilarPair
	for _, p := range all[:min(limit, len(all))] {
		out = append(out, op.SimilarPair{ID1: g.items[p.A].ID, ID2: g.items[p.B].ID, Content1Preview: g.preview(p.A),
			Content2Preview: g.preview(p.B), Similarity: p.Similarity, Compared: byVectors(p.ByVectors), Why: p.Why})
	}
	return out
}

// clusterOf finds a cluster again. It is an error of code Conflict if somebody was told of it
// and its members are not the same any more.
func (e *Engine) clusterOf(ctx context.Context, id string) (*gathering, cluster.Cluster, error) {
	how, known := e.listed.options(id)
	if !known {
		how = usualClusters(&e.opt)
	}
	g, err := e.grouped(ctx, cluster.Options{Threshold: how.Threshold, MaxSize: how.MaxSize})
	if err != nil {
		return nil, cluster.Cluster{}, err
	}
	i := slices.IndexFunc(g.Clusters, func(c cluster.Cluster) bool { return c.ID == id })
	switch {
	case i >= 0:
		return g, g.Clusters[i], nil
	case known:
		err = memory.Errorf(memory.Conflict, "the cluster %s was merged or has other members by now, so that nothing was changed; list the clusters again", id).At("cluster_id")
	default:
		err = memory.Errorf(memory.NotFound, "there is no cluster %.40q, or its members have changed; list the clusters again", id).At("cluster_id")
	}
	return nil, cluster.Cluster{}, err
}
