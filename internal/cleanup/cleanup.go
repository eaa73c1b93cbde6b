// Package cleanup plans the cleanup of a collection, checks how a model rewrote a text,
// measures whether searches still find the memories, and writes the report of a run.
//
// # Plan
//
//   - Entries of an indexer never change ([Manual]).
//   - Entries of too low quality are deleted, the worst first, up to a number in a run. Rules
//     and model must agree ([quality.Score.Below]).
//   - Entries about one subject that cannot all be true are a conflict. If they hold for
//     different versions or platforms, they become a hierarchy. If one is much better and not
//     older, the other is deleted. If they differ in a value, the later one supersedes the
//     other, but a text of a tool or the web never supersedes one of the user. Otherwise the
//     user decides.
//   - Near-duplicates are merged. One that is much worse and contains nothing that the best
//     lacks is deleted instead.
//   - Entries that break off, or call themselves outdated and are not used, are rewritten.
//
// Core and promoted memories, decisions and strong ones ([Fixed]) are neither deleted, nor
// merged, nor superseded, nor rewritten. Entries that differ in a number, date, name or
// negation are never merged, even if they are in one cluster.
//
// A model can only keep entries: conflicts, merges and hierarchies use the score of the rules
// ([quality.Score.Floor]), and nothing is deleted that the rules would keep.
//
// The package changes no memory. A plan depends on the entries and not on their order, so that
// the same memories have the same plan on every device.
package cleanup

import (
	"context"
	"slices"
	"time"

	"emberd/internal/dedupe"
	"emberd/internal/text/analysis"
	"emberd/memory"
	"emberd/op"
)

// Entry is a live memory of the collection, with its whole text.
type Entry struct {
	ID    memory.ID
	Group string // what is put together shares it: collection and project
	Text  string

	Manual bool // see [Manual]
	// Fixed is why the memory can be neither deleted, nor merged away, nor rewritten, nor
	// superseded, "" if it can; the function of this name tells.
	Fixed string
	// Away is why the memory is compared with nothing and nothing is done about it: it was
	// superseded or consolidated, or its text is in a note or not all there. "" for all others.
	Away string
	// Linked are the memories that relations of the kinds version, platform and supersedes
	// join it with, whichever way: what is settled between them already.
	Linked []memory.ID

	// Asked are the memories of which a human was asked which of them and this one holds, and
	// answered nothing yet or that they stay as they are: nothing is decided about them here.
	Asked []memory.ID

	Created             time.Time
	Origin              string // see memory.Memory.Origin
	DataOnly, Confirmed bool   // see memory.Memory.DataOnly

	// HasImplementation and ChunkType are of the fields has_implementation and chunk_type, see
	// [Chunking]: chunks of different types are never merged, what has an implementation is
	// never deleted, and what is made of it has one.
	HasImplementation bool
	ChunkType         string
}

// open reports whether anything may be done about an entry.
func (e *Entry) open() bool { return e.Manual && e.Away == "" }

// Policy holds the bounds of a plan.
type Policy struct {
	Delete    float64 // entries with less quality go, usually 0.3
	Merge     float64 // clusters of more cohesion are merged, usually 0.8
	Better    float64 // difference of quality that is significant, usually 0.25
	Deletions float64 // most deletions, as a part of the manual entries, usually 0.15
	Update    float64 // entries with less quality can be rewritten, usually 0.45
	Updates   int     // most of them, usually 20
}

// DefaultPolicy returns what the specification says, and for updates what is usual.
func DefaultPolicy() Policy {
	return Policy{Delete: 0.3, Merge: 0.8, Better: 0.25, Deletions: 0.15, Update: 0.45, Updates: 20}
}

// Cluster is a group of entries that say nearly the same.
type Cluster struct {
	Members  []memory.ID
	Cohesion float64 // mean similarity, 0 to 1
}

// Pair is two entries that are alike.
type Pair struct {
	A, B       memory.ID
	Similarity float64
}

// Likeness is what is alike among the entries.
type Likeness struct {
	Clusters []Cluster
	// Pairs are alike enough to be about one thing, and do not say the same.
	Pairs []Pair
}

