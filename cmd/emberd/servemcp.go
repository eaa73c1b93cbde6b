package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"

	"emberd/api"
	"emberd/engine"
	"emberd/internal/config"
	"emberd/internal/mcphttp"
	"emberd/internal/mcpserver"
	"emberd/internal/metrics"
	"emberd/internal/notify"
	"emberd/op"
)

// insight is how somebody may look into a daemon.
type insight struct {
	process *metrics.Process
	profile bool // whether the runtime's profiles are served
}

// measuring tells how a daemon is.
func (in insight) measuring(e *engine.Engine, limits *api.Limits) func(*metrics.Page) {
	return func(p *metrics.Page) {
		p.Gauge("emberd_build_info", "The version that runs; always 1.", "version")
		p.Is(1, buildVersion())
		e.Measure(p)
		limits.Measure(p)
		in.process.Measure(p)
	}
}

// port is a loopback address that agents can be served at, beside the socket.
type port struct {
	net.Listener
	token string
}

// portStatus tells where agents reach the daemon; nil when only at the socket.
func portStatus(c *config.Config) *op.MCPStatus {
	if c.Listen == "" {
		return nil
	}
	return &op.MCPStatus{URL: "http://" + c.Listen + "/mcp", TokenFile: tokenFile(c.State)}
}

// openPort opens the port of the settings; nil without one.
func openPort(ctx context.Context, c *config.Config) (*port, error) {
	if c.Listen == "" {
		return nil, nil
	}
	token, err := loadToken(tokenFile(c.State))
	if err != nil {
		return nil, err
	}
	ln, err := api.ListenLoopback(ctx, c.Listen)
	if err != nil {
		return nil, err
	}
	return &port{ln, token}, nil
}

// listeners are what the daemon answers at.
type listeners struct {
	socket net.Listener
	port   *port // nil for none
}

// open opens them all or none.
func openListeners(ctx context.Context, c *config.Config, m *notify.Manager) (l listeners, err error) {
	if l.port, err = openPort(ctx, c); err != nil {
		return l, err
	}
	if l.socket, err = openSocket(c.Socket, m); err != nil {
		return l, errors.Join(err, l.Close())
	}
	return l, nil
}

// Close closes what is open. Serving does that as well.
func (l listeners) Close() error {
	var errs []error
	if l.socket != nil {
		errs = append(errs, l.socket.Close())
	}
	if l.port != nil {
		errs = append(errs, l.port.Close())
	}
	return errors.Join(errs...)
}

// answer serves at all listeners until ctx is done or one of them fails.
func (s *state) answer(ctx context.Context, e *engine.Engine, l listeners, in insight, log *slog.Logger) error {
	c, err := s.load()
	if err != nil {
		return errors.Join(err, l.Close())
	}
	limits := api.NewLimits(&api.LimitOptions{Requests: c.Limits.Requests, Slow: e.Slow})
	agents := mcphttp.New(mcpserver.Options{Invoker: limits.Invoker(e), Profile: mcpserver.Profile(c.MCP.Tools), Version: buildVersion(), Logger: s.logger(quiet(c.Log))})
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	// Streams end with their sessions, which would hold up the end otherwise.
	context.AfterFunc(ctx, agents.Close)
	opt := &api.ServeOptions{Logger: log, Grace: drainTime, Limits: limits}
	measure := in.measuring(e, limits)
	var all sync.WaitGroup
	var portErr error
	if l.port != nil {
		h := api.NewLoopback(&api.LoopbackOptions{Addr: l.port.Addr(), Token: l.port.token, Tokens: e.Grant, MCP: agents, Version: buildVersion(), Logger: log, Limits: limits, Measure: measure})
		all.Go(func() {
			defer stop()
			portErr = api.ServeLoopback(ctx, l.port, h, opt)
		})
	}
	h := api.NewHandler(e, &api.HandlerOptions{Version: buildVersion(), Logger: log, MCP: agents, Tokens: e.Grant, Limits: limits, Measure: measure, Profile: in.profile})
	err = api.Serve(ctx, l.socket, h, opt)
	stop()
	all.Wait()
	return errors.Join(err, portErr)
}
