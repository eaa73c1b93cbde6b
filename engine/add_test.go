package engine

import (
	"strings"
	"testing"

	"emberd/memory"
	"emberd/op"
)

func add(t testing.TB, e *Engine, content string) *op.AddResult {
	t.Helper()
	return do(t, e, op.Add, &op.AddRequest{Content: content})
}

func TestAddStoresWhatIsNew(t *testing.T) {
	e, _ := newEngine(t)
	for _, c := range []struct {
		word string
		want float64
		core bool
	}{{"", 0.5, false}, {"low", 0.3, false}, {"Normal", 0.5, false}, {"high", 0.7, false}, {"core", 0.9, true}} {
		res := do(t, e, op.Add, &op.AddRequest{Content: "Matter of importance " + c.word + " " + strings.Repeat(c.word+"x ", 3), Importance: c.word, Again: true})
		if m := res.Memory; !res.New || m.Importance != c.want || m.Core != c.core || m.Section != "Important Facts" {
			t.Errorf("importance %q: new %v, importance %v, core %v, section %q", c.word, res.New, m.Importance, m.Core, m.Section)
		}
		if len(res.Memory.Sources) != 1 || res.Memory.Learned() != 1 || res.Compared != op.ComparedByWords || res.Tx == "" {
			t.Errorf("it has the links %v, was compared by %q in entry %q", res.Memory.Sources, res.Compared, res.Tx)
		}
	}
	res := do(t, e, op.Add, &op.AddRequest{Content: "Ann owns the kettle", Section: "people & entities", Tags: []string{"Kitchen"}, Source: "s", Context: "c",
		Project: "p", Collection: "k", SessionID: "x"})
	m := res.Memory
	if m.Section != "People & Entities" || len(m.Tags) != 1 || m.Source != "s" || m.Context != "c" || m.Project != "p" || m.Collection != "k" || m.SessionID != "x" {
		t.Errorf("stored %+v", m.Memory)
	}
	if want := "Stored as new memory " + m.ID.Short() + "."; res.Message != want {
		t.Errorf("it says %q, want %q", res.Message, want)
	}
}

func TestAddRefuses(t *testing.T) {
	e, _ := newEngine(t)
	for _, c := range []struct {
		name string
		req  op.AddRequest
		code memory.Code
		says string
	}{
		{"a section that is none of the five", op.AddRequest{Content: "x", Section: "Misc"}, memory.Invalid,
			`section "Misc" is unknown; use Key Topics, Important Facts, People & Entities, Ongoing Threads or File Knowledge`},
		{"an importance that is none of the four", op.AddRequest{Content: "x", Importance: "urgent"}, memory.Invalid, `importance "urgent" is unknown; use low, normal, high or core`},
		{"nothing", op.AddRequest{Content: " \n"}, memory.Invalid, "content"},
		{"too much", op.AddRequest{Content: strings.Repeat("x", 50_001)}, memory.TooLarge, "50001 characters"},
		{"a credential", op.AddRequest{Content: "token " + token}, memory.Secret, "content holds what looks like a credential"},
		{"an origin that is none", op.AddRequest{Content: "x", Provenance: op.Provenance{Origin: "moon"}}, memory.Invalid, `origin "moon" is unknown`},
		{"a project of too many characters", op.AddRequest{Content: "x", Project: strings.Repeat("p", 201)}, memory.TooLarge, "project has 201 characters"},
	} {
		t.Run(c.name, func(t *testing.T) { wantCode(t, refused(t, e, op.Add, &c.req), c.code, c.says) })
	}
	if n := e.stm.Len(); n != 0 {
		t.Errorf("%d memories were stored", n)
	}
}

