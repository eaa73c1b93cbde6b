package stm_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain collects garbage a quarter as often, unless GOGC says how often: thousands of small stores are opened.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
