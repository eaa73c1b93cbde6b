package mcpserver

import (
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/internal/plainly"
)

// notices are what an operation says to its caller beside the answer. A model reads them
// as texts of their own behind it, each in one line: they are emberd's words and have no
// fence, but may name a client as it calls itself.
type notices struct {
	mu   sync.Mutex // guards what follows
	said []string
}

// mostNotice bounds a notice, in characters.
const mostNotice = 1000

// add keeps a sentence, once.
func (n *notices) add(sentence string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.said, sentence) {
		n.said = append(n.said, sentence)
	}
}

func (n *notices) addTo(res *mcp.CallToolResult) *mcp.CallToolResult {
	n.mu.Lock()
	defer n.mu.Unlock()
	if res == nil {
		return nil
	}
	for _, sentence := range n.said {
		line := clippedTo(plainly.Show(flat(sentence)), mostNotice)
		res.Content = append(res.Content, &mcp.TextContent{Text: line})
	}
	return res
}
