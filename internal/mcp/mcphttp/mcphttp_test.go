package mcphttp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/internal/testutil/dirsnap"
	"emberd/memory"
	"emberd/op"
)

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`

// TestTheJournalTellsWhichAgent saves in both manners of the protocol.
func TestTheJournalTellsWhichAgent(t *testing.T) {
	d := start(t, nil)
	w, pid := d.bySocket(t), os.Getpid()
	c := w.connect(t, "/mcp/cortexgraph", "agent")
	if got := c.InitializeResult().ProtocolVersion; got != "2026-07-28" {
		t.Errorf("protocol %s, want the one without sessions", got)
	}
	res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "save_memory", Arguments: map[string]any{"content": "something"}})
	if err != nil || res.IsError {
		t.Fatalf("save_memory = %+v, %v", res, err)
	}
	checkActor(t, d, memory.Actor{Via: "mcp", UID: os.Geteuid(), PID: pid, Client: "agent/2"})

	id := w.hail(t, "/mcp")
	resp := w.send(t, "POST", "/mcp", id, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"save_memory","arguments":{"content":"in a session"}}}`)
	if got := text(t, resp); !strings.Contains(got, "Memory saved with ID") {
		t.Error(got)
	}
	checkActor(t, d, memory.Actor{Via: "mcp", UID: os.Geteuid(), PID: pid, Client: "old/1", Session: id})
}

// checkActor compares who made the last entry of the journal.
func checkActor(t *testing.T, d *daemon, want memory.Actor) {
	t.Helper()
	res, err := op.Journal.Call(t.Context(), d.store, &op.JournalRequest{Limit: 1})
	if err != nil || len(res.Entries) != 1 {
		t.Fatalf("journal = %+v, %v", res, err)
	}
	if got := res.Entries[0].By; got != want {
		t.Errorf("the journal says %+v, want %+v", got, want)
	}
}

func TestProfilesHaveTheirAddresses(t *testing.T) {
	w := start(t, nil).bySocket(t)
	res, err := w.connect(t, "/mcp/cortexgraph", "c").ListTools(t.Context(), nil)
	if err != nil || len(res.Tools) == 0 {
		t.Errorf("tools of cortexgraph = %+v, %v; want some", res, err)
	}
	if resp := w.send(t, "POST", "/mcp/cortex", "", hello); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a profile that does not exist: %s, want 404", resp.Status)
	}
	id := w.hail(t, "/mcp/cortexgraph")
	if resp := w.send(t, "POST", "/mcp/all", id, `{"jsonrpc":"2.0","id":2,"method":"ping"}`); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a session of another profile: %s, want 404", resp.Status)
	}
}

func TestASessionEndsWhenItsClientDeletesIt(t *testing.T) {
	w := start(t, nil).bySocket(t)
	id := w.hail(t, "/mcp")
	stream := w.send(t, "GET", "/mcp", id, "")
	if line, err := bufio.NewReader(stream.Body).ReadString('\n'); err != nil || !strings.HasPrefix(line, ":") {
		t.Errorf("a stream begins with %q, %v; want a comment", line, err)
	}
	if resp := w.send(t, "DELETE", "/mcp", id, ""); resp.StatusCode != http.StatusNoContent {
		t.Errorf("delete: %s", resp.Status)
	}
	if _, err := io.ReadAll(stream.Body); err != nil {
		t.Errorf("the stream of a deleted session: %v, want its end", err)
	}
	if resp := w.send(t, "POST", "/mcp", id, `{"jsonrpc":"2.0","id":2,"method":"ping"}`); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a request of a deleted session: %s, want 404", resp.Status)
	}
}

// TestCase61Bombs: what would take the protocol's library much to take apart is refused
// before it does, and what is no message is refused by it; the next message is served.
func TestCase61Bombs(t *testing.T) {
	w := start(t, nil).bySocket(t)
	id := w.hail(t, "/mcp")
	const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	for name, test := range map[string]struct {
		body string
		want int
	}{
		"a batch":         {"[" + strings.Repeat(ping+",", 50_000) + ping + "]", http.StatusRequestEntityTooLarge},
		"depth":           {strings.Repeat("[", 1<<20), http.StatusRequestEntityTooLarge},
		"depth of a call": {`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":` + strings.Repeat(`{"a":`, 100_000), http.StatusRequestEntityTooLarge},
		"many values":     {`{"jsonrpc":"2.0","id":2,"method":"ping","params":{"_meta":{"a":[` + strings.Repeat("0,", 1<<20) + `0]}}}`, http.StatusRequestEntityTooLarge},
		"half a message":  {ping[:20], http.StatusBadRequest},
		"no version":      {`{"id":2,"method":"ping"}`, http.StatusBadRequest},
		"no method":       {`{"jsonrpc":"2.0","id":2,"method":"no/such"}`, http.StatusBadRequest},
		"a number":        {`7`, http.StatusBadRequest},
		"an empty batch":  {`[]`, http.StatusBadRequest},
	} {
		if resp := w.send(t, "POST", "/mcp", id, test.body); resp.StatusCode != test.want {
			t.Errorf("%s: %s, want %d", name, resp.Status, test.want)
		}
	}
	if resp := w.send(t, "POST", "/mcp", id, ping); resp.StatusCode != http.StatusOK {
		t.Errorf("after them: %s, want 200", resp.Status)
	}
}

