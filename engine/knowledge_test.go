package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
)

// mentioning saves a memory that names entities.
func mentioning(t testing.TB, e *engine.Engine, content string, entities ...string) op.Memory {
	t.Helper()
	return do(t, e, op.Save, &op.SaveRequest{Content: content, Entities: entities}).Memory
}

// entityMemory saves what the reference memory server calls an entity.
func entityMemory(t testing.TB, e *engine.Engine, name string) op.Memory {
	t.Helper()
	return do(t, e, op.Save, &op.SaveRequest{Content: name + " is an entity", Type: "person", Entities: []string{name},
		Meta: map[string]json.RawMessage{"name": json.RawMessage(fmt.Sprintf("%q", name))}}).Memory
}

// listed are the entities of a list with how often each is mentioned.
func entitiesListed(t testing.TB, e *engine.Engine, req op.EntityListRequest) []string {
	t.Helper()
	var out []string
	for _, k := range do(t, e, op.EntityList, &req).Entities {
		out = append(out, fmt.Sprintf("%s %d", k.Name, k.Mentions))
	}
	return out
}

func wantEntities(t testing.TB, e *engine.Engine, req op.EntityListRequest, want ...string) {
	t.Helper()
	if got := entitiesListed(t, e, req); !slices.Equal(got, want) {
		t.Errorf("entities %+v are %q, want %q", req, got, want)
	}
}

// drawn are the edges of a graph, in words.
func drawnEdges(t testing.TB, e *engine.Engine, req op.KnowledgeRequest) []string {
	t.Helper()
	res := do(t, e, op.Knowledge, &req)
	labels := make(map[string]string)
	for _, n := range res.Nodes {
		labels[n.ID] = n.Label
	}
	var out []string
	for _, l := range res.Edges {
		out = append(out, fmt.Sprintf("%s %s %s", labels[l.From], core.FirstNonEmpty(l.Kind, l.Type), labels[l.To]))
	}
	slices.Sort(out)
	return out
}

func wantEdges(t testing.TB, e *engine.Engine, req op.KnowledgeRequest, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := drawnEdges(t, e, req); !slices.Equal(got, want) {
		t.Errorf("graph %+v has edges\n%s\nwant\n%s", req, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// related are what an entity is related to, in words.
func related(t testing.TB, e *engine.Engine, name string) []string {
	t.Helper()
	var out []string
	for _, k := range e.Graph.EntitiesFor(name, 1) {
		for _, r := range k.Related {
			arrow := ""
			if r.Incoming {
				arrow = "<-"
			}
			out = append(out, fmt.Sprintf("%s%s %s %g", arrow, r.Type, r.Name, r.Weight))
		}
	}
	return out
}

func library() map[string]string {
	return map[string]string{
		"People/Ada Lovelace.md":    "---\naliases: [Ada]\n---\nWorked with [[Charles Babbage]] on the [[Analytical Engine]].\n",
		"People/Charles Babbage.md": "Built engines. #mathematics\n",
		"Journal/2026-02-01.md":     "Read about [[Ada]], see [[2026-01-31]] and ![[portrait.png]]. #charles-babbage #reading\n",
	}
}

func TestEntitiesOfMemoriesAndNotes(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, library())
	h.ms.Store(time.Now().Add(time.Hour).UnixMilli()) // after the notes, so that both were last seen at once
	e := h.following(t)
	mentioning(t, e, "Ada wrote the first program", "ada", "First Program")
	mentioning(t, e, "Babbage asked Ada Lovelace for notes", "Ada Lovelace", "charles  babbage")

	wantEntities(t, e, op.EntityListRequest{}, "Ada Lovelace 3", "Charles Babbage 3", "First Program 1", "Analytical Engine 1")
	wantEntities(t, e, op.EntityListRequest{Query: "lov"}, "Ada Lovelace 3")
	wantEntities(t, e, op.EntityListRequest{Query: "ADA"}, "Ada Lovelace 3")
	wantEntities(t, e, op.EntityListRequest{Query: "reading"})
	wantEntities(t, e, op.EntityListRequest{Sort: "name", Limit: 2, Offset: 1}, "Analytical Engine 1", "Charles Babbage 3")

	ada := do(t, e, op.EntityList, &op.EntityListRequest{Query: "ada"}).Entities[0]
	if ada.Note != "People/Ada Lovelace.md" || !slices.Equal(ada.Aliases, []string{"Ada"}) || ada.Memories != 2 || ada.Notes != 1 {
		t.Errorf("Ada Lovelace is %+v, want her note, her alias, 2 memories and 1 note", ada)
	}
	want := []string{"links_to Analytical Engine 1", "links_to Charles Babbage 1", "mentioned_with Charles Babbage 2", "mentioned_with First Program 1"}
	if got := related(t, e, "What did ada do?"); !slices.Equal(got, want) {
		t.Errorf("Ada is related to %q, want %q", got, want)
	}
	wantCode(t, refused(t, e, op.EntityList, &op.EntityListRequest{Sort: "size"}), memory.Invalid, "use mentions, recent or name")
}

func TestEntitiesFollowWhatChanges(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, library())
	e := h.following(t)
	m := mentioning(t, e, "Ada wrote the first program", "Ada")
	wantEntities(t, e, op.EntityListRequest{Query: "ada"}, "Ada Lovelace 2")

	forgotten := do(t, e, op.Forget, &op.ForgetRequest{ID: string(m.ID)})
	wantEntities(t, e, op.EntityListRequest{Query: "ada"}, "Ada Lovelace 1")
	do(t, e, op.Undo, &op.UndoRequest{Tx: forgotten.Tx})
	wantEntities(t, e, op.EntityListRequest{Query: "ada"}, "Ada Lovelace 2")

	do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Entities: &[]string{"Countess"}})
	wantEntities(t, e, op.EntityListRequest{Query: "ada"}, "Ada Lovelace 1")
	h.write(t, "People/Ada Lovelace.md", "---\naliases: [Ada, Countess]\n---\nAlone.\n")
	until(t, "the note's new alias counts", func() bool {
		return slices.Equal(entitiesListed(t, e, op.EntityListRequest{Query: "countess"}), []string{"Ada Lovelace 2"})
	})
}

