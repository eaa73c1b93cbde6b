package engine

import (
	"flag"
	"os"
	"testing"

	_ "emberd/internal/fewer"
)

// TestMain lets more tests run at once than there are processors, unless -parallel says
// how many: they wait for the disk most of the time.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
