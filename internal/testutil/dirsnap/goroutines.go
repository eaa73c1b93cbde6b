package dirsnap

import (
	"runtime"
	"testing"
	"time"
)

// Goroutines waits until no more of them run than before, up to ten seconds and more,
// and fails with all their stacks if that does not happen.
func Goroutines(t testing.TB, before int) {
	t.Helper()
	for range 10_000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		<-time.After(time.Millisecond)
	}
	stacks := make([]byte, 1<<17)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}
