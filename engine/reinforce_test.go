package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/engine/learn"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

func reinforce(t testing.TB, e *engine.Engine, content string) *op.ReinforceResult {
	t.Helper()
	return do(t, e, op.Reinforce, &op.ReinforceRequest{Content: content})
}

func TestReinforce(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	id := save(t, e, "The staging database runs on port 5432.").ID
	for i, want := range []float64{0.6, 0.7, 0.8, 0.9, 1, 1} {
		res := reinforce(t, e, "the staging database runs on port 5432")
		r := res.Reinforced
		if !res.Found || res.Memory.ID != id || r.NewImportance != want || res.Memory.Importance != want || r.SuggestCore != (want >= 0.8) {
			t.Fatalf("reinforcing it for the %dth time: %+v, %+v", i+1, res, r)
		}
		if m := look(t, e, id); m.UseCount != int64(i+1) || m.AccessCount != int64(i+1) || m.Importance != want {
			t.Errorf("after %d times it has %d uses, %d accesses, importance %v", i+1, m.UseCount, m.AccessCount, m.Importance)
		}
	}
	do(t, e, op.Edit, &op.EditRequest{ID: string(id), Core: new(true)})
	if res := reinforce(t, e, "the staging database runs on port 5432"); res.Reinforced.SuggestCore {
		t.Error("a core memory is suggested to become one")
	}
}

func TestReinforceSays(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := do(t, e, op.Add, &op.AddRequest{Content: "The staging database runs on port 5432.", Importance: "high"}).Memory
	res := reinforce(t, e, m.Content)
	want := fmt.Sprintf("Reinforced memory %[1]s: importance changed from 0.70 to 0.80; number of sources: 2; to keep the memory from fading, run: emberd edit %[1]s --core.", m.ID.Short())
	if res.Message != want {
		t.Errorf("it says %q, want %q", res.Message, want)
	}
	const none = "No matching memory found to reinforce. Use memory_add to store new information."
	if res = reinforce(t, e, "Zeppelins are quixotic"); res.Found || res.Message != none || res.Memory != nil || res.Reinforced != nil || res.Tx != "" {
		t.Errorf("got %+v", res)
	}
	res = reinforce(t, e, "The staging database runs on port 5433.")
	want = fmt.Sprintf("Memory %s is the best match, but differs from the text (different numbers or dates: 5433 and 5432), so emberd reinforced no memory. Use memory_add to store new information.", m.ID.Short())
	if res.Found || res.Message != want || len(res.Conflicts) != 1 || res.Conflicts[0].Why != "5433 against 5432" {
		t.Errorf("it says %q, want %q; conflicts %+v", res.Message, want, res.Conflicts)
	}
	if m = look(t, e, m.ID); m.Importance != 0.8 || m.Learned() != 2 {
		t.Errorf("importance %v, learned %d times", m.Importance, m.Learned())
	}
}

func TestReinforceAtTheThreshold(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	save(t, e, "The staging database of the kettle project runs on the old machine")
	const text = "The staging database of the kettle project runs on the machine"
	alike := nearestTo(t, e, text).All[0].Similarity
	for threshold, want := range map[float64]bool{alike: true, math.Nextafter(alike, 1): false} {
		e.Opt.Known.Reinforce = threshold
		if got := reinforce(t, e, text).Found; got != want {
			t.Errorf("%v alike, from %v: found %v", alike, threshold, got)
		}
	}
}

func TestAddAtTheThreshold(t *testing.T) {
	t.Parallel()
	for _, up := range []bool{false, true} {
		e, _ := newEngine(t)
		save(t, e, "The staging database of the kettle project runs on the old machine")
		const text = "The staging database of the kettle project runs on the machine"
		e.Opt.Known.Add = nearestTo(t, e, text).All[0].Similarity
		if up {
			e.Opt.Known.Add = math.Nextafter(e.Opt.Known.Add, 1)
		}
		if res := add(t, e, text); res.New != up {
			t.Errorf("from %v: new %v", e.Opt.Known.Add, res.New)
		}
	}
}

