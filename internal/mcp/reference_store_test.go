package mcp

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"emberd/engine"
	"emberd/internal/mcp/reference"
	"emberd/internal/refgraph"
	"emberd/memory"
	"emberd/op"
)

// TestServersAtOnceLoseNothing has four servers make the same entities and add to one
// of them at the same time.
func TestServersAtOnceLoseNothing(t *testing.T) {
	const servers, each = 4, 25
	store := newStore(t, newClock(), nil)
	made := make([]int, servers)
	var all sync.WaitGroup
	for n := range servers {
		s := newSession(t, store, Reference)
		all.Go(func() {
			for i := range each {
				name := fmt.Sprint("entity ", i)
				made[n] += len(s.graph("create_entities", object{"entities": []refgraph.Entity{entity(name, fmt.Sprint("by ", n))}}).Entities)
				s.must("add_observations", object{"observations": []object{{"entityName": "entity 0", "contents": []string{fmt.Sprintf("%d of %d", i, n)}}}})
			}
		})
	}
	all.Wait()
	total := 0
	for _, n := range made {
		total += n
	}
	if total != each {
		t.Errorf("%d entities were made anew, want that one server makes each of %d", total, each)
	}
	s := newSession(t, store, Reference)
	g := s.graph("open_nodes", object{"names": []string{"entity 0"}})
	got := observationsOf(&g, "entity 0")
	if len(got) != servers*each+1 {
		t.Errorf("it has %d observations, want %d", len(got), servers*each+1)
	}
	for n := range servers {
		for i := range each {
			if want := fmt.Sprintf("%d of %d", i, n); !slices.Contains(got, want) {
				t.Errorf("%q is lost", want)
			}
		}
	}
}

// TestDeletedEntitiesComeBackWithTheirRelations undoes a deletion, and then makes what
// was deleted anew: that has none of the old relations.
func TestDeletedEntitiesComeBackWithTheirRelations(t *testing.T) {
	store := newStore(t, newClock(), nil)
	s := newSession(t, store, Reference)
	people := object{"entities": []refgraph.Entity{entity("Ada", "one"), entity("Bob"), entity("Cy")}}
	s.must("create_entities", people)
	s.must("create_relations", object{"relations": []refgraph.Relation{{From: "Ada", To: "Bob", RelationType: "knows"}, {From: "Cy", To: "Ada", RelationType: "knows"}}})
	before := s.must("read_graph", object{}).text()
	s.must("delete_entities", object{"entityNames": []string{"Ada", "Bob"}})
	if g := s.graph("read_graph", object{}); len(g.Entities) != 1 || len(g.Relations) != 0 {
		t.Errorf("after the deletion there is %+v, want Cy alone", g)
	}
	if _, err := op.Undo.Call(t.Context(), store, new(op.UndoRequest)); err != nil {
		t.Fatal(err)
	}
	if got := s.must("read_graph", object{}).text(); got != before {
		t.Errorf("undo brought back %s, want %s", got, before)
	}
	s.must("delete_entities", object{"entityNames": []string{"Ada", "Bob"}})
	if made := s.graph("create_entities", people); len(made.Entities) != 2 {
		t.Errorf("made anew: %+v, want Ada and Bob", made.Entities)
	}
	if g := s.graph("read_graph", object{}); len(g.Entities) != 3 || len(g.Relations) != 0 {
		t.Errorf("made anew there is %+v, want three entities without relations", g)
	}
}

