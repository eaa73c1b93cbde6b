package mcp

import (
	"context"
	"fmt"
	"strings"

	"emberd/internal/mcp/tool"
	"emberd/op"
)

type agentListIn struct {
	Sort      string   `json:"sort,omitempty" enum:"created|used|score|uses" default:"\"created\"" doc:"order: newest or highest first"`
	Tags      []string `json:"tags,omitempty" max:"50" doc:"only results with all of these tags"`
	Project   string   `json:"project,omitempty" doc:"filter by project; . is the current project"`
	Days      float64  `json:"days,omitempty" min:"0" max:"3650" doc:"only memories saved or used in the last N days"`
	Limit     int      `json:"limit,omitempty" min:"1" max:"100" default:"20" doc:"maximum number of memories"`
	Cursor    string   `json:"cursor,omitempty" doc:"cursor of the previous answer"`
	MaxTokens int      `json:"max_tokens,omitempty" min:"500" max:"20000" default:"2000" doc:"token limit of the answer"`
}

type agentListOut struct {
	Memories []resultItem `json:"memories"`
	Total    int          `json:"total"`
	continuation
}

// agentList lists a page, or as much of one as fits.
func agentList(ctx context.Context, c *tool.Call, in *agentListIn) (*agentListOut, error) {
	project, err := c.NamedProject(ctx, in.Project)
	if err != nil {
		return nil, err
	}
	req := &op.ListRequest{Sort: in.Sort, Limit: in.Limit, Cursor: in.Cursor,
		Filter: op.Filter{Tags: in.Tags, Project: project, WindowDays: in.Days}}
	res, err := op.List.Call(ctx, c, req)
	if err != nil {
		return nil, err
	}
	out := &agentListOut{Memories: []resultItem{}, Total: res.Total}
	left := newBudget(c, in.MaxTokens)
	for i := range res.Memories {
		s := showMemory(&res.Memories[i], firstWords(res.Memories[i].Content))
		if !left.take(s.render(depthIndex), &s) {
			break
		}
		out.Memories = append(out.Memories, s)
	}
	next := res.NextCursor
	switch n := len(out.Memories); {
	case n == 0 && len(res.Memories) > 0:
		out.continuation = continuation{true, tooSmall}
		return out, nil
	case n < len(res.Memories):
		req.Limit = n // only a page of this size has the cursor of the next one
		if res, err = op.List.Call(ctx, c, req); err != nil {
			return nil, err
		}
		next = res.NextCursor
	}
	if next != "" {
		out.continuation = continuation{true, fmt.Sprintf(`the same memory_list call with "cursor": %q`, next)}
	}
	return out, nil
}

// Text returns the text for the model.
func (o *agentListOut) Text() string {
	if o.Total == 0 {
		return "No memories.\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %s.\n", len(o.Memories), plural(o.Total, "memory", "memories"))
	for i := range o.Memories {
		b.WriteString(o.Memories[i].render(depthIndex))
	}
	b.WriteString(o.line())
	return b.String()
}
