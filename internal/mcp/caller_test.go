package mcp

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestAClaimIsShortAndPrintable(t *testing.T) {
	tests := []struct {
		info *sdk.Implementation
		want string
	}{
		{nil, ""},
		{&sdk.Implementation{}, ""},
		{&sdk.Implementation{Version: "1"}, ""},
		{&sdk.Implementation{Name: "claude-code"}, "claude-code"},
		{&sdk.Implementation{Name: "claude-code", Version: "2.1"}, "claude-code/2.1"},
		{&sdk.Implementation{Name: " エディタ ", Version: "1"}, "エディタ /1"},
		{&sdk.Implementation{Name: "a\nb\u202ec\x1b[2J\xff", Version: "1\r\n"}, "a bc [2J /1"},
		{&sdk.Implementation{Name: strings.Repeat("é", 300)}, strings.Repeat("é", maxClaim)},
	}
	for _, tt := range tests {
		if got := claim(tt.info); got != tt.want {
			t.Errorf("claim(%+v) = %q, want %q", tt.info, got, tt.want)
		}
	}
}
