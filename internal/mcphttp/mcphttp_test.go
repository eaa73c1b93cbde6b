package mcphttp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/api"
	"emberd/engine"
	"emberd/internal/mcphttp"
	"emberd/internal/mcpserver"
	"emberd/internal/untouched"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const token = "0123456789ABCDEFGHIJKLMNOPQRSTUV"

// daemon is a store that answers at a socket and at a port.
type daemon struct {
	store  *engine.Engine
	socket string
	port   string        // host:port
	ahead  *atomic.Int64 // how far the store's clock is ahead, in nanoseconds
	stop   func() error
}

// start runs a daemon, on a store of its own unless inv stands in for it.
func start(t *testing.T, inv op.Invoker) *daemon {
	t.Helper()
	d := &daemon{ahead: new(atomic.Int64)}
	d.store = newStore(t, func() time.Time { return time.Now().Add(time.Duration(d.ahead.Load())) })
	if inv == nil {
		inv = d.store
	}
	agents := mcphttp.New(mcpserver.Options{Invoker: inv})
	d.socket = filepath.Join(t.TempDir(), "s", "emberd.sock")
	socket, err := api.Listen(d.socket)
	if err != nil {
		t.Fatal(err)
	}
	port, err := api.ListenLoopback(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d.port = port.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	context.AfterFunc(ctx, agents.Close)
	served := make(chan error, 2)
	go func() {
		served <- api.Serve(ctx, socket, api.NewHandler(d.store, &api.HandlerOptions{MCP: agents, Tokens: d.store.Grant}), nil)
	}()
	go func() {
		served <- api.ServeLoopback(ctx, port, api.NewLoopback(&api.LoopbackOptions{Addr: port.Addr(), Token: token, Tokens: d.store.Grant, MCP: agents}), nil)
	}()
	d.stop = sync.OnceValue(func() error {
		cancel()
		if err := <-served; err != nil {
			return err
		}
		return <-served
	})
	t.Cleanup(func() {
		if err := d.stop(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func newStore(t *testing.T, now func() time.Time) *engine.Engine {
	t.Helper()
	dir := t.TempDir()
	opt := engine.DefaultOptions()
	opt.Data, opt.State, opt.Durability, opt.LifecyclePeriod = filepath.Join(dir, "data"), filepath.Join(dir, "state"), stm.None, 0
	opt.Now = now
	e, err := engine.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// way is how a client reaches the daemon.
type way struct {
	base   string
	header map[string]string
	http   *http.Client
}

func (d *daemon) bySocket(t *testing.T) *way {
	return newWay(t, "http://emberd", nil, func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", d.socket)
	})
}

func (d *daemon) byPort(t *testing.T) *way {
	return newWay(t, "http://"+d.port, map[string]string{"Authorization": "Bearer " + token}, nil)
}

func newWay(t *testing.T, base string, header map[string]string, dial func(context.Context, string, string) (net.Conn, error)) *way {
	transport := &http.Transport{DialContext: dial}
	t.Cleanup(transport.CloseIdleConnections)
	w := &way{base: base, header: header}
	w.http = &http.Client{Transport: adding{header, transport}}
	return w
}

// adding sends headers along.
type adding struct {
	header map[string]string
	next   http.RoundTripper
}

func (a adding) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range a.header {
		r.Header.Set(name, value)
	}
	return a.next.RoundTrip(r)
}

// connect opens a session of a client called name.
func (w *way) connect(t *testing.T, path, name string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: "2"}, nil)
	s, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: w.base + path, HTTPClient: w.http, MaxRetries: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // most have ended by then
	return s
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`

// send makes one request of the transport. A body may be "".
func (w *way) send(t *testing.T, method, path, session, body string, header ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, w.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := w.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// hail begins a session the old way and returns its id.
func (w *way) hail(t *testing.T, path string) string {
	t.Helper()
	resp := w.send(t, "POST", path, "", hello)
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(text), `"protocolVersion":"2025-11-25"`) {
		t.Fatalf("initialize: %s %s, %v", resp.Status, text, err)
	}
	resp = w.send(t, "POST", path, resp.Header.Get("Mcp-Session-Id"), `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if resp.StatusCode != http.StatusAccepted {
		t.Fatalf("initialized: %s", resp.Status)
	}
	return resp.Request.Header.Get("Mcp-Session-Id")
}

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

// TestWhoIsServedAtThePort: the port is open to every page and program of the machine.
func TestWhoIsServedAtThePort(t *testing.T) {
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

// TestStreamsLeaveRoomForCalls: no more than 32 at once.
func TestStreamsLeaveRoomForCalls(t *testing.T) {
	w := start(t, nil).bySocket(t)
	for range 32 {
		if resp := w.send(t, "GET", "/mcp", w.hail(t, "/mcp"), ""); resp.StatusCode != http.StatusOK {
			t.Fatalf("a stream: %s", resp.Status)
		}
	}
	id := w.hail(t, "/mcp")
	if resp := w.send(t, "GET", "/mcp", id, ""); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one stream too many: %s, want 503", resp.Status)
	}
	if resp := w.send(t, "POST", "/mcp", id, `{"jsonrpc":"2.0","id":2,"method":"ping"}`); resp.StatusCode != http.StatusOK {
		t.Errorf("a call beside them: %s, want 200", resp.Status)
	}
}

// invoker stands in for the store.
type invoker func(ctx context.Context, s *op.Spec, req any) (any, error)

func (f invoker) Invoke(ctx context.Context, s *op.Spec, req any) (any, error) { return f(ctx, s, req) }

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
