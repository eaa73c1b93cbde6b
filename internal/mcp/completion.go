package mcp

import (
	"context"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/internal/mcp/answer"
	"emberd/op"
)

// maxCompletions is what the protocol allows.
const maxCompletions = 100

// completer answers how an argument of a prompt or of a resource template may go on.
// Where nothing is known, it is nothing.
func completer(opt *Options) func(context.Context, *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	return func(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
		res := &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}
		what := completable(req.Params)
		if what == "" {
			return res, nil
		}
		// Of several the last is being typed.
		done, typed := "", req.Params.Argument.Value
		if at := strings.LastIndexByte(typed, ','); what == op.CompleteTags && at >= 0 {
			done, typed = typed[:at+1], typed[at+1:]
		}
		found, err := op.Complete.Call(ctx, answer.Visible{Invoker: opt.Invoker},
			&op.CompleteRequest{What: what, Prefix: typed, Limit: maxCompletions})
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

// completable returns what an argument holds, as [op.CompleteRequest] calls it.
func completable(p *sdk.CompleteParams) string {
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
