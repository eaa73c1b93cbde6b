package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/memory"
	"emberd/op"
)

// Faults of the disk under a real daemon. The numbers are those of the fault list
// in docs/internals/durability.md; what needs no process is in package stm.

// tester is a daemon with a client.
type tester struct {
	*api.Client
	t      *testing.T
	home   string
	ended  *daemonProcess
	strace *exec.Cmd // what injects faults, nil without
}

// runDaemonIn starts a daemon whose command line is put behind prefix, which may be a
// shell that prepares its world.
func runDaemonIn(t *testing.T, home string, prefix ...string) *tester {
	t.Helper()
	exe, err := exec.LookPath("emberd")
	if err != nil {
		t.Fatal(err)
	}
	env := cli.ForeignFree(os.Environ())
	d, err := startDaemonAs(t.Context(), append(prefix, exe), home, home+".log", env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.cmd.Process.Kill() })
	c := api.NewClient(filepath.Join(home, "emberd.sock"), nil)
	t.Cleanup(c.Close)
	return &tester{Client: c, t: t, home: home, ended: d}
}

func (d *tester) save(text string) (memory.ID, error) {
	res, err := op.Save.Call(d.t.Context(), d, &op.SaveRequest{Content: text})
	if err != nil {
		return "", err
	}
	return res.Memory.ID, nil
}

func (d *tester) mustSave(text string) memory.ID {
	d.t.Helper()
	id, err := d.save(text)
	if err != nil {
		d.t.Fatalf("save %q: %v", text, err)
	}
	return id
}

func (d *tester) wantRefused(code memory.Code) {
	d.t.Helper()
	if _, err := d.save("refused"); memory.CodeOf(err) != code {
		d.t.Errorf("save: %v, want %s", err, code)
	}
}

func (d *tester) status() *op.StatusResult {
	d.t.Helper()
	res, err := op.Status.Call(d.t.Context(), d, &op.StatusRequest{})
	if err != nil {
		d.t.Fatal(err)
	}
	return res
}

// wantFound searches, which never depends on the disk.
func (d *tester) wantFound(query string) {
	d.t.Helper()
	res, err := op.Search.Call(d.t.Context(), d, &op.SearchRequest{Query: query})
	if err != nil || len(res.Hits) == 0 {
		d.t.Errorf("search for %q: %v, %v; want a hit", query, res, err)
	}
}

// restart ends the daemon in order and starts it without a prefix.
func (d *tester) restart() *tester {
	d.t.Helper()
	if err := d.ended.stop(syscall.SIGTERM); err != nil {
		d.t.Errorf("stop: %v", err)
	}
	return runDaemonIn(d.t, d.home)
}

// wantAll looks for exactly these memories.
func (d *tester) wantAll(ids ...memory.ID) {
	d.t.Helper()
	st := d.status()
	if r := st.Log.Recovery; r.Quarantined+r.Gaps+r.Unknown > 0 || st.Memories != len(ids) {
		d.t.Errorf("%d memories, want %d; recovery %+v", st.Memories, len(ids), r)
	}
	off := false
	for _, id := range ids {
		if _, err := op.Show.Call(d.t.Context(), d, &op.ShowRequest{ID: string(id), Track: &off}); err != nil {
			d.t.Error(err)
		}
	}
}

// segment is the file that the daemon writes to.
func (d *tester) segment() string {
	st := d.status()
	return filepath.Join(st.Data, "stm", st.Device, st.Log.Active)
}

// until asks status until it fits.
func (d *tester) until(what string, fits func(*op.StatusResult) bool) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()
	for {
		res, err := op.Status.Call(ctx, d, &op.StatusRequest{})
		if err != nil {
			d.t.Fatalf("status does not tell of %s: %v", what, err)
		}
		if fits(res) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// inject attaches strace to the daemon, and with it what it is told to inject,
// to calls on the given files only. The result ends that.
func (d *tester) inject(what string, files ...string) (end func()) {
	d.t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		d.t.Skip("strace is missing, with which faults are injected into a real process")
	}
	call, _, _ := strings.Cut(what, ":")
	args := []string{"-f", "-p", strconv.Itoa(d.ended.cmd.Process.Pid), "-e", "trace=" + call, "-e", "inject=" + what, "-o", "/dev/null"}
	for _, f := range files {
		args = append(args, "-P", f)
	}
	cmd := exec.Command("strace", args...)
	said, err := cmd.StderrPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.strace = cmd
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if strings.Contains(lines.Text(), " attached") {
			break
		}
		if strings.Contains(lines.Text(), "not permitted") {
			_ = cmd.Wait()
			d.t.Skip("strace may not attach to another process here: " + lines.Text())
		}
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for lines.Scan() {
		}
	}()
	end = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-drained
		_ = cmd.Wait() // it tells that it was interrupted
	})
	d.t.Cleanup(end)
	return end
}

