package organize

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

// maxBranches is how many edges are shown below each of what is mentioned most.
const maxBranches = 4

// printAround draws the tree from the node that was asked about.
func printAround(s *cli.App, res *op.KnowledgeResult) {
	t := newBranching(res)
	printNode(s, "", "", t.nodes[res.Nodes[0].ID], nil)
	t.branches(res.Nodes)
	printBranches(s, t, res.Nodes[0].ID, "")
	if res.Truncated {
		s.Note("more results exist; to see up to 1,000 memories, notes and entities, use --limit")
	}
	cli.NotePartial(s, res.Partial)
}

// maxOverview is how many lines the overview of the graph has.
const maxOverview = 20

// printMost says how many entities are known and draws those that have most edges, each with the
// nodes that it has most to do with.
func printMost(s *cli.App, res *op.KnowledgeResult, known int) {
	t := newBranching(res)
	if len(res.Nodes) == 0 {
		s.Note("no entities yet; save memories that name a person or project, or link notes")
		return
	}
	s.Printf("%s\n", cli.Count(known, "entity (a person, project or other name)",
		"entities (people, projects and other names)"))
	nodes := slices.Clone(res.Nodes)
	slices.SortStableFunc(nodes, func(a, b op.KnowledgeNode) int {
		return cmp.Compare(len(t.edges[b.ID]), len(t.edges[a.ID]))
	})
	lines := 1
	for i := range nodes {
		near := t.nearest(nodes[i].ID)
		if lines += 1 + len(near); lines > maxOverview {
			s.Note("to see more about one entity, run: emberd graph NAME; " +
				"to list all entities, run: emberd list --entities")
			break
		}
		printNode(s, "", "", &nodes[i], nil)
		for j, to := range near {
			printNode(s, "", elbow(j == len(near)-1), t.nodes[to], t.between(nodes[i].ID, to))
		}
	}
	cli.NotePartial(s, res.Partial)
}

// nearest are the nodes that most leads to, the strongest first.
func (t *branching) nearest(id string) []string {
	weight := make(map[string]float64)
	for _, e := range t.edges[id] {
		weight[other(e, id)] += e.Weight
	}
	near := slices.SortedFunc(maps.Keys(weight), func(a, b string) int {
		return cmp.Or(cmp.Compare(weight[b], weight[a]), strings.Compare(a, b))
	})
	return near[:min(maxBranches, len(near))]
}

// branching is a graph as it is drawn: every node below the first that leads to it.
type branching struct {
	nodes map[string]*op.KnowledgeNode
	edges map[string][]*op.KnowledgeEdge // of a node, either way
	below map[string][]string
}

func newBranching(res *op.KnowledgeResult) *branching {
	t := &branching{nodes: make(map[string]*op.KnowledgeNode), edges: make(map[string][]*op.KnowledgeEdge),
		below: make(map[string][]string)}
	for i := range res.Nodes {
		t.nodes[res.Nodes[i].ID] = &res.Nodes[i]
	}
	for i := range res.Edges {
		e := &res.Edges[i]
		t.edges[e.From] = append(t.edges[e.From], e)
		t.edges[e.To] = append(t.edges[e.To], e)
	}
	return t
}

// branches puts every node below the nearest to the first one; nodes come in that order.
func (t *branching) branches(nodes []op.KnowledgeNode) {
	seen := map[string]bool{nodes[0].ID: true}
	for queue := []string{nodes[0].ID}; len(queue) > 0; queue = queue[1:] {
		id := queue[0]
		near := make(map[string]bool)
		for _, e := range t.edges[id] {
			near[other(e, id)] = true
		}
		for i := range nodes {
			if n := nodes[i].ID; near[n] && !seen[n] {
				seen[n] = true
				t.below[id] = append(t.below[id], n)
				queue = append(queue, n)
			}
		}
	}
}

// between are the captions of the edges from one node to another: what is said of both
// before how often they are mentioned together.
func (t *branching) between(from, to string) (out []string) {
	for _, e := range t.edges[from] {
		if other(e, from) != to {
			continue
		}
		if c := captionFrom(e, from); !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int {
		return cmp.Compare(strings.Count(a, "together "), strings.Count(b, "together "))
	})
	return out
}

// beside are the relations from a memory to others that stand elsewhere in the tree.
func (t *branching) beside(id string) (out []string) {
	if t.nodes[id].Kind != "memory" {
		return nil
	}
	for _, e := range t.edges[id] {
		to := t.nodes[e.To]
		if e.From == id && to.Kind == "memory" && !slices.Contains(t.below[id], e.To) &&
			!slices.Contains(t.below[e.To], id) {
			out = append(out, captionFrom(e, id)+": "+memory.ID(e.To).Short())
		}
	}
	return out
}

func printBranches(s *cli.App, t *branching, id, indent string) {
	list := t.below[id]
	for i, to := range list {
		last := i == len(list)-1
		printNode(s, indent, elbow(last), t.nodes[to], t.between(id, to))
		next := indent + "│  "
		if last {
			next = indent + "   "
		}
		for _, text := range t.beside(to) {
			s.Printf("%s\n", s.Screen.Paint(cli.Faint, next+cli.OneLine(text)))
		}
		printBranches(s, t, to, next)
	}
}

func elbow(last bool) string {
	if last {
		return "└─ "
	}
	return "├─ "
}

func other(e *op.KnowledgeEdge, id string) string {
	if e.From == id {
		return e.To
	}
	return e.From
}

// captionFrom says what an edge is, seen from one of its ends.
func captionFrom(e *op.KnowledgeEdge, id string) string {
	out := e.From == id
	switch e.Type {
	case "mentioned_with":
		return fmt.Sprintf("together %s×", cli.Grouped(int(e.Weight)))
	case "mentions":
		return cli.Either(out, "mentions", "mentioned by")
	case "about":
		return cli.Either(out, "is about", "told by")
	case "links_to":
		return cli.Either(out, "links to", "linked from")
	}
	text := strings.ReplaceAll(cmp.Or(e.Kind, e.Type), "_", " ")
	if e.Weight > 0 && e.Weight < 1 {
		text += " " + strconv.FormatFloat(e.Weight, 'g', 2, 64)
	}
	return cli.Either(out, text, "← "+text)
}

// printNode prints one line, cut to the width of the screen.
func printNode(s *cli.App, indent, elbow string, n *op.KnowledgeNode, captions []string) {
	front := strings.Join(captions, ", ")
	if front != "" {
		front = cli.OneLine(front) + ": "
	}
	name, about, id := cli.OneLine(n.Label), "", ""
	switch n.Kind {
	case "memory":
		id = memory.ID(n.ID).Short() + " "
	case "note":
		name = cli.OneLine(strings.TrimPrefix(n.ID, "note:"))
	default:
		about = fmt.Sprintf("  %s×", cli.Grouped(n.Mentions))
	}
	room := 0
	if s.Screen.Width > 0 {
		room = max(12, s.Screen.Width-len([]rune(indent+elbow+front+id+about)))
	}
	name = cli.Cut(name, room)
	if n.Kind == "entity" {
		name = s.Screen.Paint(cli.Bold, name)
	}
	s.Printf("%s%s%s%s%s\n", s.Screen.Paint(cli.Faint, indent+elbow), s.Screen.Paint(cli.Faint, front),
		s.Screen.Paint(cli.Yellow, id), name, s.Screen.Paint(cli.Faint, about))
}
