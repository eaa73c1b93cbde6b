package notelinks

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/engine/graph"
	"emberd/engine/promote"
	"emberd/memory"
	"emberd/vault/frontmatter"
)

// Bounds of the links that emberd writes into one note.
const (
	maxLinks     = 5
	maxRelations = 4 // besides the one for superseded-by, of maxLinks together with entities
)

// notePlan is what becomes of the properties of one note.
type notePlan struct {
	set   map[string][]string // the values to write; one without items is removed
	known *knownLinks         // of the note after that
	// readBack are the memories to which a person added or removed links, by property.
	added, removed map[string][]memory.ID
	links          int // of emberd's
}

// isReadBack reports whether a person changed links.
func (out *notePlan) isReadBack() bool { return len(out.added)+len(out.removed) > 0 }

// plan decides about a note with these properties.
func (p *pass) plan(ctx context.Context, n *memoryNote, has map[string][]string) *notePlan {
	k := p.known(n.m.ID)
	first := k == nil && n.m.PromotedAt.Before(p.k.notes.Since) || !p.e.Opt.LinkRelations
	if k == nil {
		k = new(knownLinks)
	}
	out := &notePlan{set: make(map[string][]string), added: make(map[string][]memory.ID),
		removed: make(map[string][]memory.ID),
		known:   &knownLinks{Values: make(map[string][]string), Links: make(map[string][]knownLink), Off: k.Off}}
	for _, key := range promote.RelationKeys() {
		l := relationList{items: has[key], known: k.Links[key], wanted: p.g.targets(n, key), off: k.Off[key],
			first: first, made: p.made[n.m.ID][key], refused: p.refused[n.m.ID][key], room: p.room(n, k, key, out),
			find: func(item string) memory.ID { return p.g.byPath[p.g.names.resolve(n.path, item)] }}
		m := l.merge()
		out.note(key, has[key], &m)
	}
	for key, wanted := range p.values(n, has, maxLinks-out.links) {
		if p.isOurs(ctx, n, k, key, has[key], wanted) {
			out.value(key, has[key], wanted)
			continue
		}
		out.known.Theirs = append(out.known.Theirs, key)
		if wrote, was := k.Values[key]; was {
			out.known.Values[key] = wrote
		}
	}
	return out
}

// note records what becomes of a list of relations.
func (out *notePlan) note(key string, has []string, m *merged) {
	if len(m.added) > 0 {
		out.added[key] = m.added
	}
	if len(m.removed) > 0 {
		out.removed[key] = m.removed
	}
	if !slices.Equal(m.items, has) {
		out.set[key] = m.items
	}
	if len(m.known) > 0 {
		out.known.Links[key] = m.known
	}
	for _, l := range m.known {
		if l.By == byEmberd {
			out.links++
		}
	}
}

// room returns how many links may be added to a list. A place is left for an entity, if there is one to link to, and
// one for the successor of the memory. What emberd wrote before keeps its place.
func (p *pass) room(n *memoryNote, k *knownLinks, key string, out *notePlan) int {
	if key == promote.SupersededByKey {
		return 1 - min(1, emberds(k.Links[key]))
	}
	room := maxRelations
	if slices.ContainsFunc(n.names, func(name string) bool { return p.entityLink(name) != "" }) {
		room--
	}
	for _, other := range promote.RelationKeys() {
		if other == promote.SupersededByKey {
			continue
		}
		links, decided := out.known.Links[other]
		if !decided {
			links = slices.DeleteFunc(slices.Clone(k.Links[other]),
				func(l knownLink) bool { return n.relations[other][l.To] == nil })
		}
		room -= emberds(links)
	}
	return max(room, 0)
}

func emberds(links []knownLink) (n int) {
	for _, l := range links {
		if l.By == byEmberd {
			n++
		}
	}
	return n
}

// values returns the properties of a memory that are no relations. room is for how many entities there may be links.
func (p *pass) values(n *memoryNote, has map[string][]string, room int) map[string][]string {
	one := func(text string) []string {
		if text == "" {
			return nil
		}
		return []string{text}
	}
	origin := n.m.Origin
	if origin == memory.FromUser {
		origin = ""
	}
	return map[string][]string{promote.ProjectKey: one(n.m.Project), promote.OriginKey: one(origin),
		promote.EntitiesKey: p.entities(n, has[promote.EntitiesKey], room)}
}