func TestHowOftenAndWhenEntitiesWereMentioned(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	first := h.clock.Now()
	mentioning(t, e, "Ada wrote the first program", "Ada")
	h.advance(time.Hour)
	mentioning(t, e, "Ada liked poetry", "ada", "poetry")

	got := e.Graph.Mentions([]string{"ADA", "Ada", "nobody"})
	if len(got) != 1 || got[0].Name != "Ada" || got[0].Count != 2 || !got[0].LastSeen.Equal(h.clock.Now()) {
		t.Errorf("mentions are %+v, want Ada twice, last now", got)
	}
	if ada := e.Graph.EntitiesFor("about Ada", 5)[0]; !ada.FirstSeen.Equal(first) {
		t.Errorf("first seen %v, want %v", ada.FirstSeen, first)
	}
}

func TestRelationsBetweenEntities(t *testing.T) {
	t.Parallel()
	e := newHouse(t).open(t)
	ada, acme := entityMemory(t, e, "Ada"), entityMemory(t, e, "Acme")
	do(t, e, op.Relate, &op.RelateRequest{From: string(ada.ID), To: string(acme.ID), Type: memory.Related, Kind: "works_at"})
	cause, effect := mentioning(t, e, "Grace found a moth", "Grace"), mentioning(t, e, "the word bug was born", "Bug")
	do(t, e, op.Relate, relating(cause, effect, memory.Causes))
	port, other := mentioning(t, e, "Postgres of shop listens on 5432", "Postgres", "Shop"), mentioning(t, e, "Postgres of shop listens on 5433", "Postgres", "Shop")
	do(t, e, op.Relate, relating(port, other, memory.Contradicts))
	if got := related(t, e, "Postgres"); !slices.Equal(got, []string{"mentioned_with Shop 2"}) {
		t.Errorf("Postgres is related to %q: what is said of it twice is no relation of its own", got)
	}
	for name, want := range map[string][]string{"Ada": {"works_at Acme 1"}, "Acme": {"<-works_at Ada 1"}, "Grace": nil, "Bug": nil} {
		if got := related(t, e, name); !slices.Equal(got, want) {
			t.Errorf("%s is related to %q, want %q", name, got, want)
		}
	}
	wantEdges(t, e, op.KnowledgeRequest{Of: "grace", Depth: 2},
		"Grace found a moth mentions Grace", "Grace found a moth causes the word bug was born")
	forgotten := do(t, e, op.Forget, &op.ForgetRequest{ID: string(acme.ID)})
	if got := related(t, e, "Ada"); len(got) != 0 {
		t.Errorf("Acme is forgotten, and Ada is still related to %q", got)
	}
	do(t, e, op.Undo, &op.UndoRequest{Tx: forgotten.Tx})
	if got := related(t, e, "Ada"); len(got) != 1 {
		t.Errorf("Acme is back, and Ada is related to %q, want Acme", got)
	}
}

