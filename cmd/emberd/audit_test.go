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
	"strings"
	"testing"

	"emberd/api"
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
		if caller.Name == "go" { // that waited for the daemon
			continue
		}
		names = append(names, fmt.Sprintf("%s %s saved %d, may use %d", caller.Kind, caller.Name, caller.Saved, caller.Undecided))
	}
	slices.Sort(names)
	if got, want := strings.Join(names, "\n"), "claimed script saved 0, may use 1\nclaimed the test saved 1, may use 1\nclaimed web page saved 1, may use 1"; got != want {
		t.Errorf("callers are\n%s\nwant\n%s", got, want)
	}
}
