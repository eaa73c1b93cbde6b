package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/op"
)

// What clients do at the end of a conversation is no error.
func TestAgentEndsCleanly(t *testing.T) {
	t.Parallel()
	home, _ := startHome(t)
	for name, end := range map[string]func(t *testing.T, a *agent){
		"end of input": func(t *testing.T, a *agent) {
			if err := a.in.Close(); err != nil {
				t.Fatal(err)
			}
		},
		"half a message": func(t *testing.T, a *agent) {
			if _, err := io.WriteString(a.in, `{"jsonrpc":"2.0","id":9,"meth`); err != nil {
				t.Fatal(err)
			}
			if err := a.in.Close(); err != nil {
				t.Fatal(err)
			}
		},
		"SIGTERM": func(t *testing.T, a *agent) {
			if err := a.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		},
		"interrupt": func(t *testing.T, a *agent) {
			if err := a.cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := startAgent(t, home)
			if text, failed := a.save(t, "the kettle is descaled, "+name); failed {
				t.Fatalf("save_memory: %s", text)
			}
			end(t, a)
			a.end(t)
		})
	}
}

// A script pipes all it asks into the command and reads the answers.
func TestAgentAnswersWhatWasAskedBeforeTheEnd(t *testing.T) {
	t.Parallel()
	home, _ := startHome(t)
	a := newAgent(t, home)
	a.cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a script","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"save_memory","arguments":{"content":"piped in"}}}
{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{}}
`)
	out, err := a.cmd.Output()
	if err != nil || a.said.Len() > 0 {
		t.Errorf("ended with %v and said %q, want exit code 0 and silence", err, a.said)
	}
	answered := map[int]bool{}
	for line := range bytes.Lines(out) {
		m, err := parseMessage(line)
		if err != nil || m.Error != nil {
			t.Errorf("got %s (%v), want an answer", line, err)
		}
		answered[m.ID] = true
	}
	if len(answered) != 3 {
		t.Errorf("answered are %v, want all three calls", answered)
	}
}

// Nobody reads the answers any more.
func TestAgentEndsWhenItsOutputIsGone(t *testing.T) {
	t.Parallel()
	home, _ := startHome(t)
	a := newAgent(t, home)
	out, into, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	a.cmd.Stdout = into
	if a.in, err = a.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.cmd.Process.Kill() })
	if err := into.Close(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	a.send(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if err := a.cmd.Wait(); err != nil || a.said.Len() > 0 {
		t.Errorf("emberd mcp ended with %v and said %q, want exit code 0 and silence", err, a.said)
	}
}

// A call that is under way does not keep a terminated server.
func TestAgentEndsWhileTheDaemonHangs(t *testing.T) {
	t.Parallel()
	home := clitest.ShortDir(t)
	ln, err := net.Listen("unix", filepath.Join(home, "emberd.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	a := startAgent(t, home)
	a.send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"save_memory","arguments":{"content":"x"}}}`)
	conn, err := ln.Accept() // the call has begun
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := a.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	a.end(t)
}

// Diagnostics go to stderr, also the last ones of a process that dies.
func TestAgentKeepsStdoutForTheProtocol(t *testing.T) {
	t.Parallel()
	home, _ := startHome(t)
	a := startAgent(t, home, "--set", "log.level=debug")
	if text, failed := a.save(t, "the boiler was bled"); failed {
		t.Fatalf("save_memory: %s", text)
	}
	if err := a.cmd.Process.Signal(syscall.SIGQUIT); err != nil { // Go's own way to die loudly
		t.Fatal(err)
	}
	rest, err := io.ReadAll(a.out)
	if err != nil || len(rest) > 0 {
		t.Errorf("stdout ends with %q (%v), want nothing", rest, err)
	}
	if err := a.cmd.Wait(); err == nil {
		t.Error("a process that died ended with exit code 0")
	}
	for _, want := range []string{"level=INFO", "goroutine "} {
		if !strings.Contains(a.said.String(), want) {
			t.Errorf("stderr lacks %q:\n%s", want, a.said)
		}
	}
}

// The daemon may be away while an agent is connected: calls say what to do, and
// work again as soon as it is back.
func TestAgentOutlivesTheDaemon(t *testing.T) {
	t.Parallel()
	home := filepath.Join(clitest.ShortDir(t), "h")
	a := startAgent(t, home)
	away := func(when string) {
		t.Helper()
		text, failed := a.save(t, "nobody hears this")
		if !failed || !strings.Contains(text, `start the daemon with \"emberd serve\"`) {
			t.Errorf("%s, save_memory says %s (error %v), want how to start a daemon", when, text, failed)
		}
	}
	away("before the first daemon")
	for i := range 2 {
		d := startDaemonIn(t, home)
		if text, failed := a.save(t, fmt.Sprintf("daemon %d listens", i)); failed {
			t.Errorf("with daemon %d, save_memory says %s, want success", i, text)
		}
		_ = d.stop(syscall.SIGKILL) // the error is that it was killed
		if i == 1 {
			away("after the last one")
		}
	}
	if err := a.in.Close(); err != nil {
		t.Fatal(err)
	}
	a.end(t)
}

