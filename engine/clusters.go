package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

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
	g := e.gather(false)
	with := opt
	with.Vectors = e.clusterVectors(g)
	var err error
	if g.Grouping, err = cluster.Find(ctx, e.text, g.items, with, telling(ctx)); err != nil {
		return nil, err
	}
	for _, c := range g.Clusters {
		e.listed.add(c.ID, opt)
	}
	return g, nil
}

// telling reports how far a clustering is.
func telling(ctx context.Context) cluster.Progress {
	return func(done, total int) { op.Report(ctx, done, total) }
}

// clusters lists clusters of similar memories, or pairs of them.
func (e *Engine) clusters(ctx context.Context, req *op.ClustersRequest) (*op.ClustersResult, error) {
	opt := cluster.Options{Threshold: cmp.Or(req.Threshold, op.ClusterThreshold), MaxSize: cmp.Or(req.MaxClusterSize, op.MaxClusterSize)}
	pairs, limit := cmp.Or(req.DuplicateThreshold, op.DuplicateThreshold), cmp.Or(req.Limit, listedClusters)
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
	found, err := cluster.Pairs(ctx, e.text, g.items, cluster.Options{Threshold: threshold, Vectors: e.clusterVectors(g)}, telling(ctx))
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

// listed knows how the clusters were found that somebody was told of, so that one can be
// found again by its id. It forgets the oldest ones.
type listed struct {
	mu  sync.Mutex
	how map[string]cluster.Options
	ids []string // oldest first
}

const mostListed = 10_000

func newListed() *listed { return &listed{how: make(map[string]cluster.Options)} }

func (l *listed) add(id string, opt cluster.Options) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.how[id]; !known {
		l.ids = append(l.ids, id)
	}
	l.how[id] = opt
	if len(l.ids) > mostListed {
		delete(l.how, l.ids[0])
		l.ids = l.ids[1:]
	}
}

func (l *listed) options(id string) (cluster.Options, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	opt, known := l.how[id]
	return opt, known
}

// clusterOf finds a cluster again. It is an error of code Conflict if somebody was told of it
// and its members are not the same any more.
func (e *Engine) clusterOf(ctx context.Context, id string) (*gathering, cluster.Cluster, error) {
	opt, known := e.listed.options(id)
	if !known {
		opt = cluster.Options{Threshold: op.ClusterThreshold, MaxSize: op.MaxClusterSize}
	}
	g, err := e.grouped(ctx, opt)
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
