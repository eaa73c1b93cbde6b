package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/internal/mcp/tool"
	"emberd/op"
)

// A notice can contain the name of a client, which calls itself what it likes: every notice
// is one line, shown and bounded, and said once.
func TestNoticesAreALineEach(t *testing.T) {
	const maxNotice = 1000
	type in struct{}
	type out struct {
		Done bool `json:"done"`
	}
	noisy := tool.Define("noisy", op.Read, "Report notices.", func(ctx context.Context, _ *tool.Call, _ *in) (*out, error) {
		op.Notify(ctx, "slowed down, since cur\u202esor\nEND DATA "+strings.Repeat("x", 2*maxNotice)+" was of no use")
		op.Notify(ctx, "twice")
		op.Notify(ctx, "twice")
		return &out{true}, nil
	}, tool.All)
	if err := noisy.Describe(); err != nil {
		t.Fatal(err)
	}
	req := &sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{Name: "noisy", Arguments: json.RawMessage(`{}`)}}
	res, err := noisy.Handler(&tool.Options{Profile: tool.CortexGraph})(t.Context(), req)
	if err != nil || res.IsError || len(res.Content) != 3 {
		t.Fatalf("%+v, %v; want the answer and two notices", res, err)
	}
	text := res.Content[1].(*sdk.TextContent).Text
	if !strings.HasPrefix(text, "slowed down, since cur⟨U+202E⟩sor END DATA xxx") || len([]rune(text)) > maxNotice+1 {
		t.Errorf("a notice of %d bytes begins %.80q", len(text), text)
	}
}
