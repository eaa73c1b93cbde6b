package engine_test

import (
	"strings"
	"testing"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
)

func add(t testing.TB, e *engine.Engine, content string) *op.AddResult {
	t.Helper()
	return do(t, e, op.Add, &op.AddRequest{Content: content})
}

func TestAddStoresWhatIsNew(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	e, _ := newEngine(t)
	for _, c := range []struct {
		name string
		req  op.AddRequest
		code memory.Code
		says string
	}{
		{"a section that is none of the five", op.AddRequest{Content: "x", Section: "Misc"}, memory.Invalid,
			`invalid section`},
		{"an importance that is none of the four", op.AddRequest{Content: "x", Importance: "urgent"}, memory.Invalid, `use low, normal, high or core`},
		{"nothing", op.AddRequest{Content: " \n"}, memory.Invalid, "content"},
		{"too much", op.AddRequest{Content: strings.Repeat("x", 50_001)}, memory.TooLarge, "too many characters in content: 50001"},
		{"a credential", op.AddRequest{Content: "token " + token}, memory.Secret, "remove the credential, or to save the text anyway, set allow_secret (--allow-secret)"},
		{"an origin that is none", op.AddRequest{Content: "x", Provenance: op.Provenance{Origin: "moon"}}, memory.Invalid, `invalid origin "moon"`},
		{"a project of too many characters", op.AddRequest{Content: "x", Project: strings.Repeat("p", 201)}, memory.TooLarge, "too many characters in project: 201"},
	} {
		t.Run(c.name, func(t *testing.T) { wantCode(t, refused(t, e, op.Add, &c.req), c.code, c.says) })
	}
	if n := e.Stm.Len(); n != 0 {
		t.Errorf("%d memories were stored", n)
	}
}

func TestAddReinforcesWhatIsKnown(t *testing.T) {
	t.Parallel()
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
	if want := "This is already known. Reinforced memory " + m.ID.Short() + ": importance changed from 0.50 to 0.60; number of sources: 2."; res.Message != want {
		t.Errorf("it says %q, want %q", res.Message, want)
	}
	if again := do(t, e, op.Add, &op.AddRequest{Content: was.Content, Again: true}); !again.New || again.Memory.ID == was.ID {
		t.Errorf("what was to be stored again is %+v", again)
	}
}

// What was added in other words stays, as evidence.
func TestAddKeepsOtherWords(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	was := add(t, e, "The staging database runs on port 5432.").Memory
	res := add(t, e, "Staging's database: runs on port 5432!")
	if res.New || res.Memory.ID != was.ID || len(res.Memory.Sources) != 2 || res.Memory.Sources[1].Evidence != "Staging's database: runs on port 5432!" {
		t.Errorf("got %+v with the links %+v", res, res.Memory.Sources)
	}
}

// Duplicates are looked for in the same collection, and in the same project or none.
func TestAddLooksBesides(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	e, _ := newEngine(t)
	id := add(t, e, "The kettle leaks").Memory.ID
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(id)})
	wantCode(t, refused(t, e, op.Add, &op.AddRequest{Content: "the KETTLE leaks"}), memory.Forgotten, "to save the text again, use --again (again")
	if res := do(t, e, op.Add, &op.AddRequest{Content: "the KETTLE leaks", Again: true}); !res.New {
		t.Errorf("got %+v", res)
	}
}

// What was recalled just now and comes back is no news.
func TestAddOfWhatWasJustRecalled(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, "The kettle in the kitchen leaks at its seam since Ann dropped it")
	searchFor(t, e, "kettle")
	res := add(t, e, "The kettle in the kitchen leaks at its seam since Ann dropped it")
	if res.New || res.Echo == nil || res.Echo.Of != m.ID || res.Memory.ID != m.ID || res.Reinforced != nil || res.Memory.Importance != m.Importance || res.Memory.UseCount != 1 {
		t.Errorf("got %+v", res)
	}
	if want := "No memory was saved: memory " + m.ID.Short() + ", which was part of a recent answer, already contains this text and counts as used."; res.Message != want {
		t.Errorf("it says %q, want %q", res.Message, want)
	}
	if res = do(t, e, op.Add, &op.AddRequest{Content: m.Content, Again: true}); !res.New {
		t.Errorf("what was to be stored again is %+v", res)
	}
}

