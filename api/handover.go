package api

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"emberd/internal/wire"
	"emberd/memory"
)

// A daemon that stops answers every request that it took. What it did not take, it refuses with status 408,
// which tells the client that nothing was done and that it can send the request again on another connection
// (RFC 9110, section 15.5.9). So a request that crosses the end of a connection is never in doubt.

// At the end, connections that wait in the kernel's queue are accepted: until the kernel says that there is none, or,
// where it does not, until none came for lastAccept lastAccepts times in a row. On a busy machine one such time can
// pass before the queue is looked at. lastTime bounds it, if others go on to connect.
const (
	lastAccept  = 10 * time.Millisecond
	lastAccepts = 3
	lastTime    = 200 * time.Millisecond
)

// errNotTaken is a request that the daemon refused unread, because it stops.
var errNotTaken = errors.New("the daemon is stopping and did not accept the request")

// notTaken returns the answer to a request that was not taken: an answer of HTTP/1.1, and its body.
func notTaken() (whole, body []byte) {
	p := problemOf(refuse(http.StatusRequestTimeout, memory.Errorf(memory.Unavailable,
		"the daemon is stopping and did not accept the request; send it again when the daemon is running")))
	body, _ = wire.Marshal(&p) // strings and a number: this cannot fail
	head := "HTTP/1.1 408 " + http.StatusText(http.StatusRequestTimeout) + "\r\nContent-Type: " + typeProblem +
		"\r\nConnection: close\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n"
	return append([]byte(head), body...), body
}

// finish begins the end: requests that begin on a connection that had one before are refused, and no new
// connections come in but those that wait already. The server's Accept ends soon after.
func (g *limitedListener) finish() {
	g.lastAt = time.Now().Add(lastTime)
	g.ending.Store(true)
	if own, ok := g.Listener.(*socket); !ok || own.refuse() != nil {
		_ = g.Listener.Close() // Close returns the error; the queue of an inherited socket is the next daemon's
	}
}

// refuse has the kernel refuse new connections, by the socket itself and, where that is not possible or not allowed,
// by the removal of its file. It wakes Accept.
func (s *socket) refuse() error {
	sys, err := s.SyscallConn()
	if err != nil {
		return err
	}
	// On Linux, a listening socket that is shut down refuses connections, and hands out those that wait.
	_ = sys.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_RD) })
	return errors.Join(s.remove(), s.SetDeadline(time.Now()))
}

// acceptLast returns the next connection that waits in the queue, or [net.ErrClosed].
func (g *limitedListener) acceptLast() (net.Conn, error) {
	own, ok := g.Listener.(*socket)
	for n := 0; ok && n < lastAccepts && time.Now().Before(g.lastAt); n++ {
		if own.SetDeadline(time.Now().Add(lastAccept)) != nil {
			break
		}
		conn, err := own.Accept()
		if err == nil {
			return conn, nil
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
	}
	return nil, net.ErrClosed
}

// left waits until every connection is closed, or ctx ends.
func (g *limitedListener) left(ctx context.Context) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for g.connections() > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (g *limitedListener) connections() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.guests)
}

// once refuses what begins on a connection that is closed already, or that answered a request before the end
// came: the server may close such a connection at any moment.
func once(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, ok := r.Context().Value(connKey{}).(*clientConn)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		switch taken, open := c.take(); {
		case !open:
			panic(http.ErrAbortHandler) // Close has answered
		case !taken:
			_, body := notTaken()
			w.Header().Set("Connection", "close")
			answer(w, http.StatusRequestTimeout, typeProblem, body)
		default:
			defer c.done()
			next.ServeHTTP(w, r)
		}
	})
}

// take reports whether a request of the connection is carried out, and whether the connection is open.
func (c *clientConn) take() (taken, open bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shut || c.taken > 0 && c.gate.ending.Load() {
		return false, !c.shut
	}
	c.taken++
	c.busy = true
	return true, true
}

// done ends a request that was taken.
func (c *clientConn) done() {
	c.mu.Lock()
	c.busy = false
	c.mu.Unlock()
}

// Close implements [net.Conn]. At the end, it first refuses the request that may be on its way, unless one is
// being carried out.
func (c *clientConn) Close() error {
	c.mu.Lock()
	last := c.gate.ending.Load() && !c.gate.cut.Load() && !c.busy && !c.shut
	c.shut = true
	c.mu.Unlock()
	if last {
		c.farewell()
	}
	return c.close()
}

// farewell writes what notTaken returns, if the client takes it at once.
func (c *clientConn) farewell() {
	raw, ok := c.Conn.(*net.UnixConn)
	if !ok {
		return
	}
	sys, err := raw.SyscallConn()
	if err != nil {
		return
	}
	whole, _ := notTaken()
	_ = sys.Write(func(fd uintptr) bool { // about a client that is gone nothing can be done
		_, _ = unix.Write(int(fd), whole)
		return true
	})
}
