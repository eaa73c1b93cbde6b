package main

import (
	"context"
	"errors"
	"io"
	"os/signal"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"emberd/api"
	"emberd/internal/config"
	"emberd/internal/mcpserver"
	"emberd/memory"
)

// agentTimeout is for one operation of a tool. It ends before the minute that
// clients commonly wait, so that the model is told what happened.
const agentTimeout = 50 * time.Second

// agentOptions are the flags of mcp.
type agentOptions struct {
	tools, project string
	projectOf      func(dir string) string // nil when the project was given
}

func (s *state) mcpCommand() *cobra.Command {
	var o agentOptions
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve an AI agent over standard input and output",
		Long: `Speak the Model Context Protocol on standard input and output, for clients that
start their servers themselves; emberd install-client tells them to.

Every call goes to the daemon, which may be started or restarted meanwhile. The
command ends when its input does.

With a capability token, in EMBERD_TOKEN or in the file that token_file names,
the agent sees and changes what the token is for, and nothing else.

The project of new memories is the git repository that encloses the working
directory, or else the folder that the client says it works in, unless --project
names another (--project '' names none).`,
		Example: `  emberd mcp
  emberd mcp --tools cortexgraph`,
		Annotations: exits(endings{exitDone: "the client closed the connection, or a signal ended it"}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("project") {
				o.project, o.projectOf = here(), projectOf
			}
			return s.serveAgent(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.tools, "tools", "", "which `TOOLS` to show: agent, all, cortexgraph or reference; by default what mcp.tools says")
	cmd.Flags().StringVar(&o.project, "project", "", "`NAME` of the project, by default the enclosing git repository")
	return cmd
}

// serveAgent answers one client until it hangs up or ctx ends. Only the protocol
// goes to stdout.
func (s *state) serveAgent(ctx context.Context, o agentOptions) error {
	c, err := s.load()
	if err != nil {
		return err
	}
	if o.tools == "" {
		o.tools = c.MCP.Tools
	}
	profile, err := mcpserver.ParseProfile(o.tools)
	if err != nil {
		return err
	}
	token, err := s.token()
	if err != nil {
		return err
	}
	client := api.NewClient(c.Socket, &api.ClientOptions{Name: "mcp", Version: buildVersion(), Timeout: agentTimeout, Token: token})
	defer client.Close()
	server, err := mcpserver.New(mcpserver.Options{Invoker: client, Profile: profile, Version: buildVersion(),
		Project: o.project, ProjectOf: o.projectOf, Logger: s.logger(quiet(c.Log))})
	if err != nil {
		return err
	}
	server.AddReceivingMiddleware(endWith(ctx))
	// Else a client that goes away without closing stdin ends the process by SIGPIPE.
	signal.Ignore(syscall.SIGPIPE)
	session, err := server.Connect(ctx, stdio{s.terminal}, nil)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = session.Close() }) // Wait tells how it ended
	defer stop()
	return hangUp(ctx, session.Wait())
}

// quiet leaves out what is no trouble, unless debugging is wanted: clients show
// their users whatever a server says on stderr as an error.
func quiet(l config.Log) config.Log {
	if l.Level == "info" {
		l.Level = "warn"
	}
	return l
}

// endWith ends the calls under way when ctx ends: the protocol's own contexts
// outlive it.
func endWith(ctx context.Context) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(inner context.Context, method string, req mcp.Request) (mcp.Result, error) {
			inner, cancel := context.WithCancel(inner)
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			return next(inner, method, req)
		}
	}
}

// hangUp tells an end that clients bring about from one that is an error.
func hangUp(ctx context.Context, err error) error {
	switch {
	case err == nil, ctx.Err() != nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.EPIPE):
		return nil
	}
	return memory.Errorf(memory.Invalid, "what came on stdin is not the Model Context Protocol (%w); have a client start this command: emberd install-client", err)
}
