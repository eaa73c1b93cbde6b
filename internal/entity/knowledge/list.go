package knowledge

import (
	"cmp"
	"slices"
	"strings"

	"emberd/internal/entity"
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
	// Telling leaves out what is common. What nothing mentions is listed only for its words.
	Telling bool
}

// List returns a page of entities, and how many there are in all.
func (g *Graph) List(l Listing) (page []Entity, total int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	sums := g.sums(l.Project)
	words := strings.Fields(entity.Key(l.Words))
	best := ranking[ranked]{most: l.Skip + l.Limit, compare: g.order(l.Order)}
	for at := range g.cells {
		c := &g.cells[at]
		if c.state == unknown {
			g.renew(uint32(at))
		}
		if c.state == absent || !g.hasWords(uint32(at), words) {
			continue
		}
		s := &c.sum
		if sums != nil {
			s = sums[at]
		}
		if s == nil || s.mentions == 0 && len(words) == 0 || l.Telling && s.common(len(g.places)) {
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

// sums returns those of the entities of a project, by their numbers, nil for what it has not;
// without a project those of the cells hold.
func (g *Graph) sums(project string) []*sum {
	if project == "" {
		return nil
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
	return all
}

// hasWords reports whether one of an entity's names has words that begin with all of
// those that are asked for. Where no spaces are written they may begin anywhere.
func (g *Graph) hasWords(at uint32, words []string) bool {
	lacks := func(key string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return !hasWord(key, w) })
	}
	if !lacks(g.cells[at].key) {
		return true
	}
	return slices.ContainsFunc(g.names[at].members, func(m uint32) bool { return !lacks(g.cells[m].key) })
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
type ranking[T any] struct {
	most    int
	compare func(a, b T) int
	list    []T
}

func (r *ranking[T]) add(e T) {
	if len(r.list) == r.most && (r.most == 0 || r.compare(r.list[r.most-1], e) <= 0) {
		return
	}
	i, _ := slices.BinarySearchFunc(r.list, e, r.compare)
	if r.list = slices.Insert(r.list, i, e); len(r.list) > r.most {
		r.list = r.list[:r.most]
	}
}