// TestBodiesAreBounded: 4 MiB, whether their length is told before or not.
func TestBodiesAreBounded(t *testing.T) {
	d := start(t, nil)
	body := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"pad":"` + strings.Repeat("x", 4<<20) + `"}}`
	w := d.bySocket(t)
	id := w.hail(t, "/mcp")
	for how, reader := range map[string]io.Reader{"told": strings.NewReader(body), "chunked": io.MultiReader(strings.NewReader(body))} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", w.base+"/mcp", reader)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Mcp-Session-Id", id)
		resp, err := w.http.Do(r)
		if err != nil {
			t.Fatalf("%s: %v", how, err)
		}
		if resp.Body.Close(); resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %s, want 413", how, resp.Status)
		}
	}
}

// TestManySessions: more than may be open push the longest idle ones out, and those in
// use stay.
func TestManySessions(t *testing.T) {
	d := start(t, nil)
	w := d.bySocket(t)
	inUse, idle := w.hail(t, "/mcp"), w.hail(t, "/mcp")
	stream := w.send(t, "GET", "/mcp", inUse, "")
	for range 100 {
		w.hail(t, "/mcp")
	}
	const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	if resp := w.send(t, "POST", "/mcp", idle, ping); resp.StatusCode != http.StatusNotFound {
		t.Errorf("the session that was idle longest: %s, want 404", resp.Status)
	}
	if resp := w.send(t, "POST", "/mcp", inUse, ping); resp.StatusCode != http.StatusOK {
		t.Errorf("the session with an open stream: %s, want 200", resp.Status)
	}
	stream.Body.Close()
}

// TestStreamsLeaveRoomForCalls: no more than 16 of a program at once.
func TestStreamsLeaveRoomForCalls(t *testing.T) {
	w := start(t, nil).bySocket(t)
	for range 16 {
		if resp := w.send(t, "GET", "/mcp", w.hail(t, "/mcp"), ""); resp.StatusCode != http.StatusOK {
			t.Fatalf("a stream: %s", resp.Status)
		}
	}
	id := w.hail(t, "/mcp")
	if resp := w.send(t, "GET", "/mcp", id, ""); resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("one stream too many: %s, want 429", resp.Status)
	}
	if resp := w.send(t, "POST", "/mcp", id, `{"jsonrpc":"2.0","id":2,"method":"ping"}`); resp.StatusCode != http.StatusOK {
		t.Errorf("a call beside them: %s, want 200", resp.Status)
	}
}

// listen asks for a stream without a session.
const listen = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{` +
	`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`

// TestTheEndWaitsForCallsAndNotForStreams, and leaves no goroutine behind.
func TestTheEndWaitsForCallsAndNotForStreams(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("", func(t *testing.T) {
		entered, leave := make(chan struct{}), make(chan struct{})
		d := start(t, invoker(func(context.Context, *op.Spec, any) (any, error) {
			close(entered)
			<-leave
			return &op.SaveResult{Memory: op.Memory{}}, nil
		}))
		w := d.bySocket(t)
		id := w.hail(t, "/mcp")
		streams := []*http.Response{
			w.send(t, "GET", "/mcp", w.hail(t, "/mcp"), ""),
			w.send(t, "GET", "/mcp", w.hail(t, "/mcp"), ""),
			w.send(t, "POST", "/mcp", "", listen, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen"),
		}
		var saved *http.Response
		var all sync.WaitGroup
		all.Go(func() {
			saved = w.send(t, "POST", "/mcp", id, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"save_memory","arguments":{"content":"late"}}}`)
		})
		<-entered
		stopped := make(chan error, 1)
		go func() { stopped <- d.stop() }()
		for _, s := range streams {
			if _, err := io.ReadAll(s.Body); err != nil || s.StatusCode != http.StatusOK {
				t.Errorf("a stream at the end: %s, %v", s.Status, err)
			}
		}
		close(leave)
		all.Wait()
		if text, err := io.ReadAll(saved.Body); err != nil || !strings.Contains(string(text), "Memory saved") {
			t.Errorf("the call under way was answered %s %q, %v", saved.Status, text, err)
		}
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
	dirsnap.Goroutines(t, before)
}

// TestOneToolDoesNotTakeTheDaemonDown.
func TestOneToolDoesNotTakeTheDaemonDown(t *testing.T) {
	w := start(t, invoker(func(context.Context, *op.Spec, any) (any, error) { panic("a fault") })).bySocket(t)
	s := w.connect(t, "/mcp", "c")
	res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "save_memory", Arguments: map[string]any{"content": "x"}})
	if err != nil || !res.IsError {
		t.Errorf("a tool that panics answers %+v, %v", res, err)
	}
	if _, err := s.ListTools(t.Context(), nil); err != nil {
		t.Errorf("after it: %v", err)
	}
}

// TestManyClientsLeaveNothingBehind.
func TestManyClientsLeaveNothingBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("", func(t *testing.T) {
		d := start(t, nil)
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				s := d.bySocket(t).connect(t, "/mcp/cortexgraph", fmt.Sprint("client ", i))
				for range 10 {
					if res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "save_memory", Arguments: map[string]any{"content": "something"}}); err != nil || res.IsError {
						t.Errorf("save_memory = %+v, %v", res, err)
						return
					}
				}
			})
		}
		all.Wait()
	})
	dirsnap.Goroutines(t, before)
}
