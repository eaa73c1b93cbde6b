package tool

import (
	"strconv"
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

// A knownClient is a client that gives a model the structured content of a result without
// the text beside it. docs/mcp.md has the evidence.
type knownClient struct {
	prefix string // of the name that the client claims
	since  string // the first such version, "" for every one
}

var knownClients = []knownClient{
	{"claude-code", "2.0.21"},
	{"codex", ""},
	{"opencode", ""},
	{"github-copilot", ""},
	{"Visual Studio Code", ""},
}

// FormFor returns the form of answers to a client, which is nil if it has no name. It is
// never Auto.
//
// Models read the answers of the profiles agent and all: these are text for every client.
// The drop-ins have clients that decode structured content, and keep it, unless the client
// is known to give that to a model.
func (o *Options) FormFor(client *sdk.Implementation) Form {
	switch {
	case o.Form == Text || o.Form == Structured:
		return o.Form
	case o.forModels():
		return Text
	}
	for _, c := range knownClients {
		if client != nil && strings.HasPrefix(client.Name, c.prefix) && !older(client.Version, c.since) {
			return Text
		}
	}
	return Structured
}

// forModels reports whether models read the answers of the profile, and no other program.
func (o *Options) forModels() bool { return o.Profile == Agent || o.Profile == All || o.Profile == "" }

// older reports whether a version precedes another, number by number. A version without
// numbers is not older.
func older(version, than string) bool {
	a, b := numbersOf(version), numbersOf(than)
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// numbersOf returns the numbers at the beginning of a version, which points separate.
func numbersOf(version string) (out []int) {
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		out = append(out, n)
	}
	return out
}
