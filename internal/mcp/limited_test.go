package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"emberd/internal/access"
	"emberd/op"
)

// limited asks for who has a grant.
type limited struct {
	op.Invoker
	grant *access.Grant
}

func (l limited) Invoke(ctx context.Context, s *op.Spec, req any) (any, error) {
	return l.Invoker.Invoke(op.WithGrant(ctx, l.grant), s, req)
}

// TestWhatAScopeAddsIsTold to the agent, which did not ask for the tag.
func TestWhatAScopeAddsIsTold(t *testing.T) {
	grant := &access.Grant{Token: "job", Write: []access.Scope{{Kind: access.Tag, Value: "work"}}}
	s := newStructured(t, limited{newStore(t, newClock(), nil), grant}, Agent)
	for args, added := range map[string]bool{`{"content":"the boiler runs hot"}`: true, `{"content":"the kettle leaks","tags":["work"]}`: false} {
		got := called[agentAdded](s, "memory_add", args).Advice
		if told := slices.Contains(got, "added tag:work, because the token can save only in this scope"); told != added {
			t.Errorf("%s: %q; want the added tag told: %t", args, got, added)
		}
	}
}

// TestPromptsAreWhatAGrantShows: none of them fails for a token, and none of them, of the
// resources and of what completes arguments tells it of anything else.
func TestPromptsAreWhatAGrantShows(t *testing.T) {
	e := newStore(t, newClock(), map[string]string{"Private/Lakehurst.md": "the zeppelin lands #home\n"})
	for tag, text := range map[string]string{"home": "the zeppelin is moored at Lakehurst", "work": "the boiler runs at 60 degrees"} {
		if _, err := op.Save.Call(t.Context(), e, &op.SaveRequest{Content: text, Tags: []string{tag}, Project: tag + "-project"}); err != nil {
			t.Fatal(err)
		}
	}
	grant := &access.Grant{Token: "job", Write: []access.Scope{{Kind: access.Tag, Value: "work"}}}
	s := newStructured(t, limited{e, grant}, Agent)
	asks := []struct{ method, params, want string }{
		{"prompts/get", `{"name":"weekly-review"}`, "boiler"},
		{"prompts/get", `{"name":"recall","arguments":{"topic":"boiler moored"}}`, "boiler"},
		{"resources/read", `{"uri":"memory://recent"}`, "boiler"},
		{"resources/read", `{"uri":"memory://graph"}`, "boiler"},
		{"completion/complete", `{"ref":{"type":"ref/resource","uri":"` + memoryTemplate + `"},"argument":{"name":"id","value":""}}`, `"total":1`},
		{"completion/complete", `{"ref":{"type":"ref/resource","uri":"` + vaultTemplate + `"},"argument":{"name":"path","value":""}}`, `"values":[]`},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"recall"},"argument":{"name":"tags","value":""}}`, `["work"]`},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"recall"},"argument":{"name":"project","value":""}}`, `["work-project"]`},
	}
	for _, ask := range asks {
		answer := s.ask(ask.method, json.RawMessage(ask.params))
		got := string(answer.Result)
		if answer.Error != nil || !strings.Contains(got, ask.want) {
			t.Errorf("%s %s: %s %v, want %s", ask.method, ask.params, got, answer.Error, ask.want)
		}
		for _, unseen := range []string{"zeppelin", "Lakehurst", "home"} {
			if strings.Contains(got, unseen) {
				t.Errorf("%s %s tells of %s: %s", ask.method, ask.params, unseen, got)
			}
		}
	}
}