func TestAddReinforcesWhatIsKnown(t *testing.T) {
	e, _ := newEngine(t)
	was := add(t, e, "The staging database runs on port 5432.").Memory
	res := add(t, e, "the STAGING  database\nruns on port 5432.")
	m, r := res.Memory, res.Reinforced
	if res.New || m.ID != was.ID || r == nil || r.Similarity != 1 || r.OldImportance != 0.5 || r.NewImportance != 0.6 || r.Sources != 2 {
		t.Fatalf("got %+v, reinforced %+v", res, r)
	}
	if m.Importance != 0.6 || m.UseCount != 1 || m.AccessCount != 1 || m.Content != was.Content || m.Learned() != 2 {
		t.Errorf("the memory is %+v", m.Memory)
	}
	if want := "This is already known. Reinforced memory " + m.ID.Short() + ": importance 0.50 to 0.60, learned 2 times."; res.Message != want {
		t.Errorf("it says %q, want %q", res.Message, want)
	}
	if again := do(t, e, op.Add, &op.AddRequest{Content: was.Content, Again: true}); !again.New || again.Memory.ID == was.ID {
		t.Errorf("what was to be stored again is %+v", again)
	}
}

// What was added in other words stays, as evidence.
func TestAddKeepsOtherWords(t *testing.T) {
	e, _ := newEngine(t)
	was := add(t, e, "The staging database runs on port 5432.").Memory
	res := add(t, e, "Staging's database: runs on port 5432!")
	if res.New || res.Memory.ID != was.ID || len(res.Memory.Sources) != 2 || res.Memory.Sources[1].Evidence != "Staging's database: runs on port 5432!" {
		t.Errorf("got %+v with the links %+v", res, res.Memory.Sources)
	}
}

// Duplicates are looked for in the same collection, and in the same project or none.
func TestAddLooksBesides(t *testing.T) {
	const text = "The staging database runs on port 5432."
	for _, c := range []struct {
		project, collection string
		known               bool
	}{{"kettle", "", true}, {"", "", true}, {"roof", "", false}, {"kettle", "other", false}, {"kettle", "knowledge", true}} {
		e, _ := newEngine(t)
		here := do(t, e, op.Add, &op.AddRequest{Content: text, Project: "kettle"}).Memory.ID
		res := do(t, e, op.Add, &op.AddRequest{Content: text, Project: c.project, Collection: c.collection})
		if res.New == c.known || c.known && res.Memory.ID != here {
			t.Errorf("project %q, collection %q: new %v", c.project, c.collection, res.New)
		}
	}
}

// What was forgotten stays so unless it is meant.
func TestAddOfWhatWasForgotten(t *testing.T) {
	e, _ := newEngine(t)
	id := add(t, e, "The kettle leaks").Memory.ID
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(id)})
	wantCode(t, refused(t, e, op.Add, &op.AddRequest{Content: "the KETTLE leaks"}), memory.Forgotten, "this text was forgotten on")
	if res := do(t, e, op.Add, &op.AddRequest{Content: "the KETTLE leaks", Again: true}); !res.New {
		t.Errorf("got %+v", res)
	}
}

// What was recalled just now and comes back is no news.
func TestAddOfWhatWasJustRecalled(t *testing.T) {
	e, _ := newEngine(t)
	m := save(t, e, "The kettle in the kitchen leaks at its seam since Ann dropped it")
	search(t, e, "kettle")
	res := add(t, e, "The kettle in the kitchen leaks at its seam since Ann dropped it")
	if res.New || res.Echo == nil || res.Echo.Of != m.ID || res.Memory.ID != m.ID || res.Reinforced != nil || res.Memory.Importance != m.Importance || res.Memory.UseCount != 1 {
		t.Errorf("got %+v", res)
	}
	if want := "Nothing was stored: memory " + m.ID.Short() + ", which was just recalled, says this, and counts as used."; res.Message != want {
		t.Errorf("it says %q, want %q", res.Message, want)
	}
	if res = do(t, e, op.Add, &op.AddRequest{Content: m.Content, Again: true}); !res.New {
		t.Errorf("what was to be stored again is %+v", res)
	}
}
