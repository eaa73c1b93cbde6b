package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ended runs a command that must end by itself, and returns its exit code and what it said.
func ended(t *testing.T, in io.Reader, name string, args ...string) (code int, said string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = in
	out, err := cmd.CombinedOutput()
	if exited, ok := errors.AsType[*exec.ExitError](err); ok {
		return exited.ExitCode(), string(out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0, string(out)
}

// TestAPipeWithoutAWriterIsRefused in place of every file that a user names: emberd waited for its
// writer, and heard no signal.
func TestAPipeWithoutAWriterIsRefused(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	pipe := filepath.Join(home, "pipe")
	if err := errors.Join(os.Chmod(home, 0o700), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	for what, args := range map[string][]string{
		"token_file": {"status", "--set", "token_file=" + pipe},
		"key_file": {"serve", "--set", "embedding.key_file=" + pipe, "--set", "embedding.url=http://127.0.0.1:1/v1",
			"--set", "embedding.model=m"},
		"phrases":          {"serve", "--set", "phrases=" + pipe},
		"config":           {"status", "--config", pipe},
		"import jsonl":     {"import", "jsonl", pipe, "--dry-run"},
		"import csv":       {"import", "csv", pipe, "--dry-run"},
		"import claude":    {"import", "claude", pipe, "--dry-run"},
		"import reference": {"import", "reference", pipe, "--dry-run"},
		"a device":         {"import", "jsonl", "/dev/zero", "--dry-run"},
	} {
		code, said := ended(t, nil, "emberd", append(args, "--home", home)...)
		if code != 2 || !strings.Contains(said, "not a regular file; ") {
			t.Errorf("%s: exit code %d, %s", what, code, said)
		}
	}
}

// TestPipesWithAWriterAreRead: stdin, and what a shell passes for <(…). An import from one that never
// ends hears a signal.
func TestPipesWithAWriterAreRead(t *testing.T) {
	t.Parallel()
	home, _ := startHome(t)
	const line = `{"content":"it came by a pipe"}` + "\n"
	for _, from := range []string{"-", "/dev/stdin", "/dev/fd/0"} {
		code, said := ended(t, io.MultiReader(strings.NewReader(line)), "emberd", "import", "jsonl", from, "--home", home)
		if code != 0 || !strings.Contains(said, "of 1 line") {
			t.Errorf("%s: exit code %d, %s", from, code, said)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	cmd := exec.Command("emberd", "import", "jsonl", "/dev/stdin", "--home", home)
	var said bytes.Buffer
	cmd.Stdin, cmd.Stderr = r, &said
	if err := errors.Join(cmd.Start(), r.Close()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond) // for it to begin; before, the signal ends it all the same
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	_ = cmd.Wait()
	early, _ := cmd.ProcessState.Sys().(syscall.WaitStatus) // it had not begun to listen
	if cmd.ProcessState.ExitCode() != 130 && early.Signal() != syscall.SIGINT {
		t.Errorf("an interrupted import ended with %v: %s", cmd.ProcessState, said.String())
	}
}
