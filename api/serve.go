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
	"time"
)

// ServeOptions are the settings of [Serve]; nil means all defaults.
type ServeOptions struct {
	Logger *slog.Logger  // nil discards
	Grace  time.Duration // for requests that run when the end comes; default 10 s
	Limits *Limits       // of the daemon's callers; nil for new ones
}

// Serve answers requests on ln, a unix socket, until ctx ends; then it closes ln,
// ends event streams, lets running requests finish for opt.Grace, and returns
// nil, or an error when it had to cut some off. A request's own context lives on
// through the grace. Connections that wait to be accepted get an answer to their first
// request; what comes on others by then is refused with status 408, and nothing of it was done.
//
// Connections of other users are closed without an answer, root's too unless the
// daemon is root's. A process can have 128 connections open, and receives an error on each
// further one. At most 512 are open at once, fewer if the daemon can open few files. One
// more then replaces one of the process that has most: a silent one, else an idle one, else
// one whose request does not run yet.
func Serve(ctx context.Context, ln net.Listener, h http.Handler, opt *ServeOptions) error {
	if opt == nil {
		opt = &ServeOptions{}
	}
	log := loggerOr(opt.Logger)
	grace := cmp.Or(opt.Grace, 10*time.Second)
	g := newLimitedListener(ln, os.Geteuid(), log)
	if opt.Limits != nil {
		g.limits = opt.Limits
	}
	srv := newServer(once(h), ctx.Done(), log)
	served := make(chan error, 1)
	go func() {
		served <- srv.Serve(g)
		close(served)
	}()
	select {
	case err := <-served:
		return errors.Join(fmt.Errorf("serve %s: %w", ln.Addr(), err), srv.Close())
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	g.finish()
	<-served // so that the server knows of every connection that was accepted
	err := srv.Shutdown(end)
	if err == nil {
		err = g.left(end)
	}
	if err != nil {
		g.cut.Store(true)
		err = errors.Join(fmt.Errorf(
			"the daemon canceled requests that were still running %v after it began to stop: %w", grace,
			err), srv.Close())
	}
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
			c, ok := conn.(*clientConn)
			if !ok {
				return ctx
			}
			ctx = context.WithValue(ctx, connKey{}, c)
			return context.WithValue(ctx, peerKey{}, c.peer)
		},
		ConnState: func(conn net.Conn, state http.ConnState) {
			if c, ok := conn.(*clientConn); ok {
				c.state.Store(int32(state))
			}
		},
	}
}