// Two memories that contradict one another and name the same two things say nothing of how
// these stand to one another.
func TestAContradictionIsBetweenMemories(t *testing.T) {
	t.Parallel()
	e := newHouse(t).open(t)
	one := mentioning(t, e, "Billing uses the database on 5432", "Billing", "database")
	other := mentioning(t, e, "Billing uses the database on 5433", "Billing", "database")
	do(t, e, op.Relate, relating(other, one, memory.Contradicts))
	if got := related(t, e, "database"); !slices.Equal(got, []string{"mentioned_with Billing 2"}) {
		t.Errorf("the database is related to %q, want what is mentioned with it alone", got)
	}
	wantEdges(t, e, op.KnowledgeRequest{Of: "database"}, "Billing mentioned_with database", other.Content+" contradicts "+one.Content,
		one.Content+" mentions Billing", one.Content+" mentions database", other.Content+" mentions Billing", other.Content+" mentions database")
}

func TestWhatFoundEntitiesAreCalled(t *testing.T) {
	t.Parallel()
	e := newHouse(t).open(t)
	for _, content := range []string{"We met Caroline and postgresql was down", "the PostgreSQL of Caroline", "Caroline reads E. M. Forster"} {
		do(t, e, op.Save, &op.SaveRequest{Content: content, Enrich: new(true)})
	}
	wantEntities(t, e, op.EntityListRequest{}, "Caroline 3", "PostgreSQL 2", "E. M. Forster 1")
}

func TestTagsOfMemoriesMentionWhatIsNamed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	mentioning(t, e, "Ada wrote a program", "Ada Lovelace")
	do(t, e, op.Save, &op.SaveRequest{Content: "a letter of hers", Tags: []string{"people/ada-lovelace", "letters"}, Entities: []string{}})
	wantEntities(t, e, op.EntityListRequest{}, "Ada Lovelace 2")
	wantNames(t, e, "entity:ada-lovelace", "Ada wrote a program", "a letter of hers")
	then := h.clock.Now()
	h.advance(time.Hour)
	if got := do(t, e, op.Search, &op.SearchRequest{Query: `entity:"ada lovelace"`, AsOf: then}).Total; got != 2 {
		t.Errorf("then %d memories were of Ada Lovelace, want 2", got)
	}
}

func TestAGraphAroundSomething(t *testing.T) {
	t.Parallel()
	e := vaultHouse(t, library()).following(t)
	first := mentioning(t, e, "Ada wrote a program", "Ada", "Program")
	later := mentioning(t, e, "programs have bugs", "Program")
	do(t, e, op.Relate, relating(first, later, memory.Causes))

	wantEdges(t, e, op.KnowledgeRequest{Of: string(later.ID)},
		"Ada wrote a program causes programs have bugs", "Ada wrote a program mentions Program", "programs have bugs mentions Program")
	wantEdges(t, e, op.KnowledgeRequest{Of: "Journal/2026-02-01.md"},
		"2026-02-01 links_to Ada Lovelace", "2026-02-01 links_to Charles Babbage", "2026-02-01 mentions Ada Lovelace", "2026-02-01 mentions Charles Babbage",
		"Ada Lovelace about Ada Lovelace", "Ada Lovelace links_to Charles Babbage", "Ada Lovelace links_to Charles Babbage", "Ada Lovelace mentions Charles Babbage",
		"Ada Lovelace mentioned_with Charles Babbage", "Charles Babbage about Charles Babbage")
	res := do(t, e, op.Knowledge, &op.KnowledgeRequest{Of: "ada", Limit: 2})
	if len(res.Nodes) != 2 || res.Nodes[0].ID != "entity:Ada Lovelace" || !res.Truncated {
		t.Errorf("a graph of two nodes is %+v, truncated %v", res.Nodes, res.Truncated)
	}
	near, far := do(t, e, op.Knowledge, &op.KnowledgeRequest{Of: string(later.ID)}), do(t, e, op.Knowledge, &op.KnowledgeRequest{Of: string(later.ID), Depth: 3})
	if len(far.Nodes) <= len(near.Nodes) {
		t.Errorf("three steps reach %d nodes, one %d", len(far.Nodes), len(near.Nodes))
	}
	wantCode(t, refused(t, e, op.Knowledge, &op.KnowledgeRequest{Of: "nobody at all"}), memory.NotFound, "not found; run: emberd list --entities")
	wantCode(t, refused(t, e, op.Knowledge, &op.KnowledgeRequest{Depth: 4}), memory.Invalid, "depth")
}

