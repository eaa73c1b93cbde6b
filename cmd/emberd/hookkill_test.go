package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
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

// wishes are what a person says in a session, a turn each; no two of them are alike.
var wishes = []string{
	"Always run golangci-lint before a commit.", "Never push to the branch release.", "We use pnpm for the web client.",
	"From now on name migrations after their ticket.", "Never log addresses of customers.", "Prefer table tests in this repository.",
	"We use Postgres 16 for the ledger.", "Always write the changelog in English.", "Don't mock the clock, pass it.",
	"We never release on Fridays.", "Always squash fixup commits.", "Don't edit generated files by hand.",
}

// TestHooksAndADaemonThatIsKilled kills the daemon between the events of a session and while it answers them, and has
// turns without one: what the person said is there at the end, once each.
func TestHooksAndADaemonThatIsKilled(t *testing.T) {
	t.Parallel()
	dir := clitest.ShortDir(t)
	home, said := filepath.Join(dir, "h"), filepath.Join(dir, "session.jsonl")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := cli.ForeignFree(os.Environ())
	start := func() *daemonProcess {
		t.Helper()
		d, err := startDaemon(t.Context(), exe, home, home+".log", env)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := start()
	stop := `{"hook_event_name":"Stop","session_id":"s1","cwd":"/","transcript_path":` + jsonOf(said) + `}`
	hook := hookRun{args: []string{"claude-code"}, input: gives(stop)}
	for i, wish := range wishes {
		appendTurn(t, said, i, wish)
		if i%3 == 1 { // while it answers
			victim := d.cmd.Process
			killed := time.AfterFunc(time.Duration(rand.IntN(500))*time.Millisecond, func() { _ = victim.Kill() })
			runHook(t, hook, home)
			killed.Stop()
		} else {
			runHook(t, hook, home)
		}
		if i%3 != 0 { // else the next turn has the daemon that this one had
			_ = d.stop(syscall.SIGKILL) // it may be dead; the error is the signal
		}
		if i%3 == 2 {
			runHook(t, hook, home) // without a daemon
		}
		if i%3 != 0 {
			d = start()
		}
	}
	runHook(t, hook, home)
	t.Cleanup(func() { _ = d.stop(syscall.SIGKILL) })
	client := api.NewClient(filepath.Join(home, "emberd.sock"), nil)
	defer client.Close()
	kept := func() (texts []string) {
		all, err := op.List.Call(t.Context(), client, &op.ListRequest{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all.Memories {
			texts = append(texts, m.Content)
		}
		return texts
	}
	for try := 0; len(kept()) < len(wishes) && try < 10; try++ {
		runHook(t, hook, home) // as the next turn would
	}
	texts := strings.Join(kept(), "\n") + "\n"
	for _, wish := range wishes {
		if n := strings.Count(texts, wish+"\n"); n != 1 {
			t.Errorf("%q is there %d times, want once; all:\n%s", wish, n, texts)
		}
	}
}

// appendTurn adds a turn to a transcript as Claude Code writes it.
func appendTurn(t testing.TB, file string, n int, wish string) {
	t.Helper()
	var b strings.Builder
	for _, said := range [][2]string{{"user", wish}, {"assistant", "Noted."}} {
		role, text := said[0], said[1]
		line, err := json.Marshal(map[string]any{"type": role, "uuid": fmt.Sprintf("%s-%d", role, n), "sessionId": "s1", "cwd": "/",
			"timestamp": time.Date(2026, 3, 4, 10, n, len(role), 0, time.UTC), "message": map[string]any{"role": role,
				"stop_reason": "end_turn", "content": []any{map[string]any{"type": "text", "text": text}}}})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(b.String()); err != nil {
		t.Fatal(err)
	}
}
