package engine_test

import (
	"testing"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/internal/access"
	"emberd/memory"
	"emberd/op"
)

// atTerminal is a caller with a limited token that says it is the command line.
func atTerminal[Req, Res any](e *engine.Engine, o op.Op[Req, Res], req *Req) (*Res, error) {
	g := workGrant()
	by := memory.Actor{UID: 1, Via: core.ViaCLI, Client: "cli/1", Token: g.Token}
	ctx := op.WithGrant(op.WithCaller(contextOf(g), by), g)
	return o.Call(ctx, e, req)
}

// Attack 4: a caller with a limited token speaks as an agent, in each way to save a text.
func TestALimitedTokenSpeaksAsAnAgent(t *testing.T) {
	t.Parallel()
	claim := op.Provenance{Origin: memory.FromUser}
	ways := map[string]func(e *engine.Engine) (memory.ID, error){
		"save": func(e *engine.Engine) (memory.ID, error) {
			res, err := atTerminal(e, op.Save, &op.SaveRequest{Content: "the boiler runs hot", Provenance: claim})
			if err == nil && res.RecordedOrigin != memory.FromAgent {
				t.Errorf("the answer to a save does not name the recorded origin: %+v", res)
			}
			return idOf(res, err)
		},
		"save_batch": func(e *engine.Engine) (memory.ID, error) {
			res, err := atTerminal(e, op.SaveBatch, &op.SaveBatchRequest{Items: []op.SaveRequest{{Content: "the boiler runs hot", Provenance: claim}}})
			if err != nil || res.Results[0].Error != nil || res.Results[0].RecordedOrigin != memory.FromAgent {
				t.Fatalf("a batch was answered with %+v, %v", res, err)
			}
			return res.Results[0].ID, nil
		},
		"add": func(e *engine.Engine) (memory.ID, error) {
			res, err := atTerminal(e, op.Add, &op.AddRequest{Content: "the boiler runs hot", Provenance: claim})
			ok(t, err)
			if res.RecordedOrigin != memory.FromAgent {
				t.Errorf("the answer to an add does not name the recorded origin: %+v", res)
			}
			return res.Memory.ID, nil
		},
		"edit of the user's memory": func(e *engine.Engine) (memory.ID, error) {
			m := doAs(t, e, person, op.Save, &op.SaveRequest{Content: "the boiler is cold", Tags: []string{"work"}}).Memory
			res, err := atTerminal(e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("the boiler runs hot")})
			ok(t, err)
			return res.Memory.ID, nil
		},
		"edit of a confirmed memory": func(e *engine.Engine) (memory.ID, error) {
			m := do(t, e, op.Save, &op.SaveRequest{Content: "the boiler is cold", Tags: []string{"work"},
				Provenance: op.Provenance{Origin: memory.FromWeb}}).Memory
			doAs(t, e, person, op.Confirm, &op.ConfirmRequest{ID: string(m.ID)})
			_, err := atTerminal(e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("the boiler runs hot")})
			return m.ID, err
		},
		"edit twice and undo the first": func(e *engine.Engine) (memory.ID, error) {
			m := doAs(t, e, person, op.Save, &op.SaveRequest{Content: "the boiler is cold", Tags: []string{"work"}}).Memory
			first, err := atTerminal(e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("the boiler is warm")})
			ok(t, err)
			_, err = atTerminal(e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("the boiler runs hot")})
			ok(t, err)
			_, err = atTerminal(e, op.Undo, &op.UndoRequest{Tx: first.Tx})
			return m.ID, err
		},
		"edit twice and undo both by force": func(e *engine.Engine) (memory.ID, error) {
			m := doAs(t, e, person, op.Save, &op.SaveRequest{Content: "the boiler is cold", Tags: []string{"work"}}).Memory
			first, err := atTerminal(e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("the boiler is warm")})
			ok(t, err)
			second, err := atTerminal(e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("the boiler runs hot")})
			ok(t, err)
			_, err = atTerminal(e, op.Undo, &op.UndoRequest{Tx: first.Tx, Force: true})
			ok(t, err)
			if m := look(t, e, m.ID); m.Content != "the boiler is cold" || m.Trust != memory.TrustUser {
				t.Errorf("the user's text came back as %q, %s", m.Content, m.Trust)
			}
			_, err = atTerminal(e, op.Undo, &op.UndoRequest{Tx: second.Tx, Force: true})
			wantCode(t, err, memory.Forbidden, "cannot mark a text as written or confirmed by the user")
			again, err := atTerminal(e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("the boiler runs hot")})
			ok(t, err)
			return again.Memory.ID, nil
		},
		"edit a web text twice and undo what the user confirmed": func(e *engine.Engine) (memory.ID, error) {
			m := do(t, e, op.Save, &op.SaveRequest{Content: "the boiler is cold", Tags: []string{"work"},
				Provenance: op.Provenance{Origin: memory.FromWeb}}).Memory
			_, err := atTerminal(e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("the boiler is warm")})
			ok(t, err)
			second, err := atTerminal(e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("the boiler runs hot")})
			ok(t, err)
			doAs(t, e, person, op.Confirm, &op.ConfirmRequest{ID: string(m.ID)})
			_, err = atTerminal(e, op.Undo, &op.UndoRequest{Tx: second.Tx})
			wantCode(t, err, memory.Forbidden, "cannot mark a text as written or confirmed by the user")
			_, err = atTerminal(e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("the boiler runs hotter")})
			return m.ID, err
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			e, _ := newEngine(t)
			id, err := way(e)
			ok(t, err)
			m := look(t, e, id)
			if m.Trust != memory.TrustAgent {
				t.Errorf("%q counts as %s, want %s (origin %s)", m.Content, m.Trust, memory.TrustAgent, m.Origin)
			}
			for _, s := range m.Sources {
				if s.By != nil && s.By.Token != "" && s.Kind == memory.FromUser {
					t.Errorf("a source of the token is the user's: %+v", s)
				}
			}
		})
	}
}

