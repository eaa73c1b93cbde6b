package daemon

import (
	"context"
	"errors"
	"testing"

	"emberd/engine"
)

// A start that a file or the disk holds up ends soon after a signal.
func TestAStopDuringTheStartIsHeard(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stuck := make(chan struct{})
	defer close(stuck)
	_, err := openUnless(after(ctx, 0), func() (*engine.Engine, error) {
		stop()
		<-stuck
		return nil, nil
	})
	if !errors.Is(err, errStoppedAtStart) {
		t.Errorf("the start ended with %v", err)
	}
	e, want := new(engine.Engine), errors.New("no disk")
	got, err := openUnless(nil, func() (*engine.Engine, error) { return e, want })
	if got != e || !errors.Is(err, want) {
		t.Errorf("without a stop: %p, %v; want %p, %v", got, err, e, want)
	}
}
