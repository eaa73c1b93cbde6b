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

// gate is a listener that lets in the connections of one user, and of each process no
// more than its share.
type gate struct {
	net.Listener
	whose     func(net.Conn) (peer, error) // nil lets in everybody, and nobody knows who
	uid       int
	log       *slog.Logger
	limits    *Limits
	most, own int // connections at once, and of one process
	closed    chan struct{}
	close     func() error

	refused int       // connections of others; only Accept touches what is here
	turned  int       // connections beyond a share
	paused  time.Time // when it last had turned away many

	telling chan struct{} // a place for each connection that is being told why it is turned away

	mu     sync.Mutex // guards what follows
	guests map[*guest]struct{}
	counts map[int]int // by process
}

// The pace at which connections are turned away: one process that connects in a loop would
// otherwise take a processor for it. Those of others wait in the kernel's queue meanwhile,
// which holds some thousand, so for less than a second.
const (
	turnedAtOnce = 64
	turnedPause  = 25 * time.Millisecond
)

func newGate(ln net.Listener, uid int, log *slog.Logger) *gate {
	g := &gate{
		Listener: ln, whose: peerOf, uid: uid, log: log, limits: NewLimits(nil),
		closed:  make(chan struct{}),
		telling: make(chan struct{}, 16),
		guests:  make(map[*guest]struct{}),
		counts:  make(map[int]int),
	}
	g.most = connsOf(openFiles())
	g.own = min(maxOwnConns, g.most/4)
	g.close = sync.OnceValue(func() error {
		close(g.closed)
		return errors.Join(ln.Close(), g.dismiss())
	})
	return g
}

// openFiles is how many files the process may have open: getrlimit(2). Go has raised the
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
func (g *gate) Accept() (net.Conn, error) {
	for {
		conn, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		who, ok := g.recognise(conn)
		if !ok {
			_ = conn.Close() // it was never ours
			continue
		}
		if c := g.admit(conn, who); c != nil {
			g.limits.door.Charge(c.key(), connCost)
			return c, nil
		}
		g.turnAway(conn, who)
	}
}

func (g *gate) recognise(conn net.Conn) (peer, bool) {
	if g.whose == nil {
		return peer{uid: -1}, true
	}
	who, err := g.whose(conn)
	if err == nil && who.uid == g.uid {
		return who, true
	}
	g.refused++
	g.limits.counts.refuse(refusedUser)
	g.log.Warn("refused a connection", "uid", who.uid, "pid", who.pid, "refused", g.refused, "err", err)
	return peer{}, false
}

// admit lets a connection in, if need be in the place of another; nil if it may not.
func (g *gate) admit(conn net.Conn, who peer) *guest {
	c := &guest{Conn: conn, peer: who, gate: g}
	c.close = sync.OnceValue(func() error {
		g.leave(c)
		c.settle()
		return conn.Close()
	})
	g.mu.Lock()
	loser, ok := g.makeRoom(who)
	if ok {
		g.guests[c] = struct{}{}
		g.counts[who.pid]++
		g.limits.counts.open.Add(1)
	}
	g.mu.Unlock()
	if loser != nil {
		g.limits.counts.closed.Add(1)
		_ = loser.Close() // whoever is there learns that it is closed
	}
	if !ok {
		return nil
	}
	g.limits.counts.accepted.Add(1)
	return c
}

// makeRoom finds a connection to be closed for one more of who; ok is false if that may not
// come in. Processes that nobody knows make room for each other.
func (g *gate) makeRoom(who peer) (loser *guest, ok bool) {
	mine := g.counts[who.pid]
	switch {
	case mine >= g.own && g.whose != nil:
		return nil, false
	case mine >= g.own:
		loser = g.leastOf(who.pid, idleRank)
		return loser, loser != nil
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

// leastOf finds the connection of a process that does least, and no more than rank.
func (g *gate) leastOf(pid, rank int) *guest {
	var least *guest
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

func (g *gate) leave(c *guest) {
	g.limits.counts.open.Add(-1)
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.guests, c)
	if g.counts[c.peer.pid]--; g.counts[c.peer.pid] <= 0 {
		delete(g.counts, c.peer.pid)
	}
}

// turnAway closes a connection beyond a share, after it was told why if few others are
// being told right now.
func (g *gate) turnAway(conn net.Conn, who peer) {
	g.limits.door.Charge(admission.Key{PID: who.pid}, connCost)
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
	if g.turned++; g.turned%turnedAtOnce != 0 {
		return
	}
	if early := turnedPause - time.Since(g.paused); early > 0 {
		select {
		case <-time.After(early):
		case <-g.closed:
		}
	}
	g.paused = time.Now()
}

// tell answers the request that is on its way, which a client would otherwise take for lost.
func (g *gate) tell(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(refusePause))
	var head []byte
	for part := make([]byte, 4<<10); len(head) < maxHeader && !bytes.Contains(head, []byte("\r\n\r\n")); {
		n, err := conn.Read(part)
		if head = append(head, part[:n]...); err != nil {
			return // nobody waits for an answer
		}
	}
	_, _ = conn.Write(g.tooMany())
}

// tooMany is an answer of HTTP/1.1.
func (g *gate) tooMany() []byte {
	p := problemOf(memory.Errorf(memory.Busy, "this program has %d connections open, which is the most, or all %d are taken; close some and try again", g.own, g.most))
	body, _ := wire.Marshal(&p) // strings and a number: this cannot fail
	return []byte("HTTP/1.1 503 " + http.StatusText(http.StatusServiceUnavailable) + "\r\nContent-Type: " + typeProblem +
		"\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + string(body))
}

// Close implements [net.Listener]. A second call does nothing.
func (g *gate) Close() error { return g.close() }

// dismiss closes connections on which nothing was ever asked. A shutdown would
// wait five seconds for them, and clients often open one more than they use.
func (g *gate) dismiss() error {
	g.mu.Lock()
	var silent []*guest
	for c := range g.guests {
		if !c.spoke.Load() {
			silent = append(silent, c)
		}
	}
	g.mu.Unlock()
	var errs []error
	for _, c := range silent {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

type guestKey struct{}

// guest is a connection that was let in.
type guest struct {
	net.Conn
	peer    peer
	gate    *gate
	begun   bool // whether anything was to be read; only the one who reads touches it
	spoke   atomic.Bool
	state   atomic.Int32 // an [http.ConnState]
	running atomic.Bool  // whether a request of it is being carried out
	read    atomic.Int64 // bytes that no request was charged with yet
	close   func() error
}

func (c *guest) key() admission.Key { return admission.Key{PID: c.peer.pid} }

// settle charges what was read and led to no request.
func (c *guest) settle() {
	if n := c.read.Swap(0); n > 0 {
		c.gate.limits.door.Charge(c.key(), time.Duration(n)*byteCost)
	}
}

func (c *guest) rank() int {
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
func (c *guest) Read(b []byte) (int, error) {
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

// costOf is what reading a request has cost.
func costOf(ctx context.Context) time.Duration {
	c, ok := ctx.Value(guestKey{}).(*guest)
	if !ok {
		return 0
	}
	return time.Duration(c.read.Swap(0)) * byteCost
}

// mark says whether a request is being carried out, whose connection is then not closed to
// make room.
func mark(ctx context.Context, running bool) {
	if c, ok := ctx.Value(guestKey{}).(*guest); ok {
		c.running.Store(running)
	}
}

// CloseWrite lets the server finish an answer before it resets a connection
// whose request it did not read to the end.
func (c *guest) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

func (c *guest) Close() error { return c.close() }
