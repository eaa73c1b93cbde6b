package api

import (
	"io"
	"net/http"
	"runtime/trace"
	"strings"
	"testing"
	"time"

	"emberd/internal/access"
	"emberd/internal/metrics"
	"emberd/memory"
)

// TestMetricsAreForWhoSeesAll: they count memories of every scope.
func TestMetricsAreForWhoSeesAll(t *testing.T) {
	limits := NewLimits(nil)
	all := []access.Scope{{Kind: access.All}}
	sock, _ := serve(t, NewHandler(newShelf(), &HandlerOptions{Limits: limits, Measure: limits.Measure, Profile: true, Tokens: func(secret string) (*access.Grant, error) {
		return map[string]*access.Grant{
			"emberd_WORK":  {Token: "work", Write: []access.Scope{{Kind: access.Tag, Value: "work"}}},
			"emberd_READ":  {Token: "read", Read: all},
			"emberd_WRITE": {Token: "write", Write: all},
		}[secret], nil
	}}), &ServeOptions{Limits: limits})
	for _, tt := range []struct {
		token          string
		metrics, debug int
	}{
		{"", http.StatusOK, http.StatusOK},
		{"emberd_WORK", http.StatusForbidden, http.StatusForbidden},
		{"emberd_READ", http.StatusOK, http.StatusForbidden},
		{"emberd_WRITE", http.StatusOK, http.StatusOK},
	} {
		header := ""
		if tt.token != "" {
			header = "\nAuthorization: Bearer " + tt.token
		}
		if got := ask(t, sock, "GET /metrics HTTP/1.1"+header); got.StatusCode != tt.metrics {
			t.Errorf("/metrics with %q: %s %s, want %d", tt.token, got.Status, got.body, tt.metrics)
		}
		if got := ask(t, sock, "GET /debug/pprof/goroutine HTTP/1.1"+header); got.StatusCode != tt.debug {
			t.Errorf("/debug/pprof with %q: %s, want %d", tt.token, got.Status, tt.debug)
		}
	}
}

// TestProfilesAreThereIfAskedFor, and say what there is.
func TestProfilesAreThereIfAskedFor(t *testing.T) {
	sock, _ := serve(t, NewHandler(newShelf(), &HandlerOptions{Profile: true}), nil)
	for _, tt := range []struct {
		path   string
		status int
		has    string
	}{
		{"/debug/pprof", http.StatusOK, "/debug/pprof/heap\t"},
		{"/debug/pprof/goroutine?debug=1", http.StatusOK, "goroutine profile: total"},
		{"/debug/pprof/trace?seconds=0.01", http.StatusOK, "go 1."},
		{"/debug/pprof/secrets", http.StatusNotFound, "profiles: allocs, block, goroutine"},
	} {
		if got := ask(t, sock, "GET "+tt.path+" HTTP/1.1"); got.StatusCode != tt.status || !strings.Contains(got.body, tt.has) {
			t.Errorf("%s: %s %.200q, want %d and %q", tt.path, got.Status, got.body, tt.status, tt.has)
		}
	}
	_, without := start(t, newShelf())
	for _, path := range []string{"/debug/pprof", "/debug/pprof/heap", "/metrics"} {
		if got := ask(t, without, "GET "+path+" HTTP/1.1"); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s of a daemon without it: %s", path, got.Status)
		}
	}
}

// A profile under way ends with the server, and what it has is delivered.
func TestShutdownEndsProfiles(t *testing.T) {
	sock, stop := serve(t, NewHandler(newShelf(), &HandlerOptions{Profile: true}), nil)
	conn := dial(t, sock)
	write(t, conn, "GET /debug/pprof/trace?seconds=600 HTTP/1.1\r\nHost: emberd\r\nConnection: close\r\n\r\n")
	for until := time.Now().Add(10 * time.Second); !trace.IsEnabled(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the trace does not begin")
		}
	}
	answer := make(chan string, 1)
	go func() {
		all, err := io.ReadAll(conn)
		if err != nil {
			t.Error(err)
		}
		answer <- string(all)
	}()
	if err := stop(); err != nil {
		t.Errorf("Serve = %v, want that nothing was cut off", err)
	}
	if got := <-answer; !strings.HasPrefix(got, "HTTP/1.1 200 ") || !strings.Contains(got, "go 1.") {
		t.Errorf("the answer begins with %.200q", got)
	}
}

// TestWhatIsRefusedIsCounted by its reason, and connections as long as they are open.
func TestWhatIsRefusedIsCounted(t *testing.T) {
	limits := NewLimits(&LimitOptions{Slow: func(a memory.Actor) string { return "" }})
	sock, _ := serve(t, NewHandler(newShelf(), &HandlerOptions{Limits: limits, Measure: limits.Measure}), &ServeOptions{Limits: limits})
	key := keyOf(memory.Actor{PID: 1})
	for range maxCallerStreams + 1 {
		_ = limits.openStream(t.Context(), key) // the last is refused
	}
	ask(t, sock, "GET /v1/nowhere HTTP/1.1")
	u := limits.enter(key)
	u.held = maxHeld + 1
	if err := limits.take(t.Context(), u, u.reads, ""); memory.CodeOf(err) != memory.Busy {
		t.Errorf("a question of who holds too much: %v, want busy", err)
	}
	p := new(metrics.Exposition)
	limits.Measure(p)
	var text strings.Builder
	if _, err := p.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`emberd_refusals_total{reason="streams"} 1`, `emberd_refusals_total{reason="held"} 1`, "emberd_streams 16\n", `emberd_problems_total{code="invalid"} 1`, "emberd_connections_total 1\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, text.String())
		}
	}
}
