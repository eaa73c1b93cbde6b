package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"emberd/internal/cli"
	"emberd/internal/config"
	"emberd/internal/durable"
	"emberd/internal/notify"
	"emberd/memory"
)

// The sandbox allows the folders that were there when the daemon started, and nothing can allow another one
// later: a disk that is mounted afterwards stays outside. So if a vault is not there, empty, or on another file
// system than the data, two processes run. The keeper is the one that the user or the service manager started. It has
// the socket and starts the daemon, which restricts itself. When the daemon finds its vault outside of the
// sandbox, it ends with exitOutside, and the keeper starts it again. Clients that connect in between wait. Whatever
// ends one of the two ends both: a kill -9 of the keeper is one of the daemon, which a start survives at any point.

// exitOutside is the exit code of a daemon whose keeper is to start it again.
const exitOutside = 88

// keeps reports whether a daemon with these settings runs below a keeper.
func keeps(c *config.Config) bool {
	if c.Sandbox == "off" {
		return false
	}
	for _, dir := range c.Vaults {
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) == 0 || deviceOf(dir) != deviceOf(c.Data) {
			return true
		}
	}
	return false
}

// deviceOf returns the file system of a folder, or of the first one above it that is there.
func deviceOf(dir string) uint64 {
	var st syscall.Stat_t
	for syscall.Stat(dir, &st) != nil && filepath.Dir(dir) != dir {
		dir = filepath.Dir(dir)
	}
	return st.Dev
}

// keeperLock is the file in the state folder that a keeper has locked.
const keeperLock = "keeper.lock"

// afterKeeper waits for the end of a daemon whose keeper was killed. The kernel kills it with the keeper, but it
// may still have its lock for a moment. It waits a second at most, since the holder may be another daemon.
func afterKeeper(ctx context.Context, state string) {
	for range 100 {
		_, kept, err := durable.Holder(filepath.Join(state, keeperLock))
		if kept || err != nil {
			return // its keeper runs, or there never was one
		}
		_, running, err := durable.Holder(filepath.Join(state, "daemon.lock"))
		if !running || err != nil {
			return
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return
		}
	}
}

// keep runs the daemon below this process until it ends for good.
func keep(ctx context.Context, c *config.Config) (err error) {
	if err := os.MkdirAll(c.State, 0o700); err != nil {
		return fmt.Errorf("cannot create the state folder: %w", err)
	}
	lock, err := durable.AcquireLock(filepath.Join(c.State, keeperLock))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	manager, err := notify.Take()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, manager.Close()) }()
	socket, err := openSocket(c.Socket, manager)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, socket.Close()) }()
	relay, err := manager.Relay(func() bool { return ctx.Err() != nil })
	if err != nil {
		return err
	}
	defer relay.Close()
	for {
		code, err := runKept(ctx, socket, relay.Env())
		switch {
		case err != nil:
			return err
		case code == exitOutside && ctx.Err() == nil:
			continue
		case code != 0:
			return &cli.Exit{Code: cli.ExitCode(code)} // the daemon has said why
		}
		return nil
	}
}

// runKept runs the daemon once and returns its exit code.
func runKept(ctx context.Context, socket net.Listener, env []string) (code int, err error) {
	runtime.LockOSThread() // the kernel ends the daemon with the thread that started it
	defer runtime.UnlockOSThread()
	unix, ok := socket.(interface{ File() (*os.File, error) })
	if !ok {
		return 0, memory.Errorf(memory.Internal, "cannot pass the socket to the daemon")
	}
	file, err := unix.File()
	if err != nil {
		return 0, fmt.Errorf("cannot pass the socket to the daemon: %w", err)
	}
	defer file.Close()
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: os.Args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		ExtraFiles: []*os.File{file}, SysProcAttr: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true},
		Env: append(os.Environ(), append(env, "LISTEN_FDS=1", notify.FromParent(os.Getpid()))...)}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("cannot start the daemon: %w", err)
	}
	ended := make(chan struct{})
	signaled := make(chan struct{})
	go func() {
		defer close(signaled)
		stop := ctx.Done()
		for {
			select {
			case <-stop:
				_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
				stop = nil
			case <-hangups:
				_ = cmd.Process.Signal(syscall.SIGHUP)
			case <-ended:
				return
			}
		}
	}()
	err = cmd.Wait()
	close(ended)
	<-signaled
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if exit.ExitCode() < 0 {
			return int(cli.ExitFault), nil
		}
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 0, fmt.Errorf("cannot read the exit status of the daemon: %w", err)
	}
	return 0, nil
}
