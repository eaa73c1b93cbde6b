//go:build !race

package racescale

// Share says that of so many random inputs one is tried: of 1 all are.
const Share = 1