// remote is how alike pairs are that may be about one thing: less than [conflict.Related], since
// short sentences about one thing may share no more than what they are about.
const remote = 0.45

// Alike finds similar entries among the manual ones that are not archived. Clusters use the
// threshold of opt; other pairs are reported from a similarity of 0.45 on. The embeddings in
// opt, if any, have the order of entries. The error is that of ctx.
func Alike(ctx context.Context, a *analysis.Analyzer, entries []Entry, opt dedupe.Options,
	tell dedupe.Progress) (Likeness, error) {
	var items []dedupe.Item
	var places []int
	for i := range entries {
		if e := &entries[i]; e.open() {
			items = append(items, dedupe.Item{ID: e.ID, Group: e.Group + "\x00" + e.ChunkType, Text: e.Text})
			places = append(places, i)
		}
	}
	if of := opt.Vectors; of != nil {
		opt.Vectors = &dedupe.Vectors{Of: func(i int) ([]float32, bool) { return of.Of(places[i]) },
			Similarity: of.Similarity}
	}
	groups, err := dedupe.Find(ctx, a, items, opt, func(done, total int) { tell(done, 2*total) })
	if err != nil {
		return Likeness{}, err
	}
	opt.Threshold = min(opt.Threshold, remote)
	pairs, err := dedupe.Pairs(ctx, a, items, opt, func(done, total int) { tell(total+done, 2*total) })
	if err != nil {
		return Likeness{}, err
	}
	var like Likeness
	for _, c := range groups.Clusters {
		one := Cluster{Cohesion: c.Cohesion}
		for _, i := range c.Members {
			one.Members = append(one.Members, items[i].ID)
		}
		like.Clusters = append(like.Clusters, one)
	}
	holds := make([][]scope, len(items))
	for i := range items {
		holds[i] = scopesOf(items[i].Text)
	}
	for _, p := range pairs {
		if kind, _, _ := apart(holds[p.A], holds[p.B]); p.Why != "" || kind != "" {
			like.Pairs = append(like.Pairs, Pair{A: items[p.A].ID, B: items[p.B].ID, Similarity: p.Similarity})
		}
	}
	return like, nil
}

// The kinds of links, and the strategies of actions beside quality and merge.
const (
	Version    = "version"
	Platform   = "platform"
	Supersedes = memory.KindSupersedes
)

// The strategies of actions that are about text.
const (
	ByQuality = "quality"
	ByMerge   = "merge"
)

// Link is a relation to be made: of type related, of the kind version, platform or
// supersedes, with the metadata kind and value. A supersession also marks To.
type Link struct {
	From, To memory.ID
	Kind     string
	Value    string // of To, such as "python 2.7" or "windows"; "" for supersedes
}

// Action is a step of a plan. Its strategy is version, platform, supersedes, quality or
// merge. MemoryIDs ascend and include Keep. Evidence is one sentence, which may hold words
// of the memories.
type Action struct {
	op.CleanupAction
	Links    []Link  // of a hierarchy
	Cohesion float64 // of a merge
	// HasImplementation says that what a merge makes gets has_implementation: true.
	HasImplementation bool
}

// Plan is what is to be done. Of the actions that change a text, remove it or put another in its
// place, an entry is in one at most.
type Plan struct {
	// Actions in the order of carrying out: updates, hierarchies, merges, deletions, reviews,
	// and what is preserved although it has little quality.
	Actions   []Action
	Entries   int
	Manual    int
	Protected int // entries that an indexer made
	Clusters  int
	Conflicts int // groups of entries of which not all hold, or that hold for different versions or platforms
	Resolved  int // of them without a human
	Deletions int // most that the policy allows
	Limited   int // deletions left to later runs
	After     int // entries that are left once it is carried out
}

// Counts returns the actions by kind.
func (p *Plan) Counts() map[string]int {
	counts := make(map[string]int)
	for i := range p.Actions {
		counts[p.Actions[i].Action]++
	}
	counts[op.CleanupPreserve] += p.Protected
	return counts
}

// ids returns sorted ids.
func ids(all ...memory.ID) []memory.ID { return slices.Sorted(slices.Values(all)) }