// A token that changes everything is the user's own, and an undo of the token's own deletion restores
// the user's words.
func TestWhatTheUserSaidStaysTheUsers(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	all := &access.Grant{Token: "all", Write: []access.Scope{{Kind: access.All}}}
	said, err := as(all, e, op.Save, &op.SaveRequest{Content: "the boiler runs hot", Core: true, Tags: []string{"work"},
		Provenance: op.Provenance{Origin: memory.FromUser}})
	ok(t, err)
	if said.Memory.Trust != memory.TrustUser || said.RecordedOrigin != "" {
		t.Errorf("a token of all: %s, recorded as %q", said.Memory.Trust, said.RecordedOrigin)
	}
	id := string(said.Memory.ID)
	gone, err := as(workGrant(), e, op.Forget, &op.ForgetRequest{ID: id})
	ok(t, err)
	_, err = as(workGrant(), e, op.Undo, &op.UndoRequest{Tx: gone.Tx})
	ok(t, err)
	if m := look(t, e, said.Memory.ID); m.Trust != memory.TrustUser || !m.Core {
		t.Errorf("after a deletion and its undo the memory counts as %s, core: %v", m.Trust, m.Core)
	}
}

// Attack 4: a limited token confirms nothing, in no way, and makes nothing core.
func TestALimitedTokenVouchesForNothing(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	web := op.Provenance{Origin: memory.FromWeb}
	saved, err := atTerminal(e, op.Save, &op.SaveRequest{Content: "the boiler runs at 60 degrees", Provenance: web})
	ok(t, err)
	id := string(saved.Memory.ID)
	plain, err := atTerminal(e, op.Save, &op.SaveRequest{Content: "the kettle leaks"})
	ok(t, err)
	tests := []struct {
		name string
		do   func() error
		code memory.Code // "" if the request succeeds and changes no trust
	}{
		{"confirm", func() error { _, err := atTerminal(e, op.Confirm, &op.ConfirmRequest{ID: id}); return err }, memory.Forbidden},
		{"save once more as the user", func() error {
			_, err := atTerminal(e, op.Save, &op.SaveRequest{Content: saved.Memory.Content, Provenance: op.Provenance{Origin: memory.FromUser}})
			return err
		}, ""},
		{"add once more as the user", func() error {
			_, err := atTerminal(e, op.Add, &op.AddRequest{Content: saved.Memory.Content, Provenance: op.Provenance{Origin: memory.FromUser}})
			return err
		}, ""},
		{"reinforce as the user", func() error {
			_, err := atTerminal(e, op.Reinforce, &op.ReinforceRequest{ID: id, Provenance: op.Provenance{Origin: memory.FromUser}})
			return err
		}, ""},
		{"edit its text", func() error {
			_, err := atTerminal(e, op.Edit, &op.EditRequest{ID: id, Content: new("the boiler runs at 65 degrees")})
			return err
		}, ""},
		{"relate an own memory that supports it", func() error {
			_, err := atTerminal(e, op.Relate, &op.RelateRequest{From: string(plain.Memory.ID), To: id, Type: memory.Supports})
			return err
		}, ""},
		{"promote", func() error {
			_, err := atTerminal(e, op.Promote, &op.PromoteRequest{ID: id, Force: true})
			return err
		}, memory.Unavailable},
		{"save core", func() error {
			_, err := atTerminal(e, op.Save, &op.SaveRequest{Content: "the pump hums", Core: true})
			return err
		}, memory.Forbidden},
		{"add core", func() error {
			_, err := atTerminal(e, op.Add, &op.AddRequest{Content: "the pump hums", Importance: "core"})
			return err
		}, memory.Forbidden},
		{"add what is known as core", func() error {
			_, err := atTerminal(e, op.Add, &op.AddRequest{Content: "the kettle leaks", Importance: "core"})
			return err
		}, memory.Forbidden},
		{"edit to core", func() error {
			_, err := atTerminal(e, op.Edit, &op.EditRequest{ID: string(plain.Memory.ID), Core: new(true)})
			return err
		}, memory.Forbidden},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := test.do()
			if test.code == "" {
				ok(t, err)
			} else if test.code != memory.Unavailable && memory.CodeOf(err) != test.code {
				t.Errorf("got %v, want %s", err, test.code)
			} else if err == nil {
				t.Error("it succeeded")
			}
			if m := look(t, e, saved.Memory.ID); m.Trust != memory.TrustData || !m.ConfirmedAt.IsZero() {
				t.Errorf("the web memory counts as %s", m.Trust)
			}
			if m := look(t, e, plain.Memory.ID); m.Core {
				t.Error("a memory is core")
			}
		})
	}
}

func idOf(res *op.SaveResult, err error) (memory.ID, error) {
	if err != nil {
		return "", err
	}
	return res.Memory.ID, nil
}
