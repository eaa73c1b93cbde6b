package mcpserver

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/op"
)

// mostCompletions is what the protocol allows.
const mostCompletions = 100

// completer answers how an argument of a prompt or of a resource template may go on.
// Where nothing is known, it is nothing.
func completer(opt *Options) func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	return func(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
		res := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}
		what := completable(req.Params)
		if what == "" {
			return res, nil
		}
		// Of several the last is being typed.
		done, typed := "", req.Params.Argument.Value
		if at := strings.LastIndexByte(typed, ','); what == op.CompleteTags && at >= 0 {
			done, typed = typed[:at+1], typed[at+1:]
		}
		found, err := op.Complete.Call(ctx, showing{opt.Invoker}, &op.CompleteRequest{What: what, Prefix: typed, Limit: mostCompletions})
		if err != nil {
			return nil, protocolError(err)
		}
		for _, v := range found.Values {
			res.Completion.Values = append(res.Completion.Values, done+v.Value)
		}
		res.Completion.Total, res.Completion.HasMore = found.Total, found.Total > len(found.Values)
		return res, nil
	}
}

// completable is what an argument holds, as [op.CompleteRequest] calls it.
func completable(p *mcp.CompleteParams) string {
	switch {
	case p.Ref.URI == memoryTemplate && p.Argument.Name == "id":
		return op.CompleteIDs
	case p.Ref.URI == vaultTemplate && p.Argument.Name == "path":
		return op.CompletePaths
	case p.Ref.Type == "ref/prompt" && p.Argument.Name == "tags":
		return op.CompleteTags
	case p.Ref.Type == "ref/prompt" && p.Argument.Name == "project":
		return op.CompleteProjects
	}
	return ""
}
