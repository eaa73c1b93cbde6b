package reference

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"emberd/internal/mcp/tool"
	"emberd/internal/refgraph"
	"emberd/internal/wire"
	"emberd/memory"
	"emberd/op"
)

// Bounds of an answer with a graph, in bytes of its JSON: some 20,000 tokens, of which
// entities have the larger part. One entity is given whole, however long it is.
const (
	entityBytes   = 48 << 10
	relationBytes = 16 << 10
	// resourceBytes bounds the entities, and the relations, of the resource that has the whole graph.
	resourceBytes = 4 << 20
)

const (
	// pageStep is how many entities are asked for at once while a page fills up: as many
	// as may be, since each time all of them are looked through.
	pageStep = memory.MaxResults
	// rankedNodes is how many entities a search by words may give.
	rankedNodes = 20
	// fromTheStart is the cursor of an answer that is cut before the list of entities
	// begins.
	fromTheStart = "start"
)

// node is an entity with its memory.
type node struct {
	refgraph.Entity
	memory *op.Memory
}

// nodePage is a page of entities under way.
type nodePage struct {
	room     int // for entities, in bytes; 0 is entityBytes
	nodes    []node
	mentions []*op.Memory // if they are wanted, names that are not entities
	wanted   bool
	bytes    int
	seen     map[memory.ID]bool
}

// add takes an entity in, or reports that the page is full.
func (p *nodePage) add(n node) bool {
	raw, err := wire.Marshal(n.Entity)
	if err != nil || p.seen[n.memory.ID] {
		return true
	}
	if p.bytes+len(raw) > cmp.Or(p.room, entityBytes) && len(p.nodes) > 0 {
		return false
	}
	if p.seen == nil {
		p.seen = make(map[memory.ID]bool)
	}
	p.seen[n.memory.ID] = true
	p.nodes, p.bytes = append(p.nodes, n), p.bytes+len(raw)
	return true
}

// fill turns the pages of the list of entities until the page is full, and returns the
// cursor of what follows. Of a step that does not fit as a whole the part that does is
// asked for again, which tells its cursor.
func (p *nodePage) fill(ctx context.Context, c *tool.Call, contains, cursor string,
	fits func(*refgraph.Entity) bool) (next string, err error) {
	for step := pageStep; step > 0; {
		res, err := op.List.Call(ctx, c, &op.ListRequest{Filter: op.Filter{Collection: refgraph.Collection},
			Contains: contains, Limit: step, Cursor: cursor})
		if memory.CodeOf(err) == memory.NotFound {
			return "", nil // there is no entity yet
		}
		if err != nil {
			return "", err
		}
		then := *p
		then.nodes, then.mentions, then.seen = slices.Clone(p.nodes), slices.Clone(p.mentions), maps.Clone(p.seen)
		if n := then.addAll(res.Memories, fits); n < len(res.Memories) {
			step = n
			continue
		}
		if *p, cursor = then, res.NextCursor; cursor == "" {
			return "", nil
		}
		if step < pageStep {
			break // what follows did not fit
		}
	}
	return cmp.Or(cursor, fromTheStart), nil
}

// addAll takes in entities and returns how many of the memories it came through.
func (p *nodePage) addAll(memories []op.Memory, fits func(*refgraph.Entity) bool) int {
	for i := range memories {
		m := &memories[i]
		if p.wanted && refgraph.Mentioned(&m.Memory) {
			p.mentions = append(p.mentions, m)
		}
		e, ok := refgraph.Of(&m.Memory)
		if ok && fits(&e) && !p.add(node{e, m}) {
			return i
		}
	}
	return len(memories)
}

func readEntities(ctx context.Context, c *tool.Call, in *readEntitiesIn) (*Graph, error) {
	p := nodePage{wanted: true}
	next, err := p.fill(ctx, c, "", listCursor(in.Cursor), func(*refgraph.Entity) bool { return true })
	if err != nil {
		return nil, err
	}
	return p.graph(ctx, c, next, func(r *op.RelationsOf) []memory.Relation { return r.Outgoing })
}

// Whole returns the graph with all entities and relations, or an error if it is larger than a resource may be.
func Whole(ctx context.Context, c *tool.Call) (*Graph, error) {
	p := nodePage{wanted: true, room: resourceBytes}
	next, err := p.fill(ctx, c, "", "", func(*refgraph.Entity) bool { return true })
	if err != nil {
		return nil, err
	}
	g, err := p.graph(ctx, c, next, func(r *op.RelationsOf) []memory.Relation { return r.Outgoing })
	if err == nil && g.Truncated {
		err = memory.Errorf(memory.TooLarge,
			"the graph is too large for a resource (limit %d MiB); call read_graph, which returns pages",
			resourceBytes>>20)
	}
	return g, err
}

