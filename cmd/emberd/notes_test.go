package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
)

// An agent writes notes through emberd mcp, and the daemon is killed: what was acknowledged is in the vault, can be
// undone, and a note that the user just saved is left alone.
func TestAnAgentWritesNotes(t *testing.T) {
	t.Parallel()
	dir := clitest.ShortDir(t)
	home, vault := filepath.Join(dir, "h"), filepath.Join(dir, "Notes")
	file := func(name string) string { return filepath.Join(vault, "Agents", name) }
	if err := os.MkdirAll(file(""), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file("User.md"), []byte("the user's\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := cli.ForeignFree(os.Environ())
	start := func() *daemonProcess {
		t.Helper()
		d, err := startDaemon(t.Context(), exe, home, home+".log", env, "--vault", vault, "--set", "vault.agent_folders=Agents")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.cmd.Process.Kill() }) // the error is that it has ended
		return d
	}
	emberd := func(args ...string) string {
		t.Helper()
		return emberdPatiently(t, exe, env, append(args, "--home", home)...)
	}
	d := start()
	a := startAgent(t, home, "--tools", "notes")
	call := func(tool, args string, fails bool) string {
		t.Helper()
		text, failed, err := a.call(tool, args)
		if err != nil || failed != fails {
			t.Fatalf("%s answered %q, %v", tool, text, err)
		}
		return text
	}
	want := func(name, text string) {
		t.Helper()
		if got, err := os.ReadFile(file(name)); string(got) != text || err != nil {
			t.Errorf("%s is %q, %v, want %q", name, got, err, text)
		}
	}
	if text := call("note_append", `{"path":"Agents/User.md","text":"x"}`, true); !strings.Contains(text, "might be open in an editor; try again in") {
		t.Errorf("a note that was just saved: %s", text)
	}
	call("note_write", `{"path":"Agents/Plan","text":"see [[Log]]\n"}`, false)
	call("note_write", `{"path":"Agents/Log","text":"of [[Plan]]\n"}`, false)
	call("note_write", `{"path":"Agents/A/same","text":"x\n"}`, false)
	call("note_write", `{"path":"Agents/B/same","text":"x\n"}`, false)
	if text := call("note_append", `{"path":"same","text":"x"}`, true); !strings.Contains(text, "2 notes have the name") || strings.Contains(text, "same.md") {
		t.Errorf("a name of two notes: %s", text)
	}
	appended := call("note_append", `{"path":"Plan","text":"more"}`, false)
	call("note_move", `{"path":"Plan","to":"Agents/Road map"}`, false)
	_ = d.stop(syscall.SIGKILL) // the error is the signal
	start()
	want("Road map.md", "see [[Log]]\n\nmore\n")
	want("Log.md", "of [[Road map]]\n")
	if text := call("note_context", `{"path":"Road map"}`, false); !strings.Contains(text, "linked from Agents/Log.md\n") {
		t.Errorf("the context is %s", text)
	}
	if text := emberd("undo"); !strings.Contains(text, "undid note.move of 2 notes") || !strings.Contains(text, "Agents/Plan.md") {
		t.Errorf("emberd undo printed %s", text)
	}
	want("Log.md", "of [[Plan]]\n")
	tx := regexp.MustCompile(`[0-9a-f]{12}-[0-9a-f]{4}-vaultlog`).FindString(appended)
	call("memory_undo", `{"tx":"`+tx+`"}`, false)
	want("Plan.md", "see [[Log]]\n")
	want("User.md", "the user's\n")
	if text := emberd("history"); strings.Count(text, "vaultlog") < 6 || !strings.Contains(text, "note.append  1 note") {
		t.Errorf("emberd history printed %s", text)
	}
}

// emberdPatiently runs emberd, again while it says that a note has to rest: a daemon does not know who saved a note
// before it.
func emberdPatiently(t *testing.T, exe string, env []string, args ...string) string {
	t.Helper()
	for {
		cmd := exec.CommandContext(t.Context(), exe, args...)
		cmd.Args[0], cmd.Env = "emberd", env
		out, err := cmd.CombinedOutput()
		if strings.Contains(string(out), "try again in") {
			time.Sleep(time.Second)
			continue
		}
		if err != nil {
			t.Errorf("emberd %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
}
