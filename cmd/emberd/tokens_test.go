package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/memory"
	"emberd/op"
)

// mintIn makes a token for what is tagged work, and keeps it in a file that is returned.
func mintIn(t *testing.T, c *api.Client, name string) (file, secret string) {
	t.Helper()
	res, err := op.TokenCreate.Call(t.Context(), c, &op.TokenCreateRequest{Name: name, Write: []string{"tag:work"}})
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(res.Secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, res.Secret
}

// TestAnAgentShowsItsToken: emberd mcp is known by it, and from its revocation on is told
// why nothing works any more.
func TestAnAgentShowsItsToken(t *testing.T) {
	t.Parallel()
	home, _ := startHome(t)
	c := api.NewClient(filepath.Join(home, "emberd.sock"), nil)
	defer c.Close()
	file, secret := mintIn(t, c, "work")
	byFile := startAgent(t, home, "--set", "token_file="+file)
	byVariable := newAgent(t, home)
	byVariable.cmd.Env = append(byVariable.cmd.Env, cli.EnvToken+"="+secret)
	byVariable.start(t)
	byVariable.greet(t)
	for name, a := range map[string]*agent{"a file": byFile, "a variable": byVariable} {
		if text, failed := a.save(t, "what is at work, by "+name); failed {
			t.Fatalf("%s: %s", name, text)
		}
		journal, err := op.Journal.Call(t.Context(), c, &op.JournalRequest{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if by := journal.Entries[0].By; by.Token != "work" || by.Via != "mcp" || by.PID != a.cmd.Process.Pid {
			t.Errorf("%s: saved by %+v, want the token work by process %d", name, by, a.cmd.Process.Pid)
		}
	}
	if _, err := op.TokenRevoke.Call(t.Context(), c, &op.TokenRevokeRequest{Name: "work"}); err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]*agent{"a file": byFile, "a variable": byVariable} {
		if text, failed := a.save(t, "what came too late"); !failed || !strings.Contains(text, "token work was revoked; ask the user to run: emberd agent token create") {
			t.Errorf("%s: save_memory says %s (error %v), want that the token was revoked", name, text, failed)
		}
	}
	stats, err := op.Stats.Call(t.Context(), c, &op.StatsRequest{})
	if err != nil || stats.Total != 2 {
		t.Errorf("%+v, %v; want the two memories from before", stats, err)
	}
}

// TestSecretsOfTokensAreNowhere but with who was given them: not in what the daemon keeps,
// says or logs.
func TestSecretsOfTokensAreNowhere(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(clitest.ShortDir(t), "h")
	d, err := startDaemon(t.Context(), exe, home, home+".log", cli.ForeignFree(os.Environ()), "--set", "log.level=debug")
	if err != nil {
		t.Fatal(err)
	}
	c := api.NewClient(filepath.Join(home, "emberd.sock"), nil)
	defer c.Close()
	file, shown := mintIn(t, c, "shown")
	_, revoked := mintIn(t, c, "revoked")
	if text, failed := startAgent(t, home, "--set", "token_file="+file).save(t, "what is at work"); failed {
		t.Fatal(text)
	}
	if _, err := op.TokenRevoke.Call(t.Context(), c, &op.TokenRevokeRequest{Name: "revoked"}); err != nil {
		t.Fatal(err)
	}
	late := api.NewClient(filepath.Join(home, "emberd.sock"), &api.ClientOptions{Token: revoked})
	defer late.Close()
	if _, err := op.List.Call(t.Context(), late, &op.ListRequest{}); memory.CodeOf(err) != memory.Forbidden {
		t.Errorf("with a token that was revoked: %v", err)
	}
	var said bytes.Buffer
	for _, args := range [][]string{{"token", "list", "--json"}, {"token", "list"}, {"status", "--json"}, {"history", "--json"}, {"config", "--json"}, {"doctor"}} {
		cmd := exec.CommandContext(t.Context(), exe, append(args, "--home", home)...)
		cmd.Args[0], cmd.Env, cmd.Stdout, cmd.Stderr = "emberd", cli.ForeignFree(os.Environ()), &said, &said
		if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != int(cli.ExitNothing) {
			t.Errorf("%q: %v", args, err)
		}
	}
	if err := d.stop(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	files := map[string][]byte{"what commands say": said.Bytes()}
	err = filepath.WalkDir(filepath.Dir(home), func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			files[path], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil || !bytes.Contains(files[home+".log"], []byte("token made")) || !bytes.Contains(said.Bytes(), []byte(`"shown"`)) {
		t.Fatalf("%v; of %d files", err, len(files))
	}
	for name, text := range files {
		for _, secret := range []string{shown, revoked} {
			if bytes.Contains(bytes.ToUpper(text), []byte(strings.ToUpper(secret[len("emberd_"):][:20]))) {
				t.Errorf("%s has a secret, or most of one", name)
			}
		}
	}
}
