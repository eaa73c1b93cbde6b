package tool

import (
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Form selects the parts of a result in which a client receives an answer.
type Form string

// The forms.
const (
	// Auto selects the form by the profile and the client.
	Auto Form = "auto"
	// Text is a text for a model inside a fence. There is no structured content, and tools/list
	// has no output schemas.
	Text Form = "text"
	// Structured is structured content that fits the output schema, and the text beside it.
	Structured Form = "structured"
)

// knownClients are the beginnings of the names of clients that give a model what they receive,
// whichever part of a result that is. docs/internals/compatibility.md has the evidence.
var knownClients = []string{
	"claude-code",
	"codex",
	"copilot-cli",
	"gemini-cli",
	"github-copilot",
	"opencode",
	"Visual Studio Code",
}

// FormFor returns the form of answers to a client, which is nil if it has no name. It is
// never Auto.
//
// Models read the answers of the profiles agent and all: these are text for every client.
// The drop-ins have clients that decode structured content, and keep it, unless the client
// is known to give what it receives to a model.
func (o *Options) FormFor(client *sdk.Implementation) Form {
	switch {
	case o.Form == Text || o.Form == Structured:
		return o.Form
	case o.forModels():
		return Text
	}
	for _, name := range knownClients {
		if client != nil && strings.HasPrefix(client.Name, name) {
			return Text
		}
	}
	return Structured
}

// forModels reports whether models read the answers of the profile, and no other program.
func (o *Options) forModels() bool {
	return slices.Contains([]Profile{Agent, Notes, All, ""}, o.Profile)
}
