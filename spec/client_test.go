package spec_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

// expand puts the variables of a script into a text, also into one in single quotes, and more: @13d
// is a moment thirteen days ago, <3 x> is xxx, and <3 "x"> is "x","x","x".
func expand(ts *testscript.TestScript, s string) string {
	s = times.ReplaceAllStringFunc(s, func(of string) string {
		m := times.FindStringSubmatch(of)
		n, err := strconv.Atoi(m[1])
		ts.Check(err)
		if strings.HasPrefix(m[2], `"`) {
			return strings.TrimSuffix(strings.Repeat(m[2]+",", n), ",")
		}
		return strings.Repeat(m[2], n)
	})
	return ago.ReplaceAllStringFunc(os.Expand(s, ts.Getenv), func(at string) string {
		m := ago.FindStringSubmatch(at)
		n, err := strconv.ParseFloat(m[1], 64)
		ts.Check(err)
		unit := map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute}[m[2]]
		return time.Now().Add(-time.Duration(n * float64(unit))).UTC().Format(time.RFC3339Nano)
	})
}

var times = regexp.MustCompile(`<(\d+) ([^<>]+)>`)

var ago = regexp.MustCompile(`@([\d.]+)([dhm])\b`)

// answer makes a text the output of the command, and tells whether it had the end that was asked for.
func answer(ts *testscript.TestScript, what string, out []byte, failed, neg bool) {
	_, err := ts.Stdout().Write(out)
	ts.Check(err)
	if failed != neg {
		ts.Fatalf("%s: failed is %v\n%.600s", what, failed, out)
	}
}

type sessionKey struct{}

// cmdMCP is "mcp TOOL [ARGUMENTS]". The tool runs in an emberd mcp, which stays until the script ends.
// MCPFLAGS are flags for it; others make another session.
func cmdMCP(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: mcp TOOL [ARGUMENTS]")
	}
	call := &mcp.CallToolParams{Name: args[0]}
	if len(args) > 1 {
		call.Arguments = json.RawMessage(expand(ts, strings.Join(args[1:], " ")))
	}
	if ts.Getenv("PROGRESS") != "" {
		call.SetProgressToken(call.Name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s := session(ctx, ts)
	if call.Name == "tools/list" {
		list, err := s.ListTools(ctx, nil)
		ts.Check(err)
		byName := map[string]any{}
		for _, t := range list.Tools {
			byName[t.Name] = t
		}
		out, err := json.Marshal(byName)
		ts.Check(err)
		answer(ts, call.Name, out, false, neg)
		return
	}
	res, err := s.CallTool(ctx, call)
	if err != nil && neg { // of the protocol, as for a tool that does not exist
		answer(ts, "mcp "+call.Name, []byte(err.Error()), true, neg)
		return
	}
	ts.Check(err)
	answer(ts, "mcp "+call.Name, content(ts, res), res.IsError, neg)
}

type progressKey struct{}

// cmdProgress is "progress TOOL [ARGUMENTS]": it is mcp, for a client that asks for the progress of the
// call, of which something has to come.
func cmdProgress(ts *testscript.TestScript, neg bool, args []string) {
	ts.Setenv("PROGRESS", "asked for")
	cmdMCP(ts, neg, args)
	ts.Setenv("PROGRESS", "")
	for timeout := time.After(time.Minute); ; {
		select {
		case of := <-ts.Value(progressKey{}).(chan any):
			if of == args[0] {
				return
			}
		case <-timeout:
			ts.Fatalf("no progress of %s", args[0])
		}
	}
}

// content is the structured result of a tool, or else its text.
func content(ts *testscript.TestScript, res *mcp.CallToolResult) []byte {
	if res.StructuredContent != nil {
		out, err := json.Marshal(res.StructuredContent)
		ts.Check(err)
		return out
	}
	var out bytes.Buffer
	for _, c := range res.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			out.WriteString(text.Text)
		}
	}
	return out.Bytes()
}

// session is the MCP session of a script for what MCPFLAGS says now.
func session(ctx context.Context, ts *testscript.TestScript) *mcp.ClientSession {
	open := ts.Value(sessionKey{}).(map[string]*mcp.ClientSession)
	flags := ts.Getenv("MCPFLAGS") + " " + ts.Getenv("EMBERD_TOKEN")
	if s := open[flags]; s != nil {
		return s
	}
	words := append([]string{"mcp", "--tools", "all", "--set", "mcp.form=structured"},
		strings.Fields(ts.Getenv("MCPFLAGS"))...)
	cmd := exec.Command(filepath.Join(binaries, "emberd"), words...)
	cmd.Env = environment(ts)
	progress := ts.Value(progressKey{}).(chan any)
	client := mcp.NewClient(&mcp.Implementation{Name: "spec", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			progress <- req.Params.ProgressToken
		},
	})
	s, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	ts.Check(err)
	open[flags] = s
	ts.Defer(func() { _ = s.Close() })
	return s
}

