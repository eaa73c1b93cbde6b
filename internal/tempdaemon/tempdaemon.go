// Package tempdaemon runs a daemon of emberd in a folder of its own, for demonstrations and
// measurements: it inherits no setting of the user, and its folder is all that it changes. A
// [Daemon] is for one goroutine.
package tempdaemon

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"emberd/api"
	"emberd/op"
)

// A Daemon is an emberd process in a folder of its own, with the client of its socket.
type Daemon struct {
	*api.Client
	argv   []string // the program and what it is called
	Home   string   // the folder
	env    []string
	output bytes.Buffer // read only once the daemon has ended
	daemon *exec.Cmd    // nil while none runs
	exited chan error
}

// StartTimeout bounds how long a daemon may take to answer.
const StartTimeout = 20 * time.Second

// New prepares a daemon in home, which exists. exe is the file of the program, and name what
// it is called; the settings among the variables in env are left out.
func New(exe, name, home, version string, env []string) *Daemon {
	client := api.NewClient(filepath.Join(home, "emberd.sock"), &api.ClientOptions{Name: "cli", Version: version})
	return &Daemon{Client: client, argv: []string{exe, name}, Home: home, env: append(WithoutSettings(env),
		"NO_COLOR=1")}
}

// WithoutSettings returns the variables that are not settings of emberd.
func WithoutSettings(env []string) []string {
	var out []string
	for _, e := range env {
		if !strings.HasPrefix(e, "EMBERD_") && !strings.HasPrefix(e, "CORTEXGRAPH_") && !strings.HasPrefix(e, "LTM_") {
			out = append(out, e)
		}
	}
	return out
}

// Command returns a call of the program in the daemon's folder.
func (d *Daemon) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, d.argv[0], append(args, "--home", d.Home)...)
	cmd.Args[0] = d.argv[1]
	cmd.Dir = d.Home
	cmd.Env = d.env
	return cmd
}

// Start runs the daemon and waits until its socket answers.
func (d *Daemon) Start(ctx context.Context, args ...string) error {
	d.output.Reset()
	d.daemon = d.Command(context.WithoutCancel(ctx), append([]string{"serve"}, args...)...)
	d.daemon.Stderr = &d.output
	if err := d.daemon.Start(); err != nil {
		d.daemon = nil
		return fmt.Errorf("cannot start the daemon: %w", err)
	}
	d.exited = make(chan error, 1)
	go func(daemon *exec.Cmd, exited chan<- error) { exited <- daemon.Wait() }(d.daemon, d.exited)
	ctx, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	for {
		if _, err := op.Version.Call(ctx, d, &op.VersionRequest{}); err == nil {
			return nil
		}
		if err := d.Alive(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
}

// Alive waits a little and fails when the daemon ends in the meantime, or ctx does.
func (d *Daemon) Alive(ctx context.Context, wait time.Duration) error {
	select {
	case err := <-d.exited:
		d.daemon = nil
		return fmt.Errorf("the daemon exited (%v): %s", err, cmp.Or(strings.TrimSpace(d.output.String()),
			"no output"))
	case <-ctx.Done():
		return fmt.Errorf("the daemon did not answer: %w", ctx.Err())
	case <-time.After(wait):
		return nil
	}
}

// PID returns the process ID of the running daemon.
func (d *Daemon) PID() int { return d.daemon.Process.Pid }

// Stop sends a signal and waits for the daemon to end. Only SIGKILL may end it
// otherwise than cleanly.
func (d *Daemon) Stop(sig syscall.Signal) error {
	if d.daemon == nil {
		return nil
	}
	err := d.daemon.Process.Signal(sig)
	if err == nil {
		err = <-d.exited
	} else {
		<-d.exited // it has ended by itself
	}
	d.daemon = nil
	d.Close()
	if sig == syscall.SIGKILL {
		return nil
	}
	return err
}
