package engine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"emberd/memory"
	"emberd/op"
)

// token has the shape of a GitHub personal access token and opens nothing.
// It is put together here so that no scanner trips over this file.
var token = "ghp_" + strings.Join([]string{"aB3dE5fG7h", "J9kL2mN4pQ", "6rS8tU0vW1", "xY3zA5"}, "")

func TestCredentialsAreRefusedWhereverTheyAre(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	meta := func(value string) map[string]json.RawMessage {
		return map[string]json.RawMessage{"settings": json.RawMessage(value)}
	}
	for field, req := range map[string]op.SaveRequest{
		"content":  {Content: "push with " + token},
		"context":  {Content: "push", Context: "found " + token},
		"source":   {Content: "push", Source: token},
		"tags":     {Content: "push", Tags: []string{"ok", token}},
		"entities": {Content: "push", Entities: []string{token}},
		"meta":     {Content: "push", Meta: meta(`{"deep":["a",{"token":"` + token + `"}]}`)},
	} {
		err := refused(t, e, op.Save, &req)
		if err.Code != memory.Secret || err.Field != field || !strings.Contains(err.Message, field+" contains text that looks like a credential (GitHub") {
			t.Errorf("%s: got %s at %q: %q", field, err.Code, err.Field, err)
		}
		if strings.Contains(err.Message, token[:12]) {
			t.Errorf("%s: the error shows the credential: %q", field, err)
		}
		req.AllowSecret = true
		do(t, e, op.Save, &req)
	}
	if strings.Contains(h.log.String(), token[4:]) {
		t.Error("a credential is in the log")
	}
}

func TestAnEditIsScannedForWhatIsNew(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := do(t, e, op.Save, &op.SaveRequest{Content: "allowed: " + token, AllowSecret: true}).Memory
	do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), AddTags: []string{"keys"}})
	wantCode(t, refused(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), AddTags: []string{token}}), memory.Secret, "remove the credential, or to save the text anyway, set allow_secret (--allow-secret)")
	wantCode(t, refused(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Source: &token}), memory.Secret, "remove the credential, or to save the text anyway, set allow_secret (--allow-secret)")
	do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Source: &token, AllowSecret: true})
}

func TestDetectionCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.DetectSecrets = false
	save(t, h.open(t), token)
}