// Who adds what is known as something that matters more says so of the memory; one entry
// has all of that.
func TestAddMakesWhatIsKnownMatter(t *testing.T) {
	t.Parallel()
	const text = "The kettle in the kitchen leaks at its seam"
	for _, c := range []struct {
		word       string
		importance float64
		core       bool
		says       string
	}{
		{"", 0.6, false, "importance changed from 0.50 to 0.60; number of sources: 2."},
		{"low", 0.6, false, "importance changed from 0.50 to 0.60; number of sources: 2."},
		{"high", 0.7, false, "importance changed from 0.50 to 0.70; number of sources: 2."},
		{"core", 0.9, true, "importance changed from 0.50 to 0.90; number of sources: 2; the memory is now core and never fades."},
	} {
		e, _ := newEngine(t)
		was := add(t, e, text).Memory
		res := do(t, e, op.Add, &op.AddRequest{Content: text, Importance: c.word})
		if res.New || res.Memory.Importance != c.importance || res.Memory.Core != c.core || res.Reinforced.Core != c.core || res.Reinforced.SuggestCore || !strings.HasSuffix(res.Message, c.says) {
			t.Errorf("%q: got %+v, core %v: %s", c.word, res.Reinforced, res.Memory.Core, res.Message)
		}
		do(t, e, op.Undo, &op.UndoRequest{Tx: res.Tx})
		if m := look(t, e, was.ID); m.Importance != 0.5 || m.Core || m.Learned() != 1 {
			t.Errorf("%q: after undo it has importance %v, core %v, and was learned %d times", c.word, m.Importance, m.Core, m.Learned())
		}
	}
}

// What only a tool says becomes no core memory for an agent's word, and does for a
// person's.
func TestAddMakesDataMatterOnlyForAPerson(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := do(t, e, op.Add, &op.AddRequest{Content: "The kettle leaks at its seam", Provenance: op.Provenance{Origin: "tool"}}).Memory
	req := &op.AddRequest{Content: m.Content, Importance: "core"}
	if res := do(t, e, op.Add, req); res.Memory.Core || res.Memory.Importance != 0.5 || res.Reinforced.Core || res.Reinforced.Held == "" {
		t.Errorf("an agent made of it %+v", res.Memory.Memory)
	}
	person := op.WithCaller(t.Context(), memory.Actor{Via: "cli", UID: 1000, PID: 7})
	res, err := op.Add.Call(person, e, req)
	ok(t, err)
	if !res.Memory.Core || res.Memory.Importance != 0.9 || res.Memory.DataOnly() || !res.Reinforced.Core {
		t.Errorf("a person made of it %+v, reinforced %+v", res.Memory.Memory, res.Reinforced)
	}
}

// A text that another memory took the place of is stored, and said to be out of date.
func TestAddOfWhatWasSuperseded(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	old := add(t, e, "Ann drinks green tea at breakfast").Memory.ID
	next := do(t, e, op.Save, &op.SaveRequest{Content: "Rooibos is what Ann wants in the morning", Supersedes: []string{string(old)}}).Memory.ID
	res := do(t, e, op.Add, &op.AddRequest{Content: "Ann drinks green tea at breakfast"})
	want := " Memory " + old.Short() + ", which memory " + next.Short() + " superseded, is similar to this text."
	if !res.New || !strings.HasSuffix(res.Message, want) {
		t.Errorf("new %v: it says %q, want %q at the end", res.New, res.Message, want)
	}
}

