package api

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"emberd/internal/admission"
	"emberd/internal/wire"
	"emberd/memory"
)

// limitedListener accepts the connections of one user, and from each process at most its
// share.
type limitedListener struct {
	net.Listener
	whose     func(net.Conn) (peer, error)
	uid       int
	log       *slog.Logger
	limits    *Limits
	most, own int // connections at once, and of one process
	closed    chan struct{}
	ending    atomic.Bool // no request is taken but the first of a connection
	cut       atomic.Bool // requests are broken off
	lastAt    time.Time   // when the last connection is accepted at most; written before ending
	close     func() error

	// Only the goroutine that calls Accept uses these three.
	refused int       // connections of other users
	turned  int       // connections beyond a share
	paused  time.Time // when Accept last paused because of them

	telling chan struct{} // a place for each connection that receives the reason of its refusal

	mu     sync.Mutex // guards what follows
	guests map[*clientConn]struct{}
	counts map[int]int // by process
}

// The rate at which connections are refused: a process that connects in a loop would
// otherwise occupy a processor. In the meantime connections of other processes wait in the
// kernel's queue, which has room for some thousand, for less than a second.
const (
	maxRefusals  = 64
	refusalPause = 25 * time.Millisecond
)

func newLimitedListener(ln net.Listener, uid int, log *slog.Logger) *limitedListener {
	g := &limitedListener{
		Listener: ln, whose: peerOf, uid: uid, log: log, limits: NewLimits(nil),
		closed:  make(chan struct{}),
		telling: make(chan struct{}, 16),
		guests:  make(map[*clientConn]struct{}),
		counts:  make(map[int]int),
	}
	g.most = connsOf(openFiles())
	g.own = min(maxCallerConns, g.most/4)
	g.close = sync.OnceValue(func() error {
		close(g.closed)
		return errors.Join(ln.Close(), g.forget())
	})
	return g
}

// openFiles returns how many files the process may have open: getrlimit(2). Go has raised the
// soft limit to the hard one.
func openFiles() uint64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return limit.Cur
}

// connsOf leaves half of the files that may be open to the log, the indexes and the vault.
func connsOf(files uint64) int {
	return max(32, int(min(files/2, maxConns)))
}

// Accept implements [net.Listener].
func (g *limitedListener) Accept() (net.Conn, error) {
	for {
		conn, err := g.accept()
		if err != nil {
			return nil, err
		}
		p, ok := g.recognize(conn)
		if !ok {
			_ = conn.Close() // of another user
			continue
		}
		if c := g.admit(conn, p); c != nil {
			g.limits.door.Charge(c.key(), connCost)
			return c, nil
		}
		g.refuse(conn, p)
	}
}

func (g *limitedListener) accept() (net.Conn, error) {
	if g.ending.Load() {
		return g.acceptLast()
	}
	conn, err := g.Listener.Accept()
	if err != nil && g.ending.Load() {
		return g.acceptLast()
	}
	return conn, err
}

func (g *limitedListener) recognize(conn net.Conn) (peer, bool) {
	p, err := g.whose(conn)
	if err == nil && p.uid == g.uid {
		return p, true
	}
	g.refused++
	g.limits.counts.refuse(refusedUser)
	g.log.Warn("refused a connection", "uid", p.uid, "pid", p.pid, "refused", g.refused, "err", err)
	return peer{}, false
}

// admit accepts a connection, if necessary in place of another, and returns nil if there is no
// room.
func (g *limitedListener) admit(conn net.Conn, p peer) *clientConn {
	c := &clientConn{Conn: conn, peer: p, gate: g, accepted: time.Now()}
	c.close = sync.OnceValue(func() error {
		g.leave(c)
		c.settle()
		return conn.Close()
	})
	g.mu.Lock()
	loser, ok := g.makeRoom(p)
	if ok {
		g.guests[c] = struct{}{}
		g.counts[p.pid]++
		g.limits.counts.open.Add(1)
	}
	g.mu.Unlock()
	if loser != nil {
		g.limits.counts.closed.Add(1)
		_ = loser.close() // its client sees that it is closed
	}
	if !ok {
		return nil
	}
	g.limits.counts.accepted.Add(1)
	return c
}

// makeRoom returns the connection to close for one more of process p, nil if none has to be.
// ok is false if p must not have one more.
func (g *limitedListener) makeRoom(p peer) (loser *clientConn, ok bool) {
	mine := g.counts[p.pid]
	switch {
	case mine >= g.own:
		return nil, false
	case len(g.guests) < g.most:
		return nil, true
	}
	greedy, most := 0, 0
	for pid, n := range g.counts {
		if n > most {
			greedy, most = pid, n
		}
	}
	if most <= mine+1 {
		return nil, false
	}
	loser = g.leastOf(greedy, waitingRank)
	return loser, loser != nil
}

// How much a connection does, from the least on.
const (
	silentRank  = iota // nothing was ever asked on it
	idleRank           // between requests
	waitingRank        // a request is being read, waits, or is being answered
	runningRank
)

// leastOf returns the connection of a process that does least, and at most rank.
func (g *limitedListener) leastOf(pid, rank int) *clientConn {
	var least *clientConn
	for c := range g.guests {
		if c.peer.pid != pid {
			continue
		}
		if r := c.rank(); r <= rank {
			least, rank = c, r
			if r == silentRank {
				break
			}
		}
	}
	return least
}

