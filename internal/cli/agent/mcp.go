// Package agent has the commands for AI agents: the MCP server on standard input and output,
// its installation into clients, access tokens, and the audit of what callers did.
package agent

import (
	"context"
	"errors"
	"io"
	"os/signal"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/cli/daemon"
	"emberd/internal/mcp"
	"emberd/internal/project"
	"emberd/memory"
)

// agentTimeout is for one operation of a tool. It ends before the minute that
// clients commonly wait, so that the model is told what happened.
const agentTimeout = 50 * time.Second

// agentPatience is how long a call waits for a daemon that is started again.
const agentPatience = 3 * time.Second

// agentOptions are the flags of mcp.
type agentOptions struct {
	tools, project string
	projectOf      func(dir string) string // nil when the project was given
}

func McpCommand(s *cli.App) *cobra.Command {
	var o agentOptions
	cmd := cli.Command("mcp", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		if !cmd.Flags().Changed("project") {
			o.project, o.projectOf = project.Here(), project.Of
		}
		return serveAgent(cmd.Context(), s, o)
	})
	cmd.Flags().StringVar(&o.tools, "tools", "", "")
	cli.ProjectField(cmd.Flags(), &o.project)
	return cmd
}

// serveAgent answers one client until it hangs up or ctx ends. Only the protocol
// goes to stdout.
func serveAgent(ctx context.Context, s *cli.App, o agentOptions) error {
	c, err := s.Load()
	if err != nil {
		return err
	}
	if o.tools == "" {
		o.tools = c.Tools
	}
	profile, err := mcp.ParseProfile(o.tools)
	if err != nil {
		return err
	}
	token, err := s.Token()
	if err != nil {
		return err
	}
	client := api.NewClient(c.Socket, &api.ClientOptions{Name: "mcp", Version: cli.BuildVersion(),
		Timeout: agentTimeout, Patience: agentPatience, Token: token})
	defer client.Close()
	server, err := mcp.New(mcp.Options{Invoker: client, Profile: profile,
		Form: mcp.Form(c.Form), Version: cli.BuildVersion(),
		Project: o.project, ProjectOf: o.projectOf, Logger: daemon.Logger(s, daemon.Quiet(c.LogLevel))})
	if err != nil {
		return err
	}
	server.AddReceivingMiddleware(endWith(ctx))
	// Else a client that goes away without closing stdin ends the process by SIGPIPE.
	signal.Ignore(syscall.SIGPIPE)
	session, err := server.Connect(ctx, stdio{s.Terminal}, nil)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = session.Close() }) // Wait tells how it ended
	defer stop()
	return hangUp(ctx, session.Wait())
}

// endWith ends the calls under way when ctx ends: the protocol's own contexts
// outlive it.
func endWith(ctx context.Context) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(inner context.Context, method string, req sdk.Request) (sdk.Result, error) {
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
	case err == nil, ctx.Err() != nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.EPIPE):
		return nil
	}
	return memory.Errorf(memory.Invalid, "stdin contains no valid Model Context Protocol messages (%w); an MCP "+
		"client must start this command; to add emberd to a client, run: emberd agent install CLIENT", err)
}
