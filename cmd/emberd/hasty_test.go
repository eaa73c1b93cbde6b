package main

import (
	"os"
	"strconv"
	"time"
)

// hastyVar makes the clock of the program run from the moment that it says, in milliseconds since
// 1970, as many times faster as hasteFactor.
const hastyVar = "HASTY_SINCE"

// hasteFactor lets a day pass in four seconds, so that what is kept for a month is gone after two
// minutes.
const hasteFactor = 24 * 60 * 60 / 4

// program is main, but for the clock.
func program() {
	s := newState()
	if ms, err := strconv.ParseInt(os.Getenv(hastyVar), 10, 64); err == nil {
		s.now = hasty(time.UnixMilli(ms))
	}
	os.Exit(execute(s))
}

// hasty is the same clock in every process.
func hasty(since time.Time) func() time.Time {
	return func() time.Time { return since.Add(time.Since(since) * hasteFactor) }
}
