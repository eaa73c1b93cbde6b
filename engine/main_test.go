package engine_test

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"

	_ "emberd/internal/testutil/racescale"
)

// TestMain lets more tests run at once than there are processors, unless -parallel says
// how many: they wait most of the time. Garbage is collected half as often, unless GOGC says how often.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(200)
	}
	os.Exit(m.Run())
}
