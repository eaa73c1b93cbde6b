package engine_test

import (
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
)

// claims saves what a tool or the web says.
func claims(t testing.TB, e *engine.Engine, origin, content string, tags ...string) op.Memory {
	t.Helper()
	return doAs(t, e, agent, op.Save, &op.SaveRequest{Content: content, Tags: tags, Provenance: op.Provenance{Origin: origin}}).Memory
}

// emphatic is a text whose words raise the strength of a memory that an agent saves.
const emphatic = "This is critical: never commit secrets"

func TestWhatAToolSaysCannotClaimWeight(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Enrich = true
	e := h.open(t)
	if m := save(t, e, emphatic); m.Strength <= 1 {
		t.Fatalf("an agent's words make a strength of %v, so this shows nothing", m.Strength)
	}
	for _, origin := range []string{memory.FromTool, memory.FromWeb} {
		m := claims(t, e, origin, emphatic+", says "+origin)
		if m.Strength != 1 || m.StrengthFound || m.Importance != 0.5 || !m.Memory.DataOnly() {
			t.Errorf("%s: strength %v, importance %v, data only %t; want 1, 0.5, true", origin, m.Strength, m.Importance, m.Memory.DataOnly())
		}
		for _, c := range []struct {
			name string
			save op.SaveRequest
			edit op.EditRequest
			says string
		}{
			{"importance", op.SaveRequest{Importance: new(0.51)}, op.EditRequest{Importance: new(0.51)}, "importance is 0.51, which is above the maximum 0.5 for a text that"},
			{"strength", op.SaveRequest{Strength: new(1.01)}, op.EditRequest{Strength: new(1.01)}, "strength is 1.01, which is above the maximum 1 for a text that"},
			{"core", op.SaveRequest{Core: true}, op.EditRequest{Core: new(true)}, "cannot be core"},
		} {
			c.save.Content, c.save.Origin, c.edit.ID = "the kettle leaks", origin, string(m.ID)
			for how, err := range map[string]error{
				"saved":              refusedAs(t, e, agent, op.Save, &c.save),
				"edited":             refusedAs(t, e, agent, op.Edit, &c.edit),
				"edited by a person": refusedAs(t, e, person, op.Edit, &c.edit),
			} {
				if memory.CodeOf(err) != memory.Invalid || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "emberd edit --confirm") {
					t.Errorf("%s %s with %s: %v", origin, how, c.name, err)
				}
			}
		}
		doAs(t, e, agent, op.Edit, &op.EditRequest{ID: string(m.ID), Importance: new(0.2), Strength: new(0.5)})
		doAs(t, e, agent, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("what an agent makes of it")})
		if m := look(t, e, m.ID); !m.Memory.DataOnly() {
			t.Errorf("%s: an agent's edit has made it count like any other", origin)
		}
	}
}

func TestUseRaisesNothingOfWhatAToolSays(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := claims(t, e, memory.FromTool, "the kettle leaks", "kitchen", "repair", "kettle")
	touched := do(t, e, op.Touch, &op.TouchRequest{ID: string(m.ID), Boost: true})
	if touched.Strength != 1 || touched.Tx != "" || touched.UseCount != 1 || !strings.Contains(touched.Message, "emberd edit --confirm "+m.ID.Short()) || touched.Held == "" {
		t.Errorf("a boost answers %+v", touched)
	}
	seen := do(t, e, op.Observe, &op.ObserveRequest{IDs: []string{string(m.ID)}, Tags: []string{"api", "backend", "style"}}).Results[0]
	if !seen.CrossDomain || seen.Strength != 1 || seen.UseCount != 2 {
		t.Errorf("use in another domain answers %+v", seen)
	}
	doAs(t, e, person, op.Confirm, &op.ConfirmRequest{ID: m.ID.Short()})
	if touched := do(t, e, op.Touch, &op.TouchRequest{ID: string(m.ID), Boost: true}); touched.Strength != 1.1 || touched.Held != "" {
		t.Errorf("confirmed, a boost answers %+v", touched)
	}
}

