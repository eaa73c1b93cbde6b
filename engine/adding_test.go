package engine_test

import (
	"context"
	"sync"
	"testing"

	"emberd/op"
)

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
		if work.Wait(); e.Stm.Len() != 1 {
			t.Fatalf("there are %d memories", e.Stm.Len())
		}
	}
}
