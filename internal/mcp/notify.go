package mcp

import (
	"context"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/internal/mcp/answer"
	"emberd/internal/mcp/tool"
	"emberd/op"
)

// warningsTimeout is how long the daemon may take to say how it is.
const warningsTimeout = 2 * time.Second

// warn tells a client that begins to listen to messages what is wrong at the moment.
func warn(opt *Options) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			res, err := next(ctx, method, req)
			if s, ok := req.GetSession().(*sdk.ServerSession); ok && err == nil && method == "logging/setLevel" {
				for _, w := range warningsOf(ctx, answer.Visible{Invoker: opt.Invoker}) {
					tool.Log(ctx, s, "warning", w)
				}
			}
			return res, err
		}
	}
}

// warningsOf returns the warnings of the daemon, or the error of a daemon that does not answer.
func warningsOf(ctx context.Context, inv op.Invoker) []string {
	ctx, cancel := context.WithTimeout(ctx, warningsTimeout)
	defer cancel()
	status, err := op.Status.Call(ctx, inv, &op.StatusRequest{})
	if e := tool.AsError(err); e != nil {
		return []string{e.Message}
	}
	if err != nil {
		return nil
	}
	return status.Warnings
}
