package mcpserver

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestAClaimIsShortAndPrintable(t *testing.T) {
	tests := []struct {
		info *mcp.Implementation
		want string
	}{
		{nil, ""},
		{&mcp.Implementation{}, ""},
		{&mcp.Implementation{Version: "1"}, ""},
		{&mcp.Implementation{Name: "claude-code"}, "claude-code"},
		{&mcp.Implementation{Name: "claude-code", Version: "2.1"}, "claude-code/2.1"},
		{&mcp.Implementation{Name: " エディタ ", Version: "1"}, "エディタ /1"},
		{&mcp.Implementation{Name: "a\nb\u202ec\x1b[2J\xff", Version: "1\r\n"}, "abc[2J/1"},
		{&mcp.Implementation{Name: strings.Repeat("é", 300)}, strings.Repeat("é", maxClaim)},
	}
	for _, tt := range tests {
		if got := claim(tt.info); got != tt.want {
			t.Errorf("claim(%+v) = %q, want %q", tt.info, got, tt.want)
		}
	}
}
