// Package racescale reduces the random inputs of property tests under the race detector, which
// makes them about five times slower and looks for something else. The full number runs without
// it, in make test. A package whose tests import racescale has its properties checked on one of
// Share inputs under the detector, unless -rapid.checks gives a number.
package racescale

import (
	"flag"
	"strconv"

	_ "pgregory.net/rapid" // registers the flag
)

// usual is how many inputs rapid tries by itself.
const usual = 100

func init() {
	if err := flag.Set("rapid.checks", strconv.Itoa(usual/Share)); err != nil {
		panic(err)
	}
}
