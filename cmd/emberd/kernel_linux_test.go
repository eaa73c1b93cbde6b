package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/memory"
	"emberd/op"
)

// faultRoundsVar raises at how many places each system call is made to fail.
const faultRoundsVar = "EMBERD_TEST_FAULT_ROUNDS"

// attach traces a daemon from here on until it ends, into the file it returns.
func attach(t *testing.T, d *daemonProcess, options ...string) (trace string) {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is missing; install the package of that name")
	}
	trace = filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command(strace, append([]string{"-f", "-o", trace, "-p", strconv.Itoa(d.serving(t))}, options...)...)
	says, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	lines := bufio.NewScanner(says)
	if !lines.Scan() || !strings.Contains(lines.Text(), "attached") {
		t.Skipf("tracing is not allowed here: %s", lines.Text())
	}
	go func() {
		for lines.Scan() {
		}
	}()
	return trace
}

// serving returns the process that serves: the daemon, or its child if it runs confined to its folders.
func (d *daemonProcess) serving(t *testing.T) int {
	t.Helper()
	pid := d.cmd.Process.Pid
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range threads {
		children, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		if child, _, found := strings.Cut(string(children), " "); found {
			if pid, err = strconv.Atoi(child); err != nil {
				t.Fatal(err)
			}
		}
	}
	return pid
}

// startIn starts a daemon in the world that a shell script makes for it; the
// script ends by running "$@".
func (w *witness) startIn(t *testing.T, prefix ...string) *daemonProcess {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "emberd") // what the test binary must be called
	if err := os.Symlink(w.binary(t), exe); err != nil {
		t.Fatal(err)
	}
	env := append(cli.ForeignFree(os.Environ()), adjustVar+"=small")
	d, err := startDaemonAs(t.Context(), append(prefix, exe), w.home, w.home+".log", env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.cmd.Process.Kill() })
	return d
}

// saves saves one memory after the other and returns how many were answered.
func (w *witness) saves(t *testing.T, n int) int {
	t.Helper()
	client := api.NewClient(filepath.Join(w.home, "emberd.sock"), nil)
	defer client.Close()
	before := w.answers
	for i := range n {
		id, err := memory.NewID()
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("memory %d is %s", i, id)
		w.sent(id, text)
		if _, err := op.Save.Call(t.Context(), client, &op.SaveRequest{ID: id, Content: text}); err == nil {
			w.acknowledged(id, text, func() {})
		} else if memory.CodeOf(err) == memory.Internal {
			t.Errorf("save %d: %v", i, err)
		}
	}
	return w.answers - before
}

// The kernel itself says no, once in each thread, at one after the other of its
// calls of a kind. What was acknowledged is there afterwards.
func TestKernelErrors(t *testing.T) {
	t.Parallel()
	rounds, answers, injected := roundsOf(t, faultRoundsVar, 0), 0, 0
	errnos := []string{"EIO", "ENOSPC", "EINTR"}
	if rounds == 0 {
		rounds, errnos = 1, errnos[:1]
	}
	for _, call := range []string{"fdatasync", "fsync", "write", "openat", "renameat"} {
		for _, errno := range errnos {
			for nth := 1; nth <= rounds; nth++ {
				t.Run(fmt.Sprintf("%s %s %d", call, errno, nth), func(t *testing.T) {
					w := newWitness(uint64(nth), filepath.Join(clitest.ShortDir(t), "h"))
					d := w.start(t)
					trace := attach(t, d, "-e", "trace="+call, "-e", fmt.Sprintf("inject=%s:error=%s:when=%d", call, errno, nth))
					w.saves(t, 20)
					_ = d.stop(syscall.SIGKILL) // the error is that it was killed
					w.start(t)
					w.check(t, nth)
					said, err := os.ReadFile(trace)
					if err != nil {
						t.Error(err)
					}
					answers, injected = answers+w.answers, injected+bytes.Count(said, []byte("(INJECTED)"))
				})
			}
		}
	}
	t.Logf("%d answers, %d injected errors", answers, injected)
}

