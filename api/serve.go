package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// ServeOptions are the settings of [Serve]; nil means all defaults.
type ServeOptions struct {
	Logger *slog.Logger  // nil discards
	Grace  time.Duration // for requests that run when the end comes; default 10 s
}

// Serve answers requests on ln, a unix socket, until ctx ends; then it closes ln,
// ends event streams, lets running requests finish for opt.Grace, and returns
// nil, or an error when it had to cut some off. A request's own context lives on
// through the grace.
//
// Connections of other users are closed without an answer, root's too unless the
// daemon is root's. At most 64 connections are open at once. Further ones wait
// in the kernel's queue, which costs a well-behaved caller a moment instead of a
// retry; that the wait ends is seen to by the timeouts on requests and idle
// connections, and by a lower bound on event streams.
func Serve(ctx context.Context, ln net.Listener, h http.Handler, opt *ServeOptions) error {
	return serveGuests(ctx, ln, h, opt, peerOf)
}

// ServeLoopback is [Serve] for a listener of [ListenLoopback], whose connections may be
// anybody's: h has to ask for more, see [NewLoopback].
func ServeLoopback(ctx context.Context, ln net.Listener, h http.Handler, opt *ServeOptions) error {
	return serveGuests(ctx, ln, h, opt, nil)
}

func serveGuests(ctx context.Context, ln net.Listener, h http.Handler, opt *ServeOptions, whose func(net.Conn) (peer, error)) error {
	if opt == nil {
		opt = &ServeOptions{}
	}
	log := loggerOr(opt.Logger)
	grace := cmp.Or(opt.Grace, 10*time.Second)
	g := newGate(ln, os.Geteuid(), log)
	g.whose = whose
	srv := newServer(h, ctx.Done(), log)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(g) }()
	select {
	case err := <-served:
		return errors.Join(fmt.Errorf("serve %s: %w", ln.Addr(), err), srv.Close())
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := srv.Shutdown(end)
	if err != nil {
		err = errors.Join(fmt.Errorf("requests still ran %v after the end and were cut off: %w", grace, err), srv.Close())
	}
	<-served
	return err
}

// newServer has no WriteTimeout, since that would end event streams: handlers
// bound each of their writes instead.
func newServer(h http.Handler, stop <-chan struct{}, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headTimeout,
		ReadTimeout:       readTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		// OPTIONS * is a question like any other, and has no answer here.
		DisableGeneralOptionsHandler: true,
		BaseContext: func(net.Listener) context.Context {
			return context.WithValue(context.Background(), stopKey{}, stop)
		},
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			if c, ok := conn.(*guest); ok && c.peer.uid >= 0 {
				return context.WithValue(ctx, peerKey{}, c.peer)
			}
			return ctx
		},
	}
}

// gate is a listener that lets in the connections of one user, maxConns of them
// at a time.
type gate struct {
	net.Listener
	whose   func(net.Conn) (peer, error) // nil lets in everybody, and nobody knows who
	uid     int
	log     *slog.Logger
	slots   chan struct{} // one for each open connection
	refused int           // connections of others; only Accept touches it
	closed  chan struct{}
	close   func() error

	mu     sync.Mutex
	silent map[*guest]struct{} // have not sent anything yet
}

func newGate(ln net.Listener, uid int, log *slog.Logger) *gate {
	g := &gate{
		Listener: ln, whose: peerOf, uid: uid, log: log,
		slots:  make(chan struct{}, maxConns),
		closed: make(chan struct{}),
		silent: make(map[*guest]struct{}),
	}
	g.close = sync.OnceValue(func() error {
		close(g.closed)
		return errors.Join(ln.Close(), g.dismiss())
	})
	return g
}

// Accept implements [net.Listener].
func (g *gate) Accept() (net.Conn, error) {
	select {
	case g.slots <- struct{}{}:
	case <-g.closed:
		return nil, net.ErrClosed
	}
	for {
		conn, err := g.Listener.Accept()
		if err != nil {
			<-g.slots
			return nil, err
		}
		if who, ok := g.recognise(conn); ok {
			return g.admit(conn, who), nil
		}
		_ = conn.Close() // it was never ours
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
	g.log.Warn("refused a connection", "uid", who.uid, "pid", who.pid, "refused", g.refused, "err", err)
	return peer{}, false
}

func (g *gate) admit(conn net.Conn, who peer) *guest {
	c := &guest{Conn: conn, peer: who, gate: g}
	c.close = sync.OnceValue(func() error {
		g.heard(c)
		<-g.slots
		return conn.Close()
	})
	g.mu.Lock()
	g.silent[c] = struct{}{}
	g.mu.Unlock()
	return c
}

func (g *gate) heard(c *guest) {
	g.mu.Lock()
	delete(g.silent, c)
	g.mu.Unlock()
}

// Close implements [net.Listener]. A second call does nothing.
func (g *gate) Close() error { return g.close() }

// dismiss closes connections on which nothing was ever asked. A shutdown would
// wait five seconds for them, and clients often open one more than they use.
func (g *gate) dismiss() error {
	g.mu.Lock()
	var idle []*guest
	for c := range g.silent {
		idle = append(idle, c)
	}
	g.mu.Unlock()
	var errs []error
	for _, c := range idle {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// guest is a connection that was let in.
type guest struct {
	net.Conn
	peer  peer
	gate  *gate
	spoke atomic.Bool
	close func() error
}

func (c *guest) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && !c.spoke.Swap(true) {
		c.gate.heard(c)
	}
	return n, err
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
