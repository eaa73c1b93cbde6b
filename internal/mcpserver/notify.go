package mcpserver

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/internal/plainly"
	"emberd/memory"
	"emberd/op"
)

// withProgress passes on how far a call is, if its client asked for that. Progress that
// does not grow is left out, as the protocol wants it.
func withProgress(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	token := req.Params.GetProgressToken()
	if token == nil || req.Session == nil {
		return ctx
	}
	last := -1
	return op.WithProgress(ctx, func(done, total int) {
		if done <= last {
			return
		}
		last = done
		// A client that is gone ends the call soon enough.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(done), Total: float64(total)})
	})
}

// warningsTimeout is how long the daemon may take to say how it is.
const warningsTimeout = 2 * time.Second

// warn tells a client that begins to listen to messages what is wrong at the moment.
func warn(opt *Options) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			res, err := next(ctx, method, req)
			if s, ok := req.GetSession().(*mcp.ServerSession); ok && err == nil && method == "logging/setLevel" {
				for _, w := range warningsOf(ctx, showing{opt.Invoker}) {
					say(ctx, s, "warning", w)
				}
			}
			return res, err
		}
	}
}

// warningsOf are those of the daemon, or that there is none.
func warningsOf(ctx context.Context, inv op.Invoker) []string {
	ctx, cancel := context.WithTimeout(ctx, warningsTimeout)
	defer cancel()
	status, err := op.Status.Call(ctx, inv, &op.StatusRequest{})
	if e := asError(err); e != nil {
		return []string{e.Message}
	}
	if err != nil {
		return nil
	}
	return status.Warnings
}

// troubling are failures that are nobody's mistake, and last.
func troubling(code memory.Code) bool {
	switch code {
	case memory.Internal, memory.Unavailable, memory.ReadOnly, memory.DiskFull, memory.Incompatible:
		return true
	}
	return false
}

// say sends a message to the client, unless it wants graver ones only, or none.
func say(ctx context.Context, s *mcp.ServerSession, level, text string) {
	//lint:ignore SA1019 clients of the protocol's earlier versions have messages
	_ = s.Log(ctx, &mcp.LoggingMessageParams{Logger: "emberd", Level: mcp.LoggingLevel(level), Data: plainly.Show(text)}) // one that is gone misses nothing
}