func TestWhatTheWebSaysGetsANoteOnceItIsConfirmed(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	e := h.following(t)
	m := claims(t, e, memory.FromWeb, "the kettle leaks")
	other := save(t, e, "the pot does not")
	for range 20 {
		do(t, e, op.Touch, &op.TouchRequest{ID: string(m.ID)})
		do(t, e, op.Touch, &op.TouchRequest{ID: string(other.ID)})
	}
	for _, force := range []bool{false, true} {
		err := refused(t, e, op.Promote, &op.PromoteRequest{ID: string(m.ID), Force: force})
		wantCode(t, err, memory.Conflict, " comes from the web, so emberd promotes the memory only after you confirm it; run: emberd edit --confirm "+m.ID.Short())
	}
	why := do(t, e, op.Why, &op.WhyRequest{ID: string(m.ID)})
	if got := why.Promotion; got.Rule != "" || !strings.Contains(strings.Join(got.Rules[1].Missing, "; "), "a confirmation by the user (emberd edit --confirm), because the text came from a tool or the web") || why.Used.Rule != "" {
		t.Errorf("why tells of its promotion %+v, and after a use %q", got, why.Used.Rule)
	}
	auto := do(t, e, op.PromoteAuto, &op.PromoteAutoRequest{Force: true})
	if len(auto.PromotedIDs) != 1 || auto.PromotedIDs[0] != other.ID {
		t.Errorf("promoted are %v, want the other alone", auto.PromotedIDs)
	}
	doAs(t, e, person, op.Confirm, &op.ConfirmRequest{ID: string(m.ID)})
	h.advance(time.Hour)
	if got := promoteByID(t, e, m.ID); got.Outcome != op.PromotionWritten {
		t.Errorf("confirmed, it is %s (%s)", got.Outcome, got.Reason)
	}
	kept := look(t, e, m.ID)
	wantChain(t, "with a note", &kept.Memory, "web claude-code/2.1 in session s1 by 1000/12", "user, by hand by 1000/11")
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	one, two := claims(t, e, memory.FromWeb, "the kettle leaks"), claims(t, e, memory.FromTool, "the pot does not")
	plain := save(t, e, "the pan is fine")
	all := strings.Join([]string{string(one.ID), two.ID.Short(), string(plain.ID)}, ",")

	err := refusedAs(t, e, agent, op.Confirm, &op.ConfirmRequest{ID: all})
	wantCode(t, err, memory.Forbidden, "a model cannot confirm a text from a tool or the web; ask the user to run emberd edit --confirm")
	err = refusedAs(t, e, person, op.Confirm, &op.ConfirmRequest{ID: all + ",0192f3a1-b2c3-7000-8000-0123456789ab"})
	wantCode(t, err, memory.NotFound, "")
	if m := look(t, e, one.ID); !m.Memory.DataOnly() {
		t.Error("a refused confirmation confirmed one")
	}

	clock.advance(time.Hour)
	res := doAs(t, e, person, op.Confirm, &op.ConfirmRequest{ID: all})
	if len(res.Memories) != 3 || res.Tx == "" {
		t.Fatalf("it answers %+v", res)
	}
	for _, m := range res.Memories[:2] {
		if m.Memory.DataOnly() || !m.ConfirmedAt.Equal(clock.Now()) || m.Learned() != 2 {
			t.Errorf("%q is data only %t, confirmed %v, learned %d times", m.Content, m.Memory.DataOnly(), m.ConfirmedAt, m.Learned())
		}
	}
	if m := res.Memories[2]; m.Rev != plain.Rev || !m.ConfirmedAt.IsZero() {
		t.Errorf("what an agent said is changed to %+v", m)
	}
	if again := doAs(t, e, person, op.Confirm, &op.ConfirmRequest{ID: all}); again.Tx != "" {
		t.Errorf("confirmed again it is journal entry %s, want none", again.Tx)
	}
	doAs(t, e, person, op.Edit, &op.EditRequest{ID: string(one.ID), Importance: new(0.9)})
	do(t, e, op.Undo, &op.UndoRequest{Tx: res.Tx})
	for _, id := range []memory.ID{one.ID, two.ID} {
		if m := look(t, e, id); !m.Memory.DataOnly() || m.Learned() != 1 {
			t.Errorf("undone, %q is data only %t, learned %d times", m.Content, m.Memory.DataOnly(), m.Learned())
		}
	}
}

func TestAPersonWhoWritesAnotherTextStandsForIt(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := claims(t, e, memory.FromWeb, "the kettle leaks")
	doAs(t, e, person, op.Edit, &op.EditRequest{ID: string(m.ID), AddTags: []string{"kitchen"}})
	if m := look(t, e, m.ID); !m.Memory.DataOnly() {
		t.Error("a tag of a person confirms it")
	}
	doAs(t, e, person, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("the kettle leaks at the seam"), Importance: new(0.9)})
	if m := look(t, e, m.ID); m.Memory.DataOnly() || m.Importance != 0.9 || m.Learned() != 2 {
		t.Errorf("rewritten by a person it is %+v", m.Memory)
	}
}
