package core

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"emberd/embedding"
	"emberd/internal/contain"
	"emberd/internal/metrics"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/watcher"
)

// Counters count events for Admin.Measure. They do not distinguish memories or callers.
type Counters struct {
	Log *slog.Logger // of panics in the embedder; nil discards

	Ended metrics.Counts     // operations, by name and outcome
	Took  metrics.Histograms // duration by operation

	Compactions metrics.Counts // by outcome
	Compacting  metrics.Histogram
	Read, Wrote atomic.Uint64 // bytes, by compactions

	Changes metrics.Counts    // of the vault, by kind
	Lag     metrics.Histogram // time from a change until searches find it

	Embedded   metrics.Histograms // calls, by purpose
	Unembedded metrics.Counts

	Runs      metrics.Counts // of the lifecycle, by outcome
	Running   metrics.Histogram
	Moves     metrics.Counts // by kind
	Rekindles metrics.Counts // by verdict
}

// outcomeOf returns "ok" or the code of an error.
func outcomeOf(err error) string {
	if err == nil {
		return "ok"
	}
	return string(memory.CodeOf(err))
}

// CarriedOut counts an operation with its outcome and duration.
func (v *Counters) CarriedOut(s *op.Spec, err error, took time.Duration) {
	if err != nil {
		err = Typed(s, err)
	}
	v.Ended.Add(metrics.By(s.Name, outcomeOf(err)), 1)
	v.Took.Observe(metrics.By(s.Name), took)
}

// Compacted counts a compaction with its outcome and the bytes that it read and wrote.
func (v *Counters) Compacted(got stm.Rewritten, err error) {
	v.Compactions.Add(metrics.By(outcomeOf(err)), 1)
	if err == nil {
		v.Compacting.Observe(got.Took)
		v.Read.Add(uint64(max(0, got.Before)))
		v.Wrote.Add(uint64(max(0, got.After)))
	}
}

// Ran counts a run of the lifecycle with its outcome and duration.
func (v *Counters) Ran(err error, took time.Duration) {
	v.Runs.Add(metrics.By(outcomeOf(err)), 1)
	v.Running.Observe(took)
}

// Searchable records the time from the change of a note until searches find it.
func (v *Counters) Searchable(changed time.Time) {
	v.Lag.Observe(time.Since(changed)) // file times come from the system clock
}

// Followed counts the changes in a batch of the vault's watcher.
func (v *Counters) Followed(b watcher.Batch) {
	kinds := [...]struct {
		name string
		n    int
	}{{"changed", len(b.Changed) - len(b.Moved)}, {"gone", len(b.Gone) - len(b.Moved)}, {"moved", len(b.Moved)}}
	for _, kind := range kinds {
		v.Changes.Add(metrics.By(kind.name), uint64(max(0, kind.n)))
	}
}

// Embed calls the embedder and records the duration, including the wait for its turn. If the
// embedder panics, Embed returns the contained panic, and these texts have no embeddings.
func (v *Counters) Embed(ctx context.Context, by *embedding.Embedder, as embedding.Purpose,
	texts []string) ([][]float32, error) {
	begun := time.Now()
	var made [][]float32
	err := contain.Do(v.Log, contain.Text, "embedding", func() (err error) {
		made, err = by.Embed(ctx, as, texts)
		return err
	})
	purpose := metrics.By(map[embedding.Purpose]string{embedding.Query: "query", embedding.Passage: "passage",
		embedding.Claim: "claim"}[as])
	if err == nil {
		v.Embedded.Observe(purpose, time.Since(begun))
	} else if ctx.Err() == nil {
		v.Unembedded.Add(purpose, 1)
	}
	return made, err
}
