package mcphttp_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/api"
	"emberd/engine"
	"emberd/internal/mcp"
	"emberd/internal/mcp/mcphttp"
	"emberd/op"
	"emberd/stm"
)

// daemon is a store that answers at a socket.
type daemon struct {
	store  *engine.Engine
	socket string
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
	agents := mcphttp.New(mcp.Options{Invoker: inv})
	d.socket = filepath.Join(t.TempDir(), "s", "emberd.sock")
	socket, err := api.Listen(d.socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	context.AfterFunc(ctx, agents.Close)
	served := make(chan error, 1)
	go func() {
		served <- api.Serve(ctx, socket, api.NewHandler(d.store, &api.HandlerOptions{MCP: agents, Tokens: d.store.Authorize}), nil)
	}()
	d.stop = sync.OnceValue(func() error {
		cancel()
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
	base string
	http *http.Client
}

func (d *daemon) bySocket(t *testing.T) *way {
	return newWay(t, func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", d.socket)
	})
}

func newWay(t *testing.T, dial func(context.Context, string, string) (net.Conn, error)) *way {
	transport := &http.Transport{DialContext: dial}
	t.Cleanup(transport.CloseIdleConnections)
	return &way{base: "http://emberd", http: &http.Client{Transport: adding{nil, transport}}}
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
func (w *way) connect(t *testing.T, path, name string) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: name, Version: "2"}, nil)
	s, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: w.base + path, HTTPClient: w.http, MaxRetries: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // most have ended by then
	return s
}

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

// invoker stands in for the store.
type invoker func(ctx context.Context, s *op.Spec, req any) (any, error)

func (f invoker) Invoke(ctx context.Context, s *op.Spec, req any) (any, error) { return f(ctx, s, req) }
