package cleanup

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"emberd/internal/cleanup/quality"
	"emberd/internal/dedupe"
	"emberd/internal/dedupe/contradiction"
	"emberd/internal/text/analysis"
	"emberd/memory"
	"emberd/op"
)

// item is an entry that something may be done about, and what is decided.
type item struct {
	*Entry
	score  quality.Score
	scored bool

	condemned bool // the rules find too little quality
	involved  bool // in a conflict
	kept      bool // something leads to it, so it is not deleted
	taken     bool // another took its place
	filed     bool // a human decides
	gone      bool // deleted or merged
	limited   bool // left to a later run

	known  *contradiction.Facts
	holds  []scope
	looked bool
}

func (i *item) floor() float64 { return i.score.Floor }

// deletable reports whether an entry may be deleted.
func (i *item) deletable() bool { return i.Fixed == "" && !i.HasImplementation }

func (i *item) facts(a *analysis.Analyzer) *contradiction.Facts {
	if i.known == nil {
		i.known = contradiction.Of(a, i.Text)
	}
	return i.known
}

func (i *item) scopes() []scope {
	if !i.looked {
		i.holds, i.looked = scopesOf(i.Text), true
	}
	return i.holds
}

// removal is a deletion that is proposed, and what becomes of the entry otherwise.
type removal struct {
	*item
	best      *item // what is kept in its place, nil for none
	strategy  string
	evidence  string
	otherwise func() // if it is not deleted
}

// planner is a plan that is being made.
type planner struct {
	analyzer *analysis.Analyzer
	like     Likeness
	policy   Policy
	items    map[memory.ID]*item
	order    []*item // by id
	removals []*removal
	plan     Plan
}

// Make makes a plan. Scores are by id; an entry without one is neither deleted nor reworded.
func Make(a *analysis.Analyzer, entries []Entry, like Likeness, scores map[memory.ID]quality.Score, p Policy) Plan {
	m := &planner{analyzer: a, like: like, policy: p, items: make(map[memory.ID]*item)}
	m.plan.Entries, m.plan.Clusters = len(entries), len(like.Clusters)
	for k := range entries {
		m.take(&entries[k], scores)
	}
	slices.SortFunc(m.order, byID)
	m.plan.Deletions = int(math.Floor(p.Deletions*float64(m.plan.Manual) + 1e-9))
	m.planRemovals()
	m.settle(m.disputes())
	groups := m.groups()
	m.carryOut()
	for _, g := range groups {
		m.merge(g)
	}
	m.reword()
	m.finish()
	return m.plan
}

// take counts an entry, and takes it in if anything may be done about it.
func (m *planner) take(e *Entry, scores map[memory.ID]quality.Score) {
	if !e.Manual {
		m.plan.Protected++
		return
	}
	m.plan.Manual++
	if e.open() {
		score, ok := scores[e.ID]
		m.items[e.ID] = &item{Entry: e, score: score, scored: ok}
		m.order = append(m.order, m.items[e.ID])
	}
}

// planRemovals proposes to delete what has too little quality by the rules. What a model spares
// stays, and takes no further part, as if it had not.
func (m *planner) planRemovals() {
	for _, i := range m.order {
		if i.condemned = i.scored && i.floor() < m.policy.Delete; !i.condemned {
			continue
		}
		why := fmt.Sprintf("The quality of the memory is %.2f, below %.2f: %s.", i.score.Overall, m.policy.Delete,
			cmp.Or(strings.Join(i.score.Reasons, ", "), "little content"))
		switch {
		case !i.score.Below(m.policy.Delete):
			m.preserve(i,
				fmt.Sprintf(
					"The built-in rules rated the quality of the memory %.2f, but a model rated the quality %.2f.",
					i.floor(), i.score.Overall))
		case i.Fixed != "":
			m.preserve(i, fmt.Sprintf("The quality of the memory is %.2f, but %s.", i.score.Overall, i.Fixed))
		case i.HasImplementation:
			m.preserve(i, fmt.Sprintf(
				"The quality of the memory is %.2f, but the field has_implementation of the memory is true.",
				i.score.Overall))
		default:
			m.propose(&removal{item: i, evidence: why})
		}
	}
}

func (m *planner) preserve(i *item, why string) {
	m.add(Action{CleanupAction: op.CleanupAction{Action: op.CleanupPreserve, MemoryIDs: ids(i.ID),
		Quality: i.score.Overall, Evidence: why}})
}

