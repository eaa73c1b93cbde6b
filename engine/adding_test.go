package engine

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"emberd/memory"
	"emberd/op"
)

// littleAlike and muchAlike are how alike two additions are.
func littleAlike(string) float64 { return 0.59 }
func muchAlike(string) float64   { return 0.9 }

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
			synctest.Test(t, func(t *testing.T) {
				var a adding
				end, err := a.begin(t.Context(), "The kettle leaks", littleAlike, 0.6)
				ok(t, err)
				begun := false
				go func() {
					end, err := a.begin(t.Context(), c.text, c.like, 0.6)
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
				if synctest.Wait(); !begun || len(a.under) != 0 {
					t.Errorf("it has begun: %v; %d are under way", begun, len(a.under))
				}
			})
		})
	}
}

// Whoever gives up leaves nothing behind.
func TestAnAdditionThatGivesUpWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a adding
		end, err := a.begin(t.Context(), "The kettle leaks", muchAlike, 0.6)
		ok(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		var gaveUp error
		go func() { _, gaveUp = a.begin(ctx, "the kettle leaks", muchAlike, 0.6) }()
		synctest.Wait()
		cancel()
		if synctest.Wait(); memory.CodeOf(gaveUp) != memory.Busy || len(a.under) != 1 {
			t.Errorf("got %v, %d are under way", gaveUp, len(a.under))
		}
		end()
		if end, err = a.begin(t.Context(), "the kettle leaks", muchAlike, 0.6); err != nil {
			t.Errorf("the next one: %v", err)
		}
		end()
	})
}

// What is added at once in two wordings is one memory.
func TestMuchTheSameAddedAtOnce(t *testing.T) {
	t.Parallel()
	for range size(5, 50) {
		e, _ := newEngine(t)
		var work sync.WaitGroup
		for _, text := range []string{"The staging database runs on port 5432.", "Staging's database: runs on port 5432!"} {
			work.Go(func() {
				if _, err := op.Add.Call(context.Background(), e, &op.AddRequest{Content: text}); err != nil {
					t.Error(err)
				}
			})
		}
		if work.Wait(); e.stm.Len() != 1 {
			t.Fatalf("there are %d memories", e.stm.Len())
		}
	}
}
