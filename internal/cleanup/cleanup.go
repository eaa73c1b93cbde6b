// Package cleanup decides what becomes of a collection's memories in a cleanup, checks
// what a model makes of a text, measures whether they are found as well as before, and
// writes the report of a run.
//
// # What is decided
//
//   - What an indexer made is never touched ([Manual]).
//   - What has too little quality is deleted, the worst first and so many in a run. Rules and
//     model both have to say so ([quality.Score.Below]).
//   - Entries that are about one thing and cannot all hold are a conflict. If they hold for different
//     versions or platforms, they become a hierarchy. If one is much better and no older,
//     the other is deleted. If they differ in a value, the later one supersedes, but what a
//     tool or the web said never supersedes what somebody did. Else a human decides.
//   - Entries that say nearly the same are merged. One that is much worse and says nothing
//     that the best does not say is deleted instead.
//   - What breaks off, or calls itself outdated and is not used, is to be worded anew.
//
// Core and promoted memories, decisions and strong ones ([Fixed]) are neither deleted, nor
// merged, nor superseded, nor rewritten. What differs in a number, date, name or denial is
// never merged, whatever clusters say.
//
// A model can only spare: conflicts, merges and hierarchies go by the rules' score
// ([quality.Score.Floor]), and nothing is deleted that the rules would keep.
//
// Nothing is carried out here. A plan is a function of what it is made from and not of the order
// in which that comes, so that the same memories make the same plan on every device.
package cleanup

import (
	"context"
	"slices"
	"time"

	"emberd/internal/cluster"
	"emberd/internal/text"
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
	Update    float64 // entries with less quality may be worded anew, usually 0.45
	Updates   int     // most of them, usually 20
}

// DefaultPolicy is what the specification says, and for updates what is usual.
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

// Alike looks for what is alike among manual entries that are not away. Clusters are of the
// threshold of opt; pairs that do not say the same are told from a similarity of 0.45 on. The
// vectors of opt, if any, are by the places of entries. The error is that of ctx.
func Alike(ctx context.Context, a *text.Analyzer, entries []Entry, opt cluster.Options, tell cluster.Progress) (Likeness, error) {
	var items []cluster.Item
	var places []int
	for i := range entries {
		if e := &entries[i]; e.open() {
			items = append(items, cluster.Item{ID: e.ID, Group: e.Group + "\x00" + e.ChunkType, Text: e.Text})
			places = append(places, i)
		}
	}
	if of := opt.Vectors; of != nil {
		opt.Vectors = &cluster.Vectors{Of: func(i int) ([]float32, bool) { return of.Of(places[i]) }, Similarity: of.Similarity}
	}
	groups, err := cluster.Find(ctx, a, items, opt, func(done, total int) { tell(done, 2*total) })
	if err != nil {
		return Likeness{}, err
	}
	opt.Threshold = min(opt.Threshold, remote)
	pairs, err := cluster.Pairs(ctx, a, items, opt, func(done, total int) { tell(total+done, 2*total) })
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
	Supersedes = "supersedes"
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

// Counts are the actions by kind.
func (p *Plan) Counts() map[string]int {
	counts := make(map[string]int)
	for i := range p.Actions {
		counts[p.Actions[i].Action]++
	}
	counts[op.CleanupPreserve] += p.Protected
	return counts
}

// ids are sorted ids.
func ids(all ...memory.ID) []memory.ID { return slices.Sorted(slices.Values(all)) }
