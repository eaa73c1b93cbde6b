package mcpserver

import (
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// notices are what an operation says to its caller beside the answer. A model reads them
// as a text of their own behind it.
type notices struct {
	mu   sync.Mutex // guards what follows
	said []string
}

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
		res.Content = append(res.Content, &mcp.TextContent{Text: sentence})
	}
	return res
}