func TestWhatEverythingMentionsTellsNothing(t *testing.T) {
	t.Parallel()
	e := newHouse(t).open(t)
	for i := range 30 {
		mentioning(t, e, fmt.Sprintf("note %d to myself", i), "Me", fmt.Sprintf("thing %d", i/3))
	}
	if got := related(t, e, "thing 1"); len(got) != 0 {
		t.Errorf("thing 1 is related to %q, want nothing: everything mentions Me", got)
	}
	for _, n := range do(t, e, op.Knowledge, &op.KnowledgeRequest{}).Nodes {
		if n.Label == "Me" {
			t.Error("the graph of what is mentioned most has Me in it, which everything mentions")
		}
	}
	wantEntities(t, e, op.EntityListRequest{Limit: 1}, "Me 30")
	if got := do(t, e, op.Knowledge, &op.KnowledgeRequest{Of: "me", Limit: 5}).Nodes; len(got) != 5 {
		t.Errorf("around Me itself are %d nodes, want 5", len(got))
	}
}

func TestTheNoteOfAMemoryIsNoEntity(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, map[string]string{"Plan.md": "Follow [[Memories/Use JWT tokens]].\n"})
	e := h.following(t)
	m := mentioning(t, e, "Use JWT tokens", "JWT")
	wantPromotion(t, promoteByID(t, e, m.ID), "written", "Memories/Use JWT tokens.md")
	until(t, "the memory's note is known to be that", func() bool {
		return slices.Equal(entitiesListed(t, e, op.EntityListRequest{}), []string{"JWT 1"})
	})
	wantEntities(t, e, op.EntityListRequest{Query: "plan"}, "Plan 0") // which nothing mentions
}

func TestSearchByEntity(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, library())
	e := h.following(t)
	mentioning(t, e, "Ada wrote a program", "Ada")
	mentioning(t, e, "a program of weaving", "Loom", "Program")
	for query, want := range map[string][]string{
		`entity:ada`:                    {"Ada wrote a program", "People/Ada Lovelace.md", "Journal/2026-02-01.md"},
		`program entity:"Ada Lovelace"`: {"Ada wrote a program"},
		`program -entity:Ada`:           {"a program of weaving"},
		`entity:loom entity:program`:    {"a program of weaving"},
		`entity:nobody`:                 {},
		`-entity:ada -entity:loom`:      {"People/Charles Babbage.md"},
	} {
		wantNames(t, e, query, want...)
	}
	res := do(t, e, op.WhyNot, &op.WhyNotRequest{Query: "entity:loom", Of: "People/Ada Lovelace.md"})
	if len(res.Causes) != 1 || !strings.Contains(res.Causes[0].Reason, "the condition entity:loom excludes this memory or note: the text mentions these entities: Ada Lovelace, Charles Babbage") {
		t.Errorf("why not: %+v", res.Causes)
	}
}

func TestSearchByEntityOfThen(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	m := mentioning(t, e, "Ada wrote a program", "Ada")
	h.advance(time.Hour)
	then := h.clock.Now()
	h.advance(time.Hour)
	do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Entities: &[]string{"Grace"}})
	wantNames(t, e, "entity:ada")
	if got := do(t, e, op.Search, &op.SearchRequest{Query: "entity:ada", AsOf: then}).Total; got != 1 {
		t.Errorf("then %d memories named Ada, want 1", got)
	}
}

// What members of a merge mention the merged memory mentions, and they again when it goes.
func TestWhatWasMergedIsMentionedOnce(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	one := doAs(t, d.Engine, agent, op.Save, &op.SaveRequest{Content: leaks, Entities: []string{"Kettle"}}).Memory
	other := doAs(t, d.Engine, agent, op.Save, &op.SaveRequest{Content: leaking, Entities: []string{"Kettle"}}).Memory
	wantEntities(t, d.Engine, op.EntityListRequest{}, "Kettle 2")
	res := d.merged(one.ID, other.ID)
	wantEntities(t, d.Engine, op.EntityListRequest{}, "Kettle 2")
	do(t, d.Engine, op.Forget, &op.ForgetRequest{ID: string(res.NewMemoryID)})
	wantEntities(t, d.Engine, op.EntityListRequest{}, "Kettle 2")
	do(t, d.Engine, op.TrashRestore, &op.TrashRestoreRequest{IDs: []string{string(res.NewMemoryID)}})
	wantEntities(t, d.Engine, op.EntityListRequest{}, "Kettle 2")
}
