package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"emberd/internal/access"
	"emberd/memory"
	"emberd/op"
)

// TestOperationsAreToldTheGrant that a client's token has, and who shows it.
func TestOperationsAreToldTheGrant(t *testing.T) {
	work := &access.Grant{Token: "work", Write: []access.Scope{{Kind: access.Tag, Value: "work"}}}
	var grant *access.Grant
	var caller memory.Actor
	told := backendFunc(func(ctx context.Context, _ *op.Spec, _ any) (any, error) {
		grant, caller = op.GrantFrom(ctx), op.CallerFrom(ctx)
		return &op.VersionResult{}, nil
	})
	sock, _ := serve(t, NewHandler(told, &HandlerOptions{Tokens: func(secret string) (*access.Grant, error) {
		switch secret {
		case "emberd_WORK":
			return work, nil
		case "emberd_NIL":
			return nil, nil
		}
		return nil, errors.New("the disk is on fire")
	}}), nil)
	tests := []struct {
		token string
		want  *access.Grant
		err   string
	}{
		{"", nil, ""},
		{"emberd_WORK", work, ""},
		{"emberd_OTHER", nil, "the disk is on fire"},
		{"emberd_NIL", nil, "internal error; see the daemon log"}, // and not everything
	}
	for _, tt := range tests {
		grant, caller = nil, memory.Actor{}
		c := NewClient(sock, &ClientOptions{Name: "cli", Token: tt.token})
		_, err := op.Version.Call(t.Context(), c, &op.VersionRequest{})
		if c.Close(); (err != nil) != (tt.err != "") || err != nil && !strings.HasPrefix(err.Error(), tt.err) {
			t.Errorf("%q: %v, want %q", tt.token, err, tt.err)
		}
		if served := caller.PID != 0; served != (err == nil) || grant != tt.want || served && tt.want != nil && caller.Token != tt.want.Token {
			t.Errorf("%q: the operation was told %+v by %+v, want %+v", tt.token, grant, caller, tt.want)
		}
	}
}

// TestADaemonWithoutTokensTakesNone: what cannot be looked up must not be overlooked.
func TestADaemonWithoutTokensTakesNone(t *testing.T) {
	_, sock := start(t, newShelf())
	got := ask(t, sock, "GET /v1/version HTTP/1.1\nAuthorization: Bearer emberd_WORK")
	if got.StatusCode != http.StatusUnauthorized || !strings.Contains(got.body, "this daemon has no access tokens; omit the Authorization header") {
		t.Errorf("%s %s, want 401", got.Status, got.body)
	}
}