func (g *limitedListener) leave(c *clientConn) {
	g.limits.counts.open.Add(-1)
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.guests, c)
	if g.counts[c.peer.pid]--; g.counts[c.peer.pid] <= 0 {
		delete(g.counts, c.peer.pid)
	}
}

// refuse closes a connection beyond a share. It sends the reason first, unless many others
// are receiving theirs.
func (g *limitedListener) refuse(conn net.Conn, p peer) {
	g.limits.door.Charge(admission.Key{PID: p.pid}, connCost)
	g.limits.counts.refuse(refusedConnection)
	select {
	case g.telling <- struct{}{}:
		go func() {
			defer func() { <-g.telling }()
			g.tell(conn)
		}()
	default:
		_ = conn.Close()
	}
	if g.turned++; g.turned%maxRefusals != 0 {
		return
	}
	if early := refusalPause - time.Since(g.paused); early > 0 {
		select {
		case <-time.After(early):
		case <-g.closed:
		}
	}
	g.paused = time.Now()
}

// tell answers the first request on conn, which a client would otherwise consider lost.
func (g *limitedListener) tell(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(refusePause))
	var head []byte
	for part := make([]byte, 4<<10); len(head) < maxHeader && !bytes.Contains(head, []byte("\r\n\r\n")); {
		n, err := conn.Read(part)
		if head = append(head, part[:n]...); err != nil {
			return // the client waits for no answer
		}
	}
	_, _ = conn.Write(g.tooMany())
}

// tooMany returns an answer of HTTP/1.1.
func (g *limitedListener) tooMany() []byte {
	p := problemOf(memory.Errorf(memory.Busy,
		"too many connections (limit %d from this program, %d in total); close some connections and try again", g.own,
		g.most))
	body, _ := wire.Marshal(&p) // strings and a number: this cannot fail
	return []byte("HTTP/1.1 503 " + http.StatusText(http.StatusServiceUnavailable) + "\r\nContent-Type: " +
		typeProblem +
		"\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" +
		string(body))
}

// Close implements [net.Listener]. A second call does nothing.
func (g *limitedListener) Close() error { return g.close() }

// firstWord is how long a new connection may take until the client asks something on it.
const firstWord = 500 * time.Millisecond

// forget closes connections on which nothing was ever asked, new ones after firstWord: their first
// request may be on its way. A shutdown would wait five seconds for them, and clients often open one
// more than they use.
func (g *limitedListener) forget() error {
	g.mu.Lock()
	var silent []*clientConn
	for c := range g.guests {
		if c.spoke.Load() {
			continue
		}
		if young := firstWord - time.Since(c.accepted); young > 0 {
			time.AfterFunc(young, func() {
				if !c.spoke.Load() {
					_ = c.Close() // its client has left it alone
				}
			})
			continue
		}
		silent = append(silent, c)
	}
	g.mu.Unlock()
	var errs []error
	for _, c := range silent {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

type connKey struct{}

// clientConn is an accepted connection.
type clientConn struct {
	net.Conn
	peer     peer
	accepted time.Time
	gate     *limitedListener
	begun    bool // whether Read was called; only the reading goroutine uses it
	spoke    atomic.Bool
	state    atomic.Int32 // an [http.ConnState]
	running  atomic.Bool  // whether a request of it is running
	read     atomic.Int64 // bytes that no request is charged with yet
	close    func() error

	mu    sync.Mutex // guards what follows
	taken int        // requests that were carried out, or are
	busy  bool       // one of them is
	shut  bool       // Close was called
}

func (c *clientConn) key() admission.Key { return admission.Key{PID: c.peer.pid} }

// settle charges the bytes that were read and belong to no request.
func (c *clientConn) settle() {
	if n := c.read.Swap(0); n > 0 {
		c.gate.limits.door.Charge(c.key(), time.Duration(n)*byteCost)
	}
}

func (c *clientConn) rank() int {
	switch {
	case c.running.Load():
		return runningRank
	case !c.spoke.Load():
		return silentRank
	case http.ConnState(c.state.Load()) == http.StateIdle:
		return idleRank
	}
	return waitingRank
}

// Read implements [net.Conn]. The first read waits until the process is within its share,
// so that new connections gain nothing.
func (c *clientConn) Read(b []byte) (int, error) {
	if !c.begun {
		c.begun = true
		c.gate.limits.door.Wait(context.Background(), c.key(), time.Second)
	}
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.read.Add(int64(n))
		if !c.spoke.Load() {
			c.spoke.Store(true)
		}
	}
	return n, err
}

// costOf returns what reading a request has cost.
func costOf(ctx context.Context) time.Duration {
	c, ok := ctx.Value(connKey{}).(*clientConn)
	if !ok {
		return 0
	}
	return time.Duration(c.read.Swap(0)) * byteCost
}

// mark records whether a request is running. The connection of a running request is not
// closed to make room.
func mark(ctx context.Context, running bool) {
	if c, ok := ctx.Value(connKey{}).(*clientConn); ok {
		c.running.Store(running)
	}
}

// CloseWrite lets the server finish an answer before it resets a connection
// whose request it did not read to the end.
func (c *clientConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
