package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"emberd/internal/cli"
	"emberd/internal/mcp"
	"emberd/internal/testutil/clitest"
)

// toolchain is where make mcp-conformance installs what checks servers from outside.
const toolchain = "../../tools/mcp"

// outside skips the test unless make mcp-conformance runs it, and returns the binary
// that it has built.
func outside(t *testing.T) string {
	t.Helper()
	if os.Getenv("EMBERD_TEST_CONFORMANCE") == "" {
		t.Skip("needs Node and what npm installs: make mcp-conformance")
	}
	exe, err := filepath.Abs("../../bin/emberd")
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// node is a command of the toolchain, with the Node of the toolchain: npm 9, Debian's,
// does not link that one.
func node(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	modules, err := filepath.Abs(filepath.Join(toolchain, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	own, err := filepath.Glob(filepath.Join(modules, "node-"+runtime.GOOS+"-*", "bin"))
	if err != nil || len(own) != 1 && runtime.GOOS == "linux" {
		t.Fatalf("the toolchain has %v for Node (%v), want one: make mcp-conformance", own, err)
	}
	path := append(own, filepath.Join(modules, ".bin"), os.Getenv("PATH"))
	cmd := exec.CommandContext(t.Context(), filepath.Join(modules, ".bin", name), args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(cli.ForeignFree(os.Environ()), "PATH="+strings.Join(path, string(filepath.ListSeparator)), "HOME="+cmd.Dir, "NO_COLOR=1", "FORCE_COLOR=0")
	return cmd
}

// serveOutside runs the real daemon with a vault of one note.
func serveOutside(t *testing.T, exe string, args ...string) (home string) {
	t.Helper()
	home = filepath.Join(clitest.ShortDir(t), "h")
	vault := home + ".vault"
	if err := os.Mkdir(vault, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(vault, "Kettle.md"), []byte("# Kettle\n\nIt leaks at the seam.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := startDaemon(t.Context(), exe, home, home+".log", cli.ForeignFree(os.Environ()), append(args, "--vault", vault)...)
	if err != nil {
		log, _ := os.ReadFile(home + ".log")
		t.Fatalf("%v\n%s", err, log)
	}
	t.Cleanup(func() {
		if err := d.stop(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	})
	return home
}

// TestTheInspectorCallsEveryTool has the protocol's own inspector start emberd mcp,
// list the tools of each profile, and call every tool: those of profile all that
// another shows there, since it is the same one.
func TestTheInspectorCallsEveryTool(t *testing.T) {
	exe := outside(t)
	calls := readCalls(t)
	called := make(map[string]bool)
	for _, profile := range []mcp.Profile{mcp.Agent, mcp.CortexGraph, mcp.Reference, mcp.All} {
		in := &inspector{exe: exe, home: serveOutside(t, exe), profile: string(profile)}
		left := in.list(t)
		if profile == mcp.All {
			left = slices.DeleteFunc(left, func(tool string) bool { return called[tool] })
		}
		for _, tool := range left {
			called[tool] = true
		}
		t.Run(string(profile), func(t *testing.T) {
			t.Parallel()
			for _, c := range calls {
				if i := slices.Index(left, c.tool); i >= 0 {
					left = slices.Delete(left, i, i+1)
					in.call(t, c)
				}
			}
			if len(left) > 0 {
				t.Errorf("testdata/mcp/calls.txt has no call of %s", strings.Join(left, ", "))
			}
		})
	}
}

// inspector runs the inspector against one profile.
type inspector struct{ exe, home, profile string }

// run returns what the inspector prints.
func (in *inspector) run(t *testing.T, args ...string) (stdout []byte, err error) {
	t.Helper()
	cmd := node(t, "mcp-inspector", slices.Concat([]string{"--cli", "--quiet"}, args,
		[]string{"--", in.exe, "mcp", "--home", in.home, "--tools", in.profile})...)
	var said bytes.Buffer
	cmd.Stderr = &said
	stdout, err = cmd.Output()
	if err != nil {
		err = fmt.Errorf("inspector %q: %w\n%s", args, err, said.Bytes())
	}
	return stdout, err
}

func (in *inspector) list(t *testing.T) []string {
	t.Helper()
	out, err := in.run(t, "--method", "tools/list", "--strict")
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Tools []struct{ Name string }
	}
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	t.Logf("%d tools: %s", len(names), strings.Join(names, " "))
	return names
}

func (in *inspector) call(t *testing.T, c toolCall) {
	t.Helper()
	args := props(t, in.home).Replace(c.args)
	out, err := in.run(t, "--method", "tools/call", "--tool-name", c.tool, "--tool-args-json", args)
	var res struct {
		IsError bool
		Content []struct{ Text string }
	}
	if parseErr := json.Unmarshal(out, &res); parseErr != nil {
		t.Errorf("%s %s: %v, %v", c.tool, args, parseErr, err)
		return
	}
	if refused := res.IsError; refused != (c.refused != "") || len(res.Content) == 0 || res.Content[0].Text == "" {
		t.Errorf("%s %s: %s (%v); want an error: %t", c.tool, args, out, err, c.refused != "")
	}
}

// mustPass are the scenarios for which no reason to fail is good enough.
var mustPass = []string{
	"server-initialize", "ping", "logging-set-level", "tools-list", "resources-list", "prompts-list",
	"server-sse-multiple-streams", "dns-rebinding-protection",
}

// TestConformance runs the protocol's own suite against /mcp of the real daemon. The
// suite fails on what expected-failures.yaml does not name, and on what it names and
// that passes.
func TestConformance(t *testing.T) {
	exe := outside(t)
	expected, err := filepath.Abs(filepath.Join(toolchain, "expected-failures.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	checkReasons(t, expected)
	home := serveOutside(t, exe)
	url := forward(t, filepath.Join(home, "emberd.sock")) + "/mcp"
	// One check reads three streams at once and gives up on each as soon as it has an
	// event; now and then it gives up on another one too, and warns. What is wrong with
	// the server is wrong every time.
	for range 3 {
		wrong, summary := conforms(t, url, expected)
		t.Logf("%s", summary)
		if wrong == "" {
			return
		}
		err = errors.New(wrong)
	}
	t.Error(err)
}

// conforms runs the suite once and says what is wrong, "" for nothing.
func conforms(t *testing.T, url, expected string) (wrong string, summary []byte) {
	t.Helper()
	results := t.TempDir()
	out, err := node(t, "conformance", "server", "--suite", "all", "--url", url, "--expected-failures", expected, "--output-dir", results).CombinedOutput()
	_, summary, _ = bytes.Cut(out, []byte("=== SUMMARY ==="))
	if err != nil {
		return fmt.Sprintf("the suite: %v\n%s\n%s", err, summary, failures(t, results)), summary
	}
	for _, scenario := range mustPass {
		if !bytes.Contains(summary, []byte("✓ "+scenario+":")) {
			wrong += scenario + " did not pass\n"
		}
	}
	return wrong, summary
}

// checkReasons wants a reason on each line that names a scenario.
func checkReasons(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`^  - ([a-z0-9-]+) +# \S.*$`)
	for text := range strings.Lines(string(text)) {
		text = strings.TrimSuffix(text, "\n")
		if text == "server:" || strings.HasPrefix(text, "#") {
			continue
		}
		m := line.FindStringSubmatch(text)
		if m == nil {
			t.Errorf("%s: %q is no scenario with a reason", name, text)
		} else if slices.Contains(mustPass, m[1]) {
			t.Errorf("%s: %s must pass", name, m[1])
		}
	}
}

// failures gathers why scenarios failed.
func failures(t *testing.T, results string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(results, "*", "checks.json"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var checks []struct{ ID, Status, ErrorMessage string }
		if err := json.Unmarshal(raw, &checks); err != nil {
			t.Fatal(err)
		}
		for _, c := range checks {
			if c.Status != "SUCCESS" {
				fmt.Fprintf(&b, "%s %s: %s\n", c.Status, c.ID, c.ErrorMessage)
			}
		}
	}
	return b.String()
}

// forward makes a daemon's socket reachable at a port, since the suite speaks TCP alone. A request
// that is addressed to the port is one to localhost behind it, and a page that the port served is no
// other site; all other hosts and origins stay what the suite sends.
func forward(t *testing.T, socket string) (base string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	own := []string{"localhost:" + port, "127.0.0.1:" + port}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: "localhost"})
		r.Out.Host = r.In.Host
		if slices.Contains(own, r.In.Host) {
			r.Out.Host = "localhost"
		}
		if slices.Contains(own, strings.TrimPrefix(r.In.Header.Get("Origin"), "http://")) {
			r.Out.Header.Del("Origin")
		}
	}}
	proxy.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	proxy.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // streams that the suite leaves
	srv := &http.Server{Handler: proxy}
	var served sync.WaitGroup
	served.Go(func() {
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		served.Wait()
	})
	return "http://" + ln.Addr().String()
}
