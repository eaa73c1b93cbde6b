package mcpserver

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// survive makes an error of a panic, as net/http does for what runs on a goroutine of
// its own: one call must not end the other sessions of a daemon, nor the only one of
// emberd mcp. Of a tool it is the tool's own error, which a model is shown.
func survive(opt *Options) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
			defer func() {
				if r := recover(); r != nil {
					opt.Logger.Error("a method panicked", "method", method, "panic", r, "stack", string(debug.Stack()))
					res, err = fault(method, req)
				}
			}()
			return next(ctx, method, req)
		}
	}
}

// fault is what is answered in place of what panicked.
func fault(method string, req mcp.Request) (mcp.Result, error) {
	const says = "%s met a fault of emberd's own; its log tells more"
	if call, ok := req.(*mcp.CallToolRequest); ok {
		return refusal(fmt.Sprintf(says, call.Params.Name))
	}
	return nil, fmt.Errorf(says, method)
}
