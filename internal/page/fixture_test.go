package page_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"emberd/api"
	"emberd/engine"
	"emberd/internal/page"
	"emberd/op"
	"emberd/stm"
)

// world is a store with its daemon, a page of it on a port, and a browser with a session.
type world struct {
	client  *api.Client
	page    *page.Page
	address string // 127.0.0.1:PORT
	ahead   *atomic.Int64
}

// start runs a daemon with a vault on a store of its own, and a page.
func start(t *testing.T) *world {
	t.Helper()
	w := &world{client: daemon(t), ahead: new(atomic.Int64)}
	w.page, w.address = w.serve(t)
	return w
}

// daemon runs a daemon and returns a client of its socket.
func daemon(t *testing.T) *api.Client {
	t.Helper()
	dir := t.TempDir()
	opt := engine.DefaultOptions()
	opt.Data, opt.State, opt.Durability, opt.LifecyclePeriod = filepath.Join(dir, "data"), filepath.Join(dir, "state"), stm.None, 0
	opt.Vaults = []string{filepath.Join(dir, "vault")}
	if err := os.Mkdir(opt.Vaults[0], 0o700); err != nil {
		t.Fatal(err)
	}
	e, err := engine.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s", "emberd.sock")
	ln, err := api.Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() {
		if err := api.Serve(ctx, ln, api.NewHandler(e, &api.HandlerOptions{Tokens: e.Authorize}), nil); err != nil {
			t.Error(err)
		}
	})
	all.Go(func() { _ = e.Run(ctx) })
	c := api.NewClient(socket, &api.ClientOptions{Name: "cli", Version: "test"})
	t.Cleanup(func() {
		c.Close()
		cancel()
		all.Wait()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// serve serves a page of the daemon at a free port.
func (w *world) serve(t *testing.T) (*page.Page, string) {
	t.Helper()
	p := page.New(w.client, page.Options{Version: "test",
		Now: func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }})
	ln, err := page.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Bind(ln); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- p.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return p, ln.Addr().String()
}

func (w *world) pass(d time.Duration) { w.ahead.Add(int64(d)) }

// code returns a new one-time code of the page.
func (w *world) code() string {
	_, code, _ := strings.Cut(w.page.Address(), "#")
	return code
}

// request is what a browser sends; the zero value is a GET by a script or link of the page itself.
type request struct {
	method, path, body string
	header             map[string]string // set; "" removes
	more               http.Header       // added
	cookie             string
}

// send sends a request as a browser would that shows the page.
func (w *world) send(t *testing.T, r request) (status int, header http.Header, body string) {
	t.Helper()
	if r.method == "" {
		r.method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(t.Context(), r.method, "http://"+w.address+r.path, strings.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	req.Header.Set("Cookie", r.cookie)
	if r.method == http.MethodPost {
		req.Header.Set("X-Emberd", "1")
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Origin", "http://"+w.address)
	}
	for name, value := range r.header {
		if name == "Host" {
			req.Host = value
		} else if req.Header.Set(name, value); value == "" {
			req.Header.Del(name)
		}
	}
	for name, values := range r.more {
		req.Header[name] = append(req.Header[name], values...)
	}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", w.address)
	}}
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.Header.Get("Content-Type") == "text/event-stream" {
		return res.StatusCode, res.Header, "" // it does not end
	}
	var b bytes.Buffer
	if _, err := io.Copy(&b, res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, b.String()
}

// open exchanges a code and returns the cookie, "" if the code was refused.
func (w *world) open(t *testing.T, code string) string {
	t.Helper()
	body, _ := json.Marshal(map[string]string{"code": code})
	status, header, _ := w.send(t, request{method: http.MethodPost, path: "/session", body: string(body)})
	if status != http.StatusNoContent {
		return ""
	}
	cookie, _, _ := strings.Cut(header.Get("Set-Cookie"), ";")
	return cookie
}

// browser is a session.
func (w *world) browser(t *testing.T) string {
	t.Helper()
	cookie := w.open(t, w.code())
	if cookie == "" {
		t.Fatal("a new code was refused")
	}
	return cookie
}

// save saves a memory through the socket.
func (w *world) save(t *testing.T, req *op.SaveRequest) *op.Memory {
	t.Helper()
	res, err := op.Save.Call(t.Context(), w.client, req)
	if err != nil {
		t.Fatal(err)
	}
	return &res.Memory
}