// TestColdEntitiesComeBackWhole has the text of an entity in a note of the vault.
func TestColdEntitiesComeBackWhole(t *testing.T) {
	facts := []string{"wrote the first program for a machine that was never built", "was born in London in 1815", "worked with\nCharles Babbage"}
	for name, use := range map[string]func(s *session) []string{
		"opened": func(s *session) []string {
			g := s.graph("open_nodes", object{"names": []string{"Ada Lovelace"}})
			return observationsOf(&g, "Ada Lovelace")
		},
		"added to": func(s *session) []string {
			s.must("add_observations", object{"observations": []object{{"entityName": "Ada Lovelace", "contents": []string{facts[0]}}}})
			g := s.graph("read_graph", object{})
			return observationsOf(&g, "Ada Lovelace")
		},
		"taken from": func(s *session) []string {
			s.must("delete_observations", object{"deletions": []object{{"entityName": "Ada Lovelace", "observations": []string{"never said"}}}})
			g := s.graph("read_graph", object{})
			return observationsOf(&g, "Ada Lovelace")
		},
		"searched for": func(s *session) []string {
			g := s.graph("search_nodes", object{"query": "ada lovelace"})
			return observationsOf(&g, "Ada Lovelace")
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := newStore(t, newClock(), map[string]string{})
			s := newSession(t, store, Reference)
			s.must("create_entities", object{"entities": []refgraph.Entity{entity("Ada Lovelace", facts...)}})
			archive(t, store, "Ada Lovelace")
			if g := s.graph("read_graph", object{}); len(observationsOf(&g, "Ada Lovelace")) > 1 {
				t.Fatalf("a cold entity has %q, want a sentence", observationsOf(&g, "Ada Lovelace"))
			}
			if got := use(s); !slices.Equal(got, facts) {
				t.Errorf("it has %q, want %q", got, facts)
			}
		})
	}
}

func archive(t *testing.T, store *engine.Engine, name string) {
	t.Helper()
	res, err := op.Archive.Call(t.Context(), store, &op.ArchiveRequest{ID: string(refgraph.ID(name))})
	if err != nil || len(res.Archived) != 1 {
		t.Fatalf("archive: %+v, %v", res, err)
	}
}

// TestEntitiesWhoseNoteIsGone can be read, as far as there is something to read, and
// are not changed. The engine does not follow the vault, for while it knows the note it
// says that it may be on its way.
func TestEntitiesWhoseNoteIsGone(t *testing.T) {
	store, stop := stoppable(t, newClock(), map[string]string{})
	stop()
	s := newSession(t, store, Reference)
	s.must("create_entities", object{"entities": []refgraph.Entity{entity("Ada", "wrote the first program", "was born in 1815")}})
	archive(t, store, "Ada")
	if err := os.Remove(noteOf(t, store, "Ada")); err != nil {
		t.Fatal(err)
	}
	if g := s.graph("open_nodes", object{"names": []string{"Ada"}}); len(g.Entities) != 1 {
		t.Errorf("opened: %+v, want what is left of it", g)
	}
	for tool, args := range map[string]string{
		"add_observations":    `{"observations":[{"entityName":"Ada","contents":["more"]}]}`,
		"delete_observations": `{"deletions":[{"entityName":"Ada","observations":["was born in 1815"]}]}`,
	} {
		if res, _ := s.callTool(tool, []byte(args)); res == nil || !res.IsError || !strings.Contains(res.text(), "note that no longer exists") {
			t.Errorf("%s: %+v, want that the note is gone", tool, res)
		}
	}
}

// noteOf is the file of an archived entity's note.
func noteOf(t *testing.T, store *engine.Engine, name string) string {
	t.Helper()
	m, err := op.Show.Call(t.Context(), store, &op.ShowRequest{ID: string(refgraph.ID(name)), Track: new(false)})
	if err != nil {
		t.Fatal(err)
	}
	status, err := op.Status.Call(t.Context(), store, new(op.StatusRequest))
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(status.Vaults[0].Path, m.Memory.VaultPath)
}

