package api

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"emberd/memory"
)

func TestListenLoopbackRefusals(t *testing.T) {
	taken, err := ListenLoopback(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	tests := []struct {
		addr string
		code memory.Code
		want string
	}{
		{taken.Addr().String(), memory.Unavailable, "another program listens on"},
		{"127.0.0.1:99999", memory.Unavailable, "cannot be listened on"},
		{"0.0.0.0:0", memory.Invalid, "of this machine alone"},
		{"[::]:0", memory.Invalid, "of this machine alone"},
		{":0", memory.Invalid, "of this machine alone"},
		{"localhost:0", memory.Invalid, "of this machine alone"},
		{"127.0.0.1", memory.Invalid, "of this machine alone"},
	}
	for _, tt := range tests {
		ln, err := ListenLoopback(t.Context(), tt.addr)
		if memory.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s: %s", tt.addr, err, tt.code, tt.want)
		}
		if err == nil {
			ln.Close()
		}
	}
}

// TestThePortSaysWhatItServes: it has no description of routes to refer to.
func TestThePortSaysWhatItServes(t *testing.T) {
	h := NewLoopback(&LoopbackOptions{Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7330}, Token: "t", MCP: http.NotFoundHandler()})
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:7330/v1/status", nil)
	r.Header.Set("Authorization", "Bearer t")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	const want = `this port has no route \"/v1/status\", it serves /mcp and /metrics; all else is on the socket`
	if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), want) {
		t.Errorf("got %d %s, want 404 and %q", w.Code, w.Body, want)
	}
}

// TestThePortNeedsItsOwnHandler: the routes of the socket are not for a port, which
// does not know who is calling, and a port without a token serves nobody.
func TestThePortNeedsItsOwnHandler(t *testing.T) {
	nothing := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request came through") })
	bare := &LoopbackOptions{Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, MCP: nothing}
	for name, tt := range map[string]struct {
		h    http.Handler
		host string
		want int
	}{
		"routes of the socket": {NewHandler(newShelf(), nil), "emberd", http.StatusForbidden},
		"no token":             {NewLoopback(bare), "127.0.0.1:1", http.StatusUnauthorized},
	} {
		ln, err := ListenLoopback(t.Context(), "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = ServeLoopback(t.Context(), ln, tt.h, nil) }() // ends with the test
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+ln.Addr().String()+"/mcp", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = tt.host
		r.Header.Set("Authorization", "Bearer ")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != tt.want {
			t.Errorf("%s: %s, want %d", name, resp.Status, tt.want)
		}
	}
}
