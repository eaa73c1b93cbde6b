package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/memory"
	"emberd/op"
)

// posted sends JSON with headers, written as "Name: value", and returns the answer.
func posted(t *testing.T, c *http.Client, url, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range append(headers, "Content-Type: application/json", "Accept: application/json, text/event-stream") {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

// saveOverMCP begins a session as a client of a name and saves a memory in it.
func saveOverMCP(t *testing.T, c *http.Client, url, content string, headers ...string) (session string) {
	t.Helper()
	hello, text := posted(t, c, url, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"web page","version":"3"}}}`, headers...)
	session = hello.Header.Get("Mcp-Session-Id")
	if session == "" {
		t.Fatalf("no session was begun: %s", text)
	}
	headers = append(headers, "Mcp-Session-Id: "+session)
	posted(t, c, url, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, headers...)
	_, text = posted(t, c, url, fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"save_memory","arguments":{"content":%q}}}`, content), headers...)
	if !strings.Contains(text, "Memory saved") {
		t.Fatalf("nothing was saved: %s", text)
	}
	return session
}

// Whichever way a memory comes in, uid and pid are those of the process at the other end
// of the connection, as the kernel has them, and the rest is what the client claims.
func TestWhoWroteItByEveryWayIn(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(clitest.ShortDir(t), "h")
	d, err := startDaemon(t.Context(), exe, home, home+".log", cli.ForeignFree(os.Environ()), "--set", "mcp.tools=cortexgraph")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.cmd.Process.Kill() }) // the error is that it has ended
	socket := filepath.Join(home, "emberd.sock")
	local := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}

	byHand := exec.CommandContext(t.Context(), exe, "save", "--home", home, "--from", "notes.md:12", "by hand")
	byHand.Args[0], byHand.Env = "emberd", cli.ForeignFree(os.Environ())
	if out, err := byHand.CombinedOutput(); err != nil {
		t.Fatalf("save: %v, %s", err, out)
	}
	posted(t, local, "http://emberd/v1/memories", `{"content":"over http"}`, "Emberd-Session: s7", "Emberd-Client: curl/8 protocol/1", "Emberd-Agent: a script/2")
	a := startAgent(t, home, "--tools", "cortexgraph")
	if text, failed := a.save(t, "over stdio"); failed {
		t.Fatal(text)
	}
	near := saveOverMCP(t, local, "http://emberd/mcp", "over the socket")

	for _, forged := range []string{
		`{"content":"forged","by":{"uid":0}}`, `{"content":"forged","sources":[{"kind":"user","by":{"via":"cli","uid":0,"pid":1}}]}`,
		`{"content":"forged","uid":0}`, `{"content":"forged","confirmed_at":"2026-01-01T00:00:00Z"}`,
	} {
		if resp, text := posted(t, local, "http://emberd/v1/memories", forged); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s is answered %d %s", forged, resp.StatusCode, text)
		}
	}

	client := api.NewClient(socket, nil)
	defer client.Close()
	list, err := op.List.Call(t.Context(), client, &op.ListRequest{})
	if err != nil {
		t.Fatal(err)
	}
	uid, self := os.Getuid(), os.Getpid()
	want := map[string]memory.Source{
		"by hand":         {Kind: "user", Ref: "notes.md", Line: 12, By: &memory.Actor{Via: "cli", UID: uid, PID: byHand.Process.Pid, Client: "cli/devel"}},
		"over http":       {Kind: "agent", By: &memory.Actor{Via: "http", UID: uid, PID: self, Client: "a script/2", Session: "s7"}},
		"over stdio":      {Kind: "agent", By: &memory.Actor{Via: "mcp", UID: uid, PID: a.cmd.Process.Pid, Client: "the test/1"}},
		"over the socket": {Kind: "agent", By: &memory.Actor{Via: "mcp", UID: uid, PID: self, Client: "web page/3", Session: near}},
	}
	if len(list.Memories) != len(want) {
		t.Errorf("%d memories are there, want %d", len(list.Memories), len(want))
	}
	for _, m := range list.Memories {
		got := m.Sources[0]
		exp := want[m.Content]
		got.At, got.Project = exp.At, exp.Project
		if a, b := asJSON(t, got), asJSON(t, exp); a != b {
			t.Errorf("%s: learned by %s, want %s", m.Content, a, b)
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
