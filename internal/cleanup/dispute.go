package cleanup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"emberd/internal/dedupe/contradiction"
	"emberd/memory"
	"emberd/op"
)

// soon is how close in time two memories are of which neither is the later one: what one
// import brings.
const soon = time.Minute

// dispute is two entries that cannot both hold, or not everywhere.
type dispute struct {
	a, b   *item  // a before b by id
	kind   string // Version, Platform, or "" for a contradiction
	x, y   string // of a version or platform, that of a and of b
	why    string // of a contradiction
	valued bool   // it is about a value of one thing
}

// disputes finds what the pairs are about.
func (m *planner) disputes() (out []dispute) {
	for _, p := range m.like.Pairs {
		a, b := m.items[min(p.A, p.B)], m.items[max(p.A, p.B)]
		if a == nil || b == nil || a == b || a.Group != b.Group || a.condemned || b.condemned ||
			slices.Contains(a.Linked, b.ID) || slices.Contains(b.Linked, a.ID) {
			continue
		}
		if slices.Contains(a.Asked, b.ID) || slices.Contains(b.Asked, a.ID) {
			a.involved, a.filed, b.involved, b.filed = true, true, true, true
			continue
		}
		if d, ok := m.dispute(a, b, p.Similarity); ok {
			out = append(out, d)
		}
	}
	slices.SortFunc(out,
		func(d, e dispute) int { return cmp.Or(cmp.Compare(d.a.ID, e.a.ID), cmp.Compare(d.b.ID, e.b.ID)) })
	return slices.CompactFunc(out, func(d, e dispute) bool { return d.a == e.a && d.b == e.b })
}

// dispute returns what two entries of some similarity are about, if they are about anything.
func (m *planner) dispute(a, b *item, similarity float64) (dispute, bool) {
	if kind, x, y := apart(a.scopes(), b.scopes()); kind != "" {
		return dispute{a: a, b: b, kind: kind, x: x, y: y}, m.sameSubject(a, b)
	}
	found := contradiction.Settled(a.facts(m.analyzer), b.facts(m.analyzer), similarity, contradiction.Related)
	if x, y := strings.Replace(a.Text, " now ", " ", 1), strings.Replace(b.Text, " now ", " ", 1); len(found) == 0 &&
		x != a.Text && y != b.Text {
		// both were news once
		found = contradiction.Settled(contradiction.Of(m.analyzer, x), contradiction.Of(m.analyzer, y), similarity,
			contradiction.Related)
	}
	if len(found) == 0 || similarity < contradiction.Related && !isMeasured(&found[0]) {
		return dispute{}, false
	}
	if kind, x, y := apartIf(a.scopes(), b.scopes(), true); kind == Version && !mentions(found[0].A, x) &&
		!mentions(found[0].B, y) {
		// not the versions differ, but what holds for each
		return dispute{a: a, b: b, kind: kind, x: x, y: y}, m.sameSubject(a, b)
	}
	return dispute{a: a, b: b, why: found[0].Why, valued: isValue(&found[0])}, true
}

// isMeasured reports a finding of which few words in common are enough: the two may well
// have two pets, and not two ports.
func isMeasured(f *contradiction.Finding) bool {
	switch f.Kind {
	case "number", "unit", "date", "version":
		return true
	}
	return false
}

// mentions reports whether what a finding names is a version.
func mentions(found, version string) bool { return strings.Contains(found, lastWord(version)) }

// isValue reports a finding about a value or a state, of which the later one counts. What is
// denied may as well be about another case.
func isValue(f *contradiction.Finding) bool {
	switch f.Kind {
	case "number", "unit", "date", "version", "name", "change", "opposite":
		return true
	}
	return false
}

// settle decides about all disputes, group by group, and counts the groups.
func (m *planner) settle(all []dispute) {
	for _, group := range grouped(all) {
		m.plan.Conflicts++
		var left []dispute
		for _, kind := range [...]string{Version, Platform} {
			m.hierarchies(kind, slices.Collect(func(yield func(dispute) bool) {
				for _, d := range group {
					if d.kind == kind && !yield(d) {
						return
					}
				}
			}))
		}
		for _, d := range group {
			if d.kind == "" && !m.byQuality(&d) {
				left = append(left, d)
			}
		}
		if m.bySuccession(left) {
			m.plan.Resolved++
		}
	}
}

// grouped puts together what disputes share an entry.
func grouped(all []dispute) [][]dispute {
	leader := make(map[*item]*item)
	find := func(i *item) *item {
		for leader[i] != nil {
			i = leader[i]
		}
		return i
	}
	for _, d := range all {
		if a, b := find(d.a), find(d.b); a != b {
			leader[slices.MaxFunc([]*item{a, b}, byID)] = slices.MinFunc([]*item{a, b}, byID)
		}
	}
	var order []*item
	groups := make(map[*item][]dispute)
	for _, d := range all {
		l := find(d.a)
		if groups[l] == nil {
			order = append(order, l)
		}
		groups[l] = append(groups[l], d)
	}
	out := make([][]dispute, len(order))
	for i, l := range order {
		out[i] = groups[l]
	}
	return out
}

