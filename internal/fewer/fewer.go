// Package fewer is for tests: random inputs are fewer under the race detector, which slows
// them down some fivefold to look for something else. What many of them prove, they prove
// without it, in make test. A package whose tests import it has its properties checked on
// one of Share inputs there, unless -rapid.checks says on how many.
package fewer

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