func TestReinforceRefuses(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, "The kettle leaks")
	for _, c := range []struct {
		name string
		req  op.ReinforceRequest
		code memory.Code
		says string
	}{
		{"nothing", op.ReinforceRequest{Content: " \n"}, memory.Invalid, "missing content or id; pass the text, " +
			"or the ID of the memory"},
		{"a memory that is none", op.ReinforceRequest{ID: "00000000-0000-7000-8000-000000000000"}, memory.NotFound, "not found"},
		{"too much", op.ReinforceRequest{Content: strings.Repeat("x", 50_001)}, memory.TooLarge, "too many characters in content: 50001"},
		{"too much evidence", op.ReinforceRequest{ID: string(m.ID), Evidence: strings.Repeat("x", 1001)}, memory.TooLarge, "too many characters in new_evidence: 1001 (limit"},
		{"a credential as evidence", op.ReinforceRequest{ID: string(m.ID), Evidence: token}, memory.Secret, "remove the credential, or to save the text anyway, set allow_secret (--allow-secret)"},
		{"a credential as content", op.ReinforceRequest{Content: token}, memory.Secret, "remove the credential, or to save the text anyway, set allow_secret (--allow-secret)"},
		{"a line without a file", op.ReinforceRequest{ID: string(m.ID), Provenance: op.Provenance{Line: 3}}, memory.Invalid, "requires a file"},
	} {
		t.Run(c.name, func(t *testing.T) { wantCode(t, refused(t, e, op.Reinforce, &c.req), c.code, c.says) })
	}
	if m = look(t, e, m.ID); m.Importance != 0.5 || m.UseCount != 0 {
		t.Errorf("importance %v, %d uses", m.Importance, m.UseCount)
	}
	do(t, e, op.Reinforce, &op.ReinforceRequest{ID: m.ID.Short(), Evidence: token, AllowSecret: true})
}

// Where it was learned again stays, with what speaks for it and who said so.
func TestReinforceKeepsTheEvidence(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, "The kettle leaks at its seam")
	by := memory.Actor{Via: "mcp", UID: 1000, PID: 42, Client: "agent/1.0"}
	_, err := op.Reinforce.Call(op.WithCaller(context.Background(), by), e, &op.ReinforceRequest{ID: string(m.ID), Evidence: "water below it", SessionID: "x",
		Project: "kitchen", Provenance: op.Provenance{File: "log.md", Line: 3, Quote: "it drips"}})
	if err != nil {
		t.Fatal(err)
	}
	m = look(t, e, m.ID)
	last := m.Sources[len(m.Sources)-1]
	by.Session = "x"
	if last.Evidence != "water below it\nit drips" || last.Ref != "log.md" || last.Line != 3 || last.Project != "kitchen" || last.By == nil || *last.By != by || last.Kind != "agent" {
		t.Errorf("the link is %+v by %+v", last, last.By)
	}
}

// One line has all of it, so one undo takes all of it back.
func TestUndoTakesAllOfAReinforcementBack(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, "The kettle leaks at its seam")
	res := do(t, e, op.Reinforce, &op.ReinforceRequest{ID: string(m.ID), Evidence: "water"})
	do(t, e, op.Undo, &op.UndoRequest{Tx: res.Tx})
	got := look(t, e, m.ID)
	if got.Importance != m.Importance || len(got.Sources) != len(m.Sources) || got.Learned() != m.Learned() {
		t.Errorf("importance %v, links %v", got.Importance, got.Sources)
	}
}

// The note of a memory does not say how much that matters, so it stays as it is.
func TestReinforceLeavesTheNoteAlone(t *testing.T) {
	t.Parallel()
	h, e, m := promotedHouse(t, "The kettle leaks at its seam")
	was := h.note(t, m.PromotedTo)
	if res := reinforce(t, e, "the kettle leaks at its seam"); !res.Found || res.Memory.ID != m.ID || res.Reinforced.NewImportance != 0.6 {
		t.Errorf("got %+v", res)
	}
	if is := h.note(t, m.PromotedTo); is != was {
		t.Errorf("the note has become\n%s", is)
	}
	wantSettled(t, e, m.ID)
}

// What a tool or the web says once more is kept among the sources, and raises nothing;
// nor does anything raise what only they have said.
func TestReinforcementOfDataIsHeld(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, first, again string
		uses               int64
		says               string
	}{
		{"a tool repeats an agent", "agent", "tool", 0, "emberd adds a repeated text from a tool or the web to the sources of the memory, but does not raise the importance of the memory"},
		{"an agent repeats the web", "web", "agent", 2, "the text comes from the web, so emberd reinforces the memory only after you confirm it"},
		{"the web repeats a tool", "tool", "web", 2, "the text comes from a tool, so emberd reinforces the memory only after you confirm it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, _ := newEngine(t)
			m := do(t, e, op.Add, &op.AddRequest{Content: "The kettle leaks at its seam", Provenance: op.Provenance{Origin: c.first}}).Memory
			added := do(t, e, op.Add, &op.AddRequest{Content: "the kettle LEAKS at its seam", Provenance: op.Provenance{Origin: c.again}})
			res := do(t, e, op.Reinforce, &op.ReinforceRequest{ID: string(m.ID), Provenance: op.Provenance{Origin: c.again}})
			for _, r := range []*op.Reinforcement{added.Reinforced, res.Reinforced} {
				if r == nil || r.NewImportance != 0.5 || !strings.Contains(r.Held, c.says) {
					t.Fatalf("got %+v", r)
				}
			}
			if m = look(t, e, m.ID); m.Importance != 0.5 || m.Learned() != 3 || m.UseCount != c.uses || m.Strength != 1 {
				t.Errorf("importance %v, strength %v, learned %d times, %d uses", m.Importance, m.Strength, m.Learned(), m.UseCount)
			}
		})
	}
}

