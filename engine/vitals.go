package engine

import (
	"context"
	"sync/atomic"
	"time"

	"emberd/embedding"
	"emberd/internal/metrics"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/watcher"
)

// vitals count what happens, for [Engine.Measure]. Nothing in them tells memories apart, or
// callers.
type vitals struct {
	ended metrics.Counts     // operations, by name and outcome
	took  metrics.Histograms // of them, by name

	compactions metrics.Counts // by outcome
	compacting  metrics.Histogram
	read, wrote atomic.Uint64 // bytes, by compactions

	changes metrics.Counts    // of the vault, by kind
	lag     metrics.Histogram // from a change to its being searchable

	embedded   metrics.Histograms // calls, by purpose
	unembedded metrics.Counts

	runs      metrics.Counts // of the lifecycle, by outcome
	running   metrics.Histogram
	moves     metrics.Counts // by kind
	rekindles metrics.Counts // by verdict
}

// outcomeOf is "ok" or the code of an error.
func outcomeOf(err error) string {
	if err == nil {
		return "ok"
	}
	return string(memory.CodeOf(err))
}

func (v *vitals) carriedOut(s *op.Spec, err error, took time.Duration) {
	if err != nil {
		err = typed(s, err)
	}
	v.ended.Add(metrics.By(s.Name, outcomeOf(err)), 1)
	v.took.Observe(metrics.By(s.Name), took)
}

func (v *vitals) compacted(got stm.Rewritten, err error) {
	v.compactions.Add(metrics.By(outcomeOf(err)), 1)
	if err == nil {
		v.compacting.Observe(got.Took)
		v.read.Add(uint64(max(0, got.Before)))
		v.wrote.Add(uint64(max(0, got.After)))
	}
}

func (v *vitals) ran(err error, took time.Duration) {
	v.runs.Add(metrics.By(outcomeOf(err)), 1)
	v.running.Observe(took)
}

// indexed takes in notes that can be searched now, unless a scan found them, which says
// nothing about how soon changes are noticed.
func (v *vitals) indexed(read []reading, full bool) {
	if full {
		return
	}
	now := time.Now() // files have the time of the system
	for i := range read {
		if note := read[i].note; note != nil {
			v.lag.Observe(now.Sub(note.ChangeTime))
		}
	}
}

func (v *vitals) followed(b watcher.Batch) {
	kinds := [...]struct {
		name string
		n    int
	}{{"changed", len(b.Changed) - len(b.Moved)}, {"gone", len(b.Gone) - len(b.Moved)}, {"moved", len(b.Moved)}}
	for _, kind := range kinds {
		v.changes.Add(metrics.By(kind.name), uint64(max(0, kind.n)))
	}
}

// embed has vectors made and counts how long that took, waiting for its turn included.
func (v *vitals) embed(ctx context.Context, by *embedding.Embedder, as embedding.Purpose, texts []string) ([][]float32, error) {
	begun := time.Now()
	made, err := by.Embed(ctx, as, texts)
	purpose := metrics.By(map[embedding.Purpose]string{embedding.Query: "query", embedding.Passage: "passage", embedding.Claim: "claim"}[as])
	if err == nil {
		v.embedded.Observe(purpose, time.Since(begun))
	} else if ctx.Err() == nil {
		v.unembedded.Add(purpose, 1)
	}
	return made, err
}
