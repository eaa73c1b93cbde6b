// Package notify speaks with the service manager that started this process: it takes over
// the sockets that the manager listened on already, and tells it when the process serves,
// reloads, stops and is still well. The protocol is systemd's (sd_notify(3) and
// sd_listen_fds(3)), which other supervisors speak too: datagrams of NAME=value lines to
// the unix socket in NOTIFY_SOCKET, and open sockets from descriptor 3 on.
//
// Without a manager everything here does nothing, so callers need not ask.
package notify

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"emberd/internal/text"
	"emberd/memory"
)

// firstSocket is the descriptor of the first socket handed over, SD_LISTEN_FDS_START, and
// maxSockets bounds how many are believed in.
const (
	firstSocket = 3
	maxSockets  = 16
)

// tellTime is how long the manager may take to let something be told.
const tellTime = 5 * time.Second

// Manager is what started this process; the zero value is nobody. Any number of goroutines
// may share one.
type Manager struct {
	conn     *net.UnixConn // nil for nobody to tell
	watchdog time.Duration
	sockets  []*os.File
	kept     bool
}

// Kept reports whether a parent of this program handed the socket over ([FromParent]).
func (m *Manager) Kept() bool { return m.kept }

// Take reads what the manager left in the environment, and removes it from there: programs
// that this process starts are not the manager's, and a second call finds nothing. The
// connection is made here, so that it stays when the process gives up rights later.
//
// Variables that cannot be what a manager wrote are an error. What is meant for another
// process, by LISTEN_PID or WATCHDOG_PID, is passed over.
func Take() (*Manager, error) {
	env := map[string]string{}
	for _, name := range []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_PID", "LISTEN_FDS",
		"LISTEN_FDNAMES"} {
		env[name] = os.Getenv(name)
		if err := os.Unsetenv(name); err != nil {
			return nil, fmt.Errorf("clear %s: %w", name, err)
		}
	}
	m := &Manager{}
	if err := errors.Join(m.dial(env["NOTIFY_SOCKET"]), m.time(env["WATCHDOG_USEC"], env["WATCHDOG_PID"]),
		m.adopt(env["LISTEN_FDS"], env["LISTEN_PID"])); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// dial connects to the manager. A name that begins with @ is abstract, which net knows too.
func (m *Manager) dial(path string) (err error) {
	if path == "" {
		return nil
	}
	if path[0] != '/' && path[0] != '@' {
		return memory.Errorf(memory.Invalid,
			"invalid NOTIFY_SOCKET %q: not the path of a socket; unset it, or start emberd with the service manager",
			path)
	}
	if m.conn, err = net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"}); err != nil {
		return memory.Errorf(memory.Unavailable, "cannot connect to the service manager at NOTIFY_SOCKET (%w); "+
			"unset NOTIFY_SOCKET, or start emberd with the service manager", err)
	}
	return nil
}

func (m *Manager) time(usec, pid string) error {
	if usec == "" || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return nil
	}
	n, err := strconv.ParseInt(usec, 10, 64)
	if err != nil || n <= 0 || n > int64(1000*time.Hour/time.Microsecond) {
		return memory.Errorf(memory.Invalid,
			"invalid WATCHDOG_USEC %q: not a time in microseconds; unset it, or start emberd with the service manager",
			usec)
	}
	m.watchdog = time.Duration(n) * time.Microsecond
	return nil
}

func (m *Manager) adopt(count, pid string) error {
	if count == "" || !forThis(pid) {
		return nil
	}
	m.kept = strings.HasPrefix(pid, parent)
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 || n > maxSockets {
		return memory.Errorf(memory.Invalid,
			"invalid LISTEN_FDS %q: not a number up to %d; unset it, or start emberd with the service manager", count,
			maxSockets)
	}
	for fd := firstSocket; fd < firstSocket+n; fd++ {
		syscall.CloseOnExec(fd) // or programs that are started would hold it
		m.sockets = append(m.sockets, os.NewFile(uintptr(fd), "socket passed as file descriptor "+strconv.Itoa(fd)))
	}
	return nil
}

// Sockets are those that were handed over, in the manager's order; they are the caller's to
// close, and a second call returns none.
func (m *Manager) Sockets() []*os.File {
	all := m.sockets
	m.sockets = nil
	return all
}

// Close closes what was not taken over.
func (m *Manager) Close() error {
	var errs []error
	for _, f := range m.Sockets() {
		errs = append(errs, f.Close())
	}
	if m.conn != nil {
		errs = append(errs, m.conn.Close())
	}
	return errors.Join(errs...)
}

// Ready says that the process serves, or does so again after a reload. status is one line
// for people, shown by the manager.
func (m *Manager) Ready(status string) error {
	return m.tell("READY=1", "STATUS="+text.OneLine(status))
}

// Reloading says that settings are being read; Ready has to follow.
func (m *Manager) Reloading() error { return m.tell("RELOADING=1") }

// Stopping says that the end has begun.
func (m *Manager) Stopping() error { return m.tell("STOPPING=1") }

// Status changes the line that the manager shows.
func (m *Manager) Status(status string) error { return m.tell("STATUS=" + text.OneLine(status)) }

func (m *Manager) tell(lines ...string) error {
	if m.conn == nil {
		return nil
	}
	// A manager that reads nothing must not hold up the daemon.
	err := m.conn.SetWriteDeadline(time.Now().Add(tellTime))
	if err == nil {
		_, err = m.conn.Write([]byte(strings.Join(lines, "\n")))
	}
	if err != nil {
		return fmt.Errorf("cannot send %s to the service manager: %w", lines[0], err)
	}
	return nil
}

// Watch tells the manager that the process is well for as long as it is, which check finds
// out, and returns when ctx ends; at once when the manager does not want to know. A check
// that fails is not told to the manager, which ends the process when none has succeeded
// for its time. Each check has a third of that, so that one may be slow, and is reported
// to failed when it is not in time.
func (m *Manager) Watch(ctx context.Context, check func(context.Context) error, failed func(error)) {
	if m.conn == nil || m.watchdog == 0 {
		return
	}
	third := m.watchdog / 3
	tick := time.NewTicker(third)
	defer tick.Stop()
	for {
		once, cancel := context.WithTimeout(ctx, third)
		err := check(once)
		cancel()
		if err == nil && ctx.Err() == nil {
			err = m.tell("WATCHDOG=1")
		}
		if ctx.Err() != nil {
			return // also where the manager has stopped reading by then
		}
		if err != nil {
			failed(err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
