package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"emberd/internal/testutil/clitest"
)

// hookRun is a run of emberd hook, and what it is given.
type hookRun struct {
	name  string
	args  []string // after "hook"
	input func(t *testing.T, in *os.File)
	env   []string
	home  func(t *testing.T) string
}

const (
	promptEvent = `{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/","prompt":"Which port has staging?"}`
	turnEvent   = `{"hook_event_name":"Stop","session_id":"s","cwd":"/","transcript_path":"/none.jsonl","last_assistant_message":"x"}`
)

// gives writes a text and closes the input.
func gives(text string) func(*testing.T, *os.File) {
	return func(_ *testing.T, in *os.File) {
		_, _ = in.WriteString(text) // a hook need not read it all
		_ = in.Close()
	}
}

// holds writes a text and does not close the input.
func holds(text string) func(*testing.T, *os.File) {
	return func(t *testing.T, in *os.File) {
		_, _ = in.WriteString(text)
		t.Cleanup(func() { _ = in.Close() })
	}
}

// endless writes until the hook is gone.
func endless(_ *testing.T, in *os.File) {
	piece := bytes.Repeat([]byte("x"), 1<<20)
	for {
		if _, err := in.Write(piece); err != nil {
			_ = in.Close()
			return
		}
	}
}

// bareHome is a home without a daemon.
func bareHome(t *testing.T) string {
	home := filepath.Join(clitest.ShortDir(t), "h")
	if err := os.MkdirAll(filepath.Join(home, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	return home
}

// deadHome has the socket of a daemon that was killed.
func deadHome(t *testing.T) string {
	home := bareHome(t)
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(home, "emberd.sock"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	ln.SetUnlinkOnClose(false)
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	return home
}

// hungHome has a socket that takes connections and never answers.
func hungHome(t *testing.T) string {
	home := bareHome(t)
	ln, err := net.Listen("unix", filepath.Join(home, "emberd.sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return home
}

// foreignHome has something at the socket that is no daemon.
func foreignHome(t *testing.T) string {
	home := bareHome(t)
	ln, err := net.Listen("unix", filepath.Join(home, "emberd.sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("220 mail ready\r\n"))
			_ = conn.Close()
		}
	}()
	return home
}

// closedHome cannot be written.
func closedHome(t *testing.T) string {
	home := bareHome(t)
	state := filepath.Join(home, "state")
	if err := os.Chmod(state, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(state, 0o700) })
	return home
}

// fullHome has a spool that takes nothing, as a full disk.
func fullHome(t *testing.T) string {
	home := bareHome(t)
	if err := os.Mkdir(filepath.Join(home, "state", "hooks"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", filepath.Join(home, "state", "hooks", "spool.jsonl")); err != nil {
		t.Fatal(err)
	}
	return home
}

// brokenHome has settings that cannot be read.
func brokenHome(t *testing.T) string {
	home := bareHome(t)
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte("nonsense: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

func hookRuns() []hookRun {
	deep := `{"session_id":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`
	huge := `{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"` + strings.Repeat("x", 16<<20) + `"}`
	claude := []string{"claude-code"}
	return []hookRun{
		{"no daemon, prompt", claude, gives(promptEvent), nil, bareHome},
		{"no daemon, turn", claude, gives(turnEvent), nil, bareHome},
		{"dead daemon", claude, gives(promptEvent), nil, deadHome},
		{"hung daemon, prompt", claude, gives(promptEvent), nil, hungHome},
		{"hung daemon, end", claude, gives(strings.Replace(turnEvent, "Stop", "SessionEnd", 1)), nil, hungHome},
		{"no daemon of ours", claude, gives(promptEvent), nil, foreignHome},
		{"open input", claude, holds(promptEvent), nil, bareHome},
		{"half an input", claude, holds(promptEvent[:40]), nil, bareHome},
		{"silent input", claude, holds(""), nil, bareHome},
		{"empty input", claude, gives(""), nil, bareHome},
		{"endless input", claude, endless, nil, bareHome},
		{"16 MiB of input", claude, gives(huge), nil, bareHome},
		{"broken input", claude, gives("{]\x00\xff"), nil, bareHome},
		{"deep input", claude, gives(deep), nil, bareHome},
		{"an unknown agent", []string{"nobody"}, gives(promptEvent), nil, bareHome},
		{"an unknown event", []string{"claude-code", "Nonsense"}, gives(promptEvent), nil, bareHome},
		{"unknown flags", []string{"--nonsense", "claude-code", "--home"}, gives(promptEvent), nil, bareHome},
		{"hooks off", claude, gives(promptEvent), []string{"EMBERD_HOOKS=off"}, hungHome},
		{"a broken setting", claude, gives(turnEvent), nil, brokenHome},
		{"an unknown variable", claude, gives(turnEvent), []string{"EMBERD_NONSENSE=1"}, bareHome},
		{"no token", claude, gives(turnEvent), []string{"EMBERD_TOKEN="}, bareHome},
		{"a state that cannot be written", claude, gives(turnEvent), nil, closedHome},
		{"a full disk", claude, gives(turnEvent), nil, fullHome},
		{"no home", claude, gives(turnEvent), nil, func(t *testing.T) string { return filepath.Join(t.TempDir(), "none", "\n") }},
	}
}

// Whatever an agent and its machine do, a hook ends with status 0, says nothing on stderr, and on
// stdout nothing or one JSON object.
func TestHookNeverFails(t *testing.T) {
	t.Parallel()
	for _, r := range hookRuns() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			home := r.home(t)
			out := runHook(t, r, home)
			if len(out) > 0 {
				t.Errorf("without a daemon the hook answers %s", out)
			}
		})
	}
}

// runHook runs a hook, checks how it ends, and returns what it wrote.
func runHook(t *testing.T, r hookRun, home string) []byte {
	t.Helper()
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "emberd", append([]string{"hook", "--home", home}, r.args...)...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = in, &out, &errs, append(os.Environ(), r.env...)
	started := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	written := make(chan struct{})
	go func() {
		defer close(written)
		r.input(t, w)
	}()
	err = cmd.Wait()
	t.Logf("ended after %v", time.Since(started))
	<-written
	if err != nil || errs.Len() > 0 {
		t.Errorf("the hook ended with %v and said %s", err, errs.String())
	}
	var object map[string]any
	if out.Len() > 0 && json.Unmarshal(out.Bytes(), &object) != nil {
		t.Errorf("the answer is no JSON object: %s", out.String())
	}
	return out.Bytes()
}

// An agent that reads no answer, and has no input or output at all, gets status 0, too.
func TestHookWithoutEnds(t *testing.T) {
	t.Parallel()
	home := bareHome(t)
	for _, line := range []string{
		`emberd hook --home %q claude-code <&- >&- 2>&-`,
		`emberd hook --home %q claude-code </dev/null >/dev/full`,
		`emberd hook --home %q claude-code <. >/dev/null`,
		`echo '{"hook_event_name":"Stop","session_id":"s"}' | { emberd hook --home %q claude-code; } | :`,
	} {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", fmt.Sprintf(line, home)).CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("%s: %v, %s", line, err, out)
		}
	}
}

// A turn that no daemon took is one line that names the transcript.
func TestHookSpoolsTheTurn(t *testing.T) {
	t.Parallel()
	home := hungHome(t)
	runHook(t, hookRun{args: []string{"claude-code"}, input: gives(turnEvent)}, home)
	got, err := os.ReadFile(filepath.Join(home, "state", "hooks", "spool.jsonl"))
	want := `{"agent":"claude-code","event":"turn","session":"s","folder":"/","path":"/none.jsonl"}` + "\n"
	if err != nil || string(got) != want {
		t.Errorf("the spool has %s (%v), want %s", got, err, want)
	}
}

// People who ask are told what it is.
func TestHookHelp(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "emberd", "hook", "--help").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "hook event from a coding agent") {
		t.Errorf("%v, %s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), "emberd", "hook").CombinedOutput(); err == nil || !strings.Contains(string(out), "requires an agent") {
		t.Errorf("without an agent: %v, %s", err, out)
	}
}

// BenchmarkHook runs a hook at a prompt from its start to its end, without a daemon.
func BenchmarkHook(b *testing.B) {
	home := filepath.Join(b.TempDir(), "h")
	for b.Loop() {
		cmd := exec.CommandContext(b.Context(), "emberd", "hook", "--home", home, "claude-code")
		cmd.Stdin = strings.NewReader(promptEvent)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			b.Fatalf("%v: %s", err, out)
		}
	}
}