func listCursor(cursor string) string {
	if cursor == fromTheStart {
		return ""
	}
	return cursor
}

// searchNodes returns the entities that hold the query as it stands, as the reference server does. A search by words
// comes first, since it finds texts in notes too.
func searchNodes(ctx context.Context, c *tool.Call, in *searchNodesIn) (*Graph, error) {
	holds := func(e *refgraph.Entity) bool { return e.Holds(in.Query) }
	var p nodePage
	full := false
	if in.Cursor == "" {
		ranked, err := rankedEntities(ctx, c, in.Query)
		if err != nil {
			return nil, err
		}
		for _, n := range ranked {
			full = full || n.Holds(in.Query) && !p.add(n)
		}
	}
	next := fromTheStart
	if !full {
		var err error
		if next, err = p.fill(ctx, c, listPart(in.Query), listCursor(in.Cursor), holds); err != nil {
			return nil, err
		}
	}
	return p.graph(ctx, c, next,
		func(r *op.RelationsOf) []memory.Relation { return slices.Concat(r.Outgoing, r.Incoming) })
}

// listPart returns what the content or type of an entity must hold to hold all of a text. Further lines of an
// observation are indented in a content, a name has no line breaks there, and lists compare letters one by one.
func listPart(text string) string {
	parts := strings.FieldsFunc(text, func(r rune) bool { return r > unicode.MaxASCII || r < ' ' })
	if len(parts) == 0 {
		return ""
	}
	longest := slices.MaxFunc(parts, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	return longest[:min(len(longest), memory.MaxQueryBytes)]
}

// searchable returns the words of a text, none of which is an operator. The signs of C++ and C# stay.
func searchable(text string) string {
	before := ' '
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		sign := (r == '+' || r == '#') && before != ' '
		if before = r; !sign && !unicode.In(r, unicode.L, unicode.N, unicode.M) {
			before = ' '
		}
		return before == ' '
	}), " ")
}

// rankedEntities searches by words.
func rankedEntities(ctx context.Context, c *tool.Call, query string) (out []node, err error) {
	words := searchable(query)
	if words == "" || len(words) > memory.MaxQueryBytes {
		return nil, nil
	}
	res, err := op.Search.Call(ctx, c,
		&op.SearchRequest{Query: words, Scope: "memories", Filter: op.Filter{Collection: refgraph.Collection},
			Limit: rankedNodes, IncludeReview: new(false)})
	if memory.CodeOf(err) == memory.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, h := range res.Hits {
		if h.Memory == nil {
			continue
		}
		m := h.Memory.Memory
		if !h.Memory.Shortened() {
			m.Stage, m.TextDigest = memory.Active, "" // all of its text is here
		}
		if e, ok := refgraph.Of(&m); ok {
			out = append(out, node{e, h.Memory})
		}
	}
	return out, nil
}

func openNodes(ctx context.Context, c *tool.Call, in *openNodesIn) (*Graph, error) {
	skip := 0
	if in.Cursor != "" {
		var err error
		if skip, err = strconv.Atoi(in.Cursor); err != nil || skip < 0 {
			return nil, memory.Errorf(memory.Invalid, "cursor is not one that open_nodes gave; use "+
				"next_cursor of the answer before, with the same names").At("cursor")
		}
	}
	there, err := openMany(ctx, c, entityIDs(in.Names), false, true)
	if err != nil {
		return nil, err
	}
	var p nodePage
	var left, notes []string
	for _, id := range entityIDs(in.Names) {
		if there[id] == nil {
			continue
		}
		m, err := warm(ctx, c, &there[id].Memory)
		if code := memory.CodeOf(err); code == memory.Busy || code == memory.Conflict {
			m = &there[id].Memory
			notes = []string{fmt.Sprintf("Not all have their observations, for notes that hold them are not read: %v.",
				err)}
		} else if err != nil {
			return nil, err
		}
		if e, ok := refgraph.Of(&m.Memory); ok && !p.add(node{e, m}) {
			left = append(left, strconv.Quote(e.Name))
		}
	}
	out, all, err := p.related(ctx, c,
		func(r *op.RelationsOf) []memory.Relation { return slices.Concat(r.Outgoing, r.Incoming) })
	if err != nil {
		return nil, err
	}
	rest, err := p.relate(ctx, c, out, all[min(skip, len(all)):])
	if err != nil {
		return nil, err
	}
	if rest > 0 {
		out.NextCursor = strconv.Itoa(len(all) - rest)
		notes = append(notes,
			fmt.Sprintf("%d more relations follow; call open_nodes with these names and next_cursor as cursor.", rest))
	} else if out.Truncated {
		notes = append(notes, "One of them has more relations than are looked at here; "+
			"read_graph has each with the entity that it starts at.")
	}
	if len(left) > 0 {
		notes = append(notes,
			fmt.Sprintf("The answer would be too long with %s; open them in another call.", strings.Join(left, ", ")))
	}
	out.Truncated, out.Note = len(notes) > 0, strings.Join(notes, " ")
	return out, nil
}