// hierarchies puts what holds for different versions or platforms under one parent: that of
// the newest version, or of the highest quality.
func (m *planner) hierarchies(kind string, all []dispute) {
	for _, group := range grouped(all) {
		values := make(map[*item]string)
		for _, d := range group {
			values[d.a], values[d.b] = cmp.Or(values[d.a], d.x), cmp.Or(values[d.b], d.y)
		}
		members := itemsOf(values)
		slices.SortStableFunc(members, func(a, b *item) int {
			if kind == Version {
				if c := newer(lastWord(values[b]), lastWord(values[a])); c != 0 {
					return c
				}
			}
			return better(a, b)
		})
		parent := members[0]
		act := Action{CleanupAction: op.CleanupAction{Action: op.CleanupHierarchy, Strategy: kind, Keep: parent.ID,
			Quality: parent.floor()}}
		var said []string
		for _, i := range members {
			act.MemoryIDs = append(act.MemoryIDs, i.ID)
			if v := values[i]; !slices.Contains(said, v) {
				said = append(said, v)
			}
			if i != parent {
				act.Links = append(act.Links, Link{From: parent.ID, To: i.ID, Kind: kind, Value: values[i]})
			}
			i.involved, i.kept = true, true
		}
		slices.Sort(act.MemoryIDs)
		act.Evidence = fmt.Sprintf("The memories apply to different %ss: %s.", kind, strings.Join(said, ", "))
		m.add(act)
	}
}

func lastWord(s string) string { return s[strings.LastIndexByte(s, ' ')+1:] }

// itemsOf returns the keys, by id.
func itemsOf[V any](of map[*item]V) []*item {
	out := make([]*item, 0, len(of))
	for i := range of {
		out = append(out, i)
	}
	slices.SortFunc(out, byID)
	return out
}

func byID(a, b *item) int { return cmp.Compare(a.ID, b.ID) }

// better orders by quality, the best first.
func better(a, b *item) int { return cmp.Or(cmp.Compare(b.floor(), a.floor()), byID(a, b)) }

// byQuality settles a contradiction of which one side is much better, and neither less
// vouched for nor older: the other is deleted, if it may be.
func (m *planner) byQuality(d *dispute) bool {
	best, worse := d.a, d.b
	if better(best, worse) > 0 {
		best, worse = worse, best
	}
	if !best.scored || !worse.scored || best.floor()-worse.floor() < m.policy.Better ||
		best.vouched() < worse.vouched() || worse.Created.After(best.Created) {
		return false
	}
	if !worse.deletable() || best.DataOnly {
		return false
	}
	why := fmt.Sprintf("A memory of quality %.2f contradicts this memory (%s), whose quality is %.2f.", best.floor(),
		d.why, worse.floor())
	m.propose(&removal{item: worse, best: best, strategy: ByQuality, evidence: why,
		otherwise: func() { m.supersede(best, worse, why) }})
	return true
}

// vouched returns 0 for an unconfirmed text of a tool or the web, else 1.
func (i *item) vouched() int {
	if i.DataOnly {
		return 0
	}
	return 1
}

// standing returns 1 for a text that the user wrote or confirmed.
func (i *item) standing() int {
	if i.Confirmed || i.Origin == memory.FromUser {
		return 1
	}
	return 0
}

// successor returns which side of a contradiction takes the place of the other: the one that is vouched
// for; of a value the later one; else the one that a person stands for, unless it is older.
// It is nil if nothing tells.
func (d *dispute) successor() (winner, loser *item) {
	a, b := d.a, d.b
	later := 0
	switch by := a.Created.Sub(b.Created); {
	case by >= soon:
		later = 1
	case by <= -soon:
		later = -1
	}
	say := cmp.Compare(a.vouched(), b.vouched())
	if say == 0 && d.valued {
		say = later
	}
	if stands := cmp.Compare(a.standing(), b.standing()); say == 0 && stands*later >= 0 {
		say = stands
	}
	switch {
	case say < 0:
		a, b = b, a
	case say == 0:
		return nil, nil
	}
	if b.Fixed != "" || a.DataOnly {
		return nil, nil
	}
	return a, b
}

// bySuccession settles contradictions by what took the place of what, and files what nothing
// tells of. It reports whether nothing was filed.
func (m *planner) bySuccession(left []dispute) bool {
	var open []dispute
	by := make(map[*item]*item) // of a loser, its best winner
	whys := make(map[*item]string)
	for _, d := range left {
		winner, loser := d.successor()
		if winner == nil {
			open = append(open, d)
			continue
		}
		if was := by[loser]; was == nil || was.Created.Before(winner.Created) || was.Created.Equal(winner.Created) &&
			better(winner, was) < 0 {
			by[loser], whys[loser] = winner, d.why
		}
	}
	for _, loser := range itemsOf(by) {
		m.supersede(by[loser], loser,
			"The superseding memory is newer, or its source is more reliable: "+whys[loser]+".")
	}
	for _, group := range grouped(open) {
		m.review(group)
	}
	return len(open) == 0
}

// supersede makes one memory take the place of another.
func (m *planner) supersede(winner, loser *item, evidence string) {
	winner.involved, loser.involved = true, true
	winner.kept, loser.taken = true, true
	m.add(Action{CleanupAction: op.CleanupAction{Action: op.CleanupHierarchy, Strategy: Supersedes, Keep: winner.ID,
		MemoryIDs: ids(winner.ID, loser.ID),
		Quality:   winner.floor(), Evidence: evidence},
		Links: []Link{{From: winner.ID, To: loser.ID, Kind: Supersedes}}})
}

// review files a group of contradictions for a human.
func (m *planner) review(group []dispute) {
	about := make(map[*item]bool)
	var whys []string
	for _, d := range group {
		about[d.a], about[d.b] = true, true
		if len(whys) < 3 && !slices.Contains(whys, d.why) {
			whys = append(whys, d.why)
		}
	}
	act := Action{CleanupAction: op.CleanupAction{Action: op.CleanupReview,
		Evidence: "The memories contradict each other, " +
			"and emberd cannot decide which memory is right: " + strings.Join(whys, "; ") +
			"."}}
	for _, i := range itemsOf(about) {
		i.involved, i.filed = true, true
		act.MemoryIDs = append(act.MemoryIDs, i.ID)
	}
	m.add(act)
}
