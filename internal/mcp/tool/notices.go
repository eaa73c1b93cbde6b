package tool

import (
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/internal/mcp/answer"
	"emberd/internal/text"
	"emberd/internal/text/invisible"
)

// notices are the sentences that an operation reports to its caller beside the answer. A
// model reads them behind the answer as texts of their own, each in one line. They are
// emberd's words and have no fence, but can contain the name that a client gave itself.
type notices struct {
	mu   sync.Mutex // guards what follows
	said []string
}

// maxNotice bounds a notice, in characters.
const maxNotice = 1000

// add records a sentence that is not recorded yet.
func (n *notices) add(sentence string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.said, sentence) {
		n.said = append(n.said, sentence)
	}
}

// lines returns the notices, each in one line.
func (n *notices) lines() (out []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, sentence := range n.said {
		out = append(out, text.Truncate(invisible.Show(answer.OneLine(sentence)), maxNotice))
	}
	return out
}

// addTo appends the notices to the content of a result.
func (n *notices) addTo(res *sdk.CallToolResult) *sdk.CallToolResult {
	if res == nil {
		return nil
	}
	for _, line := range n.lines() {
		res.Content = append(res.Content, &sdk.TextContent{Text: line})
	}
	return res
}