// What is no call of a tool has no result to be an error; its error has a code that
// clients know.
func TestAgentTellsAbsenceOfTheDaemonByCode(t *testing.T) {
	t.Parallel()
	a := startAgent(t, filepath.Join(clitest.ShortDir(t), "h"))
	for _, tt := range []struct{ method, params string }{
		{"resources/read", `{"uri":"memory://recent"}`},
		{"prompts/get", `{"name":"recall","arguments":{"topic":"kettle"}}`},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"remember-this"},"argument":{"name":"tags","value":"k"}}`},
	} {
		_, err := a.request(tt.method, tt.params)
		if err == nil || !strings.Contains(err.Error(), `"code":-32603,"message":"no daemon is listening on `) {
			t.Errorf("%s without a daemon: %v, want an internal error that says so", tt.method, err)
		}
	}
}

// What is wrong with a call of the command itself is said before any client is
// listened to.
func TestAgentRefusals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ args, stdin, want string }{
		{"--tools everything", "", `emberd: invalid tools "everything"; use agent, notes, all, cortexgraph or reference`},
		{"--set mcp.tools=everything", "", `emberd: --set mcp.tools: must be agent, notes, all, cortexgraph or reference`},
		{"", "hello\n", `emberd: stdin contains no valid Model Context Protocol messages`},
	} {
		a := newAgent(t, t.TempDir(), strings.Fields(tt.args)...)
		a.cmd.Stdin = strings.NewReader(tt.stdin)
		out, err := a.cmd.Output()
		if a.cmd.ProcessState.ExitCode() != int(cli.ExitInput) || len(out) > 0 {
			t.Errorf("mcp %s: %v with stdout %q, want exit code %d and none", tt.args, err, out, cli.ExitInput)
		}
		if !strings.HasPrefix(a.said.String(), tt.want) {
			t.Errorf("mcp %s says %q, want %q", tt.args, a.said, tt.want)
		}
	}
}

// A setting chooses the tools where the flag does not.
func TestAgentShowsTheToolsOfTheSetting(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]bool{
		"--set mcp.tools=cortexgraph":                   true,
		"--set mcp.tools=reference --tools cortexgraph": true,
		"--set mcp.tools=cortexgraph --tools reference": false,
	} {
		a := startAgent(t, t.TempDir(), strings.Fields(args)...)
		if got := strings.Contains(string(a.ask(t, "tools/list", `{}`)), `"save_memory"`); got != want {
			t.Errorf("mcp %s lists save_memory: %v, want %v", args, got, want)
		}
	}
}

// A daemon of another protocol is named, with which side to bring up to date.
func TestAgentMeetsAnotherProtocol(t *testing.T) {
	t.Parallel()
	home := clitest.ShortDir(t)
	ln, err := net.Listen("unix", filepath.Join(home, "emberd.sock"))
	if err != nil {
		t.Fatal(err)
	}
	other := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Emberd-Version", "9.9 protocol/99")
	})}
	go func() { _ = other.Serve(ln) }() // ends with Close
	defer other.Close()
	a := startAgent(t, home)
	text, failed := a.save(t, "to whom")
	if want := "daemon 9.9 (protocol 99)"; !failed || !strings.Contains(text, want) || !strings.Contains(text, "upgrade the client") {
		t.Errorf("save_memory says %s (error %v), want %q and what to upgrade", text, failed, want)
	}
}

// Memories say where they come from: over this protocol, and from the repository
// that the client started its server in.
func TestAgentSavesForTheProjectItRunsIn(t *testing.T) {
	t.Parallel()
	home, _ := startHome(t)
	repository := filepath.Join(t.TempDir(), "kettle")
	if err := os.MkdirAll(filepath.Join(repository, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	client := api.NewClient(filepath.Join(home, "emberd.sock"), nil)
	defer client.Close()
	for want, args := range map[string][]string{"kettle": nil, "boiler": {"--project", "boiler"}, "": {"--project", ""}} {
		a := newAgent(t, home, args...)
		a.cmd.Dir = repository
		a.start(t)
		a.greet(t)
		if text, failed := a.save(t, "a memory of project "+want); failed {
			t.Fatalf("save_memory: %s", text)
		}
		journal, err := op.Journal.Call(t.Context(), client, &op.JournalRequest{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if by := journal.Entries[0].By; by.Via != "mcp" || by.PID != a.cmd.Process.Pid {
			t.Errorf("saved by %+v, want via mcp by process %d", by, a.cmd.Process.Pid)
		}
		list, err := op.List.Call(t.Context(), client, &op.ListRequest{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := list.Memories[0].Project; got != want {
			t.Errorf("mcp %q saved for project %q, want %q", args, got, want)
		}
	}
}

// A client that starts its servers anywhere says where it works.
func TestAgentAsksWhereItsClientWorks(t *testing.T) {
	t.Parallel()
	home, _ := startHome(t)
	repository := filepath.Join(t.TempDir(), "kettle")
	if err := os.MkdirAll(filepath.Join(repository, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	a := newAgent(t, home)
	a.cmd.Dir = t.TempDir()
	a.start(t)
	a.ask(t, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"the test","version":"1"}}`)
	a.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	a.send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_add","arguments":{"content":"tea at four"}}}`)
	var asked struct {
		ID     json.RawMessage
		Method string
	}
	line, err := a.out.ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &asked) != nil || asked.Method != "roots/list" {
		t.Fatalf("got %s (%v), want a request of roots/list", line, err)
	}
	a.send(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[{"uri":"file://%s"}]}}`, asked.ID, repository))
	if _, err := a.out.ReadBytes('\n'); err != nil {
		t.Fatal(err)
	}
	client := api.NewClient(filepath.Join(home, "emberd.sock"), nil)
	defer client.Close()
	list, err := op.List.Call(t.Context(), client, &op.ListRequest{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := list.Memories[0].Project; got != "kettle" {
		t.Errorf("saved for project %q, want kettle", got)
	}
}
