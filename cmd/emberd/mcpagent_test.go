package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
)

// agent is an emberd mcp in the background, and the client at its other end.
type agent struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	said *bytes.Buffer // on stderr, complete after end
	last int           // id of the last request
}

// startAgent runs mcp in home and shakes hands with it.
func startAgent(t *testing.T, home string, args ...string) *agent {
	t.Helper()
	a := newAgent(t, home, args...)
	a.start(t)
	a.greet(t)
	return a
}

// greet is the handshake.
func (a *agent) greet(t *testing.T) {
	t.Helper()
	a.ask(t, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"the test","version":"1"}}`)
	a.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func newAgent(t *testing.T, home string, args ...string) *agent {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a := &agent{cmd: exec.Command(exe, append([]string{"mcp", "--home", home}, args...)...), said: &bytes.Buffer{}}
	a.cmd.Args[0] = "emberd"
	a.cmd.Env = cli.ForeignFree(os.Environ())
	a.cmd.Stderr = a.said
	return a
}

func (a *agent) start(t *testing.T) {
	t.Helper()
	in, err := a.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.cmd.Process.Kill() }) // the error is that it has ended
	a.in, a.out = in, bufio.NewReader(out)
}

func (a *agent) send(t *testing.T, message string) {
	t.Helper()
	if _, err := io.WriteString(a.in, message+"\n"); err != nil {
		t.Fatal(err)
	}
}

// message is what comes back.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      int             `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

func parseMessage(line []byte) (m message, err error) {
	if err := json.Unmarshal(line, &m); err != nil || m.Version != "2.0" {
		return m, fmt.Errorf("stdout carries %q, want a message of the protocol (%v)", line, err)
	}
	return m, nil
}

// request sends a request and returns the result.
func (a *agent) request(method, params string) (json.RawMessage, error) {
	a.last++
	if _, err := fmt.Fprintf(a.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", a.last, method, params); err != nil {
		return nil, err
	}
	line, err := a.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	m, err := parseMessage(line)
	if err == nil && (m.ID != a.last || m.Error != nil) {
		err = fmt.Errorf("%s: got %s, want the result of request %d", method, line, a.last)
	}
	return m.Result, err
}

func (a *agent) ask(t *testing.T, method, params string) json.RawMessage {
	t.Helper()
	raw, err := a.request(method, params)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// answer is what a tool answered: one text, and the same as data where that is asked for. An error may have
// another text, of stored names in a fence.
type answer struct {
	Content []struct{ Text string }
	Data    json.RawMessage `json:"structuredContent"`
	IsError bool
}

func (a *agent) answer(tool, args string) (answer, error) {
	var res answer
	raw, err := a.request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
	if err != nil {
		return res, err
	}
	if err := json.Unmarshal(raw, &res); err != nil || len(res.Content) != 1 && !(res.IsError && len(res.Content) == 2) {
		return res, fmt.Errorf("%s answered %s, want one text (%v)", tool, raw, err)
	}
	return res, nil
}

// call calls a tool and returns its text, and whether that is an error.
func (a *agent) call(tool, args string) (text string, failed bool, err error) {
	res, err := a.answer(tool, args)
	if err != nil {
		return "", false, err
	}
	return res.Content[0].Text, res.IsError, nil
}

// save calls save_memory.
func (a *agent) save(t *testing.T, content string) (text string, failed bool) {
	t.Helper()
	text, failed, err := a.call("save_memory", `{"content":`+string(cli.JsonText(content))+`}`)
	if err != nil {
		t.Fatal(err)
	}
	return text, failed
}

// end waits until the process has ended by itself and checks that it ended well:
// exit code 0, nothing on stderr, and nothing on stdout but messages.
func (a *agent) end(t *testing.T) {
	t.Helper()
	for {
		line, err := a.out.ReadBytes('\n')
		if err != nil {
			break
		}
		if _, err := parseMessage(line); err != nil {
			t.Error(err)
		}
	}
	if err := a.cmd.Wait(); err != nil || a.said.Len() > 0 {
		t.Errorf("emberd mcp ended with %v and said %q, want exit code 0 and silence", err, a.said)
	}
}

func startHome(t *testing.T) (string, *daemonProcess) {
	t.Helper()
	home := filepath.Join(clitest.ShortDir(t), "h")
	d := startDaemonIn(t, home)
	return home, d
}

func startDaemonIn(t *testing.T, home string) *daemonProcess {
	t.Helper()
	d, err := relaunch(t, home)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// relaunch starts a daemon from whatever goroutine.
func relaunch(t *testing.T, home string) (*daemonProcess, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	d, err := startDaemon(t.Context(), exe, home, home+".log", cli.ForeignFree(os.Environ()))
	if err == nil {
		t.Cleanup(func() { _ = d.cmd.Process.Kill() }) // the error is that it has ended
	}
	return d, err
}
