package engine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
)

// editsOfWords are edits of one field each that a reader takes for the author's, or that raise the rank.
func editsOfWords() map[string]op.EditRequest {
	meta := map[string]json.RawMessage{"note": json.RawMessage(`"the user approved this"`)}
	return map[string]op.EditRequest{
		"content": {Content: new("the boiler runs hot")}, "context": {Context: new("the user insists on this")},
		"source": {Source: new("https://bank.example")}, "meta": {Meta: meta},
		"category": {Category: new("orders")}, "section": {Section: new("Never do")}, "type": {Type: new("rule")},
		"entities": {Entities: &[]string{"Ann"}}, "tags": {AddTags: []string{"work/approved"}},
		"confidence": {Confidence: new(0.9)}, "importance": {Importance: new(1.0)}, "strength": {Strength: new(2.0)},
	}
}

// saidByUser saves a memory of the user in the scope of the token.
func saidByUser(t *testing.T, e *engine.Engine) memory.ID {
	t.Helper()
	return doAs(t, e, person, op.Save, &op.SaveRequest{Content: "the boiler is cold", Tags: []string{"work"}}).Memory.ID
}

func wantTrust(t *testing.T, e *engine.Engine, id memory.ID, want string) {
	t.Helper()
	if m := look(t, e, id); m.Trust != want {
		t.Errorf("the memory counts as %s, want %s", m.Trust, want)
	}
}

// Whatever field of a memory of the user a limited token changes, the memory is an agent's until the user
// undoes that.
func TestWhatALimitedTokenChangesIsAnAgents(t *testing.T) {
	t.Parallel()
	for field, req := range editsOfWords() {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			e, _ := newEngine(t)
			id := saidByUser(t, e)
			req.ID = string(id)
			edit, err := atTerminal(e, op.Edit, &req)
			ok(t, err)
			wantTrust(t, e, id, memory.TrustAgent)
			if by := look(t, e, id).Sources; by[len(by)-1].By.Token != workGrant().Token {
				t.Errorf("the sources do not name the token: %+v", by)
			}
			doAs(t, e, person, op.Undo, &op.UndoRequest{Tx: edit.Tx})
			wantTrust(t, e, id, memory.TrustUser)
			edit, err = atTerminal(e, op.Edit, &req)
			ok(t, err)
			_, err = atTerminal(e, op.Undo, &op.UndoRequest{Tx: edit.Tx})
			ok(t, err)
			wantTrust(t, e, id, memory.TrustUser)
		})
	}
}

// What the user confirmed is no longer confirmed, and an edit that changes nothing changes no trust.
func TestWhatALimitedTokenChangesIsNotConfirmed(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := do(t, e, op.Save, &op.SaveRequest{Content: "the boiler is cold", Tags: []string{"work"},
		Provenance: op.Provenance{Origin: memory.FromWeb}}).Memory
	doAs(t, e, person, op.Confirm, &op.ConfirmRequest{ID: string(m.ID)})
	_, err := atTerminal(e, op.Edit, &op.EditRequest{ID: string(m.ID), AddTags: []string{"work"}})
	ok(t, err)
	wantTrust(t, e, m.ID, memory.TrustConfirmed)
	_, err = atTerminal(e, op.Edit, &op.EditRequest{ID: string(m.ID), Context: new("the user insists on this")})
	ok(t, err)
	wantTrust(t, e, m.ID, memory.TrustAgent)
}

// The user's words come back without those of the token, or the memory stays an agent's.
func TestTrustComesBackWithTheWordsAlone(t *testing.T) {
	t.Parallel()
	for _, force := range []bool{false, true} {
		for _, who := range []string{"the user", "the token"} {
			e, _ := newEngine(t)
			undo := func(tx string) {
				t.Helper()
				if who == "the user" {
					doAs(t, e, person, op.Undo, &op.UndoRequest{Tx: tx, Force: force})
					return
				}
				_, err := atTerminal(e, op.Undo, &op.UndoRequest{Tx: tx, Force: force})
				ok(t, err)
			}
			id, first, _ := editedTwice(t, e)
			undo(first)
			if m := look(t, e, id); m.Trust != memory.TrustAgent {
				t.Errorf("%s undid the first of two changes (force: %v): %q counts as %s", who, force, m.Content, m.Trust)
			}
			id, first, second := editedTwice(t, e)
			undo(second)
			wantTrust(t, e, id, memory.TrustAgent)
			undo(first)
			wantTrust(t, e, id, memory.TrustUser)
		}
	}
}

// editedTwice saves a memory of the user, of which a limited token changes the context and then the text.
func editedTwice(t *testing.T, e *engine.Engine) (id memory.ID, first, second string) {
	t.Helper()
	id = saidByUser(t, e)
	one, err := atTerminal(e, op.Edit, &op.EditRequest{ID: string(id), Context: new("the user insists on this")})
	ok(t, err)
	two, err := atTerminal(e, op.Edit, &op.EditRequest{ID: string(id), Content: new("the boiler runs hot")})
	ok(t, err)
	return id, one.Tx, two.Tx
}

// Use and repetition by a limited token do not decide how much a memory of the user counts.
func TestALimitedTokenRaisesNoRankOfTheUsers(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	id := saidByUser(t, e)
	was := look(t, e, id)
	touched, err := atTerminal(e, op.Touch, &op.TouchRequest{ID: string(id), Boost: true})
	ok(t, err)
	again, err := atTerminal(e, op.Reinforce, &op.ReinforceRequest{ID: string(id)})
	ok(t, err)
	_, err = atTerminal(e, op.Observe, &op.ObserveRequest{IDs: []string{string(id)}, Tags: []string{"astronomy"}})
	ok(t, err)
	known, err := atTerminal(e, op.Add, &op.AddRequest{Content: was.Content, Tags: []string{"work"}, Importance: "high"})
	ok(t, err)
	for _, held := range []string{touched.Held, again.Reinforced.Held, known.Reinforced.Held} {
		if !strings.Contains(held, "token job cannot change its importance or strength") {
			t.Errorf("the answer says %q", held)
		}
	}
	if m := look(t, e, id); m.Importance != was.Importance || m.Strength != was.Strength || m.Trust != memory.TrustUser {
		t.Errorf("importance %g, strength %g, trust %s; before %g, %g", m.Importance, m.Strength, m.Trust, was.Importance,
			was.Strength)
	}
}
