package contain_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"emberd/internal/contain"
	"emberd/internal/metrics"
)

func TestAPanicBecomesAnErrorWithItsID(t *testing.T) {
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	var none []int
	for name, fn := range map[string]func() error{
		"a.md": func() error { return errors.New(strings.Repeat("x", none[3])) },
		"b.md": func() error { panic("the text of a memory") },
		"c.md": func() error {
			var all contain.Group
			all.Go(func() { none[3]++ })
			all.Go(func() {})
			all.Wait()
			return nil
		},
	} {
		said.Reset()
		p := contain.Of(contain.Do(log, contain.Note, name, fn))
		if p == nil || p.Place != contain.Note || len(p.ID) != 8 {
			t.Fatalf("%s: got %+v", name, p)
		}
		for _, want := range []string{"fault=" + p.ID, "name=" + name, "contain_test.go"} {
			if !strings.Contains(said.String(), want) {
				t.Errorf("%s: the log lacks %q: %s", name, want, &said)
			}
		}
		if strings.Contains(said.String(), "the text of a memory") {
			t.Errorf("%s: the log has the value of the panic: %s", name, &said)
		}
	}
	if err := contain.Do(log, contain.Note, "d.md", func() error { return io.EOF }); err != io.EOF {
		t.Errorf("without a panic came %v", err)
	}
	var page metrics.Exposition
	contain.Measure(&page)
	var text bytes.Buffer
	if _, err := page.WriteTo(&text); err != nil || !strings.Contains(text.String(), `emberd_panics_total{place="note"} 3`) {
		t.Errorf("the metrics page (%v) is\n%s", err, &text)
	}
}

// A lock that the failed work held by defer is free afterwards.
func TestDeferredCallsRun(t *testing.T) {
	var mu sync.Mutex
	err := contain.Do(slog.New(slog.DiscardHandler), contain.Task, "t", func() error {
		mu.Lock()
		defer mu.Unlock()
		panic("t")
	})
	if contain.Of(err) == nil || !mu.TryLock() {
		t.Errorf("after %v the lock is held", err)
	}
}

// All of them run, no more at a time than wanted, and a panic of one reaches the caller.
func TestEach(t *testing.T) {
	var done, now, most atomic.Int32
	err := contain.Do(slog.New(slog.DiscardHandler), contain.Note, "many", func() error {
		contain.Each(50, 3, func(i int) {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			defer now.Add(-1)
			done.Add(1)
			if i == 7 {
				panic("seven")
			}
		})
		return nil
	})
	if done.Load() != 50 || most.Load() > 3 || contain.Of(err) == nil {
		t.Errorf("%d of 50 ran, %d at a time, %v", done.Load(), most.Load(), err)
	}
}
