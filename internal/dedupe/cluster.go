// Package dedupe finds memories that say nearly the same, and plans what one memory is made of them.
//
// Pairs are found through an index of their rare terms: two texts of which the cosine
// reaches a threshold share a term among the rarest of each (Bayardo, Ma and Srikant,
// "Scaling up all pairs similarity search", 2007), so that only those are looked up. A
// term that very many texts have among their rarest leads to the latest of them only;
// that bounds the work by the number of texts, and what it takes in memory is bounded by
// keeping the most similar 250,000 pairs. Clusters are single-link, the most similar
// pairs first.
//
// Items that have a vector are compared by it with others that have one, see [Vectors], and
// found through the cells that they share. In a group of more than 4,096 that finds nearly
// all pairs and not each one: of 819 planted in 8,192 vectors around fifty topics 4 were
// missed. Items without are compared by their words, on the same scale.
//
// What differs in numbers, dates, versions, negation, names or opposites is never in one
// cluster, however alike the words or vectors are. It is distinguished, with a word on why.
//
// Everything is a pure function: equal items in any order give equal answers.
package dedupe

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strings"

	"emberd/internal/dedupe/contradiction"
	"emberd/internal/dedupe/similarity"
	"emberd/internal/text/analysis"
	"emberd/memory"
)

// Item is a text that may be grouped with others of the same Group.
type Item struct {
	ID    memory.ID
	Group string
	Text  string
	Alone bool // told in pairs, and in no cluster
}

// Options of Find and Pairs.
type Options struct {
	// Threshold is the least similarity of two texts that are linked, above 0 and up to 1,
	// on the scale of [similarity.Calibrate].
	Threshold float64
	MaxSize   int      // of a cluster
	Vectors   *Vectors // nil for words alone
	// Among are the items, by their place, of which one at least is in every pair; nil for
	// all. Those beside them are only looked up.
	Among func(item int) bool
	// Told is of how many pairs, the most similar ones, Pairs reports why they are kept apart;
	// 0 for all.
	Told int
}

// Pair is two similar items, by their place, with A before B by id. Why reports what keeps
// them from being merged, "" if nothing does.
type Pair struct {
	A, B       int
	Similarity float64
	ByVectors  bool // and not by words
	Why        string
}

// Cluster is a group of items, by their place, ordered by id.
type Cluster struct {
	ID        string
	Members   []int
	Cohesion  float64 // the mean similarity of all pairs
	ByVectors bool    // at least one of these is
}

// Grouping is what Find found: the clusters, most cohesive first, the similar pairs
// that do not say the same, and those that nothing keeps apart, each most similar first.
type Grouping struct {
	Clusters []Cluster
	Apart    []Pair
	Alike    []Pair
}

// IDOf names a cluster by its members: "cluster-" and 16 hex digits of a SHA-256 over
// their sorted ids, each ended by LF.
func IDOf(members []memory.ID) string {
	h := sha256.New()
	for _, id := range slices.Sorted(slices.Values(members)) {
		h.Write([]byte(string(id) + "\n"))
	}
	return "cluster-" + hex.EncodeToString(h.Sum(nil))[:16]
}

// Progress is told now and then how much is done of the work that takes the time.
type Progress func(done, total int)

// Pairs lists the pairs of items that are at least so similar, most similar first. The
// error is that of ctx.
func Pairs(ctx context.Context, a *analysis.Analyzer, items []Item, opt Options, report Progress) ([]Pair, error) {
	_, pairs, err := similarPairs(ctx, a, items, opt, report)
	return pairs, err
}

func similarPairs(ctx context.Context, a *analysis.Analyzer, items []Item, opt Options,
	report Progress) (*comparer, []Pair, error) {
	s, err := newComparer(ctx, a, items, opt.Vectors, report)
	if err != nil {
		return nil, nil, err
	}
	s.among = opt.Among
	pairs, err := s.pairs(ctx, opt.Threshold)
	for i := range pairs[:min(len(pairs), cmp.Or(opt.Told, len(pairs)))] {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		pairs[i].Why = s.differ(pairs[i].A, pairs[i].B)
	}
	return s, pairs, err
}

