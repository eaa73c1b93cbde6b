package knowledge

import (
	"cmp"
	"slices"
	"strings"

	"emberd/internal/entities"
)

// Order is how a list is sorted.
type Order string

// The orders: what is mentioned most first, what was mentioned last first, or by name.
const (
	ByMentions Order = "mentions"
	ByRecent   Order = "recent"
	ByName     Order = "name"
)

// Listing selects entities.
type Listing struct {
	Words   string // beginnings of words, all of which one name or alias has
	Project string // memories of this project only
	Order   Order
	Skip    int
	Limit   int
	// Telling leaves out what is common and what nothing mentions.
	Telling bool
}

// List returns a page of entities, and how many there are in all.
func (g *Graph) List(l Listing) (page []Entity, total int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	sums := g.sums(l.Project)
	words := strings.Fields(entities.Key(l.Words))
	best := ranking{most: l.Skip + l.Limit, less: g.order(l.Order)}
	for at, n := range g.names {
		if n == nil || n.entity != uint32(at) || !n.exists() || !g.hasWords(n, words) {
			continue
		}
		s := sums(uint32(at))
		if s == nil || l.Telling && (s.mentions == 0 || s.common(len(g.places))) {
			continue
		}
		total++
		best.add(ranked{uint32(at), s})
	}
	for _, r := range best.list[min(l.Skip, len(best.list)):] {
		page = append(page, g.view(r.at, r.sum))
	}
	return page, total
}

// sums returns what gives the sum of an entity, nil for one that the project has not.
func (g *Graph) sums(project string) func(uint32) *sum {
	if project == "" {
		return g.sumOf
	}
	all := make([]*sum, len(g.names))
	for i := range g.docs {
		if d := &g.docs[i]; d.in(project) {
			for _, to := range g.mentioned(d) {
				if all[to] == nil {
					s := newSum()
					all[to] = &s
				}
				all[to].add(d)
			}
		}
	}
	return func(at uint32) *sum { return all[at] }
}

// hasWords reports whether one of an entity's names has words that begin with all of
// those that are asked for. Where no spaces are written they may begin anywhere.
func (g *Graph) hasWords(n *name, words []string) bool {
	if len(words) == 0 {
		return true
	}
	return slices.ContainsFunc(n.members, func(m uint32) bool {
		key := g.names[m].key
		return !slices.ContainsFunc(words, func(w string) bool { return !hasWord(key, w) })
	})
}

func hasWord(key, word string) bool {
	if strings.HasPrefix(key, word) || strings.Contains(key, " "+word) {
		return true
	}
	return word[0] >= 0x80 && strings.Contains(key, word)
}

func (g *Graph) order(o Order) func(a, b ranked) int {
	byName := func(a, b ranked) int { return strings.Compare(g.names[a.at].key, g.names[b.at].key) }
	switch o {
	case ByName:
		return byName
	case ByRecent:
		return func(a, b ranked) int {
			return cmp.Or(cmp.Compare(b.last, a.last), cmp.Compare(b.mentions, a.mentions), byName(a, b))
		}
	}
	return func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.mentions, a.mentions), cmp.Compare(b.last, a.last), byName(a, b))
	}
}

// ranked is an entity with what it is sorted by.
type ranked struct {
	at uint32
	*sum
}

// ranking keeps the first of what is added.
type ranking struct {
	most int
	less func(a, b ranked) int
	list []ranked
}

func (r *ranking) add(e ranked) {
	if len(r.list) == r.most && (r.most == 0 || r.less(r.list[r.most-1], e) <= 0) {
		return
	}
	i, _ := slices.BinarySearchFunc(r.list, e, r.less)
	if r.list = slices.Insert(r.list, i, e); len(r.list) > r.most {
		r.list = r.list[:r.most]
	}
}
