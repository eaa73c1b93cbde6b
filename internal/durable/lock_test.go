package durable_test

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"emberd/internal/durable"
)

// holdLock takes the lock, says so, and holds it until its standard input ends.
func holdLock(name string) error {
	lock, err := durable.AcquireLock(name)
	if err != nil {
		return err
	}
	fmt.Println("held")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return lock.Close()
}

// startHolder returns a process that holds the lock, and what to close to let it go.
func startHolder(t *testing.T, name string) (*exec.Cmd, io.Closer) {
	t.Helper()
	cmd := child(t, "hold a lock", name)
	stdin, err := cmd.StdinPipe()
	must(t, err)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "held\n" || err != nil {
		t.Fatalf("holder said %q, %v, want %q", line, err, "held\n")
	}
	return cmd, stdin
}

func TestLockBetweenProcesses(t *testing.T) {
	tests := map[string]func(cmd *exec.Cmd, stdin io.Closer) error{
		"until the holder closes it": func(_ *exec.Cmd, stdin io.Closer) error { return stdin.Close() },
		"until the holder dies":      func(cmd *exec.Cmd, _ io.Closer) error { return cmd.Process.Kill() },
	}
	for name, release := range tests {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "daemon.lock")
			holder, stdin := startHolder(t, file)

			if pid, held, err := durable.Holder(file); pid != holder.Process.Pid || !held || err != nil {
				t.Errorf("held by %d, %t, %v, want process %d", pid, held, err, holder.Process.Pid)
			}
			_, err := durable.AcquireLock(file)
			wantCause(t, err, durable.ErrLocked)
			if pid := fmt.Sprintf("process %d", holder.Process.Pid); !strings.Contains(fmt.Sprint(err), pid) {
				t.Errorf("got error %q, want it to name %s", err, pid)
			}

			must(t, release(holder, stdin))
			_ = holder.Wait() // a killed holder has no good exit status
			lock, err := durable.AcquireLock(file)
			must(t, err)
			if got, want := content(t, durable.OS{}, file), strconv.Itoa(os.Getpid())+"\n"; got != want {
				t.Errorf("lock file: got %q, want %q", got, want)
			}
			must(t, lock.Close())
			if _, held, err := durable.Holder(file); held || err != nil {
				t.Errorf("after release it is held: %t, %v", held, err)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("after release: %v, want the file to stay", err)
			}
		})
	}
}

// A child that outlives its parent must not keep the parent's lock.
func TestLockIsNotInherited(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "daemon.lock")
	lock, err := durable.AcquireLock(file)
	must(t, err)
	bystander, stdin := startHolder(t, filepath.Join(dir, "another.lock"))
	must(t, lock.Close())

	again, err := durable.AcquireLock(file)
	must(t, err)
	must(t, again.Close())
	wantCause(t, again.Close(), fs.ErrClosed)
	must(t, stdin.Close())
	must(t, bystander.Wait())
}

// Who looks for a holder shares the lock for an instant, in which a daemon may start.
func TestLookingKeepsNobodyOut(t *testing.T) {
	file := filepath.Join(t.TempDir(), "daemon.lock")
	must(t, os.WriteFile(file, nil, 0o600))
	looking, err := os.Open(file)
	must(t, err)
	must(t, unix.Flock(int(looking.Fd()), unix.LOCK_SH))
	looked := time.AfterFunc(20*time.Millisecond, func() { _ = looking.Close() })
	defer looked.Stop()

	lock, err := durable.AcquireLock(file)
	must(t, err)
	must(t, lock.Close())
}

// The number in the file is for people; the lock does not depend on it.
func TestLockWithoutReadablePID(t *testing.T) {
	for _, written := range []string{"", "somebody", "-1\n"} {
		file := filepath.Join(t.TempDir(), "daemon.lock")
		lock, err := durable.AcquireLock(file)
		must(t, err)
		must(t, os.WriteFile(file, []byte(written), 0o600))
		_, err = durable.AcquireLock(file)
		wantCause(t, err, durable.ErrLocked)
		if want := "lock " + file + ": locked by another process"; fmt.Sprint(err) != want {
			t.Errorf("file says %q: got error %q, want %q", written, err, want)
		}
		must(t, lock.Close())
	}
}

func TestLockNeedsAFile(t *testing.T) {
	_, err := durable.AcquireLock(filepath.Join(t.TempDir(), "missing", "daemon.lock"))
	wantCause(t, err, fs.ErrNotExist)
	pipe := filepath.Join(t.TempDir(), "daemon.lock")
	must(t, unix.Mkfifo(pipe, 0o600)) // which waits for a writer where it is just opened
	for _, name := range []string{os.DevNull, pipe} {
		_, err = durable.AcquireLock(name)
		wantCause(t, err, durable.ErrNotRegular)
		_, _, err = durable.Holder(name)
		wantCause(t, err, durable.ErrNotRegular)
	}
}