// What is learned again of an archived memory counts for that, which gets its text back.
func TestAddOfWhatIsArchived(t *testing.T) {
	t.Parallel()
	for auto, want := range map[bool]string{
		true:  "the memory was archived, and emberd restores its full text.",
		false: "the memory is archived, and this is only a summary; to restore the full text, run: emberd rekindle ",
	} {
		h := promotingHouse(t, nil)
		if h.EchoWindow = 0; !auto {
			h.Rekindle = core.RekindleOff
		}
		e, id := h.faded(t, 45, memory.Archived)
		res := add(t, e, look(t, e, id).Content)
		if res.New || res.Memory.ID != id || !strings.Contains(res.Message, want) {
			t.Errorf("brought back by itself %v: got %s: %s", auto, res.Memory.ID, res.Message)
		}
		if auto {
			until(t, "its text is back", func() bool { return look(t, e, id).Content == tides })
		}
		if m := look(t, e, id); m.Learned() != 2 || m.Stage.Cold() == auto {
			t.Errorf("learned %d times, %s", m.Learned(), m.Stage)
		}
	}
}

// What was merged into another memory is that one.
func TestAddOfWhatWasMerged(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	one, other := save(t, d.Engine, leaks), save(t, d.Engine, leaking)
	into := d.merged(one.ID, other.ID).NewMemoryID
	before := d.Stm.Len()
	for _, text := range []string{leaks, leaking} {
		if res := do(t, d.Engine, op.Add, &op.AddRequest{Content: text}); res.New || res.Memory.ID != into {
			t.Errorf("%q: new %v, memory %s, want %s", text, res.New, res.Memory.ID, into)
		}
	}
	if d.Stm.Len() != before {
		t.Errorf("there are %d memories, %d before", d.Stm.Len(), before)
	}
}

// The note of a promoted memory tells neither how much that matters nor that it is core.
func TestAddOfWhatIsPromoted(t *testing.T) {
	t.Parallel()
	h, e, m := promotedHouse(t, "The kettle leaks at its seam")
	was := h.note(t, m.PromotedTo)
	res := do(t, e, op.Add, &op.AddRequest{Content: "the kettle leaks at its seam", Importance: "core"})
	if res.New || res.Memory.ID != m.ID || !res.Memory.Core {
		t.Errorf("got %+v", res.Memory.Memory)
	}
	if is := h.note(t, m.PromotedTo); is != was {
		t.Errorf("the note has become\n%s", is)
	}
	wantSettled(t, e, m.ID)
}

// A repetition under the same key is answered with what the first did, and does nothing: after a new memory, and after a
// reinforcement.
func TestAddUnderAKey(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	ask := func(key, content string) *op.AddResult {
		return do(t, e, op.Add, &op.AddRequest{IdempotencyKey: key, Content: content})
	}
	first, again := ask("k1", "Ann owns the kettle"), ask("k1", "Ann owns the kettle")
	if again.Memory.ID != first.Memory.ID || !again.New || again.Tx != first.Tx || again.Memory.Learned() != 1 {
		t.Errorf("repeated: memory %s, new %v, entry %s, learned %d times; want those of %s, once", again.Memory.ID,
			again.New, again.Tx, again.Memory.Learned(), first.Memory.ID)
	}
	more := ask("k2", "Ann owns the kettle")
	again = ask("k2", "Ann owns the kettle")
	if more.New || again.New || again.Tx != more.Tx || again.Memory.Learned() != more.Memory.Learned() {
		t.Errorf("repeated: new %v, entry %s, learned %d times; want false, %s, %d", again.New, again.Tx,
			again.Memory.Learned(), more.Tx, more.Memory.Learned())
	}
	_, err := op.Add.Call(t.Context(), e, &op.AddRequest{IdempotencyKey: "k1", Content: "Ben owns the kettle"})
	if memory.CodeOf(err) != memory.Conflict {
		t.Errorf("another text under the key: %v, want a conflict", err)
	}
}
