package engine_test

import (
	"flag"
	"os"
	"testing"

	_ "emberd/internal/testutil/racescale"
	_ "emberd/internal/testutil/ramdisk"
)

// TestMain lets more tests run at once than there are processors, unless -parallel says
// how many: they wait for the disk most of the time. It has property tests draw fewer cases,
// unless -rapid.checks says how many, as make proof does.
func TestMain(m *testing.M) {
	fewer := map[string]string{"test.parallel": "4", "rapid.checks": "25"}
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() != checks.DefValue {
		delete(fewer, "rapid.checks") // the race detector has fewer still
	}
	for name, value := range fewer {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