// isOurs reports whether a property of a note is as emberd wrote it, so that emberd may change it.
func (p *pass) isOurs(ctx context.Context, n *memoryNote, k *knownLinks, key string, has, wanted []string) bool {
	wrote, was := k.Values[key]
	writing, begun := k.Writing[key]
	_, off := k.Off[key]
	switch {
	case slices.Equal(has, wanted):
		return true
	case off:
		return false
	case was:
		return slices.Equal(has, wrote) || begun && slices.Equal(has, writing)
	case begun && slices.Equal(has, writing) || len(has) == 0:
		return true
	}
	return key == promote.EntitiesKey && (sameNames(has, n.m.Entities) || p.e.hadNames(ctx, n.m.ID, has))
}

// hadNames reports whether a memory had these entities before.
func (e *Links) hadNames(ctx context.Context, id memory.ID, items []string) bool {
	versions, err := e.Stm.History(ctx, id)
	if err != nil {
		return false
	}
	for _, version := range versions {
		for _, field := range version.Fields {
			for _, value := range []json.RawMessage{field.From, field.To} {
				var names []string
				if field.Name == "entities" && json.Unmarshal(value, &names) == nil && sameNames(items, names) {
					return true
				}
			}
		}
	}
	return false
}

// value records what becomes of a property that is emberd's.
func (out *notePlan) value(key string, has, wanted []string) {
	out.known.Values[key] = wanted
	if !slices.Equal(has, wanted) {
		out.set[key] = wanted
	}
	if key != promote.EntitiesKey {
		return
	}
	for _, item := range wanted {
		if strings.HasPrefix(item, "[[") {
			out.links++
		}
	}
}

// sameNames reports whether a note has the entities of its memory, as links or not, in whatever case: earlier versions
// wrote them so.
func sameNames(items, entities []string) bool {
	keys := func(all []string) []string {
		out := make([]string, len(all))
		for i, s := range all {
			if inner, ok := strings.CutPrefix(s, "[["); ok {
				s = strings.TrimSuffix(inner, "]]")
			}
			out[i] = entityKey(s)
		}
		return slices.Compact(slices.Sorted(slices.Values(out)))
	}
	return slices.Equal(keys(items), keys(entities))
}

// entities returns the entities of a memory, as links where those lead somewhere, and as text otherwise. If there is
// not room for all, those that are links in the note stay, and then come notes, and then what most memories name.
func (p *pass) entities(n *memoryNote, has []string, room int) []string {
	out, links := make([]string, len(n.names)), make([]string, len(n.names))
	var order []int
	for i, name := range n.names {
		out[i], links[i] = p.g.written(name), p.entityLink(name)
		if links[i] != "" {
			order = append(order, i)
		}
	}
	if p.e.Opt.LinkEntities == core.LinkAll {
		room = len(order)
	}
	rank := func(i int) (r int) {
		key := entityKey(n.names[i])
		if p.g.names.named(n.names[i], p.g.isOurs) != "" {
			r += 1 << 20
		}
		if slices.Contains(has, links[i]) {
			r += 1 << 24
		}
		return r + p.g.count[key]
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank(b) - rank(a) })
	for _, i := range order[:min(max(room, 0), len(order))] {
		out[i] = links[i]
	}
	return out
}

// entityLink returns the link to an entity, "" if it is to be none.
func (p *pass) entityLink(name string) string {
	if link, known := p.links[name]; known {
		return link
	}
	link, mode := "", p.e.Opt.LinkEntities
	switch to := p.g.names.named(name, p.g.isOurs); {
	case mode == core.LinkNone:
	case to != "":
		shown := p.g.written(name)
		if strings.EqualFold(shown, stemOf(to)) {
			shown = ""
		}
		link = p.g.names.linkTo(to, shown)
	case mode == core.LinkAll || mode == core.LinkShared && p.g.count[entityKey(name)] > 1:
		if form := p.g.written(name); graph.Linkable(form) {
			link = "[[" + form + "]]"
		}
	}
	p.links[name] = link
	return link
}

// remembered returns the properties of a note as they were when emberd last read or wrote it, as far as they are its
// own.
func (k *knownLinks) remembered() map[string][]string {
	has := make(map[string][]string)
	maps.Copy(has, k.Values)
	for key, links := range k.Links {
		for _, l := range links {
			has[key] = append(has[key], l.Text)
		}
	}
	return has
}

// changes returns the edit of a note.
func (out *notePlan) changes() frontmatter.Changes {
	c := frontmatter.Changes{KeepComments: true}
	for _, key := range promote.LinkKeys() {
		items, is := out.set[key]
		switch {
		case !is:
		case len(items) == 0:
			c.Unset = append(c.Unset, key)
		case key == promote.ProjectKey || key == promote.OriginKey:
			c.Set = append(c.Set, frontmatter.Field{Key: key, Value: frontmatter.Text(items[0])})
		default:
			c.Set = append(c.Set, frontmatter.Field{Key: key, Value: frontmatter.List(items...)})
		}
	}
	return c
}