func (m *planner) propose(r *removal) { m.removals = append(m.removals, r) }

func (m *planner) add(act Action) { m.plan.Actions = append(m.plan.Actions, act) }

// carryOut deletes the worst of what is proposed, as many as the policy allows.
func (m *planner) carryOut() {
	slices.SortStableFunc(m.removals, func(a, b *removal) int {
		return cmp.Or(cmp.Compare(a.score.Overall, b.score.Overall), cmp.Compare(a.floor(), b.floor()),
			byID(a.item, b.item))
	})
	room := m.plan.Deletions
	for _, r := range m.removals {
		switch {
		case r.gone || r.taken || r.filed || r.best != nil && r.best.gone: // it is settled otherwise
		// or a model finds that it is the better one
		case r.kept || r.best != nil && r.score.Overall >= r.best.score.Overall:
			r.keep()
		case room == 0:
			if !r.limited {
				m.plan.Limited++
			}
			r.limited = true
			r.keep()
		default:
			room--
			m.delete(r)
		}
	}
}

// keep does what becomes of an entry that is not deleted.
func (r *removal) keep() {
	if r.otherwise != nil {
		r.otherwise()
	}
}

func (m *planner) delete(r *removal) {
	r.gone = true
	act := Action{CleanupAction: op.CleanupAction{Action: op.CleanupDelete, MemoryIDs: ids(r.ID), Strategy: r.strategy,
		Quality: r.score.Overall, Evidence: r.evidence}}
	if r.best != nil {
		r.best.kept = true
		act.Keep = r.best.ID
		act.MemoryIDs = ids(r.ID, r.best.ID)
	}
	m.add(act)
}

// group is entries that say nearly the same.
type group struct {
	members  []*item
	cohesion float64
}

// groups returns the groups to merge, and proposes to delete the members of each that are much
// worse than the best and contain nothing more.
func (m *planner) groups() (out []*group) {
	seen := make(map[*item]bool)
	for _, c := range m.sortedClusters() {
		g := &group{cohesion: c.Cohesion}
		for _, id := range c.Members {
			i := m.items[id]
			if i == nil || seen[i] || i.Fixed != "" || i.condemned || i.taken || i.filed || !m.joins(g, i) {
				continue
			}
			g.members = append(g.members, i)
		}
		if len(g.members) < 2 || !(g.cohesion > m.policy.Merge) {
			continue
		}
		for _, i := range g.members {
			seen[i] = true
		}
		out = append(out, g)
		m.inferior(g)
	}
	return out
}

// sortedClusters returns the clusters in an order of their own, the most cohesive first, and their
// members the best first.
func (m *planner) sortedClusters() []Cluster {
	out := make([]Cluster, len(m.like.Clusters))
	for k, c := range m.like.Clusters {
		c.Members = ids(c.Members...)
		out[k] = c
	}
	slices.SortStableFunc(out, func(a, b Cluster) int {
		return cmp.Or(cmp.Compare(b.Cohesion, a.Cohesion), slices.Compare(a.Members, b.Members))
	})
	for _, c := range out {
		slices.SortStableFunc(c.Members, func(a, b memory.ID) int {
			x, y := m.items[a], m.items[b]
			if x == nil || y == nil {
				return 0
			}
			return better(x, y)
		})
	}
	return out
}

// joins reports whether an entry may be merged with those of a group: nothing says that it
// differs from any, and it is a chunk of the same type.
func (m *planner) joins(g *group, i *item) bool {
	return !slices.ContainsFunc(g.members, func(o *item) bool {
		return o.Group != i.Group || o.ChunkType != i.ChunkType || o == i ||
			o.facts(m.analyzer).Differ(i.facts(m.analyzer)) != "" || disputed(o, i)
	})
}

// disputed reports entries that hold for different versions or platforms.
func disputed(a, b *item) bool {
	kind, _, _ := apart(a.scopes(), b.scopes())
	return kind != ""
}

