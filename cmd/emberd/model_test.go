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

	"emberd/internal/cli"
	"emberd/internal/cli/root"
)

// commanded is what a command line says on stderr, and how it ends.
func commanded(ctx context.Context, args ...string) (said string, code cli.ExitCode) {
	var out strings.Builder
	s := cli.New()
	s.Stdout, s.Stderr = bufio.NewWriter(io.Discard), &out
	code = cli.ExitCode(s.Run(ctx, root.RootCommand(s), args))
	return out.String(), code
}

// A download that the user stops ends the command at once and leaves nothing.
func TestStoppedDownload(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write(make([]byte, 100))
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	home := t.TempDir()
	args := []string{"--home", home, "model", "install", server.URL + "/half.gguf", "--sha256", strings.Repeat("0", 64)}
	if said, code := commanded(ctx, args...); code != cli.ExitInterrupted || !strings.Contains(said, "interrupted") {
		t.Errorf("exit %d, said %q, want %d", code, said, cli.ExitInterrupted)
	}
	if left, _ := filepath.Glob(filepath.Join(home, "models", "[^.]*")); len(left) != 0 {
		t.Errorf("%q was left", left)
	}
}
