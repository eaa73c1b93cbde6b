package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// clientModules is where npm installs the clients.
const clientModules = "../../tools/clients/node_modules"

// clientRun is one run of a client, in a home of its own.
type clientRun struct {
	*client
	home string // which is the folder it works in, too
	said string // the file that keeps what the client says to the server
	asks string // the prompt
	cmd  *exec.Cmd
	out  bytes.Buffer
}

// start starts the client with a prompt. server is the command that starts its server, and
// extra are more arguments of the client.
func (c *client) start(ctx context.Context, t *testing.T, url string, server []string, extra ...string) *clientRun {
	t.Helper()
	r := &clientRun{client: c, home: t.TempDir(), asks: "Recall what you know."}
	r.said = filepath.Join(r.home, "said")
	words := r.words(url, append([]string{"-c", `tee "$0" | exec "$@"`, r.said}, server...))
	config := filepath.Join(r.home, c.file)
	if err := errors.Join(os.MkdirAll(filepath.Dir(config), 0o700),
		os.WriteFile(config, []byte(words(c.config)), 0o600)); err != nil {
		t.Fatal(err)
	}
	r.launch(ctx, t, slices.Concat(c.args, extra), words)
	return r
}

// launch starts the program in the home of the run, with words put into its arguments and its environment.
func (r *clientRun) launch(ctx context.Context, t *testing.T, args []string, words func(string) string) {
	t.Helper()
	r.cmd = exec.CommandContext(ctx, r.program(t))
	for _, a := range args {
		r.cmd.Args = append(r.cmd.Args, words(a))
	}
	r.cmd.Env = r.environ(words)
	r.cmd.Dir, r.cmd.Stdout, r.cmd.Stderr = r.home, &r.out, &r.out
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.cmd.Cancel = func() error { return syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) } // the whole group
	r.cmd.WaitDelay = 10 * time.Second
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

// environ returns the environment of the client.
func (r *clientRun) environ(words func(string) string) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.home, "NO_COLOR=1"}
	for _, e := range r.env {
		env = append(env, words(e))
	}
	return env
}

// words returns the function that puts the values of a run into a text. args are the arguments of
// the shell that starts the server, and keeps what the client says to it.
func (r *clientRun) words(url string, args []string) func(string) string {
	values := map[string]string{"URL": url, "HOME": r.home, "PROMPT": r.asks,
		"COMMAND": `"sh"`, "ARGS": jsonOf(args), "WORDS": jsonOf(append([]string{"sh"}, args...))}
	return func(text string) string { return os.Expand(text, func(name string) string { return values[name] }) }
}

// program returns the path of the client, and skips the test without it.
func (c *client) program(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(clientModules, c.binary))
	if err != nil || len(found) == 0 {
		t.Skipf("%s is not installed for this machine (no %s in %s): make clients", c.name, c.binary, clientModules)
	}
	path, err := filepath.Abs(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// wait waits for the end of the client, ends what it has left behind, which is an error, and
// returns what it wrote.
func (r *clientRun) wait(t *testing.T) string {
	t.Helper()
	if err := r.cmd.Wait(); err != nil {
		t.Errorf("%s: %v\n%s", r.name, err, r.out.String())
	}
	r.expectNoProcess(t)
	return r.out.String()
}

// expectNoProcess waits until no process of the run is left, for a quarter of a minute, and
// kills what is left then.
func (r *clientRun) expectNoProcess(t *testing.T) {
	t.Helper()
	end := time.Now().Add(15 * time.Second)
	for len(r.processes()) > 0 && time.Now().Before(end) {
		time.Sleep(20 * time.Millisecond)
	}
	for pid, words := range r.processes() {
		t.Errorf("%s leaves process %d: %s", r.name, pid, words)
		_ = syscall.Kill(pid, syscall.SIGKILL) // the error is that it has ended
	}
}

// hasCalled reports whether the client has called a tool.
func (r *clientRun) hasCalled() bool {
	text, err := os.ReadFile(r.said)
	return err == nil && bytes.Contains(text, []byte(`"tools/call"`))
}

// processes returns the processes that have the home of the run in their command or their
// environment, and their commands.
func (r *clientRun) processes() map[int]string {
	found := map[int]string{}
	folders, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	for _, folder := range folders {
		words, _ := os.ReadFile(filepath.Join(folder, "cmdline")) // a process that has ended has none
		env, _ := os.ReadFile(filepath.Join(folder, "environ"))
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err == nil && len(words) > 0 && bytes.Contains(append(words, env...), []byte(r.home)) {
			found[pid] = strings.ReplaceAll(string(words), "\x00", " ")
		}
	}
	return found
}

// sdkName is the name and version that a client gives a server.
type sdkName struct{ Name, Version string }

// claims returns what the client called itself in its first message to the server: in the
// handshake, or since protocol 2026-07-28 beside each request.
func (r *clientRun) claims(t *testing.T) sdkName {
	t.Helper()
	text, err := os.ReadFile(r.said)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	var message struct {
		Params struct {
			ClientInfo sdkName
			Meta       struct {
				ClientInfo sdkName `json:"io.modelcontextprotocol/clientInfo"`
			} `json:"_meta"`
		}
	}
	if err := json.Unmarshal(first, &message); err != nil {
		t.Fatalf("%s begins with %s: %v", r.name, first, err)
	}
	if message.Params.Meta.ClientInfo.Name != "" {
		return message.Params.Meta.ClientInfo
	}
	return message.Params.ClientInfo
}

// pinned returns the version of the client that npm was told to install.
func (c *client) pinned(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(clientModules, c.pkg, "package.json"))
	if err != nil {
		t.Skipf("%s is not installed (%v): make clients", c.name, err)
	}
	var pkg struct{ Version string }
	if err := json.Unmarshal(text, &pkg); err != nil || pkg.Version == "" {
		t.Fatal(fmt.Errorf("no version of %s: %w", c.pkg, err))
	}
	return pkg.Version
}
