package learn_test

import (
	"context"
	"testing"
	"testing/synctest"

	"emberd/engine/learn"
	"emberd/internal/testutil/bubble"
	"emberd/memory"
)

// littleAlike and muchAlike are how alike two additions are.
func littleAlike(string) float64 { return 0.59 }

func muchAlike(string) float64 { return 0.9 }

func TestOnlyAdditionsOfOneThingWait(t *testing.T) {
	for _, c := range []struct {
		name, text string
		like       func(string) float64
		waits      bool
	}{
		{"the same", "The kettle leaks", littleAlike, true},
		{"another spelling", "the  KETTLE leaks", littleAlike, true},
		{"much the same", "The kettle is leaking", muchAlike, true},
		{"something else", "The tide turns", littleAlike, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				var a learn.PendingAdds
				end, err := a.Begin(t.Context(), "The kettle leaks", littleAlike, 0.6)
				if err != nil {
					t.Fatal(err)
				}
				begun := false
				go func() {
					end, err := a.Begin(t.Context(), c.text, c.like, 0.6)
					if begun = true; err != nil {
						t.Error(err)
						return
					}
					end()
				}()
				if synctest.Wait(); begun == c.waits {
					t.Errorf("it has begun: %v", begun)
				}
				end()
				if synctest.Wait(); !begun || len(a.Under) != 0 {
					t.Errorf("it has begun: %v; %d are under way", begun, len(a.Under))
				}
			})
		})
	}
}

// Whoever gives up leaves nothing behind.
func TestAnAdditionThatGivesUpWaiting(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var a learn.PendingAdds
		end, err := a.Begin(t.Context(), "The kettle leaks", muchAlike, 0.6)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var gaveUp error
		go func() { _, gaveUp = a.Begin(ctx, "the kettle leaks", muchAlike, 0.6) }()
		synctest.Wait()
		cancel()
		if synctest.Wait(); memory.CodeOf(gaveUp) != memory.Busy || len(a.Under) != 1 {
			t.Errorf("got %v, %d are under way", gaveUp, len(a.Under))
		}
		end()
		if end, err = a.Begin(t.Context(), "the kettle leaks", muchAlike, 0.6); err != nil {
			t.Errorf("the next one: %v", err)
		}
		end()
	})
}
