// Package bubble runs tests with the clock of [testing/synctest]. Go 1.26 keeps one state of the race detector for all
// timers of such a bubble and changes it from several processors at once, which ends the process when an AfterFunc and
// the timer of a channel are due at the same moment. So under the race detector, while a bubble runs, there is one
// processor.
package bubble

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
)

// Test is [synctest.Test].
func Test(t *testing.T, fn func(*testing.T)) {
	t.Helper()
	if race {
		enter()
		defer leave()
	}
	synctest.Test(t, fn)
}

// mu guards how many bubbles run and the number of processors without them.
var (
	mu      sync.Mutex
	running int
	usual   int
)

func enter() {
	mu.Lock()
	defer mu.Unlock()
	if running++; running == 1 {
		usual = runtime.GOMAXPROCS(1)
	}
}

func leave() {
	mu.Lock()
	defer mu.Unlock()
	if running--; running == 0 {
		runtime.GOMAXPROCS(usual)
	}
}
