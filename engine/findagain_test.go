package engine_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// foundEarlier gives a memory entities as an earlier version found them.
func foundEarlier(t *testing.T, e *engine.Engine, id memory.ID, entities string) {
	t.Helper()
	set := map[string]json.RawMessage{"entities": json.RawMessage(entities), "entities_found": json.RawMessage("true")}
	if entities == "null" {
		set["entities_found"] = json.RawMessage("null")
	}
	_, err := e.Stm.Update(t.Context(), []memory.ID{id}, "", func([]*stm.Row) (*stm.Tx, error) {
		return &stm.Tx{Verb: "test", By: memory.Actor{Via: "test"}, Changes: []stm.Change{{ID: id, Set: set}}}, nil
	})
	ok(t, err)
}

func TestEntitiesOfEarlierMemoriesAreFoundAgain(t *testing.T) {
	t.Parallel()
	e := rich(t)
	save := func(text string, entities ...string) memory.ID {
		return do(t, e, op.Save, &op.SaveRequest{Content: text, Entities: entities}).Memory.ID
	}
	team := save("Maria leads the design team until April, then Jonas")
	tabs := save("In the Space between tabs is the database password")
	given := save("Tom prefers PostgreSQL", "Browser")
	same := save("We met Tom and Anna")
	foundEarlier(t, e, team, `["jonas"]`)
	foundEarlier(t, e, tabs, `["space", "database", "password"]`)
	foundEarlier(t, e, same, `["anna", "tom"]`)
	e.Graph.LearnNames(t.Context())
	before := map[memory.ID]op.Memory{}
	for _, id := range []memory.ID{team, tabs, given, same} {
		before[id] = look(t, e, id)
	}
	entry, err := e.Memories.FindAgain(t.Context())
	ok(t, err)
	for id, want := range map[memory.ID][]string{team: {"maria", "jonas"}, tabs: nil, given: {"Browser"}, same: {"anna", "tom"}} {
		was, got := before[id], look(t, e, id)
		if !slices.Equal(got.Entities, want) {
			t.Errorf("%q names %q, want %q", got.Content, got.Entities, want)
		}
		if !got.UpdatedAt.Equal(was.UpdatedAt) || got.UseCount != was.UseCount || got.Stage != was.Stage ||
			got.Strength != was.Strength || got.PromotedTo != was.PromotedTo {
			t.Errorf("%q became %+v, was %+v", got.Content, got, was)
		}
	}
	do(t, e, op.Undo, &op.UndoRequest{Tx: entry})
	for _, id := range []memory.ID{team, tabs} {
		if got := look(t, e, id); !slices.Equal(got.Entities, before[id].Entities) || !got.EntitiesFound {
			t.Errorf("after undo %q names %q, want %q", got.Content, got.Entities, before[id].Entities)
		}
	}
	if len(e.Memories.Tasks()) > 0 {
		t.Error("what was found again is found once more")
	}
}

// The note of a memory follows, and the memory stays where it is.
func TestTheNoteFollowsEntitiesThatAreFoundAgain(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	h.Enrich = true
	e := h.following(t)
	id := do(t, e, op.Save, &op.SaveRequest{Content: "Maria leads the team that runs postgresql"}).Memory.ID
	foundEarlier(t, e, id, `["team"]`)
	do(t, e, op.Promote, &op.PromoteRequest{ID: string(id)})
	before := look(t, e, id)
	_, err := e.Memories.FindAgain(t.Context())
	ok(t, err)
	if got := look(t, e, id); !got.UpdatedAt.Equal(before.UpdatedAt) || got.PromotedTo != before.PromotedTo {
		t.Errorf("it became %+v, was %+v", got, before)
	}
	e.Links.WriteLinks(t.Context())
	data, err := os.ReadFile(filepath.Join(h.Vaults[0], before.PromotedTo))
	ok(t, err)
	if text := string(data); !strings.Contains(text, "entities:\n  - \"Maria\"\n  - \"PostgreSQL\"\n") {
		t.Errorf("its note is %q, want Maria and PostgreSQL", text)
	}
}

func TestANewStoreFindsNothingAgain(t *testing.T) {
	t.Parallel()
	e := rich(t)
	if len(e.Memories.Tasks()) > 0 {
		t.Error("an empty store has entities of an earlier version")
	}
	do(t, e, op.Save, &op.SaveRequest{Content: "We met Tom"})
	if len(e.Memories.Tasks()) > 0 {
		t.Error("what this version found is of an earlier one")
	}
}

// A word that the store has in small letters all over is no name for a capital.
func TestFrequentWordsOfTheStoreAreNoNames(t *testing.T) {
	t.Parallel()
	e := rich(t)
	e.Storage.BuildIndex(t.Context())
	find := func() []string { return e.Graph.EntitiesIn("we oiled the Sprocket near Orion") }
	if got, want := find(), []string{"sprocket", "orion"}; !slices.Equal(got, want) {
		t.Fatalf("found %q in an empty store, want %q", got, want)
	}
	for n := range strings.FieldsSeq("one two three four five six") {
		do(t, e, op.Save, &op.SaveRequest{Content: "sprocket number " + n + " for the sprocket of Orion"})
	}
	if got, want := find(), []string{"orion"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}
