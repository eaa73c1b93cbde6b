package main

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/memory"
	"emberd/op"
)

// Two agents and a program read over a real daemon, each by another way; the audit tells
// them apart, what each read, and by which process.
func TestAnAuditKnowsWhoReadByEveryWayIn(t *testing.T) {
	t.Parallel()
	home, _ := startHome(t)
	socket := filepath.Join(home, "emberd.sock")
	local := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	a := startAgent(t, home, "--tools", "all")
	if text, failed := a.save(t, "The kettle leaks at the seam"); failed {
		t.Fatal(text)
	}
	if text, failed, err := a.call("search", `{"q":"kettle"}`); failed || err != nil {
		t.Fatal(text, err)
	}
	session := saveOverMCP(t, local, "http://emberd/mcp/cortexgraph", "The staging database listens on port 5433")
	posted(t, local, "http://emberd/mcp/cortexgraph", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search_memory","arguments":{"query":"kettle"}}}`, "Mcp-Session-Id: "+session)

	c := api.NewClient(socket, &api.ClientOptions{Name: "script", Version: "2"})
	defer c.Close()
	found, err := op.Search.Call(t.Context(), c, &op.SearchRequest{Query: "kettle"})
	if err != nil || len(found.Hits) != 1 {
		t.Fatalf("found %+v, %v", found, err)
	}
	res, err := op.Audit.Call(t.Context(), c, &op.AuditRequest{Kind: op.AuditRead})
	if err != nil {
		t.Fatal(err)
	}
	pids := make(map[string]int)
	for _, e := range res.Events {
		if e.What == "search" && len(e.IDs) == 1 && e.IDs[0] == found.Hits[0].ID {
			pids[e.Of+" "+e.Caller] = e.By.PID
		}
	}
	self := os.Getpid()
	want := map[string]int{"claimed the test": a.cmd.Process.Pid, "claimed web page": self, "claimed script": self}
	if !maps.Equal(pids, want) {
		t.Errorf("searches were told as of %v, want %v", pids, want)
	}
	var names []string
	for _, caller := range res.Callers {
		if caller.Name == "go" || caller.Name == "cli" { // that waited for the daemon
			continue
		}
		names = append(names, fmt.Sprintf("%s %s saved %d, may use %d", caller.Kind, caller.Name, caller.Saved, caller.Undecided))
	}
	slices.Sort(names)
	if got, want := strings.Join(names, "\n"), "claimed script saved 0, may use 1\nclaimed the test saved 1, may use 1\nclaimed web page saved 1, may use 1"; got != want {
		t.Errorf("callers are\n%s\nwant\n%s", got, want)
	}
}

// A program that earned a bad name is told so by every way in, as a token and as a claim,
// and whether what it asks succeeds or not. The user never is, and can end it.
func TestTheThrottledAreToldByEveryWayIn(t *testing.T) {
	t.Parallel()
	home := filepath.Join(clitest.ShortDir(t), "h")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte("tuning: [audit.throttle_below=0.3]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	startDaemonIn(t, home)
	socket := filepath.Join(home, "emberd.sock")
	user := api.NewClient(socket, &api.ClientOptions{Name: "cli"})
	defer user.Close()
	made, err := op.TokenCreate.Call(t.Context(), user, &op.TokenCreateRequest{Name: "work", Write: []string{"all"}})
	if err != nil {
		t.Fatal(err)
	}
	limited := api.NewClient(socket, &api.ClientOptions{Name: "script", Token: made.Secret})
	defer limited.Close()
	wasteSaves(t, limited, user, memory.Actor{})
	other := api.NewClient(socket, &api.ClientOptions{Name: "script"})
	defer other.Close()
	wasteSaves(t, other, user, memory.Actor{Client: "web page/3"})
	throttled := func() (names []string) {
		res, err := op.Audit.Call(t.Context(), user, &op.AuditRequest{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range res.Callers {
			if c.Throttled != "" {
				names = append(names, c.Kind+":"+c.Name)
			}
		}
		slices.Sort(names)
		return names
	}
	if got := throttled(); !slices.Equal(got, []string{"claimed:web page", "token:work"}) {
		t.Fatalf("throttled are %v", got)
	}
	checkTold(t, home, made.Secret, "25 of 25 saves by work were refused", "25 of 25 saves by web page were refused")
	for _, caller := range []string{"token:work", "web page"} {
		if _, err := op.AuditForgive.Call(t.Context(), user, &op.AuditForgiveRequest{Caller: caller}); err != nil {
			t.Fatal(err)
		}
	}
	if got := throttled(); got != nil {
		t.Errorf("forgiven, and throttled are %v", got)
	}
	checkTold(t, home, made.Secret, "", "")
}

// wasteSaves saves 25 memories as somebody, which the user forgets.
func wasteSaves(t *testing.T, by, user op.Invoker, as memory.Actor) {
	t.Helper()
	req := new(op.SaveBatchRequest)
	for i := range 25 {
		req.Items = append(req.Items, op.SaveRequest{Content: fmt.Sprintf("%s reads %d on gauge %d", as.Client, i*37, i)})
	}
	saved, err := op.SaveBatch.Call(op.WithCaller(t.Context(), as), by, req)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, one := range saved.Results {
		ids = append(ids, string(one.ID))
	}
	if _, err := op.Forget.Call(t.Context(), user, &op.ForgetRequest{ID: strings.Join(ids, ",")}); err != nil {
		t.Fatal(err)
	}
}

// checkTold asks as a token and as a name, each by stdio and HTTP, for what succeeds and
// what does not, and wants each answer to have a word; "" is for none.
func checkTold(t *testing.T, home, secret, token, name string) {
	t.Helper()
	socket := filepath.Join(home, "emberd.sock")
	local := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	has := func(what, text, word string) {
		t.Helper()
		if strings.Contains(text, "limits this program to one request per second") != (word != "") || !strings.Contains(text, word) {
			t.Errorf("%s answered %s, want %q", what, text, word)
		}
	}
	a := newAgent(t, home)
	a.cmd.Env = append(a.cmd.Env, cli.EnvToken+"="+secret)
	a.start(t)
	a.greet(t)
	has("a tool by stdio", string(a.ask(t, "tools/call", `{"name":"search_memory","arguments":{"query":"gauge"}}`)), token)
	has("a tool that fails", string(a.ask(t, "tools/call", `{"name":"touch_memory","arguments":{"memory_id":"nothing"}}`)), token)
	session := saveOverMCP(t, local, "http://emberd/mcp/cortexgraph", "The kettle leaks at seam "+strconv.Itoa(len(name)))
	_, text := posted(t, local, "http://emberd/mcp/cortexgraph", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search_memory","arguments":{"query":"kettle"}}}`, "Mcp-Session-Id: "+session)
	has("a tool over HTTP", text, name)
	for auth, word := range map[string]string{"Bearer " + secret: token, "": ""} { // with no name either
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://emberd/v1/search?q=gauge", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if auth != "" {
			req.Header.Set("Authorization", auth)
		}
		resp, err := local.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
		if got := resp.Header.Get("Emberd-Throttled"); (got != "") != (word != "") || !strings.Contains(got, word) {
			t.Errorf("with %d characters of authorization the header says %q, want %q", len(auth), got, word)
		}
	}
}
