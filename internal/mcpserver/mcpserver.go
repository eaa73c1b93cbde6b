// Package mcpserver offers emberd's operations as tools, resources and prompts of
// the Model Context Protocol (https://modelcontextprotocol.io, up to 2026-07-28).
//
// It knows operations and no store: its [op.Invoker] is the client of the socket for
// emberd mcp, and the engine itself for /mcp in the daemon. So the daemon may be
// restarted between two calls.
//
// # Tools
//
// A tool is a Go function over its arguments and its result; both schemas are drawn
// from these types. A [Profile] says which tools a client is shown. Any client may
// call any tool, but where two profiles have a tool of the same name, its own.
//
// An error is a result with the error flag and the JSON that CortexGraph gives:
// {"success": false, "message": …}. Protocol errors are for what is no tool call.
//
// What a client says of its own name and version, and its session, go with every call
// as the caller ([op.CallerFrom]).
//
// A Server may be shared by any number of sessions.
package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/op"
)

// Options of New.
type Options struct {
	Invoker op.Invoker
	Profile Profile // "" is Agent
	Version string  // of emberd; "" is devel
	Project string  // of new memories and of searches, "" for none
	// ProjectOf is the project that a folder belongs to, "" for none: with it the folder
	// that a client says it works in decides, if Project is "".
	ProjectOf func(dir string) string
	Logger    *slog.Logger // nil discards
}

// New returns a server that offers the tools of a profile.
func New(opt Options) (*mcp.Server, error) {
	opt.Profile = cmp.Or(opt.Profile, Agent)
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "emberd", Title: "emberd", Version: cmp.Or(opt.Version, "devel")},
		&mcp.ServerOptions{Instructions: instructionsOf(opt.Profile), Logger: opt.Logger, CompletionHandler: completer(&opt),
			SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
			// What is offered does not change while a server runs.
			//lint:ignore SA1019 clients of the protocol's earlier versions have messages
			Capabilities: &mcp.ServerCapabilities{Logging: &mcp.LoggingCapabilities{}, Tools: &mcp.ToolCapabilities{},
				Resources: &mcp.ResourceCapabilities{}, Prompts: &mcp.PromptCapabilities{}}})
	tools, err := toolsOf(opt.Profile)
	if err != nil {
		return nil, err
	}
	shown := make(map[string]bool)
	for _, t := range tools {
		s.AddTool(t.def, t.handler(&opt))
		shown[t.def.Name] = t.in(opt.Profile)
	}
	addResources(s, &opt)
	addPrompts(s, &opt)
	s.AddReceivingMiddleware(survive(opt.Logger), asCaller, listOnly(shown), warn(&opt))
	return s, nil
}

// survive makes an error of a panic: methods run on goroutines of their own, and one
// tool must not take the daemon down, nor a client's whole conversation.
func survive(log *slog.Logger) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
			defer func() {
				if r := recover(); r != nil {
					log.Error("a method panicked", "method", method, "panic", r, "stack", string(debug.Stack()))
					res, err = nil, fmt.Errorf("%s met a fault of emberd's own; its log tells more", method)
				}
			}()
			return next(ctx, method, req)
		}
	}
}

// listOnly leaves out of tools/list what a profile does not show.
func listOnly(shown map[string]bool) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			res, err := next(ctx, method, req)
			list, ok := res.(*mcp.ListToolsResult)
			if !ok || err != nil {
				return res, err
			}
			kept := list.Tools[:0:0]
			for _, t := range list.Tools {
				if shown[t.Name] {
					kept = append(kept, t)
				}
			}
			list.Tools = kept
			return list, nil
		}
	}
}
