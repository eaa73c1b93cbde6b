package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine/notes"
	"emberd/internal/entity/knowledge"
	"emberd/op"
)

// What was merged was learned as often as the merged memory says, and counts again when
// that is gone.
func TestWhatWasMergedCountsOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	if _, err := d.Notes.Vault.AllLinks(t.Context()); err != nil {
		t.Fatal(err)
	}
	a, b := mentioning(t, d.Engine, leaks, "Kettle"), mentioning(t, d.Engine, leaking, "Kettle")
	wantEntities(t, d.Engine, op.EntityListRequest{}, "Kettle 2")
	merged := d.merged(a.ID, b.ID)
	wantEntities(t, d.Engine, op.EntityListRequest{}, "Kettle 2")
	if memories := do(t, d.Engine, op.EntityList, &op.EntityListRequest{}).Entities[0].Memories; memories != 1 {
		t.Errorf("%d memories name the kettle, want the merged one", memories)
	}
	forgotten := do(t, d.Engine, op.Forget, &op.ForgetRequest{ID: string(merged.NewMemoryID)})
	wantEntities(t, d.Engine, op.EntityListRequest{}, "Kettle 2")
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: forgotten.Tx})
	if memories := do(t, d.Engine, op.EntityList, &op.EntityListRequest{}).Entities[0].Memories; memories != 1 {
		t.Errorf("with the merged memory back %d memories name the kettle, want 1", memories)
	}
}

func TestEntitiesComplete(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, library())
	e := h.following(t)
	mentioning(t, e, "Ada met Charles", "Ada", "Charles Darwin")
	e.Graph.GraphSoon(t.Context())
	for prefix, want := range map[string][]string{
		"love":     {"Ada Lovelace"}, // any word
		"CHARLES ": {"Charles Babbage", "Charles Darwin"},
		"ada":      {"Ada Lovelace"}, // an alias
		"x":        nil,
	} {
		var got []string
		for _, c := range do(t, e, op.Complete, &op.CompleteRequest{What: op.CompleteEntities, Prefix: prefix}).Values {
			got = append(got, c.Value)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q completes to %q, want %q", prefix, got, want)
		}
	}
	if res := do(t, e, op.Complete, &op.CompleteRequest{What: op.CompleteEntities, Limit: 1}); len(res.Values) != 1 || res.Total != 4 || res.Values[0].Count != 2 {
		t.Errorf("one completion is %+v, want one of 4 that is mentioned twice", res)
	}
}

func TestEntitiesArriveFromAnotherDevice(t *testing.T) {
	t.Parallel()
	desk, lap := newHouse(t), newHouse(t)
	here, there := desk.running(t), lap.open(t)
	wantEntities(t, here, op.EntityListRequest{})
	mentioning(t, there, "Ada wrote a program", "Ada", "Program")
	carry(t, lap, desk, status(t, there).Device)
	until(t, "what the other device saved is known", func() bool {
		return slices.Equal(entitiesListed(t, here, op.EntityListRequest{}), []string{"Ada 1", "Program 1"})
	})
}

// Until notes are read an answer is of memories alone, and says so.
func TestEntitiesBeforeNotesAreRead(t *testing.T) {
	t.Parallel()
	e := vaultHouse(t, library()).open(t)
	mentioning(t, e, "Ada wrote a program", "Ada")
	if page, _ := e.Graph.GraphNow().List(knowledge.Listing{Limit: 9}); len(page) != 1 || page[0].Name != "Ada" || !e.Graph.Partial() {
		t.Errorf("before notes are read the entities are %+v, partial %v; want Ada alone", page, e.Graph.Partial())
	}
	if e := newHouse(t).open(t); e.Graph.Partial() {
		t.Error("without a vault something is missing")
	}
}

// A list tells of memories, which name what they name themselves.
func TestListsAreNoEntitiesAndNameNone(t *testing.T) {
	t.Parallel()
	d := listDesk(t, map[string]string{"Home.md": "See [[Index]] and [[Core]].\n"})
	m := mentioning(t, d.Engine, "Ada wrote a program", "Ada")
	d.listed()
	d.write(t, indexNote, strings.Replace(d.note(t, indexNote), "Ada wrote", "[[Ada]] wrote", 1)+"\nmine: [[Ada]], [[Grace]], #Ada\n")
	d.listed()
	if _, err := d.Notes.Vault.AllLinks(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantEntities(t, d.Engine, op.EntityListRequest{}, "Ada 1", "Core 1")
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(m.ID), Core: new(true)})
	d.listed()
	wantEntities(t, d.Engine, op.EntityListRequest{}, "Ada 1")
}

func TestASupersessionIsOneEdge(t *testing.T) {
	t.Parallel()
	e := newHouse(t).open(t)
	old := mentioning(t, e, "the port is 5432", "Port")
	do(t, e, op.Save, &op.SaveRequest{Content: "the port is 5433", Entities: []string{"Port"}, Supersedes: []string{string(old.ID)}})
	wantEdges(t, e, op.KnowledgeRequest{Of: string(old.ID)}, "the port is 5433 supersedes the port is 5432",
		"the port is 5432 mentions Port", "the port is 5433 mentions Port")
}

func TestAnEntityThatIsAskedForComesFirst(t *testing.T) {
	t.Parallel()
	e := newHouse(t).open(t)
	mentioning(t, e, "Ada wrote a program", "Ada", "Program")
	res := do(t, e, op.Query, &op.QueryRequest{Query: "entity:ada", Scope: "knowledge"})
	if len(res.Results) == 0 || res.Results[0].Entity == nil || res.Results[0].Entity.Name != "Ada" || res.Results[0].Relevance != 1 {
		t.Errorf("entity:ada finds %+v, want Ada", res.Results)
	}
}

// A link index calls the permission check of a token while it holds its lock. A reader of changed notes holds the lock
// of the notes and then waits for the lock of the links. So the permission check must not take the lock of the notes.
func TestLinksOfATokenDoNotWaitForTheNotes(t *testing.T) {
	t.Parallel()
	e := vaultHouse(t, map[string]string{"Boat.md": "The boat is red."}).following(t)
	seen := &notes.VaultNotes{Followed: e.Notes.Vault.Followed,
		Sees: func(_ string, tags []string) bool { return slices.Contains(tags, "work") }}
	links, err := seen.AllLinks(t.Context())
	ok(t, err)
	e.Notes.Vault.Mu.Lock()
	defer e.Notes.Vault.Mu.Unlock()
	done := make(chan bool, 1)
	go func() {
		_, found := links.Resolve("", "Boat")
		done <- found
	}()
	select {
	case found := <-done:
		if found {
			t.Error("a note without the tag is found")
		}
	case <-time.After(time.Minute):
		t.Fatal("the links wait for the notes")
	}
}
