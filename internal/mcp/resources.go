package mcp

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/internal/mcp/answer"
	"emberd/internal/mcp/tool"
	"emberd/internal/text/invisible"
	"emberd/internal/wire"
	"emberd/memory"
	"emberd/op"
)

const (
	markdown = "text/markdown"

	memoryTemplate = memoryScheme + "{id}"
	vaultTemplate  = vaultScheme + "{+path}"
	graphURI       = memoryScheme + "graph"
	recentURI      = memoryScheme + "recent"

	// resourceTokens bound the resources that are lists.
	resourceTokens = 8_000
	// noteLimit bounds the text of one, in characters.
	noteLimit = 200_000
)

// addResources adds the resources that a user can attach to a conversation. Clients receive
// no notification when one changes.
func addResources(s *sdk.Server, opt *Options) {
	read := func(text func(context.Context, *tool.Call, string) (string, error)) sdk.ResourceHandler {
		return func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			uri := req.Params.URI
			body, err := text(ctx,
				&tool.Call{Invoker: answer.Visible{Invoker: opt.Invoker}, Options: opt, Session: req.Session}, uri)
			if e := tool.AsError(err); e != nil && missing(e.Code) {
				return nil, sdk.ResourceNotFoundError(uri)
			}
			if err != nil {
				return nil, protocolError(err)
			}
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri,
				Text: answer.Fence(invisible.Show(body))}}}, nil
		}
	}
	s.AddResource(&sdk.Resource{URI: recentURI, Name: "recent", Title: "Newest memories", MIMEType: markdown,
		Description: "The newest memories, with the first words of each memory."}, read(recentResource))
	s.AddResource(&sdk.Resource{URI: graphURI, Name: "graph", Title: "Memories and relations", MIMEType: markdown,
		Description: "The newest memories and their relations, as JSON between marks."}, read(graphResource))
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: memoryTemplate, Name: "memory", Title: "A memory",
		MIMEType:    markdown,
		Description: "The memory with this ID, or with these last eight characters of the ID."}, read(memoryResource))
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: vaultTemplate, Name: "note", Title: "A note",
		MIMEType:    markdown,
		Description: "The note of the vault with this path."}, read(noteResource))
}

func recentResource(ctx context.Context, c *tool.Call, _ string) (string, error) {
	out, err := agentList(ctx, c, &agentListIn{Limit: memory.MaxResults, MaxTokens: resourceTokens})
	if err != nil {
		return "", err
	}
	return out.Text(), nil
}

// graphResource returns the first page of the graph.
func graphResource(ctx context.Context, c *tool.Call, _ string) (string, error) {
	res, err := op.Graph.Call(ctx, c, &op.GraphRequest{PageSize: memory.MaxResults})
	if err != nil {
		return "", err
	}
	out := graphOf(res, newBudget(c, resourceTokens))
	raw, err := wire.Marshal(out)
	return string(raw), err
}

// graph is what leads from one memory to another.
type graph struct {
	Memories  []resultItem `json:"memories"`
	Relations []graphEdge  `json:"relations"`
	Total     int          `json:"total_memories"`
	Truncated bool         `json:"truncated,omitempty"`
}

type graphEdge struct {
	From memory.ID `json:"from"`
	To   memory.ID `json:"to"`
	Type string    `json:"type"`
}

func graphOf(res *op.GraphResult, left budget) graph {
	g := graph{Memories: []resultItem{}, Relations: []graphEdge{}, Total: res.Stats.TotalMemories}
	g.Truncated = res.Pagination.HasMore
	for i := range res.Memories {
		s := showMemory(&res.Memories[i], firstWords(res.Memories[i].Content))
		if !left.take("", &s) {
			g.Truncated = true
			return g
		}
		g.Memories = append(g.Memories, s)
	}
	for _, r := range res.Relations {
		e := graphEdge{r.From, r.To, r.Type}
		if !left.take("", &e) {
			g.Truncated = true
			break
		}
		g.Relations = append(g.Relations, e)
	}
	return g
}

func memoryResource(ctx context.Context, c *tool.Call, uri string) (string, error) {
	id, err := url.PathUnescape(strings.TrimPrefix(uri, memoryScheme))
	if err != nil {
		return "", memory.Errorf(memory.Invalid, "invalid memory URI %.200q: %w", uri, err)
	}
	s, _, err := openedMemory(ctx, c, id, 0)
	if err != nil {
		return "", err
	}
	return s.render(depthWhole), nil
}

func noteResource(ctx context.Context, c *tool.Call, uri string) (string, error) {
	path, err := url.PathUnescape(strings.TrimPrefix(uri, vaultScheme))
	if err != nil {
		return "", memory.Errorf(memory.Invalid, "invalid note path %.200q: %w", uri, err)
	}
	res, err := op.NoteRead.Call(ctx, c, &op.NoteReadRequest{Path: path, Limit: noteLimit})
	if err != nil {
		return "", err
	}
	if res.Left > 0 {
		next := openRest([]string{res.Path}, noteLimit, res.Next)
		return res.Text + fmt.Sprintf("\n\n(%s)\n", strings.TrimSpace(next.line())), nil
	}
	return res.Text, nil
}
