package mcpserver

import (
	"context"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/op"
)

// maxClaim bounds what a client says of itself, in characters: it goes into the log.
const maxClaim = 200

// asCaller tells operations which program asks and in which session. Both are only
// claimed; what the kernel says of the caller is in the context already, or is added by
// the daemon.
func asCaller(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		who := op.CallerFrom(ctx)
		if r, ok := req.(interface{ ClientInfo() *mcp.Implementation }); ok {
			who.Client = claim(r.ClientInfo())
		}
		if session := req.GetSession(); session != nil {
			who.Session = session.ID()
		}
		return next(op.WithCaller(ctx, who), method, req)
	}
}

// claim is "<name>/<version>" in printable characters, "" for a client that has not said.
func claim(info *mcp.Implementation) string {
	if info == nil || info.Name == "" {
		return ""
	}
	text := info.Name
	if info.Version != "" {
		text += "/" + info.Version
	}
	runes := []rune(strings.TrimSpace(strings.Map(printable, strings.ToValidUTF8(text, ""))))
	return strings.TrimSpace(string(runes[:min(len(runes), maxClaim)]))
}

// printable drops what does not show, line breaks and marks of direction among it.
func printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return -1
}
