package daemon

import (
	"context"
	"errors"
	"testing"
	"time"

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

// A snapshot is given up before the stop is overdue, so that the stop is in order.
func TestAStopLeavesTimeToEndASnapshot(t *testing.T) {
	t.Parallel()
	if saveTime >= stopTime || saveTime <= DrainTime {
		t.Errorf("requests have %v, the snapshot until %v, of %v", DrainTime, saveTime, stopTime)
	}
	ctx, stop := context.WithCancel(t.Context())
	saving := until(ctx, 0)
	if saving.Err() != nil {
		t.Error("the time for a snapshot is over before there is a stop")
	}
	stop()
	err := closeUnless(after(ctx, time.Hour), func(func()) error {
		<-saving.Done()
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	stuck := make(chan struct{})
	defer close(stuck)
	for _, whole := range []bool{true, false} {
		overdue, end := context.WithCancel(t.Context())
		err := closeUnless(overdue.Done(), func(settled func()) error {
			if whole {
				settled()
			}
			end()
			<-stuck
			return nil
		})
		if whole != (err == nil) {
			t.Errorf("a stop that is overdue, all but the snapshot closed %v: %v", whole, err)
		}
	}
}
