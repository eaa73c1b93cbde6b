package mcphttp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/internal/untouched"
	"emberd/memory"
	"emberd/op"
)

const token = "0123456789ABCDEFGHIJKLMNOPQRSTUV"

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`

// TestTheJournalTellsWhichAgent saves over every way there is, in both manners of the
// protocol.
func TestTheJournalTellsWhichAgent(t *testing.T) {
	d := start(t, nil)
	cases := []struct {
		name string
		way  *way
		pid  int
	}{
		{"by-socket", d.bySocket(t), os.Getpid()},
		{"by-port", d.byPort(t), 0},
	}
	for _, tt := range cases {
		s := tt.way.connect(t, "/mcp/cortexgraph", tt.name)
		if got := s.InitializeResult().ProtocolVersion; got != "2026-07-28" {
			t.Errorf("%s: protocol %s, want the one without sessions", tt.name, got)
		}
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "save_memory", Arguments: map[string]any{"content": "by " + tt.name}})
		if err != nil || res.IsError {
			t.Fatalf("%s: save_memory = %+v, %v", tt.name, res, err)
		}
		checkActor(t, d, memory.Actor{Via: "mcp", UID: os.Geteuid(), PID: tt.pid, Client: tt.name + "/2"})

		id := tt.way.hail(t, "/mcp")
		resp := tt.way.send(t, "POST", "/mcp", id, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"save_memory","arguments":{"content":"in a session `+tt.name+`"}}}`)
		if text, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(text), "Memory saved with ID") {
			t.Errorf("%s: %s, %v", tt.name, text, err)
		}
		checkActor(t, d, memory.Actor{Via: "mcp", UID: os.Geteuid(), PID: tt.pid, Client: "old/1", Session: id})
	}
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

// TestCase66WhoIsServedAtThePort: the port is open to every page and program of the machine.
func TestCase66WhoIsServedAtThePort(t *testing.T) {
	d := start(t, nil)
	_, port, _ := net.SplitHostPort(d.port)
	bearer := "Bearer " + token
	tests := []struct {
		name   string
		header []string
		want   int
	}{
		{"the token", []string{"Authorization", bearer}, 200},
		{"a scheme in capitals", []string{"Authorization", "BEARER " + token}, 200},
		{"no token", nil, 401},
		{"another token", []string{"Authorization", "Bearer " + strings.Repeat("x", len(token))}, 401},
		{"a part of it", []string{"Authorization", bearer[:len(bearer)-1]}, 401},
		{"more than it", []string{"Authorization", bearer + "0"}, 401},
		{"another scheme", []string{"Authorization", "Basic " + token}, 401},
		{"localhost", []string{"Authorization", bearer, "Host", "localhost:" + port}, 200},
		{"in capitals", []string{"Authorization", bearer, "Host", "LOCALHOST:" + port}, 403},
		{"IPv6", []string{"Authorization", bearer, "Host", "[::1]:" + port}, 200},
		{"its own page", []string{"Authorization", bearer, "Origin", "http://" + d.port}, 200},
		{"a name that was made to lead here", []string{"Authorization", bearer, "Host", "evil.example:" + port}, 403},
		{"a name that begins like ours", []string{"Authorization", bearer, "Host", "localhost.evil:" + port}, 403},
		{"the name of the machine", []string{"Authorization", bearer, "Host", "emberd"}, 403},
		{"no port", []string{"Authorization", bearer, "Host", "127.0.0.1"}, 403},
		{"another port", []string{"Authorization", bearer, "Host", "127.0.0.1:1"}, 403},
		{"a dot at the end", []string{"Authorization", bearer, "Host", "localhost.:" + port}, 403},
		{"a page", []string{"Authorization", bearer, "Origin", "http://evil.example"}, 403},
		{"a page of another port", []string{"Authorization", bearer, "Origin", "http://127.0.0.1:1"}, 403},
		{"a page without an origin", []string{"Authorization", bearer, "Origin", "null"}, 403},
		{"a page over TLS", []string{"Authorization", bearer, "Origin", "https://" + d.port}, 403},
		{"a page that hides its origin", []string{"Authorization", bearer, "Sec-Fetch-Site", "cross-site"}, 403},
	}
	w := newWay(t, "http://"+d.port, nil, nil)
	for _, tt := range tests {
		resp := w.send(t, "POST", "/mcp", "", hello, tt.header...)
		if resp.StatusCode != tt.want {
			t.Errorf("%s: %s, want %d", tt.name, resp.Status, tt.want)
		}
		if got := resp.Header.Get("WWW-Authenticate"); strings.HasPrefix(got, "Bearer") != (tt.want == 401) {
			t.Errorf("%s: WWW-Authenticate %q", tt.name, got)
		}
		for name := range resp.Header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s: the answer has %s, which lets pages read it", tt.name, name)
			}
		}
	}
	for _, path := range []string{"/v1/status", "/v1/events", "/", "/mcp/"} {
		if resp := d.byPort(t).send(t, "GET", path, "", ""); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s at the port: %s, want 404", path, resp.Status)
		}
	}
}

// A request that names no host is no request of HTTP/1.1, and to HTTP/1.0 nobody's.
func TestCase66ARequestForNoHost(t *testing.T) {
	d := start(t, nil)
	for version, want := range map[string]string{"1.0": "403", "1.1": "400"} {
		conn, err := net.Dial("tcp", d.port)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "POST /mcp HTTP/"+version+"\r\nAuthorization: Bearer "+token+"\r\nContent-Length: 0\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		line := make([]byte, len("HTTP/1.1 400"))
		if _, err := io.ReadFull(conn, line); err != nil || !strings.HasSuffix(string(line), want) {
			t.Errorf("HTTP/%s without a host: %q, %v; want %s", version, line, err, want)
		}
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
	for name, w := range map[string]*way{"socket": d.bySocket(t), "port": d.byPort(t)} {
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
				t.Fatalf("%s, %s: %v", name, how, err)
			}
			if resp.Body.Close(); resp.StatusCode != http.StatusRequestEntityTooLarge {
				t.Errorf("%s, %s: %s, want 413", name, how, resp.Status)
			}
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
		p := d.byPort(t)
		streams := []*http.Response{
			w.send(t, "GET", "/mcp", w.hail(t, "/mcp"), ""),
			p.send(t, "GET", "/mcp", p.hail(t, "/mcp"), ""),
			p.send(t, "POST", "/mcp", "", listen, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen"),
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
	untouched.Goroutines(t, before)
}

// TestOneToolDoesNotTakeTheDaemonDown.
func TestOneToolDoesNotTakeTheDaemonDown(t *testing.T) {
	w := start(t, invoker(func(context.Context, *op.Spec, any) (any, error) { panic("a fault") })).bySocket(t)
	s := w.connect(t, "/mcp", "c")
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "save_memory", Arguments: map[string]any{"content": "x"}})
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
				w := d.bySocket(t)
				if i%2 == 0 {
					w = d.byPort(t)
				}
				s := w.connect(t, "/mcp/cortexgraph", fmt.Sprint("client ", i))
				for range 10 {
					if res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "save_memory", Arguments: map[string]any{"content": "something"}}); err != nil || res.IsError {
						t.Errorf("save_memory = %+v, %v", res, err)
						return
					}
				}
			})
		}
		all.Wait()
	})
	untouched.Goroutines(t, before)
}
