package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"emberd/internal/durable"
	"emberd/internal/text"
)

// lockFile is what a daemon holds in the state folder as long as it lives.
const lockFile = "daemon.lock"

// Holder returns the process that holds the folders, 0 if it did not leave its number; held tells
// whether there is one.
func Holder(p *Places) (pid int, held bool, err error) {
	pid, held, err = durable.Holder(filepath.Join(p.State, lockFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	return pid, held, err
}

// Socket looks at a socket at which no daemon answered.
func Socket(p *Places) []Finding {
	info, err := os.Lstat(p.Socket)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	f := Finding{Area: "socket", Severity: Error}
	switch {
	case err != nil:
		f.Code, f.Text, f.Next = "socket-unknown", fmt.Sprintf("cannot access the socket %s: %v", p.Socket, err),
			"ls -ld "+text.ShellWord(filepath.Dir(p.Socket))
	case info.Mode().Type() != fs.ModeSocket:
		f.Code, f.Next = "socket-blocked", "mv "+text.ShellWord(p.Socket)+" "+text.ShellWord(p.Socket+".aside")
		f.Text = fmt.Sprintf("%s has the path of the socket but is not a socket, so the daemon does not start",
			p.Socket)
	case isDead(p.Socket):
		f.Severity, f.Code, f.Next = Warning, "socket-dead", "rm "+text.ShellWord(p.Socket)
		f.Text = fmt.Sprintf("no program listens on socket %s; a killed daemon did not remove it", p.Socket)
		if filepath.Dir(p.Socket) == filepath.Dir(p.Config) { // which a daemon in its sandbox may not change
			f.Severity, f.Next = Note, ""
			f.Text = fmt.Sprintf("the socket %s is from the previous daemon; the daemon replaces it at the next start",
				p.Socket)
		}
		f.Fix = func(context.Context) (string, error) { return removeDead(p) }
	default:
		return nil
	}
	return []Finding{f}
}

// isDead reports whether no process listens on a socket. Every other failure can be a running
// daemon.
func isDead(path string) bool {
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		_ = conn.Close() // nothing was said
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// removeDead removes the socket under the lock, so that no daemon opens it in the meantime.
func removeDead(p *Places) (string, error) {
	if err := durable.MkdirAll(durable.OS{}, p.State); err != nil {
		return "", err
	}
	lock, err := durable.AcquireLock(filepath.Join(p.State, lockFile))
	if err != nil {
		return "", err
	}
	if isDead(p.Socket) {
		err = os.Remove(p.Socket)
	}
	if err = errors.Join(err, lock.Close()); err != nil {
		return "", err
	}
	return "removed " + p.Socket, nil
}
