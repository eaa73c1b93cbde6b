package knowledge

import (
	"slices"
	"strings"
)

// claim has a document claim the names of what it is about.
func (g *Graph) claim(at uint32, d *Doc) {
	if d.Title == "" || !hasLetter(d.Title) {
		return
	}
	title, ok := g.name(d.Title)
	if !ok {
		return
	}
	g.claimName(at, title, claim{doc: at, text: strings.Clone(d.Title), title: title})
	for _, text := range slices.DeleteFunc(slices.Clone(d.Aliases), func(a string) bool { return !hasLetter(a) }) {
		n, ok := g.name(text)
		if ok && !slices.Contains(g.docs[at].claims, n) {
			g.claimName(at, n, claim{doc: at, text: strings.Clone(text), title: title, alias: true})
		}
	}
}

func (g *Graph) claimName(at, n uint32, c claim) {
	g.docs[at].claims = append(g.docs[at].claims, n)
	claims := &g.names[n].claims
	i, _ := slices.BinarySearchFunc(*claims, c, g.compareClaims)
	*claims = slices.Insert(*claims, i, c)
	g.settle(n)
}

// compareClaims orders the claims on one name by which holds.
func (g *Graph) compareClaims(a, b claim) int {
	switch {
	case a.alias != b.alias && b.alias:
		return -1
	case a.alias != b.alias:
		return 1
	}
	return g.docs[a.doc].ref.compare(g.docs[b.doc].ref)
}

func (g *Graph) unclaim(at uint32, names []uint32) {
	for _, n := range names {
		g.names[n].claims = slices.DeleteFunc(g.names[n].claims, func(c claim) bool { return c.doc == at })
		g.settle(n)
	}
}

// settle has a name stand for what the claim on it that holds says.
func (g *Graph) settle(at uint32) {
	n := g.names[at]
	to := at
	if len(n.claims) > 0 {
		to = n.claims[0].title
	}
	was := n.entity
	g.stale(at)
	g.stale(was)
	g.stale(to)
	if was == to {
		return
	}
	old := g.names[was]
	old.members = slices.DeleteFunc(old.members, func(m uint32) bool { return m == at })
	n.entity = to
	g.names[to].members = append(g.names[to].members, at)
	if was != at {
		g.sweep(was)
	}
}
