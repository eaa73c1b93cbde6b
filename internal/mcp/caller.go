package mcp

import (
	"context"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/internal/text"
	"emberd/op"
)

// maxClaim bounds the name that a client claims, in characters: it goes into the log.
const maxClaim = 200

// asCaller adds the client and the session to the caller of operations. The client only
// claims both. The process of the caller is in the context already, or the daemon adds it.
func asCaller(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		caller := op.CallerFrom(ctx)
		if info := clientOf(req); info != nil {
			caller.Client = claim(info)
		}
		if session := req.GetSession(); session != nil {
			caller.Session = session.ID()
		}
		return next(op.WithCaller(ctx, caller), method, req)
	}
}

// clientOf returns the name and version that a client claims, nil for none.
func clientOf(req sdk.Request) *sdk.Implementation {
	if r, ok := req.(interface{ ClientInfo() *sdk.Implementation }); ok {
		return r.ClientInfo()
	}
	return nil
}

// claim returns "<name>/<version>" in printable characters, "" for a client without a name.
func claim(info *sdk.Implementation) string {
	if info == nil || info.Name == "" {
		return ""
	}
	name := info.Name
	if info.Version != "" {
		name += "/" + info.Version
	}
	return strings.TrimSpace(text.First(text.OneLine(name), maxClaim))
}
