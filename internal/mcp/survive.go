package mcp

import (
	"context"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/internal/contain"
	"emberd/internal/mcp/tool"
)

// survive turns a panic into an error, as net/http does for its handlers: one call must end
// neither the other sessions of a daemon nor the only session of emberd mcp. The error of a
// tool is the tool's own, which a model reads.
func survive(opt *Options) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (res sdk.Result, err error) {
			err = contain.Do(opt.Logger, contain.Request, method, func() (err error) {
				res, err = next(ctx, method, req)
				return err
			})
			if p, ok := err.(*contain.Panic); ok {
				return fault(method, req, p)
			}
			return res, err
		}
	}
}

// fault returns the answer to a method that panicked.
func fault(method string, req sdk.Request, p *contain.Panic) (sdk.Result, error) {
	if call, ok := req.(*sdk.CallToolRequest); ok {
		return tool.Refusal(fmt.Sprintf("%s failed: %v", call.Params.Name, p))
	}
	return nil, fmt.Errorf("%s failed: %w", method, p)
}
