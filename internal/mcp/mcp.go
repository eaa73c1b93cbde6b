// Package mcp offers emberd's operations as tools, resources and prompts of
// the Model Context Protocol (https://modelcontextprotocol.io, up to 2026-07-28).
//
// It imports operations and no store: its [op.Invoker] is the client of the socket in
// emberd mcp, and the engine itself for /mcp in the daemon. The daemon can therefore restart
// between two calls.
//
// # Tools
//
// A [Profile] selects the tools that tools/list shows. A client can call every tool; of
// tools with the same name it calls the one of its profile. The tools of agents, of health
// and of all operations are here. Packages cortexgraph and reference contain the tools of
// two other servers. Package tool runs them all, and package answer bounds and fences what
// they answer.
//
// Protocol errors are for what is not a call of a tool. The package guarantees that a panic
// in a call ends neither the session nor the daemon.
//
// The name, version and session that a client claims accompany every call as its caller
// ([op.CallerFrom]).
//
// A Server can be shared by any number of sessions.
package mcp

import (
	"cmp"
	"context"
	"log/slog"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/internal/mcp/tool"
)

// Options of New.
type Options = tool.Options

// New returns a server that offers the tools of a profile.
func New(opt Options) (*sdk.Server, error) {
	opt.Profile = cmp.Or(opt.Profile, Agent)
	tools, err := toolsOf(opt.Profile)
	if err != nil {
		return nil, err
	}
	return offering(tools, opt), nil
}

// offering is New with the tools of the profile, which servers may share.
func offering(tools []*tool.Tool, opt Options) *sdk.Server {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "emberd", Title: "emberd", Version: cmp.Or(opt.Version, "devel")},
		serverOptions(&opt))
	shown := make(map[string]bool)
	for _, t := range tools {
		s.AddTool(t.Def, t.Handler(&opt))
		shown[t.Def.Name] = t.In(opt.Profile)
	}
	addResources(s, &opt)
	addPrompts(s, &opt)
	if opt.Profile == Reference {
		addKnowledgeGraph(s, &opt)
	}
	s.AddReceivingMiddleware(survive(&opt), asCaller, listOnly(&opt, shown), warn(&opt))
	return s
}

// serverOptions returns what a server offers. That does not change while it runs.
func serverOptions(opt *Options) *sdk.ServerOptions {
	out := &sdk.ServerOptions{Instructions: instructionsOf(opt.Profile), Logger: opt.Logger,
		CompletionHandler: completer(opt),
		SetCacheable:      func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" },
		//lint:ignore SA1019 clients of the protocol's earlier versions have messages
		Capabilities: &sdk.ServerCapabilities{Logging: &sdk.LoggingCapabilities{}, Tools: &sdk.ToolCapabilities{},
			Resources: &sdk.ResourceCapabilities{}, Prompts: &sdk.PromptCapabilities{}}}
	if opt.Profile == Reference {
		out.SubscribeHandler, out.UnsubscribeHandler = subscribe, unsubscribe
	}
	return out
}

// listOnly leaves out of tools/list what a profile does not show, and the output schemas if
// the answers to the client are text.
func listOnly(opt *Options, shown map[string]bool) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			res, err := next(ctx, method, req)
			list, ok := res.(*sdk.ListToolsResult)
			if !ok || err != nil {
				return res, err
			}
			form := opt.FormFor(clientOf(req))
			kept := list.Tools[:0:0]
			for _, t := range list.Tools {
				if !shown[t.Name] {
					continue
				}
				if form == tool.Text {
					bare := *t
					bare.OutputSchema, t = nil, &bare
				}
				kept = append(kept, t)
			}
			list.Tools = kept
			return list, nil
		}
	}
}
