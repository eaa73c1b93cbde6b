// Package racescale reduces the random inputs of tests. A package whose tests import racescale has its properties
// checked on 25 inputs, or 6 under the race detector, unless RAPID_CHECKS or -rapid.checks gives a number, as make
// proof does. Share is for what is tried in other ways: the race detector makes tests about five times slower and looks
// for something else, so the full number runs without it, in make test.
package racescale

import (
	"flag"
	"os"
	"strconv"

	_ "pgregory.net/rapid" // registers the flag
)

// usual is how many inputs a property is checked on, where rapid by itself tries 100.
const usual = 25

func init() {
	if os.Getenv("RAPID_CHECKS") != "" {
		return // rapid has it by now
	}
	if err := flag.Set("rapid.checks", strconv.Itoa(usual/Share)); err != nil {
		panic(err)
	}
}