// inferior proposes to delete what is much worse than the best of a group and says nothing
// that this one does not say. Otherwise it is merged like the rest.
func (m *planner) inferior(g *group) {
	best := g.members[0]
	for _, i := range g.members[1:] {
		if !best.scored || !i.scored || best.floor()-i.floor() < m.policy.Better || !i.deletable() || best.DataOnly &&
			!i.DataOnly || missing(m.analyzer, i.Text, best.Text, 0) != "" {
			continue
		}
		m.propose(&removal{item: i, best: best, strategy: ByQuality,
			evidence: fmt.Sprintf(
				"A memory of quality %.2f contains the whole text of this memory, whose quality is %.2f.", best.floor(),
				i.floor())})
	}
}

// merge merges what is left of a group, the worst left out until it is within the bounds
// of a memory.
func (m *planner) merge(g *group) {
	left := slices.DeleteFunc(slices.Clone(g.members), func(i *item) bool { return i.gone || i.taken || i.filed })
	for len(left) > 1 && memory.CheckContent(dedupe.Content(textsOf(left))) != nil {
		left = left[:len(left)-1]
	}
	if len(left) < 2 {
		return
	}
	act := Action{CleanupAction: op.CleanupAction{Action: op.CleanupMerge, Strategy: ByMerge,
		Quality: left[0].score.Overall,
		Evidence: fmt.Sprintf("The memories are near-duplicates: their average similarity is "+
			"%.2f, and their numbers, dates, names and negations are the same.", g.cohesion)}, Cohesion: g.cohesion}
	for _, i := range left {
		i.gone = true
		act.HasImplementation = act.HasImplementation || i.HasImplementation
		act.MemoryIDs = append(act.MemoryIDs, i.ID)
	}
	slices.Sort(act.MemoryIDs)
	m.add(act)
}

func textsOf(items []*item) []string {
	out := make([]string, len(items))
	for k, i := range items {
		out[k] = i.Text
	}
	return out
}

// reword proposes a better wording of the worst that is kept: what breaks off or is wrapped
// in talk, and what calls itself outdated and is not used.
func (m *planner) reword() {
	var all []*item
	for _, i := range m.order {
		if i.scored && i.deletable() && !i.condemned && !i.involved && !i.gone && m.stale(i) != "" {
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(a, b *item) int { return better(b, a) })
	for _, i := range all[:min(len(all), max(0, m.policy.Updates))] {
		m.add(Action{CleanupAction: op.CleanupAction{Action: op.CleanupUpdate, MemoryIDs: ids(i.ID),
			Quality: i.score.Overall, Evidence: m.stale(i)}})
	}
}

// stale returns why an entry is to be rewritten, "" if it is not.
func (m *planner) stale(i *item) string {
	switch {
	case i.score.Recency < 0.5 && outdated(i.Text):
		return "The text contains a word such as outdated or deprecated, and the memory was not used for a long time."
	case i.floor() < m.policy.Update && slices.ContainsFunc(i.score.Reasons, quality.Rewordable):
		return fmt.Sprintf("The quality of the memory is %.2f: %s.", i.score.Overall,
			strings.Join(i.score.Reasons, ", "))
	}
	return ""
}

// outdated reports a text that says so of itself.
func outdated(text string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToLower(text),
		func(r rune) bool { return strings.ContainsRune(" \t\n.,;:!?()[]\"'", r) }) {
		switch word {
		case "deprecated", "outdated", "obsolete", "superseded", "veraltet", "obsolète", "obsoleto":
			return true
		}
	}
	return false
}

// rank returns the position of an action in the order of execution.
func rank(action string) int {
	return slices.Index([]string{op.CleanupUpdate, op.CleanupHierarchy, op.CleanupMerge, op.CleanupDelete,
		op.CleanupReview, op.CleanupPreserve}, action)
}

// finish sorts the actions and counts what is left.
func (m *planner) finish() {
	slices.SortStableFunc(m.plan.Actions, func(a, b Action) int {
		c := cmp.Compare(rank(a.Action), rank(b.Action))
		if a.Action == op.CleanupDelete {
			c = cmp.Or(c, cmp.Compare(a.Quality, b.Quality))
		}
		return cmp.Or(c, cmp.Compare(a.Strategy, b.Strategy), slices.Compare(a.MemoryIDs, b.MemoryIDs))
	})
	m.plan.After = m.plan.Entries
	for i := range m.plan.Actions {
		switch act := &m.plan.Actions[i]; act.Action {
		case op.CleanupDelete:
			m.plan.After--
		case op.CleanupMerge:
			m.plan.After -= len(act.MemoryIDs) - 1
		}
	}
}