// Whoever says at a terminal what a tool had said stands for it.
func TestAPersonsWordConfirms(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := do(t, e, op.Add, &op.AddRequest{Content: "The kettle leaks at its seam", Provenance: op.Provenance{Origin: "tool"}}).Memory
	person := op.WithCaller(t.Context(), memory.Actor{Via: "cli", UID: 1000, PID: 7})
	res, err := op.Add.Call(person, e, &op.AddRequest{Content: "The kettle leaks at its seam"})
	if err != nil {
		t.Fatal(err)
	}
	if res.New || res.Memory.ID != m.ID || res.Memory.DataOnly() || res.Memory.Learned() != 2 {
		t.Errorf("got %+v", res.Memory.Memory)
	}
}

// What took the place of a memory is reinforced in its stead, if it says the same.
func TestReinforceWhatWasSuperseded(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	old := save(t, e, "The staging database runs on port 5432.").ID
	next := save(t, e, "The staging database runs on port 5433.").ID
	set, err := core.Encode(next)
	ok(t, err)
	_, err = e.Stm.Update(t.Context(), []memory.ID{old}, "", func([]*stm.Row) (*stm.Tx, error) {
		return &stm.Tx{Verb: "edit", Changes: []stm.Change{{ID: old, Set: map[string]json.RawMessage{"superseded_by": set}}}}, nil
	})
	ok(t, err)
	res := do(t, e, op.Reinforce, &op.ReinforceRequest{ID: string(old)})
	if res.Memory.ID != next || !strings.HasSuffix(res.Message, " This memory supersedes memory "+old.Short()+".") {
		t.Errorf("got %s: %s", res.Memory.ID, res.Message)
	}
	if res = reinforce(t, e, "The staging database runs on port 5432."); res.Found {
		t.Errorf("what was superseded is reinforced: %+v", res)
	}
	if got := verify(t, e, "The staging database runs on port 5432."); got.Status != op.StatusConflict || got.Conflicts[0].Memory.ID != next {
		t.Errorf("got %s, %+v", got.Status, got.Conflicts)
	}
	if got := add(t, e, "The staging database runs on port 5432."); !got.New || len(got.Conflicts) != 1 || got.Conflicts[0].Memory.ID != next {
		t.Errorf("the old value that holds again is %+v", got)
	}
}

// What is changed or forgotten between being found and being reinforced is looked for
// again, a few times.
func TestReinforceOfWhatChangesMeanwhile(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, "The kettle leaks at its seam")
	found := &nearestTo(t, e, m.Content).All[0]
	reinforced := func() error {
		r := learn.Renewal{E: e.Learn, Link: memory.Source{Kind: memory.FromAgent, By: &memory.Actor{Via: "mcp"}}, Said: m.Content, Near: found}
		_, err := r.One(t.Context(), m.ID)
		return err
	}
	do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("The tide turns")})
	if err := reinforced(); !errors.Is(err, learn.ErrChanged) {
		t.Errorf("of another text: %v", err)
	}
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(m.ID)})
	if err := reinforced(); !errors.Is(err, learn.ErrChanged) {
		t.Errorf("of what was forgotten: %v", err)
	}
	for _, c := range []struct {
		changes, tries int
		code           memory.Code
	}{{0, 1, ""}, {learn.MaxTries - 1, learn.MaxTries, ""}, {learn.MaxTries, learn.MaxTries, memory.Busy}} {
		tries := 0
		_, err := learn.UntilUnchanged(func() (*op.AddResult, error) {
			if tries++; tries <= c.changes {
				return nil, learn.ErrChanged
			}
			return nil, nil
		})
		if tries != c.tries || memory.CodeOf(err) != c.code {
			t.Errorf("of what changes %d times: %d tries, %v", c.changes, tries, err)
		}
	}
}
