package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/op"
)

// cgroup makes a group of processes that may have so many bytes of memory between them,
// version 2 or 1 of control groups (cgroups(7)). What it returns tells how many of them the
// kernel has killed for want of memory.
func cgroup(t *testing.T, bytes int) (procs string, killed func() string) {
	t.Helper()
	name := fmt.Sprintf("emberd-test-%d", os.Getpid())
	for _, v := range []struct{ root, most, events string }{
		{"/sys/fs/cgroup", "memory.max", "memory.events"},
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.oom_control"},
	} {
		dir := filepath.Join(v.root, name)
		if _, err := os.Stat(filepath.Join(v.root, "cgroup.procs")); err != nil || os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() {
			if err := os.Remove(dir); err != nil {
				t.Error(err)
			}
		})
		if err := os.WriteFile(filepath.Join(dir, v.most), fmt.Append(nil, bytes), 0); err != nil {
			continue // no limits of memory in this hierarchy
		}
		return filepath.Join(dir, "cgroup.procs"), func() string {
			data, err := os.ReadFile(filepath.Join(dir, v.events))
			return fmt.Sprintf("%s %v", data, err)
		}
	}
	t.Skip("needs control groups that limit memory and may be made here, as root may")
	return "", nil
}

// manyWords writes notes of words that are all different, which is what an index of them
// takes most memory for. The last word of each can be searched for.
func manyWords(t *testing.T, vault string, notes, words int) {
	t.Helper()
	if err := os.MkdirAll(vault, 0o700); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(68, 0))
	for i := range notes {
		var text bytes.Buffer
		for range words {
			fmt.Fprintf(&text, "w%x ", rng.Uint64()>>24)
		}
		fmt.Fprintf(&text, "lighthouse%d\n", i)
		if err := os.WriteFile(filepath.Join(vault, fmt.Sprintf("Note %d.md", i)), text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCase68KilledForWantOfMemory is case 68: in a group of 64 MB the kernel kills the
// daemon while it makes the index of notes anew. A daemon that is started afterwards has
// every memory, and finishes the index.
func TestCase68KilledForWantOfMemory(t *testing.T) {
	t.Parallel()
	procs, kills := cgroup(t, 64<<20)
	dir := clitest.ShortDir(t)
	home, vault := filepath.Join(dir, "h"), filepath.Join(dir, "Notes")
	w := newWitness(68, home)
	if err := w.start(t).saveAndStop(t, w, 100); err != nil {
		t.Fatal(err)
	}
	const notes = 80
	manyWords(t, vault, notes, 4000)
	cmd := exec.Command("sh", "-c", `echo $$ >"$0" && exec "$@"`, procs, namedEmberd(t), "serve", "--home", home, "--vault", vault)
	cmd.Env = cli.ForeignFree(os.Environ())
	said, err := cmd.CombinedOutput()
	ended, ok := errors.AsType[*exec.ExitError](err)
	if !ok || ended.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL || !oomKilled.MatchString(kills()) {
		t.Fatalf("the daemon ended with %v: %s; the kernel says %s", err, said, kills())
	}
	d := w.start(t)
	w.check(t, 0)
	if err := d.stop(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	startConfined(t, home, vault)
	client := api.NewClient(filepath.Join(home, "emberd.sock"), nil)
	defer client.Close()
	for _, word := range []string{"lighthouse0", fmt.Sprintf("lighthouse%d", notes-1)} {
		eventually(t, word+" is found", func() bool {
			res, err := op.Search.Call(t.Context(), client, &op.SearchRequest{Query: word})
			return err == nil && len(res.Hits) > 0
		})
	}
}

// oomKilled is what the kernel says of a group once it has killed in it.
var oomKilled = regexp.MustCompile(`oom_kill [1-9]`)

// saveAndStop lets the witness save, and ends the daemon cleanly.
func (d *daemonProcess) saveAndStop(t *testing.T, w *witness, n int) error {
	t.Helper()
	if got := w.saves(t, n); got != n {
		return fmt.Errorf("%d of %d saves were answered", got, n)
	}
	return d.stop(syscall.SIGTERM)
}
