package engine_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"emberd/engine/core"
	"emberd/internal/testutil/secrettest"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// manifest is in two halves, neither of which is a secret, as two memories have them that a
// merge makes one of.
func manifest() (one, other string) {
	return "The manifest of the shop: kind: Secret", secrettest.Fill(secrettest.Seeded(1), "data:\n  login: ‹b32›")
}

// What is made of texts of which none holds a credential is looked through, whoever makes
// it: the log itself asks.
func TestCase63TwoHalvesMakeNoCredential(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	head, tail := manifest()
	one, other := save(t, e, head).ID, save(t, e, tail).ID
	merged := func(text string) (json.RawMessage, error) {
		value, err := core.Encode(text)
		ok(t, err)
		_, err = e.Stm.Update(t.Context(), []memory.ID{one, other}, "", func([]*stm.Row) (*stm.Tx, error) {
			return &stm.Tx{Verb: core.ConsolidateVerb, Changes: []stm.Change{{ID: one, Set: map[string]json.RawMessage{core.ContentField: value}}}}, nil
		})
		return value, err
	}
	_, err := merged(head + "\n" + tail)
	if memory.CodeOf(err) != memory.Secret || strings.Contains(err.Error(), tail[len(tail)-8:]) {
		t.Errorf("a merge of both halves: %v", err)
	}
	if _, err := merged(head + "\nIt is applied on Mondays"); err != nil {
		t.Errorf("a merge without a credential: %v", err)
	}
}

// What a memory was allowed to hold goes along with it, in any spelling of its letters.
func TestCase63WhatWasAllowedIsCarriedAlong(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	id := do(t, e, op.Save, &op.SaveRequest{Content: "allowed: " + token, AllowSecret: true}).Memory.ID
	for _, text := range []string{"kept: " + token, strings.ToLower(token)} {
		value, err := core.Encode(text)
		ok(t, err)
		_, err = e.Stm.Update(t.Context(), []memory.ID{id}, "", func([]*stm.Row) (*stm.Tx, error) {
			return &stm.Tx{Verb: core.ConsolidateVerb, Changes: []stm.Change{{ID: id, Set: map[string]json.RawMessage{core.ContentField: value}}}}, nil
		})
		if err != nil {
			t.Errorf("%.9s: %v", text, err)
		}
		do(t, e, op.Undo, &op.UndoRequest{})
	}
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(id)})
	do(t, e, op.TrashRestore, &op.TrashRestoreRequest{IDs: []string{string(id)}})
}

// Who asks is written beside what was asked, and looked through like it.
func TestCase63ACredentialIsNoNameOfAClient(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	for field, by := range map[string]memory.Actor{"client": {Via: "http", Client: token}, "session": {Via: "http", Session: token}} {
		_, err := op.Save.Call(op.WithCaller(t.Context(), by), e, &op.SaveRequest{Content: "the tide turns at nine"})
		wantCode(t, err.(*memory.Error), memory.Secret, field+" contains")
	}
}

// A model's summary that holds what the text does not is not taken.
func TestCase63AnAuthorWritesNoCredential(t *testing.T) {
	t.Parallel()
	_, e, w := authored(t)
	w.answer = "PostgreSQL it is, with " + token
	wantSummary(t, e, decision, extract)
}

// What another device let pass is there on all, and told.
func TestCase63ACredentialOfAnotherDeviceIsTold(t *testing.T) {
	t.Parallel()
	desk, lap := newHouse(t), newHouse(t)
	lap.DetectSecrets = false
	here, there := desk.open(t), lap.open(t)
	save(t, here, "a pebble")
	id := save(t, there, "the key is "+token).ID
	carry(t, lap, desk, status(t, there).Device)
	here.Admin.Refresh(t.Context())
	told := func() bool {
		return slices.ContainsFunc(status(t, here).Warnings, func(w string) bool {
			return strings.Contains(w, id.Short()) && strings.Contains(w, "text that looks like a credential") && !strings.Contains(w, token[:12])
		})
	}
	if got := look(t, here, id).Content; got != "the key is "+token || !told() {
		t.Errorf("it says %.12q, and status warns %q", got, status(t, here).Warnings)
	}
	do(t, here, op.Edit, &op.EditRequest{ID: string(id), Content: new("the key is in the safe")})
	if told() {
		t.Error("it is told although it was taken out")
	}
	if strings.Contains(desk.log.String(), token[4:]) {
		t.Error("the credential is in the log file")
	}
}

// Notes are the user's: what looks like a credential in one is told, and nothing else.
func TestCase63ACredentialInANoteIsTold(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"Body.md": "# Keys\n\nthe one is " + token + "\n", "Heading.md": "# " + token + "\n\ntext\n",
		"Property.md": "---\napi: " + token + "\n---\ntext\n", "Clean.md": "# The keys\n\nare in the safe\n",
	}
	h := vaultHouse(t, texts)
	e := h.following(t)
	var told []string
	for _, f := range do(t, e, op.VaultCheck, &op.VaultCheckRequest{}).Findings {
		if f.Kind == "credential" {
			told = append(told, f.Path)
		}
		if strings.Contains(f.Text, token[8:]) {
			t.Errorf("%s: the finding shows it: %s", f.Path, f.Text)
		}
	}
	if want := []string{"Body.md", "Heading.md", "Property.md"}; !slices.Equal(told, want) {
		t.Errorf("told of %q, want %q", told, want)
	}
	for path := range maps.Keys(texts) {
		if got := h.note(t, path); got != texts[path] {
			t.Errorf("%s was changed to %q", path, got)
		}
	}
}

// Nor do two memories that are merged: the merge is refused with what they were made into, and
// leaves no note behind.
func TestCase63AMergeMakesNoCredential(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	const shop = "The manifest of the web shop is applied to the cluster in Leith on Mondays by the night shift, and it reads:\n\n"
	const value = "qhzvwxkrtmbplnds"
	save(t, d.Engine, shop+"kind: secret")
	save(t, d.Engine, shop+"data:\n  login: "+value)
	before := stateOf(t, d.Engine)
	id := do(t, d.Engine, op.Clusters, &op.ClustersRequest{Threshold: 0.5}).Clusters[0].ID
	err := refused(t, d.Engine, op.Consolidate, &op.ConsolidateRequest{ClusterID: id, Mode: op.ModeApply})
	wantCode(t, err, memory.Secret, "), so emberd wrote nothing; remove the credential from the memories that emberd summarizes")
	if strings.Contains(err.Error(), value) || stateOf(t, d.Engine) != before {
		t.Errorf("it is refused with %v, and the memories are\n%s\nwant\n%s", err, stateOf(t, d.Engine), before)
	}
	wantFiles(t, d.house)
}
