package semantic_test

import (
	"fmt"
	"testing"
	"time"

	"emberd/embedding"
	"emberd/engine/core"
	"emberd/engine/semantic"
	"emberd/internal/testutil/bubble"
)

func TestRecentQueriesAreBounded(t *testing.T) {
	t.Parallel()
	r, on := semantic.NewRecentQueries(), new(semantic.VectorIndex)
	text := func(i int) string { return fmt.Sprint("query ", i) }
	for i := range 2 * semantic.KeptQueries {
		r.Put(on, embedding.Query, text(i), []float32{float32(i)})
		r.Get(on, embedding.Query, text(0))
	}
	if len(r.At) != semantic.KeptQueries || r.Order.Len() != semantic.KeptQueries {
		t.Errorf("%d vectors are kept in a list of %d, want %d", len(r.At), r.Order.Len(), semantic.KeptQueries)
	}
	for i, want := range map[int]bool{0: true, 1: false, 2*semantic.KeptQueries - 1: true} {
		if v, known := r.Get(on, embedding.Query, text(i)); known != want || known && v[0] != float32(i) {
			t.Errorf("query %d is known: %v with %v, want %v", i, known, v, want)
		}
	}
	other := &semantic.VectorIndex{Identity: embedding.Identity{SHA256: "another"}}
	if _, known := r.Get(other, embedding.Query, text(0)); known {
		t.Error("a vector of one model is known as that of another")
	}
}

// TestAQueryWaitsForItsTurn: where more ask at once than vectors are made at once, the others
// wait for a while before they do without.
func TestAQueryWaitsForItsTurn(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		m := &semantic.Embeddings{Asks: make(chan semantic.Ask), Meaning: core.Meaning{Wait: time.Second}}
		go func() {
			time.Sleep(m.Wait / 2)
			(<-m.Asks).Answer <- []float32{1}
		}()
		if v, without := m.VectorOf(t.Context(), semantic.Ask{Text: "car"}); len(v) != 1 || without != "" {
			t.Errorf("got %v, without: %q", v, without)
		}
		begun := time.Now()
		if v, without := m.VectorOf(t.Context(), semantic.Ask{Text: "car"}); v != nil || without == "" ||
			time.Since(begun) != m.Wait {
			t.Errorf("after %v got %v, without: %q; nobody takes it", time.Since(begun), v, without)
		}
	})
}
