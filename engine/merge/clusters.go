package merge

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"

	"emberd/engine/core"
	"emberd/internal/dedupe"
	"emberd/internal/dedupe/similarity"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Limits of clusterings and their answers.
const (
	MaxClusterSize  = 100
	listedClusters  = 20 // default limit
	previewLength   = 100
	clusterPreviews = 3
	strategy        = "similarity"
)

// ClusterInput is the memories that are compared, and the result.
type ClusterInput struct {
	Rows  []*stm.Row
	Items []dedupe.Item
	dedupe.Grouping
}

// Gather returns the memories to cluster: those with their whole text in the log and without a
// note that decides it. Core memories are only reported as similar, so they need core.
// Superseded memories are left out.
func (e *Merge) Gather(core bool) *ClusterInput {
	return e.gather(e.Stm.Rows(), func(r *stm.Row) bool { return !r.Promoted() && (core || !r.Core()) })
}

// GatherOf is Gather of some memories, without core memories.
func (e *Merge) GatherOf(rows []*stm.Row) *ClusterInput {
	return e.gather(slices.Values(rows), func(r *stm.Row) bool { return !r.Promoted() && !r.Core() })
}

// StatementsOf returns those of some memories that can contradict each other: those of GatherOf, and those with a note,
// since no note decides which of two statements is true.
func (e *Merge) StatementsOf(rows []*stm.Row) *ClusterInput {
	return e.gather(slices.Values(rows), func(r *stm.Row) bool { return !r.Core() })
}

func (e *Merge) gather(rows iter.Seq[*stm.Row], accept func(*stm.Row) bool) *ClusterInput {
	g := new(ClusterInput)
	for r := range rows {
		if r.Stage().Cold() || r.Has("text_digest") || !accept(r) || e.Superseded(r) {
			continue
		}
		g.Rows = append(g.Rows, r)
		g.Items = append(g.Items, dedupe.Item{ID: r.ID(), Group: r.Collection() + "\x00" + r.Project(),
			Text: r.Content()})
	}
	return g
}

// grouped gathers memories and groups them.
func (e *Merge) grouped(ctx context.Context, opt dedupe.Options) (*ClusterInput, error) {
	return e.Group(ctx, e.Gather(false), opt)
}

// Keep removes the memories that accept refuses.
func (g *ClusterInput) Keep(accept func(*stm.Row) bool) {
	n := 0
	for i, row := range g.Rows {
		if accept(row) {
			g.Rows[n], g.Items[n] = row, g.Items[i]
			n++
		}
	}
	g.Rows, g.Items = g.Rows[:n], g.Items[:n]
}

// Group groups the gathered memories.
func (e *Merge) Group(ctx context.Context, g *ClusterInput, opt dedupe.Options) (*ClusterInput, error) {
	with := opt
	with.Vectors = e.ClusterVectors(ctx, g)
	var err error
	if g.Grouping, err = dedupe.Find(ctx, e.Text, g.Items, with, ClusterProgress(ctx)); err != nil {
		return nil, err
	}
	if err := e.Reported.add(g.Clusters, clusterOptions{opt.Threshold, opt.MaxSize}); err != nil {
		e.Opt.Logger.Warn("group IDs might not be available after a restart", "err", err)
	}
	return g, nil
}

// ClusterProgress reports the progress of a clustering to the caller.
func ClusterProgress(ctx context.Context) dedupe.Progress {
	return func(done, total int) { op.Report(ctx, done, total) }
}

