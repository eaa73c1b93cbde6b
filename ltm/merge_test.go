package ltm

import (
	"testing"
	"time"

	"emberd/internal/testutil/bubble"
)

// paced runs the merger's question and returns the answer and how long it took.
func paced(p *pacer, closing, failed chan struct{}) (newest bool, took time.Duration) {
	start := time.Now()
	newest = p.pace(closing, failed)
	return newest, time.Since(start)
}

func TestMergesWaitForQuiet(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPacer()
		if newest, took := paced(p, nil, nil); !newest || took != mergeQuiet {
			t.Errorf("without a batch the answer is %v after %v, want true after %v", newest, took, mergeQuiet)
		}
		go func() {
			for range 5 {
				time.Sleep(mergeQuiet / 2)
				p.batch()
			}
		}()
		if newest, took := paced(p, nil, nil); newest || took != 5*mergeQuiet/2+mergeQuiet {
			t.Errorf("with batches the answer is %v after %v, want false after the last and %v", newest, took, mergeQuiet)
		}
		if newest, took := paced(p, nil, nil); !newest || took != 0 {
			t.Errorf("asked again with the newest state, the answer is %v after %v, want true at once", newest, took)
		}
	})
}

func TestMergesRunAfterManyBatches(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPacer()
		for range 2 * mergeMany {
			p.batch() // must not wait for a merge that takes long
		}
		if newest, took := paced(p, nil, nil); newest || took != 0 {
			t.Errorf("after %d batches the answer is %v after %v, want false at once", 2*mergeMany, newest, took)
		}
	})
}

func TestMergesDoNotHoldUpTheEnd(t *testing.T) {
	ended := make(chan struct{})
	close(ended)
	for name, channels := range map[string][2]chan struct{}{"closing": {ended, nil}, "failed": {nil, ended}} {
		bubble.Test(t, func(t *testing.T) {
			p := newPacer()
			if _, took := paced(p, channels[0], channels[1]); took != 0 {
				t.Errorf("%s: the merger waits for %v", name, took)
			}
		})
	}
}