// Find groups the items. The error is that of ctx.
func Find(ctx context.Context, a *analysis.Analyzer, items []Item, opt Options, report Progress) (Grouping, error) {
	s, err := newComparer(ctx, a, items, opt.Vectors, report)
	if err != nil {
		return Grouping{}, err
	}
	s.among = opt.Among
	pairs, err := s.pairs(ctx, opt.Threshold)
	if err != nil {
		return Grouping{}, err
	}
	var out Grouping
	u := newUnion(len(items), opt.MaxSize)
	for i, p := range pairs {
		if i%256 == 0 && ctx.Err() != nil {
			return Grouping{}, context.Cause(ctx)
		}
		if p.Why = s.differ(p.A, p.B); p.Why != "" {
			out.Apart = append(out.Apart, p)
			continue
		}
		out.Alike = append(out.Alike, p)
		if !items[p.A].Alone && !items[p.B].Alone {
			u.join(p.A, p.B, s.differ)
		}
	}
	for _, members := range u.groups() {
		out.Clusters = append(out.Clusters, s.cluster(members))
	}
	slices.SortFunc(out.Clusters, func(a, b Cluster) int {
		return cmp.Or(cmp.Compare(b.Cohesion, a.Cohesion), strings.Compare(a.ID, b.ID))
	})
	return out, nil
}

// Exactly makes a cluster of these of the items, by their place, however alike they are,
// and reports why two of them do not say the same, "" if nothing shows it. The error is that
// of ctx.
func Exactly(ctx context.Context, a *analysis.Analyzer, items []Item, members []int, opt Options,
	report Progress) (c Cluster, why string, err error) {
	s, err := newComparer(ctx, a, items, opt.Vectors, report)
	if err != nil {
		return Cluster{}, "", err
	}
	for i, m := range members {
		for _, other := range members[:i] {
			why = cmp.Or(why, s.differ(other, m))
		}
	}
	return s.cluster(slices.Clone(members)), why, nil
}

// A comparer contains what items are compared by.
type comparer struct {
	items    []Item
	groups   []int // by item, equal for the same Group
	analyzer *analysis.Analyzer
	weights  []similarity.Vector
	table    *table
	facts    []*contradiction.Facts // nil until asked for
	corpus   *similarity.Corpus
	report   Progress
	among    func(item int) bool
	most     int // pairs, see maxPairs
}

// step is called for each item that is weighed, and then for each that is compared. The
// error is that of ctx.
func (s *comparer) step(ctx context.Context, done int) error {
	const often = 256
	if done%often != 0 {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.report(done, 2*len(s.items))
	return nil
}

// newComparer weighs the terms of all items and takes in their vectors.
func newComparer(ctx context.Context, a *analysis.Analyzer, items []Item, of *Vectors,
	report Progress) (*comparer, error) {
	s := &comparer{items: items, report: report, most: maxPairs, analyzer: a, corpus: similarity.NewCorpus(a),
		facts: make([]*contradiction.Facts, len(items)), weights: make([]similarity.Vector, len(items))}
	s.groups = groupsOf(items)
	bags := make([]similarity.TermVector, len(items))
	for i, item := range items {
		if err := s.step(ctx, i); err != nil {
			return nil, err
		}
		bags[i] = s.corpus.Add(item.Text)
	}
	for i, b := range bags {
		s.weights[i], bags[i] = s.corpus.Vector(b), nil
	}
	var err error
	s.table, err = newTable(ctx, of, len(items))
	return s, err
}

// groupsOf numbers the groups, which are compared for every two items that meet.
func groupsOf(items []Item) []int {
	numbers, out := make(map[string]int), make([]int, len(items))
	for i, item := range items {
		n, known := numbers[item.Group]
		if !known {
			n = len(numbers)
			numbers[item.Group] = n
		}
		out[i] = n
	}
	return out
}

// similarity is exact to six digits, which is what weights in single precision give.
func (s *comparer) similarity(a, b int) float64 {
	alike := 0.0
	if s.table.both(a, b) {
		alike = s.table.similarity(a, b)
	} else {
		alike = similarity.Calibrate(s.weights[a].Cosine(s.weights[b]))
	}
	return math.Round(1e6*alike) / 1e6
}

// differ is why two items do not say the same, "" if they may.
func (s *comparer) differ(a, b int) string { return s.factsOf(a).Differ(s.factsOf(b)) }

func (s *comparer) factsOf(i int) *contradiction.Facts {
	if s.facts[i] == nil {
		s.facts[i] = contradiction.Of(s.analyzer, s.items[i].Text)
	}
	return s.facts[i]
}

func (s *comparer) cluster(members []int) Cluster {
	slices.SortFunc(members, func(a, b int) int { return cmp.Compare(s.items[a].ID, s.items[b].ID) })
	ids := make([]memory.ID, len(members))
	var sum float64
	vectors := false
	for i, m := range members {
		ids[i] = s.items[m].ID
		for _, other := range members[:i] {
			sum += s.similarity(m, other)
			vectors = vectors || s.table.both(m, other)
		}
	}
	pairs := len(members) * (len(members) - 1) / 2
	return Cluster{ID: IDOf(ids), Members: members, Cohesion: sum / float64(pairs), ByVectors: vectors}
}
