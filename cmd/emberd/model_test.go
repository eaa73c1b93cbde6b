package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// commanded is what a command line says on stderr, and how it ends.
func commanded(ctx context.Context, args ...string) (said string, code exitCode) {
	var out strings.Builder
	s := newState()
	s.stdout, s.stderr = bufio.NewWriter(io.Discard), &out
	code = exitCode(s.run(ctx, args))
	return out.String(), code
}

// Who stops a download hears that it can be gone on with, and may throw away what came.
func TestStoppedDownload(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Range") != "" { // it went on by itself, and has something
			cancel()
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write(make([]byte, 100))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(server.Close)
	home := t.TempDir()
	said, code := commanded(ctx, "--home", home, "model", "install", server.URL+"/half.gguf", "--sha256", strings.Repeat("0", 64))
	if code != exitInterrupted || !strings.Contains(said, "stopped after") || !strings.Contains(said, "run this again to go on from there") {
		t.Errorf("exit %d, said %q, want %d and that it can be gone on with", code, said, exitInterrupted)
	}
	left := filepath.Join(home, "models", "half.gguf.partial*")
	if found, _ := filepath.Glob(left); len(found) != 2 {
		t.Errorf("%q was left, want a file and its note", found)
	}
	if said, code := commanded(t.Context(), "--home", home, "model", "remove", "half"); code != 0 {
		t.Errorf("removing it ends with %d: %s", code, said)
	}
	if found, _ := filepath.Glob(left); len(found) != 0 {
		t.Errorf("%q was left", found)
	}
}