// environment is what a program of a script has for one.
func environment(ts *testscript.TestScript) (env []string) {
	for _, name := range []string{"PATH", "HOME", "TZ", "EMBERD_HOME", "EMBERD_TOKEN", "GOGC"} {
		if v := ts.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// cmdHTTP is "http METHOD PATH [BODY [HEADER: VALUE]…]" over the socket. STATUS is the status then.
func cmdHTTP(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: http METHOD PATH [BODY [HEADER: VALUE]…]")
	}
	for i := range args {
		args[i] = expand(ts, args[i])
	}
	var body io.Reader
	if len(args) > 2 && args[2] != "" {
		body = strings.NewReader(args[2])
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, args[0], "http://emberd"+args[1], body)
	ts.Check(err)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range args[min(3, len(args)):] {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(ts.Getenv("EMBERD_HOME"), "emberd.sock"))
	}}
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(req)
	ts.Check(err)
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	ts.Check(err)
	ts.Setenv("STATUS", strconv.Itoa(res.StatusCode))
	answer(ts, "http "+args[0]+" "+args[1], out, res.StatusCode >= 400, neg)
}

// cmdSeed is "seed [FLAGS] TEXT-OR-FILE": memories as lines of JSON, with times such as @13d.
func cmdSeed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: seed [FLAGS] TEXT-OR-FILE")
	}
	text := args[len(args)-1]
	if !strings.HasPrefix(text, "{") {
		text = ts.ReadFile(text)
	}
	file := ts.MkAbs(".seed.jsonl")
	ts.Check(os.WriteFile(file, []byte(expand(ts, text)), 0o600))
	ts.Check(ts.Exec("emberd", append(append([]string{"import", "jsonl"}, args[:len(args)-1]...), file, "--json")...))
}

// cmdCode is "code N command args…": the command ends with exit code N.
func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command args…")
	}
	got := 0
	err := ts.Exec(args[1], args[2:]...)
	if exited, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exited.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// perform runs a command of a script by its name.
func perform(ts *testscript.TestScript, args []string) {
	switch args[0] {
	case "mcp":
		cmdMCP(ts, false, args[1:])
	case "http":
		cmdHTTP(ts, false, args[1:])
	case "exec":
		ts.Check(ts.Exec(args[1], args[2:]...))
	default:
		ts.Fatalf("unknown command %q", args[0])
	}
}

// cmdFigure is "figure ROW TARGET COMMAND…": it takes down how long the command takes beside the target, "-" for none.
// The machine may be busy with something else, so the row fails from twenty times the target on.
func cmdFigure(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: figure ROW TARGET COMMAND…")
	}
	began := time.Now()
	perform(ts, args[2:])
	took := time.Since(began)
	outcome.Lock()
	defer outcome.Unlock()
	if outcome.figures == nil {
		outcome.figures = map[string]string{}
	}
	outcome.figures[args[0]] = took.Round(100*time.Microsecond).String() + ", target " + args[1]
	if args[1] == "-" {
		return
	}
	target, err := time.ParseDuration(args[1])
	ts.Check(err)
	if took > 20*target {
		ts.Fatalf("%s took %v, more than 20 times %v", args[0], took, target)
	}
}

// cmdUntil is "until PATH OP VALUE -- COMMAND…": it repeats the command until its answer is so.
// The first run of the agents is a minute after the start of a daemon, so it does so for two.
func cmdUntil(ts *testscript.TestScript, neg bool, args []string) {
	at := 0
	for at < len(args) && args[at] != "--" {
		at++
	}
	if neg || at == len(args) {
		ts.Fatalf("usage: until PATH OP VALUE -- http METHOD PATH")
	}
	deadline := time.Now().Add(2 * time.Minute)
	for {
		var out bytes.Buffer
		cmd := exec.Command(filepath.Join(binaries, "emberd"), args[at+1:]...)
		cmd.Env, cmd.Stdout, cmd.Dir = environment(ts), &out, ts.MkAbs(".")
		_ = cmd.Run() // the answer says whether it is so
		why := judgeField(ts, out.Bytes(), args[:at])
		if why == "" {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("not within two minutes: %s", why)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