// Clusters returns clusters of similar memories, or pairs of them.
func (e *Merge) Clusters(ctx context.Context, req *op.ClustersRequest) (*op.ClustersResult, error) {
	usual := usualClusters(&e.Opt)
	opt := dedupe.Options{Threshold: cmp.Or(req.Threshold, usual.Threshold),
		MaxSize: cmp.Or(req.MaxClusterSize, usual.MaxSize)}
	pairs, limit := cmp.Or(req.DuplicateThreshold, e.Opt.Duplicate, op.DuplicateThreshold),
		cmp.Or(req.Limit, listedClusters)
	err := core.FirstError(
		checkStrategy(req.Strategy),
		memory.CheckRange("threshold", opt.Threshold, 0, 1),
		memory.CheckRange("max_cluster_size", float64(opt.MaxSize), 1, MaxClusterSize),
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
	res := &op.ClustersResult{Mode: op.ModeClustering, Strategy: strategy, Threshold: opt.Threshold,
		Memories: len(g.Items), Found: len(g.Clusters)}
	for _, c := range g.Clusters[:min(limit, len(g.Clusters))] {
		res.Clusters = append(res.Clusters, g.shown(c))
	}
	res.Apart, res.ApartFound = g.pairs(g.Apart, limit), len(g.Apart)
	res.Compared = comparedBy(res)
	res.Message = "Found " + core.NumberOf(res.Found, "cluster", "clusters") + " using " + strategy + " strategy"
	return res, nil
}

func checkStrategy(name string) error {
	if name != "" && name != strategy {
		return memory.Errorf(memory.Invalid, "invalid strategy %.20q; use similarity", name).At("strategy")
	}
	return nil
}

func (e *Merge) duplicates(ctx context.Context, threshold float64, limit int) (*op.ClustersResult, error) {
	g := e.Gather(true)
	opt := dedupe.Options{Threshold: threshold, Vectors: e.ClusterVectors(ctx, g)}
	found, err := dedupe.Pairs(ctx, e.Text, g.Items, opt, ClusterProgress(ctx))
	if err != nil {
		return nil, err
	}
	var same []dedupe.Pair
	for _, p := range found {
		if p.Why == "" {
			same = append(same, p)
		} else {
			g.Apart = append(g.Apart, p)
		}
	}
	res := &op.ClustersResult{Mode: op.ModeDuplicates, Strategy: strategy, Threshold: threshold, Memories: len(g.Items),
		Found: len(same), Pairs: g.pairs(same, limit), Apart: g.pairs(g.Apart, limit), ApartFound: len(g.Apart),
		Message: "Found " + core.NumberOf(len(same), "potential duplicate pair", "potential duplicate pairs")}
	res.Compared = comparedBy(res)
	return res, nil
}

// comparedBy returns the method by which any of the pairs and clusters were compared, "" for
// words.
func comparedBy(res *op.ClustersResult) string {
	vectors := slices.ContainsFunc(res.Clusters, func(c op.Cluster) bool { return c.Compared != "" })
	for _, pairs := range [][]op.SimilarPair{res.Pairs, res.Apart} {
		vectors = vectors || slices.ContainsFunc(pairs, func(p op.SimilarPair) bool { return p.Compared != "" })
	}
	return core.ByVectors(vectors)
}

func (g *ClusterInput) shown(c dedupe.Cluster) op.Cluster {
	out := op.Cluster{ID: c.ID, Size: len(c.Members), Cohesion: c.Cohesion,
		SuggestedAction: string(dedupe.ListLadder().For(c.Cohesion)), Compared: core.ByVectors(c.ByVectors)}
	for i, m := range c.Members {
		out.MemoryIDs = append(out.MemoryIDs, g.Items[m].ID)
		if i < clusterPreviews {
			out.ContentPreviews = append(out.ContentPreviews, g.preview(m))
		}
	}
	return out
}

func (g *ClusterInput) preview(i int) string {
	return similarity.Truncate(g.Items[i].Text, previewLength)
}

func (g *ClusterInput) pairs(all []dedupe.Pair, limit int) []op.SimilarPair {
	var out []op.SimilarPair
	for _, p := range all[:min(limit, len(all))] {
		out = append(out, op.SimilarPair{ID1: g.Items[p.A].ID, ID2: g.Items[p.B].ID, Content1Preview: g.preview(p.A),
			Content2Preview: g.preview(p.B), Similarity: p.Similarity, Compared: core.ByVectors(p.ByVectors),
			Why: p.Why})
	}
	return out
}

// clusterOf finds a cluster by its ID. It returns an error of code Conflict if the cluster was
// reported before and its members have changed.
func (e *Merge) clusterOf(ctx context.Context, id string) (*ClusterInput, dedupe.Cluster, error) {
	how, known := e.Reported.options(id)
	if !known {
		how = usualClusters(&e.Opt)
	}
	g, err := e.grouped(ctx, dedupe.Options{Threshold: how.Threshold, MaxSize: how.MaxSize})
	if err != nil {
		return nil, dedupe.Cluster{}, err
	}
	i := slices.IndexFunc(g.Clusters, func(c dedupe.Cluster) bool { return c.ID == id })
	switch {
	case i >= 0:
		return g, g.Clusters[i], nil
	case known:
		err = memory.Errorf(memory.Conflict,
			"group %s was merged or contains other memories now, so emberd changed nothing; list the groups again",
			id).At("cluster_id")
	default:
		err = memory.Errorf(memory.NotFound,
			"group %.40q not found, or its memories have changed; list the groups again", id).At("cluster_id")
	}
	return nil, dedupe.Cluster{}, err
}

// IDs returns the members of a cluster, ascending.
func (g *ClusterInput) IDs(c dedupe.Cluster) []memory.ID {
	ids := make([]memory.ID, len(c.Members))
	for i, m := range c.Members {
		ids[i] = g.Items[m].ID
	}
	return ids
}

// Latest returns a function that reports whether an item is one of the n newest.
func (g *ClusterInput) Latest(n int) func(item int) bool {
	order := make([]int, len(g.Rows))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(g.Rows[b].CreatedAt().Compare(g.Rows[a].CreatedAt()), g.Rows[b].CompareID(g.Rows[a]))
	})
	in := make([]bool, len(g.Rows))
	for _, i := range order[:n] {
		in[i] = true
	}
	return func(item int) bool { return in[item] }
}

// Duplicate returns a pair of items with shortened texts.
func (g *ClusterInput) Duplicate(p dedupe.Pair) op.DuplicatePair {
	short := func(i int) string { return similarity.Truncate(g.Items[i].Text, duplicateText) }
	return op.DuplicatePair{ID1: g.Items[p.A].ID, ID2: g.Items[p.B].ID, Similarity: math.Round(p.Similarity*1e4) / 1e4,
		Text1: short(p.A), Text2: short(p.B), Why: p.Why}
}
