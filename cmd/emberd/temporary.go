package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"emberd/api"
	"emberd/op"
)

// temporary is a daemon of this program in a folder of its own, free of the
// settings that belong to the user's. It is for one goroutine.
type temporary struct {
	*api.Client
	exe    string
	home   string
	env    []string
	said   bytes.Buffer // read only once the daemon has ended
	daemon *exec.Cmd    // nil while none runs
	exited chan error
}

// startTimeout bounds how long a temporary daemon may take to answer.
const startTimeout = 20 * time.Second

// newTemporary prepares a daemon in home, which exists.
func (s *state) newTemporary(home string) (*temporary, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the program itself: %w", err)
	}
	client := api.NewClient(filepath.Join(home, "emberd.sock"), &api.ClientOptions{Name: "cli", Version: buildVersion()})
	return &temporary{Client: client, exe: exe, home: home, env: append(foreignFree(s.env), "NO_COLOR=1")}, nil
}

// foreignFree leaves out the variables that are settings.
func foreignFree(env []string) []string {
	var out []string
	for _, e := range env {
		if !strings.HasPrefix(e, "EMBERD_") && !strings.HasPrefix(e, "CORTEXGRAPH_") && !strings.HasPrefix(e, "LTM_") {
			out = append(out, e)
		}
	}
	return out
}

// command is a call of the program in the daemon's folder.
func (t *temporary) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, t.exe, append(args, "--home", t.home)...)
	cmd.Args[0] = os.Args[0]
	cmd.Dir = t.home
	cmd.Env = t.env
	return cmd
}

// start runs the daemon and waits until its socket answers.
func (t *temporary) start(ctx context.Context, args ...string) error {
	t.said.Reset()
	t.daemon = t.command(context.WithoutCancel(ctx), append([]string{"serve"}, args...)...)
	t.daemon.Stderr = &t.said
	if err := t.daemon.Start(); err != nil {
		t.daemon = nil
		return fmt.Errorf("start the daemon: %w", err)
	}
	t.exited = make(chan error, 1)
	go func(daemon *exec.Cmd, exited chan<- error) { exited <- daemon.Wait() }(t.daemon, t.exited)
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		if _, err := op.Version.Call(ctx, t, &op.VersionRequest{}); err == nil {
			return nil
		}
		if err := t.alive(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
}

// alive waits a little and fails when the daemon ends meanwhile, or ctx does.
func (t *temporary) alive(ctx context.Context, wait time.Duration) error {
	select {
	case err := <-t.exited:
		t.daemon = nil
		return fmt.Errorf("the daemon ended (%v): %s", err, cmp.Or(strings.TrimSpace(t.said.String()), "it said nothing"))
	case <-ctx.Done():
		return fmt.Errorf("the daemon did not answer: %w", ctx.Err())
	case <-time.After(wait):
		return nil
	}
}

// stop sends a signal and waits for the daemon to end. Only SIGKILL may end it
// otherwise than cleanly.
func (t *temporary) stop(sig syscall.Signal) error {
	if t.daemon == nil {
		return nil
	}
	err := t.daemon.Process.Signal(sig)
	if err == nil {
		err = <-t.exited
	} else {
		<-t.exited // it has ended by itself
	}
	t.daemon = nil
	t.Close()
	if sig == syscall.SIGKILL {
		return nil
	}
	return err
}
