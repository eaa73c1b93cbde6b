package ltm

import (
	"sync/atomic"
	"time"
)

// A segment is merged with others about as often as merges run: after every batch, if
// Bleve has its way, which writes a first reading of a vault four times. So merges wait
// until no batch has come for a while, or many have, between which searches would get
// slow.
const (
	mergeQuiet = 2 * time.Second
	mergeMany  = 32 // batches
)

// pacer makes merges wait.
type pacer struct {
	came   chan struct{} // a token for each batch, up to mergeMany
	urgent atomic.Int32  // how many callers wait for a merge
	now    chan struct{} // a token ends a wait for quiet
	waited bool          // the merger has waited; only it looks here
}

func newPacer() *pacer {
	return &pacer{came: make(chan struct{}, mergeMany), now: make(chan struct{}, 1)}
}

// hurry lets merges run at once until the returned function is called.
func (p *pacer) hurry() (release func()) {
	p.urgent.Add(1)
	select {
	case p.now <- struct{}{}:
	default:
	}
	return func() { p.urgent.Add(-1) }
}

// batch tells of a new batch. It does not wait.
func (p *pacer) batch() {
	select {
	case p.came <- struct{}{}:
	default:
	}
}

// pace returns when merges should run, or when one of the channels is closed. It reports
// whether the state that the merger holds is still the newest; if not, the merger gets it
// and asks again.
func (p *pacer) pace(closing, failed <-chan struct{}) bool {
	if p.waited || p.urgent.Load() > 0 {
		p.waited = false
		return true
	}
	batches := 0
	quiet := time.NewTimer(mergeQuiet)
	defer quiet.Stop()
	for batches < mergeMany {
		select {
		case <-p.came:
			batches++
			quiet.Reset(mergeQuiet)
			continue
		case <-quiet.C:
		case <-p.now:
		case <-closing:
		case <-failed:
		}
		break
	}
	p.waited = batches > 0
	return !p.waited
}