// Case 6: the answer rests on the segment that synced.
func TestDaemonSurvivesAFailedSync(t *testing.T) {
	t.Parallel()
	d := runDaemonIn(t, filepath.Join(clitest.ShortDir(t), "h"))
	ids := []memory.ID{d.mustSave("before")}
	first := d.segment()
	end := d.inject("fdatasync:error=EIO:when=1", first)
	ids = append(ids, d.mustSave("over a failing sync"))
	if d.segment() == first {
		t.Error("the segment whose sync failed is still written to")
	}
	end()
	ids = append(ids, d.mustSave("after"))
	d.restart().wantAll(ids...)
}

// Case 14: a signal in the middle of a call neither loses nor repeats anything.
// EAGAIN, which a file does not return, is an error like any other.
func TestDaemonSurvivesInterruptedCalls(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{
		"write:error=EINTR:when=1+2", "fdatasync:error=EINTR:when=1+2", "write:error=EAGAIN:when=1",
	} {
		t.Run(fault, func(t *testing.T) {
			d := runDaemonIn(t, filepath.Join(clitest.ShortDir(t), "h"))
			ids := []memory.ID{d.mustSave("before")}
			end := d.inject(fault, d.segment())
			for i := range 5 {
				if id, err := d.save(fmt.Sprint("interrupted ", i)); err == nil {
					ids = append(ids, id)
				} else if !strings.Contains(fault, "EAGAIN") {
					t.Error(err)
				}
			}
			end()
			d.restart().wantAll(ids...)
		})
	}
}

// Case 25: while a sync hangs, its save waits, searches and status do not, and a
// caller who gives up is told that the outcome is open.
func TestDaemonSearchesWhileASyncHangs(t *testing.T) {
	t.Parallel()
	d := runDaemonIn(t, filepath.Join(clitest.ShortDir(t), "h"))
	d.mustSave("lighthouse")
	end := d.inject("fdatasync:delay_enter=60000000:when=1", d.segment())
	ctx, giveUp := context.WithCancel(t.Context())
	hung := make(chan error, 1)
	id, err := memory.NewID()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := op.Save.Call(ctx, d, &op.SaveRequest{ID: id, Content: "hung"})
		hung <- err
	}()
	for range 20 {
		d.wantFound("lighthouse")
		d.status()
	}
	select {
	case err := <-hung:
		t.Errorf("the save was answered with %v while its sync hung", err)
	default:
	}
	giveUp()
	if err := <-hung; err == nil {
		t.Error("a save that was given up succeeded")
	}
	end() // with which the sync goes on
	d.mustSave("after the stall")
	off := false
	if _, err := op.Show.Call(t.Context(), d, &op.ShowRequest{ID: string(id), Track: &off}); err != nil {
		t.Errorf("what synced in the end is not there: %v", err)
	}
}

