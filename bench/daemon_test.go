package bench

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"emberd/api"
	_ "emberd/internal/testutil/ramdisk"
	"emberd/op"
)

// program is emberd as it is shipped, with a home folder of its own.
type program struct{ binary, home string }

// newProgram builds the binary, in make test from the packages of the tests. The folder's name is short because the path of
// a socket has to be.
func newProgram(tb testing.TB) *program {
	tb.Helper()
	dir, err := os.MkdirTemp("/tmp", "em")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			tb.Error(err)
		}
	})
	p := &program{binary: filepath.Join(dir, "emberd"), home: filepath.Join(dir, "h")}
	build := exec.CommandContext(tb.Context(), "go", "build", "-buildvcs=false", "-o", dir,
		"emberd/cmd/emberd", "emberd/cmd/emberd-llama", "emberd/cmd/emberd-eval")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("build: %v\n%s", err, out)
	}
	return p
}

// anew is the same binary with another home folder, which goes with the first one.
func (p *program) anew(name string) *program {
	return &program{binary: p.binary, home: filepath.Join(filepath.Dir(p.home), name)}
}

// command is a call of the program that sees nothing of the caller's settings.
func (p *program) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.binary, append(args, "--home", p.home)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "TZ=UTC"}
	return cmd
}

// eval is a call of emberd-eval, which measures the program.
func (p *program) eval(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.binary+"-eval", args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "TZ=UTC"}
	return cmd
}

// socket is where the program's daemon listens.
func (p *program) socket() string { return filepath.Join(p.home, "emberd.sock") }

// forgetIndex removes the snapshot, so that the next start reads the log.
func (p *program) forgetIndex(tb testing.TB) {
	tb.Helper()
	if err := os.RemoveAll(filepath.Join(p.home, "state", "index")); err != nil {
		tb.Fatal(err)
	}
}

// daemon is a running emberd serve with a client of its socket.
type daemon struct {
	*api.Client
	said     string // the file that has what it says
	cmd      *exec.Cmd
	exited   chan struct{} // closed when the process is gone
	began    time.Time
	answered time.Duration // from exec to the first answer
}

// start runs the daemon, with settings as KEY=VALUE, and waits until its socket answers.
func (p *program) start(tb testing.TB, settings ...string) *daemon {
	tb.Helper()
	d := &daemon{Client: api.NewClient(p.socket(), nil), said: p.home + ".log", exited: make(chan struct{})}
	// Not tb.Context, which ends before the cleanup below can stop it in order.
	args := []string{"serve", "--set", "log.level=warn"}
	for _, s := range settings {
		args = append(args, "--set", s)
	}
	d.cmd = p.command(context.WithoutCancel(tb.Context()), args...)
	said, err := os.OpenFile(d.said, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		tb.Fatal(err)
	}
	defer said.Close()
	d.cmd.Stderr = said
	d.began = time.Now()
	if err := d.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	go func() {
		defer close(d.exited)
		_ = d.cmd.Wait() // the exit code of a daemon that was killed says nothing
	}()
	tb.Cleanup(func() { d.stop(tb, syscall.SIGTERM) })
	d.wait(tb, time.Millisecond, func() bool {
		_, err := op.Version.Call(tb.Context(), d, &op.VersionRequest{})
		return err == nil
	})
	d.answered = time.Since(d.began)
	return d
}

// wait looks every so often, for ten minutes at most, whether done is true.
func (d *daemon) wait(tb testing.TB, every time.Duration, done func() bool) {
	tb.Helper()
	tick := time.NewTicker(every)
	defer tick.Stop()
	deadline := time.After(10 * time.Minute)
	for !done() {
		select {
		case <-tick.C:
		case <-d.exited:
			said, _ := os.ReadFile(d.said)
			tb.Fatalf("the daemon has ended\n%s", said)
		case <-deadline:
			tb.Fatal("gave up waiting for the daemon")
		}
	}
}

// waitIndexed returns when every memory is in the word index.
func (d *daemon) waitIndexed(tb testing.TB) {
	tb.Helper()
	d.wait(tb, 2*time.Millisecond, func() bool { return d.status(tb).Loading == nil })
}

func (d *daemon) status(tb testing.TB) *op.StatusResult {
	tb.Helper()
	return call(tb, d, op.Status, &op.StatusRequest{})
}

// stop sends a signal, to this process and no other, and waits for its end.
func (d *daemon) stop(tb testing.TB, sig os.Signal) {
	tb.Helper()
	d.Close()
	_ = d.cmd.Process.Signal(sig) // the error is that it has ended already
	select {
	case <-d.exited:
	case <-time.After(time.Minute):
		_ = d.cmd.Process.Kill()
		tb.Errorf("the daemon has not ended a minute after %v", sig)
	}
}

// call carries out an operation that has to succeed.
func call[Req, Res any](tb testing.TB, inv op.Invoker, o op.Op[Req, Res], req *Req) *Res {
	tb.Helper()
	res, err := o.Call(tb.Context(), inv, req)
	if err != nil {
		tb.Fatal(err)
	}
	return res
}

// saveAll saves in batches; every item has to be taken.
func saveAll(tb testing.TB, inv op.Invoker, items []op.SaveRequest) {
	tb.Helper()
	for len(items) > 0 {
		n := min(op.MaxBatch, len(items))
		res := call(tb, inv, op.SaveBatch, &op.SaveBatchRequest{Items: items[:n]})
		for _, r := range res.Results {
			if r.Error != nil {
				tb.Fatalf("save: %s", r.Error.Detail)
			}
		}
		items = items[n:]
	}
}

// fill saves n memories of typical length.
func fill(tb testing.TB, inv op.Invoker, p *prose, n int) {
	tb.Helper()
	for n > 0 {
		items := make([]op.SaveRequest, min(op.MaxBatch, n))
		for i := range items {
			items[i].Content = p.text(typicalText)
		}
		saveAll(tb, inv, items)
		n -= len(items)
	}
}
