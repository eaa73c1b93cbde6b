package mcp

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain collects garbage a quarter as often, unless GOGC says how often: every test has an engine of its own.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
