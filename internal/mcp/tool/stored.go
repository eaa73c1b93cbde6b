package tool

import (
	"fmt"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/internal/mcp/answer"
	"emberd/internal/text/invisible"
	"emberd/memory"
)

// aboutStored adds the stored names that an error is about to its result.
func aboutStored(res *sdk.CallToolResult, e *memory.Error) *sdk.CallToolResult {
	if len(e.Stored) == 0 {
		return res
	}
	var lines strings.Builder
	for _, name := range e.Stored {
		fmt.Fprintf(&lines, "%s\n", invisible.Show(strconv.Quote(name)))
	}
	most := MaxMessage - answer.FenceRoom
	fenced := answer.Fence(answer.Cut(strings.TrimSuffix(lines.String(), "\n"), most,
		"the rest of the text is not available"))
	res.Content = append(res.Content, &sdk.TextContent{Text: strings.TrimSuffix(fenced, "\n")})
	return res
}
