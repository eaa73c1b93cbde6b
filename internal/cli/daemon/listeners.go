package daemon

import (
	"context"
	"errors"
	"log/slog"
	"net"

	"emberd/api"
	"emberd/engine"
	"emberd/internal/cli"
	"emberd/internal/mcp"
	"emberd/internal/mcp/mcphttp"
	"emberd/internal/metrics"
)

// insight is how somebody may look into a daemon.
type insight struct {
	process *metrics.Process
	profile bool // whether the runtime's profiles are served
}

// measuring tells how a daemon is.
func (in insight) measuring(e *engine.Engine, limits *api.Limits) func(*metrics.Exposition) {
	return func(p *metrics.Exposition) {
		p.Gauge("emberd_build_info", "Version of the running daemon; the value is always 1.", "version")
		p.Sample(1, cli.BuildVersion())
		e.Admin.Measure(p)
		limits.Measure(p)
		in.process.Measure(p)
	}
}

// listen serves at the socket until ctx is done or the listener fails.
func listen(ctx context.Context, s *cli.App, e *engine.Engine, socket net.Listener, in insight,
	log *slog.Logger) error {
	c, err := s.Load()
	if err != nil {
		return errors.Join(err, socket.Close())
	}
	limits := api.NewLimits(&api.LimitOptions{Requests: c.Requests, Slow: e.Admin.ThrottleReason})
	agents := mcphttp.New(mcp.Options{Invoker: limits.Invoker(e), Profile: mcp.Profile(c.Tools),
		Form: mcp.Form(c.Form), Version: cli.BuildVersion(), Logger: Logger(s, Quiet(c.LogLevel))})
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	// Streams end with their sessions, which would hold up the end otherwise.
	context.AfterFunc(ctx, agents.Close)
	h := api.NewHandler(e, &api.HandlerOptions{Version: cli.BuildVersion(), Logger: log, MCP: agents,
		Tokens: e.Authorize, Limits: limits, Measure: in.measuring(e, limits), Profile: in.profile})
	return api.Serve(ctx, socket, h, &api.ServeOptions{Logger: log, Grace: DrainTime, Limits: limits})
}