// Case 26: with no descriptor to spare connections wait, and the daemon lives.
func TestDaemonSurvivesWithFewDescriptors(t *testing.T) {
	t.Parallel()
	d := runDaemonIn(t, filepath.Join(clitest.ShortDir(t), "h"), "sh", "-c", `ulimit -n 32; exec "$0" "$@"`)
	ids := []memory.ID{d.mustSave("before")}
	var clients sync.WaitGroup
	var mu sync.Mutex
	for i := range 60 {
		clients.Go(func() {
			c := api.NewClient(filepath.Join(d.home, "emberd.sock"), nil)
			defer c.Close()
			res, err := op.Save.Call(t.Context(), c, &op.SaveRequest{Content: fmt.Sprint("one of sixty, ", i)})
			if err == nil {
				mu.Lock()
				ids = append(ids, res.Memory.ID)
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	ids = append(ids, d.mustSave("after"))
	d.restart().wantAll(ids...)
}

// Case 28: nothing is written beside, or made anew, in the place of a log that is
// gone; put back, it is used again.
func TestDaemonNoticesThatItsDataIsGone(t *testing.T) {
	t.Parallel()
	d := runDaemonIn(t, filepath.Join(clitest.ShortDir(t), "h"))
	ids := []memory.ID{d.mustSave("lighthouse")}
	data := d.status().Data
	if err := os.Rename(data, data+".away"); err != nil {
		t.Fatal(err)
	}
	d.until("a log that is gone", func(s *op.StatusResult) bool { return s.Health == "read-only" })
	d.wantRefused(memory.ReadOnly)
	d.wantFound("lighthouse")
	if _, err := os.Stat(data); err == nil {
		t.Error("the folder was rebuilt")
	}
	if err := os.Rename(data+".away", data); err != nil {
		t.Fatal(err)
	}
	d.until("a log that is back", func(s *op.StatusResult) bool { return s.Log.ReadOnly == "" })
	ids = append(ids, d.mustSave("after"))
	d.restart().wantAll(ids...)
}

// Case 79: a thousand saves on their way when the end comes. Each is durable or
// refused, and the daemon ends by itself, which it gives itself five seconds for.
func TestDaemonEndsWithAThousandSavesOnTheirWay(t *testing.T) {
	t.Parallel()
	d := runDaemonIn(t, filepath.Join(clitest.ShortDir(t), "h"))
	ids := []memory.ID{d.mustSave("before")}
	d.inject("fdatasync:delay_enter=100000", d.segment())
	var mu sync.Mutex
	refused, once := 0, sync.OnceFunc(func() { _ = d.ended.cmd.Process.Signal(syscall.SIGTERM) })
	var clients sync.WaitGroup
	for i := range 1000 {
		clients.Go(func() {
			id, err := d.save(fmt.Sprint("one of a thousand, ", i))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				refused++
				return
			}
			if ids = append(ids, id); len(ids) > 100 {
				once()
			}
		})
	}
	clients.Wait()
	once()
	select {
	case err := <-d.ended.exited:
		if err != nil {
			t.Errorf("the daemon ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the daemon still runs a minute after its last answer")
	}
	t.Logf("%d acknowledged, %d refused", len(ids), refused)
	if refused == 0 {
		t.Error("all were acknowledged, so the end came too late")
	}
	next := runDaemonIn(t, d.home)
	if got := next.status().Memories; got < len(ids) {
		t.Errorf("%d memories, want the %d acknowledged", got, len(ids))
	}
	off := false
	for _, id := range ids {
		if _, err := op.Show.Call(t.Context(), next, &op.ShowRequest{ID: string(id), Track: &off}); err != nil {
			t.Error(err)
		}
	}
}

// stalls reports whether a save does not come back.
func (d *tester) stalls() bool {
	ctx, cancel := context.WithTimeout(d.t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := op.Save.Call(ctx, d, &op.SaveRequest{Content: "hung too"})
	return err != nil
}

// A disk that does not answer does not keep the daemon from ending.
func TestDaemonEndsWhileASyncHangs(t *testing.T) {
	t.Parallel()
	d := runDaemonIn(t, filepath.Join(clitest.ShortDir(t), "h"))
	first := d.mustSave("before")
	d.inject("fdatasync:delay_enter=60000000", d.segment())
	hung := make(chan error, 1)
	go func() {
		_, err := d.save("hung")
		hung <- err
	}()
	for !d.stalls() {
	}
	if err := d.ended.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-hung; err == nil {
		t.Error("a save that did not reach the disk was acknowledged")
	}
	// A process whose thread is held by strace leaves a husk until that lets go,
	// so its last words tell that it is over. Asked to, strace waits for the husk.
	awaitText(t, d.home+".log", "the daemon did not close the log in time; all acknowledged changes are on disk")
	if err := d.strace.Process.Kill(); err != nil {
		t.Error(err)
	}
	if err := <-d.ended.exited; err == nil {
		t.Error("a log that was not closed is not told with the exit code")
	}
	next := runDaemonIn(t, d.home)
	off := false
	if _, err := op.Show.Call(t.Context(), next, &op.ShowRequest{ID: string(first), Track: &off}); err != nil {
		t.Error(err)
	}
}

// A data folder from which the log is gone is refused, with a way on.
func TestDaemonRefusesAFolderThatLostItsLog(t *testing.T) {
	t.Parallel()
	d := runDaemonIn(t, filepath.Join(clitest.ShortDir(t), "h"))
	d.mustSave("lighthouse")
	data := d.status().Data
	if err := d.ended.stop(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	exe, err := exec.LookPath("emberd")
	if err != nil {
		t.Fatal(err)
	}
	_, err = startDaemon(t.Context(), exe, d.home, d.home+".log", cli.ForeignFree(os.Environ()))
	if err == nil || !strings.Contains(err.Error(), "--accept-empty-data") {
		t.Fatalf("started, or did not say what to do: %v", err)
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("the folder was rebuilt")
	}
	on, err := startDaemon(t.Context(), exe, d.home, d.home+".log", cli.ForeignFree(os.Environ()), "--accept-empty-data")
	if err != nil {
		t.Fatal(err)
	}
	if err := on.stop(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
}
