package notify

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// parent begins the LISTEN_PID of a process that its parent hands a socket to. The parent does not know the
// process ID before the process runs.
const parent = "parent "

// FromParent returns the variable that hands sockets to a child of the process with this ID.
func FromParent(pid int) string { return "LISTEN_PID=" + parent + strconv.Itoa(pid) }

// forThis reports whether what a variable like LISTEN_PID says is meant for this process.
func forThis(pid string) bool {
	from, kept := strings.CutPrefix(pid, parent)
	return kept && from == strconv.Itoa(os.Getppid()) || pid == strconv.Itoa(os.Getpid())
}

// A Relay passes on what a child says to the manager of this process. Without a manager it does nothing. It owns
// one goroutine, until Close.
type Relay struct {
	conn  *net.UnixConn // nil without a manager
	env   []string
	ended chan struct{}
}

// Relay begins to pass on what a child says. A child that stops is passed on only while stops reports that this
// process stops, too.
func (m *Manager) Relay(stops func() bool) (*Relay, error) {
	r := &Relay{ended: make(chan struct{})}
	if m.conn == nil {
		close(r.ended)
		return r, nil
	}
	name := fmt.Sprintf("@emberd-%d-%d", os.Getpid(), time.Now().UnixNano())
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return nil, fmt.Errorf("cannot listen for messages from the daemon: %w", err)
	}
	r.conn, r.env = conn, []string{"NOTIFY_SOCKET=" + name}
	if m.watchdog > 0 {
		r.env = append(r.env, "WATCHDOG_USEC="+strconv.FormatInt(m.watchdog.Microseconds(), 10))
	}
	go r.pass(m, stops)
	return r, nil
}

func (r *Relay) pass(m *Manager, stops func() bool) {
	defer close(r.ended)
	b := make([]byte, 4<<10)
	for {
		n, err := r.conn.Read(b)
		if err != nil {
			return // it was closed
		}
		if !bytes.Contains(b[:n], []byte("STOPPING=1")) || stops() {
			_ = m.tell(string(b[:n])) // a manager that does not listen keeps nothing from running
		}
	}
}

// Env returns the variables of a child whose messages are passed on.
func (r *Relay) Env() []string { return r.env }

// Close ends the relay.
func (r *Relay) Close() error {
	if r.conn == nil {
		return nil
	}
	err := r.conn.Close()
	<-r.ended
	return err
}

// IsKept reports whether Take will find a socket that the parent of this process hands over.
func IsKept() bool {
	return strings.HasPrefix(os.Getenv("LISTEN_PID"), parent) && forThis(os.Getenv("LISTEN_PID"))
}
