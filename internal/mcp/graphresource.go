package mcp

import (
	"context"
	"reflect"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/internal/mcp/answer"
	"emberd/internal/mcp/reference"
	"emberd/internal/mcp/tool"
	"emberd/internal/text/invisible"
	"emberd/internal/wire"
	"emberd/memory"
	"emberd/op"
)

// knowledgeURI is the one resource of the reference server.
const knowledgeURI = "memory://knowledge-graph"

// addKnowledgeGraph adds the resource of the reference server. Like the answers of its tools, the text is JSON, inside
// a fence for clients that give it to a model.
func addKnowledgeGraph(s *sdk.Server, opt *Options) {
	fill := wire.FillerOf(reflect.TypeFor[*reference.Graph]())
	def := &sdk.Resource{URI: knowledgeURI, Name: "knowledge-graph", Title: "Knowledge Graph",
		Description: "The full knowledge graph with all entities and relations", MIMEType: "application/json"}
	s.AddResource(def, func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		g, err := reference.Whole(ctx, &tool.Call{Invoker: opt.Invoker, Options: opt, Session: req.Session})
		if err != nil {
			return nil, protocolError(err)
		}
		fill.Apply(reflect.ValueOf(g))
		text, kind := invisible.Show(g.Text()), def.MIMEType
		if opt.FormFor(req.ClientInfo()) == tool.Text {
			text, kind = answer.Fence(text), "text/plain"
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: knowledgeURI, MIMEType: kind,
			Text: text}}}, nil
	})
	s.AddReceivingMiddleware(notifyGraph(s), listKnowledgeGraph)
}

// listKnowledgeGraph lists the resource alone, and no prompts, as the reference server does. Clients can read the
// others.
func listKnowledgeGraph(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		res, err := next(ctx, method, req)
		switch list := res.(type) {
		case *sdk.ListResourcesResult:
			list.Resources = slices.DeleteFunc(list.Resources,
				func(r *sdk.Resource) bool { return r.URI != knowledgeURI })
		case *sdk.ListResourceTemplatesResult:
			list.ResourceTemplates = list.ResourceTemplates[:0]
		case *sdk.ListPromptsResult:
			list.Prompts = list.Prompts[:0]
		}
		return res, err
	}
}

// notifyGraph sends the subscribers of the resource a notification after each call that can have changed the graph.
func notifyGraph(s *sdk.Server) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			res, err := next(ctx, method, req)
			call, ok := req.GetParams().(*sdk.CallToolParamsRaw)
			if !ok || err != nil || !reference.Changes(call.Name) {
				return res, err
			}
			if done, ok := res.(*sdk.CallToolResult); ok && !done.IsError {
				err = s.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: knowledgeURI})
			}
			return res, err
		}
	}
}

// subscribe accepts subscriptions of callers that see all memories. A notification would show others when memories
// change that they cannot see.
func subscribe(ctx context.Context, _ *sdk.SubscribeRequest) error {
	if !op.GrantFrom(ctx).SeesAll() {
		return protocolError(memory.Errorf(memory.Invalid,
			"the access token does not cover all memories, so subscriptions are not available"))
	}
	return nil
}

func unsubscribe(context.Context, *sdk.UnsubscribeRequest) error { return nil }
