package mcphttp_test

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/memory"
	"emberd/op"
)

// token makes a capability token for what is tagged work.
func (d *daemon) token(t *testing.T, name, expires string) (secret string) {
	t.Helper()
	res, err := op.TokenCreate.Call(t.Context(), d.store, &op.TokenCreateRequest{Name: name, Write: []string{"tag:work"}, Expires: expires})
	if err != nil {
		t.Fatal(err)
	}
	return res.Secret
}

func (d *daemon) revoke(t *testing.T, name string) {
	t.Helper()
	if _, err := op.TokenRevoke.Call(t.Context(), d.store, &op.TokenRevokeRequest{Name: name}); err != nil {
		t.Fatal(err)
	}
}

// showing is the same way with another token.
func (w *way) showing(secret string) *way {
	other := *w
	other.http = &http.Client{Transport: adding{map[string]string{"Authorization": "Bearer " + secret}, w.http.Transport.(adding).next}}
	return &other
}

const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`

func text(t *testing.T, resp *http.Response) string {
	t.Helper()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

// TestTheJournalTellsWhichToken in both manners of the protocol.
func TestTheJournalTellsWhichToken(t *testing.T) {
	d := start(t, nil)
	w, pid := d.bySocket(t).showing(d.token(t, "work", "30d")), os.Getpid()
	save := map[string]any{"content": "something", "tags": []string{"work"}}
	res, err := w.connect(t, "/mcp/cortexgraph", "agent").CallTool(t.Context(), &sdk.CallToolParams{Name: "save_memory", Arguments: save})
	if err != nil || res.IsError {
		t.Fatalf("save_memory = %+v, %v", res, err)
	}
	checkActor(t, d, memory.Actor{Via: "mcp", UID: os.Geteuid(), PID: pid, Client: "agent/2", Token: "work"})

	id := w.hail(t, "/mcp/cortexgraph")
	const body = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"save_memory","arguments":{"content":"in a session","tags":["work"]}}}`
	if got := text(t, w.send(t, "POST", "/mcp/cortexgraph", id, body)); !strings.Contains(got, `"success\":true`) {
		t.Error(got)
	}
	checkActor(t, d, memory.Actor{Via: "mcp", UID: os.Geteuid(), PID: pid, Client: "old/1", Session: id, Token: "work"})
}

// TestATokenThatIsNoGoodIsNeverTakenForNone: a request without one is the user's own.
func TestATokenThatIsNoGoodIsNeverTakenForNone(t *testing.T) {
	d := start(t, nil)
	good, revoked, expired := d.token(t, "good", "never"), d.token(t, "revoked", "never"), d.token(t, "expired", "12h")
	d.revoke(t, "revoked")
	d.ahead.Store(int64(13 * time.Hour))
	const mute = "invalid Authorization header; use Bearer and one access token, or omit the header"
	tests := []struct {
		name, header string
		want         int
		answer       string // a part of it
	}{
		{"good", "Bearer " + good, 200, "serverInfo"},
		{"revoked", "Bearer " + revoked, 401, "token revoked was revoked"},
		{"expired", "Bearer " + expired, 401, "token expired expired at "},
		{"made up", "Bearer emberd_" + strings.Repeat("A", 52), 401, "token not found"},
		{"cut short", "Bearer " + good[:len(good)-1], 401, "token not found"},
		{"its name", "Bearer good", 401, "token not found"},
		{"blank", "", 401, mute},
		{"nothing behind the scheme", "Bearer ", 401, mute},
		{"another scheme", "Basic " + good, 401, mute},
	}
	w := d.bySocket(t)
	for _, tt := range tests {
		resp := w.send(t, "POST", "/mcp", "", hello, "Authorization", tt.header)
		if got := text(t, resp); resp.StatusCode != tt.want || !strings.Contains(got, tt.answer) {
			t.Errorf("%s: %s %s, want %d and %q", tt.name, resp.Status, got, tt.want, tt.answer)
		} else if strings.Contains(got, good[7:]) {
			t.Errorf("%s: the answer has a secret: %s", tt.name, got)
		}
	}
	for _, path := range []string{"/v1/status", "/v1/events", "/v1/version", "/v1/openapi.json", "/nowhere"} {
		if resp := w.send(t, "GET", path, "", "", "Authorization", "Bearer "+revoked); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s with a token that was revoked: %s, want 401", path, resp.Status)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", w.base+"/v1/version", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header["Authorization"] = []string{"Bearer " + good, "Bearer " + good}
	if resp, err := w.http.Do(r); err != nil || resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("two tokens at once: %v, %v; want 401", resp, err)
	}
}

