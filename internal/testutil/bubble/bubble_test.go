package bubble

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
)

// Without the one processor, the race detector ends this test's process.
func TestTimersThatAreDueAtOnce(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	t.Run("bubbles", func(t *testing.T) {
		for i := range 2 {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				Test(t, timersAtOnce)
			})
		}
	})
	if after := runtime.GOMAXPROCS(0); after != before {
		t.Errorf("%d processors after the bubbles, want %d", after, before)
	}
}

func timersAtOnce(t *testing.T) {
	for range 2000 {
		var fired sync.WaitGroup
		for range 50 {
			polled := time.NewTimer(time.Second)
			fired.Add(1)
			time.AfterFunc(time.Second, func() {
				defer fired.Done()
				select {
				case <-polled.C:
				default:
					t.Error("a timer that is due has not fired")
				}
			})
		}
		fired.Wait()
	}
}