// From the outside, too, the order is write, sync, answer.
func TestAnswerComesAfterTheSync(t *testing.T) {
	t.Parallel()
	w := newWitness(1, filepath.Join(clitest.ShortDir(t), "h"))
	d := w.start(t)
	trace := attach(t, d, "-y", "-s", "2000", "-e", "trace=write,fdatasync")
	if got := w.saves(t, 10); got != 10 {
		t.Fatalf("%d of 10 saves were answered", got)
	}
	// Of threads that are killed strace may tell the call of another once more.
	if err := d.stop(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	said, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	for id, e := range w.expected {
		if order := orderOf(string(said), e.acknowledged); order != "write sync answer" {
			t.Errorf("memory %s: %s, want write sync answer; of\n%s", id, order, linesWith(string(said), e.acknowledged))
		}
	}
}

// linesWith are the lines of a trace that have a text.
func linesWith(trace, text string) string {
	var out strings.Builder
	for line := range strings.Lines(trace) {
		if strings.Contains(line, text) {
			out.WriteString(line)
		}
	}
	return out.String()
}

var (
	syncEnd   = regexp.MustCompile(`fdatasync\(\d+<[^>]*jsonl>\) += 0|fdatasync resumed>\) += 0`)
	logWrite  = regexp.MustCompile(`write\(\d+<[^>]*\.jsonl>`)
	sockWrite = regexp.MustCompile(`write\(\d+<(socket|UNIX)`)
)

// orderOf says in which order a text was written, synced and answered.
func orderOf(trace, text string) string {
	var order []string
	for line := range strings.Lines(trace) {
		has := strings.Contains(line, text)
		switch {
		case has && logWrite.MatchString(line):
			order = append(order, "write")
		case len(order) == 1 && syncEnd.MatchString(line):
			order = append(order, "sync")
		case has && sockWrite.MatchString(line):
			order = append(order, "answer")
		}
	}
	return strings.Join(order, " ")
}

// A log that may grow no further refuses saves with a code, keeps what it has,
// and half a record is never taken for one.
func TestFileSizeLimit(t *testing.T) {
	t.Parallel()
	w := newWitness(1, filepath.Join(clitest.ShortDir(t), "h"))
	d := w.startIn(t, "sh", "-c", `ulimit -f 60; exec "$@"`, "sh")
	answered := w.saves(t, 200)
	if answered == 0 || answered == 200 {
		t.Errorf("%d of 200 saves were answered, want some and not all", answered)
	}
	_ = d.stop(syscall.SIGKILL) // the error is that it was killed
	w.start(t)
	w.check(t, 1)
	t.Logf("%d saves were answered before the limit", answered)
}

// A file system, in a namespace of the daemon's own, that has no inode left for
// the next segment: the old one goes on.
func TestNoInodeLeftForTheNextSegment(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("unshare", "-Urm", "true").CombinedOutput(); err != nil {
		t.Skipf("unshare cannot make a user namespace here: %v %s", err, out)
	}
	w := newWitness(1, filepath.Join(clitest.ShortDir(t), "h"))
	data := filepath.Join(w.home, "data")
	d := w.startIn(t, "unshare", "-Urm", "sh", "-c", `umask 077; mkdir -p "$0" && mount -t tmpfs -o mode=700,size=64m,nr_inodes=7 none "$0" && exec "$@"`, data)
	if got := w.saves(t, 600); got != 600 {
		t.Errorf("%d of 600 saves were answered", got)
	}
	w.readAll(t)
	inside := fmt.Sprintf("/proc/%d/root%s", d.cmd.Process.Pid, data)
	if err := os.WriteFile(filepath.Join(inside, "one"), nil, 0o600); err == nil {
		if err := os.WriteFile(filepath.Join(inside, "more"), nil, 0o600); err == nil {
			t.Error("there were inodes left, so nothing was tried")
		}
	}
}

// readAll sees that every acknowledged memory can be read.
func (w *witness) readAll(t *testing.T) {
	t.Helper()
	client := api.NewClient(filepath.Join(w.home, "emberd.sock"), nil)
	defer client.Close()
	off := false
	for id, want := range w.expected {
		if want.attempted {
			continue
		}
		res, err := op.Show.Call(context.Background(), client, &op.ShowRequest{ID: string(id), Track: &off})
		if err != nil || res.Memory.Content != want.acknowledged {
			t.Errorf("%s holds %q, %v; want %q", id, res.Memory.Content, err, want.acknowledged)
		}
	}
}