// TestASessionIsItsTokens: to who shows another, or none, it is not there.
func TestASessionIsItsTokens(t *testing.T) {
	d := start(t, nil)
	mine, others := d.token(t, "mine", "never"), d.token(t, "others", "never")
	everything := d.bySocket(t)
	owner := everything.showing(mine)
	id, open := owner.hail(t, "/mcp"), everything.hail(t, "/mcp")
	for name, tt := range map[string]struct {
		way *way
		id  string
	}{
		"another token":              {everything.showing(others), id},
		"no token":                   {everything, id},
		"a token, where none was":    {owner, open},
		"a session that never began": {owner, "x"},
	} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			if resp := tt.way.send(t, method, "/mcp", tt.id, ping); resp.StatusCode != http.StatusNotFound {
				t.Errorf("%s of %s: %s, want 404", method, name, resp.Status)
			}
		}
	}
	if resp := owner.send(t, "POST", "/mcp", id, ping); resp.StatusCode != http.StatusOK {
		t.Errorf("the session after all that: %s", resp.Status)
	}
	if resp := everything.send(t, "POST", "/mcp", open, ping); resp.StatusCode != http.StatusOK {
		t.Errorf("the session without a token: %s", resp.Status)
	}
}

// TestATokenTakesItsSessionsAndStreamsAlong: nothing outlives a revocation.
func TestATokenTakesItsSessionsAndStreamsAlong(t *testing.T) {
	d := start(t, nil)
	w := d.bySocket(t).showing(d.token(t, "work", "never"))
	id := w.hail(t, "/mcp")
	stream := w.send(t, "GET", "/mcp", id, "")
	lines := bufio.NewReader(stream.Body)
	if line, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(line, ":") {
		t.Fatalf("a stream begins with %q, %v; want a comment", line, err)
	}
	d.revoke(t, "work")
	if _, err := io.ReadAll(lines); err != nil {
		t.Errorf("the stream of a token that was revoked: %v, want its end", err)
	}
	d.token(t, "work", "never") // of the same name, and not the same
	for range 2 {
		if resp := w.send(t, "POST", "/mcp", id, ping); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("a request in the session: %s, want 401", resp.Status)
		}
	}
}

// TestEventsAreForWhoSeesEverything, and end with the token.
func TestEventsAreForWhoSeesEverything(t *testing.T) {
	d := start(t, nil)
	resp := d.bySocket(t).showing(d.token(t, "work", "never")).send(t, "GET", "/v1/events", "", "")
	if got := text(t, resp); resp.StatusCode != http.StatusForbidden || !strings.Contains(got, "token work cannot see all memories") {
		t.Errorf("with a token of one tag: %s %s, want 403", resp.Status, got)
	}
	res, err := op.TokenCreate.Call(t.Context(), d.store, &op.TokenCreateRequest{Name: "all", Write: []string{"all"}})
	if err != nil {
		t.Fatal(err)
	}
	resp = d.bySocket(t).showing(res.Secret).send(t, "GET", "/v1/events", "", "")
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("with a token of everything: %s", resp.Status)
	}
	d.revoke(t, "all")
	if _, err := io.ReadAll(resp.Body); err != nil {
		t.Errorf("the events of a token that was revoked: %v, want their end", err)
	}
}

// TestATokenLooksAfterNoTokens: else it could widen itself.
func TestATokenLooksAfterNoTokens(t *testing.T) {
	d := start(t, nil)
	w := d.bySocket(t).showing(d.token(t, "work", "never"))
	for _, tt := range []struct{ method, path, body string }{
		{"POST", "/v1/tokens", `{"name":"more","write":["all"]}`},
		{"GET", "/v1/tokens", ""},
		{"DELETE", "/v1/tokens/work", ""},
	} {
		if resp := w.send(t, tt.method, tt.path, "", tt.body); resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s %s: %s, want 403", tt.method, tt.path, resp.Status)
		}
	}
	if res, err := op.TokenList.Call(t.Context(), d.store, &op.TokenListRequest{}); err != nil || len(res.Tokens) != 1 {
		t.Errorf("the tokens are %+v, %v; want the one", res, err)
	}
	for _, profile := range []string{"agent", "notes", "all", "cortexgraph", "reference"} {
		res, err := d.bySocket(t).connect(t, "/mcp/"+profile, "c").ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range res.Tools {
			if strings.HasPrefix(tool.Name, "token") {
				t.Errorf("%s offers a model the tool %s", profile, tool.Name)
			}
		}
	}
}
