package tool

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/internal/text/invisible"
	"emberd/memory"
	"emberd/op"
)

// withProgress returns a context that reports the progress of a call to its client, if the
// client requested that. It leaves out progress that does not grow, as the protocol demands.
func withProgress(ctx context.Context, req *sdk.CallToolRequest) context.Context {
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
		_ = req.Session.NotifyProgress(ctx,
			&sdk.ProgressNotificationParams{ProgressToken: token, Progress: float64(done), Total: float64(total)})
	})
}

// isTroubling reports whether an error of a code is not the caller's and persists.
func isTroubling(code memory.Code) bool {
	switch code {
	case memory.Internal, memory.Unavailable, memory.ReadOnly, memory.DiskFull, memory.Incompatible:
		return true
	}
	return false
}

// Log sends a message to the client, if the client receives messages of that level.
func Log(ctx context.Context, s *sdk.ServerSession, level, text string) {
	//lint:ignore SA1019 clients of the protocol's earlier versions have messages
	params := &sdk.LoggingMessageParams{Logger: "emberd", Level: sdk.LoggingLevel(level), Data: invisible.Show(text)}
	//lint:ignore SA1019 as above
	_ = s.Log(ctx, params) // a client that is gone misses nothing
}