// TestAnEntityWhoseNoteIsNotRead does not keep others from being opened with it, and the
// answer says why it is short.
func TestAnEntityWhoseNoteIsNotRead(t *testing.T) {
	store := newStore(t, newClock(), map[string]string{})
	s := newSession(t, store, Reference)
	s.must("create_entities", object{"entities": []refgraph.Entity{
		entity("Ada", "wrote the first program", "was born in 1815"), entity("Grace", "wrote a compiler")}})
	archive(t, store, "Ada")
	if err := os.WriteFile(noteOf(t, store, "Ada"), []byte("---\ntags: [mended\n---\nby hand\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := s.page("open_nodes", object{"names": []string{"Ada", "Grace"}})
	if len(g.Entities) != 2 || !g.Truncated || !strings.Contains(g.Note, "Ada.md") {
		t.Errorf("opened: %+v, want both, and which note is not read", g)
	}
}

// TestNamesOfAllKinds makes, opens and finds entities whose names are hard.
func TestNamesOfAllKinds(t *testing.T) {
	s := newSession(t, newStore(t, newClock(), nil), Reference)
	names := []string{"Ada Lovelace", "ada lovelace", "東京", "🚀", "Ωmega\nand more", "- a list", strings.Repeat("long ", 40), "\"quoted\" \\ and <b>", " spaces "}
	for _, name := range names {
		s.must("create_entities", object{"entities": []refgraph.Entity{entity(name, "a fact of "+name)}})
		g := s.graph("open_nodes", object{"names": []string{name}})
		if got := observationsOf(&g, name); !slices.Equal(got, []string{"a fact of " + name}) {
			t.Errorf("%q has %q", name, got)
		}
		g = s.graph("search_nodes", object{"query": name})
		if got := observationsOf(&g, name); got == nil {
			t.Errorf("%q is not found by its name", name)
		}
	}
	if g := s.graph("read_graph", object{}); len(g.Entities) != len(names) {
		t.Errorf("there are %d entities, want %d", len(g.Entities), len(names))
	}
}

// TestSearchNodesFindsTexts searches for texts as they stand in an observation, name or type, in any case as JavaScript
// has it.
func TestSearchNodesFindsTexts(t *testing.T) {
	s := newSession(t, newStore(t, newClock(), nil), Reference)
	s.must("create_entities", object{"entities": []refgraph.Entity{
		entity("Grade C", "the mark c in the list"), entity("Nothing", "an empty page"), entity("CI", "builds in C#"),
		entity("ΟΔΟΣ", "İzmir")}})
	for query, want := range map[string]int{"c++": 0, "zzqx nothing": 0, "C#": 1, "mark list": 0, "k c i": 1, "empty": 1,
		"": 4, "THING": 4, "οδος": 1, "οδοσ": 0, "i̇z": 1, "iz": 0} {
		if g := s.graph("search_nodes", object{"query": query}); len(g.Entities) != want {
			t.Errorf("search_nodes %q finds %+v, want %d", query, g.Entities, want)
		}
	}
}

// TestNoAnswerOfTheReferenceToolsIsUnbounded reads a graph that does not fit one answer.
func TestNoAnswerOfTheReferenceToolsIsUnbounded(t *testing.T) {
	const entities = 400
	clock := newClock()
	store := newStore(t, clock, nil)
	s := newSession(t, store, Reference)
	var list []refgraph.Entity
	var relations []refgraph.Relation
	for i := range entities {
		list = append(list, entity(fmt.Sprint("entity ", i), strings.Repeat("a fact of some length ", 12)))
		relations = append(relations, refgraph.Relation{From: fmt.Sprint("entity ", i), To: "entity 0", RelationType: "depends on"})
	}
	list[7].Observations = []string{strings.Repeat("x", 49_000)}
	s.must("create_entities", object{"entities": list})
	s.must("create_relations", object{"relations": relations})
	for tool, args := range map[string]object{"read_graph": {}, "search_nodes": {"query": "enti"}} {
		seen, from := map[string]bool{}, map[string]bool{}
		pages := 0
		for cursor := "?"; cursor != ""; pages++ {
			if delete(args, "cursor"); cursor != "?" {
				args["cursor"] = cursor
			}
			if pages > 50 {
				t.Fatalf("%s does not come to an end", tool)
			}
			g := s.page(tool, args)
			for _, e := range g.Entities {
				seen[e.Name] = true
			}
			for _, r := range g.Relations {
				from[r.From] = true
			}
			cursor = g.NextCursor
		}
		if len(seen) != entities || pages < 3 {
			t.Errorf("%s: %d pages have %d entities, want %d", tool, pages, len(seen), entities)
		}
		if tool == "read_graph" && len(from) != entities {
			t.Errorf("the pages have the relations of %d entities, want %d", len(from), entities)
		}
	}
	hub := object{"names": []string{"entity 0"}}
	met := 0
	for cursor := "0"; cursor != ""; {
		hub["cursor"] = cursor
		g := s.page("open_nodes", hub)
		met, cursor = met+len(g.Relations), g.NextCursor
	}
	if met != entities {
		t.Errorf("the pages of an entity have %d relations, want %d", met, entities)
	}
	many := object{"names": []string{"entity 7", "entity 8", "entity 9"}}
	if g := s.page("open_nodes", many); !g.Truncated || !strings.Contains(g.Note, `"entity 8"`) {
		t.Errorf("opened with a long one: truncated %v, %q; want the names of those that are left out", g.Truncated, g.Note)
	}
}

// TestEntityOfManyRelations has more than are looked at for one answer: the last page
// says so.
func TestEntityOfManyRelations(t *testing.T) {
	s := newSession(t, newStore(t, newClock(), nil), Reference)
	var list []refgraph.Entity
	for i := range 400 {
		list = append(list, entity(fmt.Sprint(i)))
	}
	s.must("create_entities", object{"entities": list})
	for _, kind := range []string{"knows", "likes", "helps"} {
		var relations []refgraph.Relation
		for _, e := range list {
			relations = append(relations, refgraph.Relation{From: e.Name, To: "0", RelationType: kind})
		}
		s.must("create_relations", object{"relations": relations})
	}
	args, met, last := object{"names": []string{"0"}}, 0, reference.Graph{NextCursor: "0"}
	for last.NextCursor != "" {
		args["cursor"] = last.NextCursor
		last = s.page("open_nodes", args)
		met += len(last.Relations)
	}
	if met < 1_000 || met >= 1_200 || !strings.Contains(last.Note, "read_graph has each") {
		t.Errorf("%d of 1,200 relations were met, and the last page says %q; want at least 1,000, and where the others are", met, last.Note)
	}
}

// page is an answer that is cut where it has to be.
func (s *session) page(tool string, args object) reference.Graph {
	s.t.Helper()
	g := s.graph(tool, args)
	size := len(s.must(tool, args).Structured)
	if size > (48+16)<<10+4096 && len(g.Entities) > 1 {
		s.t.Errorf("%s answered with %d bytes", tool, size)
	}
	if g.Truncated != (g.Note != "") || g.NextCursor != "" && !g.Truncated {
		s.t.Errorf("%s: truncated %v, next_cursor %q, note %q", tool, g.Truncated, g.NextCursor, g.Note)
	}
	return g
}

// TestRelationsOfOtherTools shows those that are of one of the six types, and passes
// over those that lead to a memory that is no entity.
func TestRelationsOfOtherTools(t *testing.T) {
	store := newStore(t, newClock(), nil)
	s := newSession(t, store, Reference)
	s.must("create_entities", object{"entities": []refgraph.Entity{entity("Ada"), entity("Bob")}})
	other, err := op.Save.Call(t.Context(), store, &op.SaveRequest{Content: "no entity"})
	if err != nil {
		t.Fatal(err)
	}
	ada, bob := string(refgraph.ID("Ada")), string(refgraph.ID("Bob"))
	for _, req := range []op.RelateRequest{{From: ada, To: bob, Type: memory.Causes}, {From: ada, To: string(other.Memory.ID), Type: memory.Related}} {
		if _, err := op.Relate.Call(t.Context(), store, &req); err != nil {
			t.Fatal(err)
		}
	}
	want := refgraph.Relation{From: "Ada", To: "Bob", RelationType: memory.Causes}
	if g := s.graph("read_graph", object{}); !slices.Equal(g.Relations, []refgraph.Relation{want}) {
		t.Errorf("relations are %+v, want %+v", g.Relations, want)
	}
	s.must("delete_relations", object{"relations": []refgraph.Relation{want}})
	if g := s.graph("read_graph", object{}); len(g.Relations) != 0 {
		t.Errorf("relations are %+v, want none", g.Relations)
	}
}
