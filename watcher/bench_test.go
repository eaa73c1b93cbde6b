package watcher

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
)

func quietly(context.Context, Batch) error { return nil }

// vaultOf makes a vault with n notes in folders of fifty, once for a benchmark.
func vaultOf(b *testing.B, n int) disk {
	d := disk{b, b.TempDir()}
	for i := range n {
		d.note(fmt.Sprintf("%02d/%d/note %d.md", i/500, i/50%10, i), "some text")
	}
	return d
}

// BenchmarkScan10k measures a scan of ten thousand notes in 200 folders: the
// first, which sets the watches and tells of everything, and a later one that
// finds nothing changed.
func BenchmarkScan10k(b *testing.B) {
	d := vaultOf(b, 10_000)
	everything := work{all: true}
	open := func(b *testing.B) *Watcher {
		w, err := New(d.dir, nil)
		d.ok(err)
		w.begin()
		return w
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			w := open(b)
			d.ok(w.look(b.Context(), time.Now(), everything, quietly))
			if len(w.known) != 10_000 {
				b.Fatalf("found %d files", len(w.known))
			}
			w.closeFeed()
		}
	})
	b.Run("unchanged", func(b *testing.B) {
		w := open(b)
		defer w.closeFeed()
		d.ok(w.look(b.Context(), time.Now(), everything, quietly))
		for b.Loop() {
			d.ok(w.look(b.Context(), time.Now(), everything, quietly))
		}
	})
}

// BenchmarkSaveToBatch measures the time from the end of a save to its batch,
// among a thousand notes. The quiet time is part of it.
func BenchmarkSaveToBatch(b *testing.B) {
	d := vaultOf(b, 1000)
	w, err := New(d.dir, nil)
	d.ok(err)
	arrived := make(chan time.Time, 1)
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() {
		done <- w.Run(ctx, func(context.Context, Batch) error {
			arrived <- time.Now()
			return nil
		})
	}()
	<-arrived
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		d.write(fmt.Sprintf("00/0/note %d.md", i%50), fmt.Sprint("saved ", i))
		saved := time.Now()
		took = append(took, (<-arrived).Sub(saved))
	}
	cancel()
	d.ok(<-done)
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
