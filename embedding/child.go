package embedding

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"emberd/internal/llamawire"
)

// child is a helper process. One goroutine starts it and waits for it, so that it is gone
// from the system's table as soon as it ended, and one other speaks with it. Any goroutine can
// end it, which has the speaker fail.
type child struct {
	cmd     *exec.Cmd
	stdin   *os.File
	replies *os.File
	reader  *bufio.Reader
	printed capture
	started time.Time
	exited  chan struct{}
	state   *os.ProcessState // once exited is closed
	killed  atomic.Bool      // by us
}

// settleTime is how long what an ended helper left open may hold up that it is done with.
const settleTime = time.Second

// helperArgs are those of a helper. It confines itself unless it is told not to.
func helperArgs(unconfined bool, args ...string) []string {
	if unconfined {
		return append(args, "--sandbox", "off")
	}
	return args
}

// startChild starts a helper.
func startChild(helper string, args ...string) (*child, error) {
	c := &child{cmd: exec.Command(helper, args...), exited: make(chan struct{}), started: time.Now()}
	requests, stdin, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", helper, err)
	}
	replies, answers, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", helper, err), requests.Close(), stdin.Close())
	}
	c.stdin, c.replies, c.reader = stdin, replies, bufio.NewReader(replies)
	c.cmd.Dir, c.cmd.Env, c.cmd.SysProcAttr, c.cmd.WaitDelay = "/", helperEnv(os.Environ()), ownProcess(), settleTime
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr, c.cmd.ExtraFiles = requests, &c.printed, &c.printed, []*os.File{answers}
	begun := make(chan error)
	go c.own(begun)
	err = errors.Join(<-begun, requests.Close(), answers.Close())
	if err != nil {
		c.end(0)
		return nil, errors.Join(fmt.Errorf("cannot start the helper: %w", err), c.release())
	}
	return c, nil
}

// own starts the process and waits for its end, from one thread: Linux ends the child
// with the thread that started it.
func (c *child) own(begun chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(c.exited)
	err := c.cmd.Start()
	begun <- err
	if err == nil {
		_ = c.cmd.Wait() // the state says more
		c.state = c.cmd.ProcessState
	}
}

// helperEnv is what of an environment a helper is given: what its libraries look for, such
// as a graphics processor's settings and caches. Tokens and passwords are left out with all
// else, for native code reads a file from elsewhere, and so is what would put other
// libraries into it. A crash is over at once: llama.cpp would start a debugger first.
func helperEnv(env []string) []string {
	out := make([]string, 0, len(env))
	for _, set := range env {
		if name, _, _ := strings.Cut(set, "="); ofHelper(name) {
			out = append(out, set)
		}
	}
	return append(out, "GGML_NO_BACKTRACE=1", "GOTRACEBACK=none")
}

func ofHelper(name string) bool {
	switch name {
	case "HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_DIRS", "XDG_CONFIG_HOME", "XDG_DATA_DIRS", "XDG_DATA_HOME",
		"XDG_RUNTIME_DIR":
		return true
	case "GGML_BACKEND_PATH":
		return false
	}
	return slices.ContainsFunc([]string{"GGML_", "OMP_", "CUDA_", "NVIDIA_", "HIP_", "HSA_", "ROCR_", "VK_", "MESA_",
		"ONEAPI_", "SYCL_", "ZE_", "METAL_", "MTL_"},
		func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// write sends a request.
func (c *child) write(request *llamawire.Request, within time.Duration) error {
	if err := c.stdin.SetWriteDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	return llamawire.Write(c.stdin, request)
}

// read receives a message.
func (c *child) read(message any, within time.Duration) error {
	if err := c.replies.SetReadDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	return llamawire.Read(c.reader, message)
}

// end has the process end, by itself within the grace, and returns when it did.
func (c *child) end(grace time.Duration) {
	_ = c.stdin.Close() // which tells it
	if grace > 0 {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-c.exited:
			return
		case <-timer.C:
		}
	}
	c.kill()
	<-c.exited
}

func (c *child) kill() {
	select {
	case <-c.exited:
	default:
		c.killed.Store(true)
		if c.cmd.Process != nil {
			_ = c.cmd.Process.Kill() // fails only where it has ended
		}
	}
}

// release closes the pipe of an ended child. The goroutine that read its replies calls it.
func (c *child) release() error { return c.replies.Close() }

// exit reports how the process ended: a signal's name, or the status.
func (c *child) exit() string {
	status, ok := c.state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return cmp.Or(unix.SignalName(status.Signal()), status.Signal().String())
	}
	return cmp.Or(c.printed.signal(), fmt.Sprintf("exit status %d", c.state.ExitCode()))
}

// ending is how the process ended, to be set after what it did.
func (c *child) ending() string {
	if c.killed.Load() {
		return ", so emberd killed the process"
	}
	if line := c.printed.reason(); line != "" && !c.fromOutside() { // a signal from outside explains itself
		return fmt.Sprintf(" (%s: %s)", c.exit(), line)
	}
	return " (" + c.exit() + ")"
}

// fromOutside reports an end from outside: by a person, or by a system that
// is short of memory.
func (c *child) fromOutside() bool {
	status, ok := c.state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return false
	}
	switch status.Signal() {
	case unix.SIGKILL, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT:
		return true
	}
	return false
}

const helperName = "emberd-llama"

// FindHelper returns the absolute path of the program emberd-llama, which lies beside
// this one, links resolved.
func FindHelper() (string, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", fmt.Errorf("cannot find %s in the folder of this program: %w", helperName, err)
	}
	helper := filepath.Join(filepath.Dir(self), helperName)
	if info, err := os.Stat(helper); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return "", fmt.Errorf("program %s not found beside %s; install both from one package", helper,
			filepath.Base(self))
	}
	return helper, nil
}