// graph returns the page as an answer, with those of its relations that of tells and how to
// go on.
func (p *nodePage) graph(ctx context.Context, c *tool.Call, next string,
	of func(*op.RelationsOf) []memory.Relation) (*Graph, error) {
	out, all, err := p.related(ctx, c, of)
	if err != nil {
		return nil, err
	}
	rest, err := p.relate(ctx, c, out, all)
	if err != nil {
		return nil, err
	}
	var notes []string
	if next != "" {
		notes = append(notes, "More entities follow; call again with next_cursor as cursor.")
	}
	if rest > 0 || out.Truncated {
		notes = append(notes, "Relations are left out; open_nodes gives those of single entities.")
	}
	out.Truncated, out.NextCursor, out.Note = len(notes) > 0, next, strings.Join(notes, " ")
	return out, nil
}

// related returns the page as an answer without relations, oldest entities first, and its
// relations, oldest first.
func (p *nodePage) related(ctx context.Context, c *tool.Call,
	of func(*op.RelationsOf) []memory.Relation) (*Graph, []memory.Relation, error) {
	slices.SortFunc(p.nodes, func(a, b node) int { return refgraph.Compare(&a.memory.Memory, &b.memory.Memory) })
	out := new(Graph)
	var ids []memory.ID
	for _, n := range p.nodes {
		out.Entities, ids = append(out.Entities, n.Entity), append(ids, n.memory.ID)
	}
	for _, m := range p.mentions {
		ids = append(ids, m.ID)
	}
	there, err := openMany(ctx, c, ids, true, false)
	if err != nil {
		return nil, nil, err
	}
	found := make(map[string]memory.Relation)
	for _, m := range there {
		out.Truncated = out.Truncated || m.Relations.Truncated
		for _, r := range of(m.Relations) {
			found[r.ID] = r
		}
	}
	all := slices.SortedFunc(maps.Values(found),
		func(a, b memory.Relation) int { return refgraph.CompareRelations(&a, &b) })
	return out, all, nil
}

// relate gives an answer as many of the relations as fit, and returns how many do not.
// It leaves out relations from or to memories that are not entities.
func (p *nodePage) relate(ctx context.Context, c *tool.Call, out *Graph, all []memory.Relation) (rest int, err error) {
	names := make(map[memory.ID]string)
	for _, n := range p.nodes {
		names[n.memory.ID] = n.Name
	}
	size := 0
	for i := range all {
		if i%memory.MaxIDs == 0 {
			if err := nameEnds(ctx, c, all[i:min(len(all), i+memory.MaxIDs)], names); err != nil {
				return 0, err
			}
		}
		from, to := names[all[i].From], names[all[i].To]
		if from == "" || to == "" {
			continue
		}
		r := refgraph.RelationOf(&all[i], from, to)
		raw, err := wire.Marshal(r)
		if size += len(raw); err != nil || size > max(p.room, relationBytes) {
			return len(all) - i, err
		}
		out.Relations = append(out.Relations, r)
	}
	return 0, nil
}

// nameEnds finds out the names of the entities at the ends of relations.
func nameEnds(ctx context.Context, c *tool.Call, relations []memory.Relation, names map[memory.ID]string) error {
	others := make(map[memory.ID]bool)
	for _, r := range relations {
		for _, id := range []memory.ID{r.From, r.To} {
			if names[id] == "" {
				others[id] = true
			}
		}
	}
	there, err := openMany(ctx, c, slices.Collect(maps.Keys(others)), false, false)
	for id, m := range there {
		if name := refgraph.NameOf(&m.Memory.Memory); name != "" {
			names[id] = name
		}
	}
	return err
}
