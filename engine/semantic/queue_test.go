package semantic_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/engine/semantic"
	_ "emberd/internal/testutil/racescale"
)

func TestRestFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		took  time.Duration
		share float64
		want  time.Duration
	}{
		{time.Second, 0.5, time.Second},
		{time.Second, 0.25, 3 * time.Second},
		{time.Second, 0.8, 250 * time.Millisecond},
		{time.Second, 1, 0},
		{time.Second, 0, 0},
		{0, 0.5, 0},
	} {
		if got := semantic.RestFor(c.took, c.share).Round(time.Microsecond); got != c.want {
			t.Errorf("after %s with a share of %v it rests %s, want %s", c.took, c.share, got, c.want)
		}
	}
}

// TestTodo compares what is to be done with a plain map.
func TestTodo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type doc struct {
			at           int
			waits, aside bool
		}
		docs := make(map[string]doc)
		var all semantic.EmbedQueue
		all.Clear()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			name := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "name")
			d, had := docs[name]
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				at := rapid.IntRange(1, 1000).Draw(t, "at")
				all.Add(name, time.Unix(int64(at), 0), had && !d.waits)
				docs[name] = doc{at: at, waits: true}
			case 1:
				all.Done(name)
				if had {
					docs[name] = doc{at: d.at}
				}
			case 2:
				all.Gone(name, had && !d.waits)
				delete(docs, name)
			case 3:
				all.Postpone(name)
				if d.waits {
					docs[name] = doc{d.at, true, true}
				}
			}
			newest, left, covered := 0, 0, 0
			for _, d := range docs {
				switch {
				case !d.waits:
					covered++
				case !d.aside:
					left++
					newest = max(newest, d.at)
				}
			}
			if all.Left() != left || all.Covered != covered || all.Total() != len(docs) {
				t.Fatalf("left %d, covered %d of %d; want %d, %d of %d", all.Left(), all.Covered, all.Total(), left,
					covered, len(docs))
			}
			if first, ok := all.First(); ok != (left > 0) || ok && docs[first].at != newest {
				t.Fatalf("first is %q of %d, %v; want one of %d", first, docs[first].at, ok, newest)
			}
		}
	})
}
