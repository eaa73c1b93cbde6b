package engine_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// archiveShelf has n memories on a real disk that syncs.
func archiveShelf(b *testing.B, n int, author core.Author) (*desk, []memory.ID) {
	b.Helper()
	d := &desk{house: vaultHouse(b, nil), t: b}
	d.Logger, d.Durability, d.DetectSecrets, d.Author = nil, stm.Full, false, author
	d.ms.Store(time.Now().Add(time.Hour).UnixMilli())
	d.start()
	s := newSynthetic()
	req := new(op.SaveBatchRequest)
	for range n {
		req.Items = append(req.Items, op.SaveRequest{Content: s.words(80)})
	}
	var ids []memory.ID
	for _, r := range do(b, d.Engine, op.SaveBatch, req).Results {
		ids = append(ids, r.ID)
	}
	return d, ids
}

// A hundred memories leave for the vault, each with a note that is synced and read back.
func BenchmarkArchive100(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		d, ids := archiveShelf(b, 100, core.Author{})
		b.StartTimer()
		d.archived(ids...)
	}
}

// The same with a model that takes 200 ms for a summary.
func BenchmarkArchive100WithAModel(b *testing.B) {
	write := func(_ context.Context, text string, _ int) (string, error) {
		time.Sleep(200 * time.Millisecond)
		return text[:60], nil
	}
	for b.Loop() {
		b.StopTimer()
		d, ids := archiveShelf(b, 100, core.Author{Endpoint: "http://127.0.0.1:8080", Write: write})
		b.StartTimer()
		d.archived(ids...)
		b.StopTimer()
		if st := status(b, d.Engine).Author; st == nil || st.Problem != "" {
			b.Fatalf("the model is %+v", st)
		}
		b.StartTimer()
	}
}

func BenchmarkFade100(b *testing.B) {
	d, ids := archiveShelf(b, 100, core.Author{})
	entry := d.archived(ids...).Entry
	for b.Loop() {
		got, err := d.Engine.Lifecycle.Archive(b.Context(), d.to(memory.Rehydratable, ids...), "", keeper(), entry)
		b.StopTimer()
		if ok(b, err); len(got.Done) != len(ids) {
			b.Fatalf("%d faded", len(got.Done))
		}
		for _, id := range ids {
			d.rekindled(id)
		}
		entry = d.archived(ids...).Entry
		b.StartTimer()
	}
}

func BenchmarkRekindle(b *testing.B) {
	d, ids := archiveShelf(b, 1, core.Author{})
	for b.Loop() {
		b.StopTimer()
		d.archived(ids...)
		b.StartTimer()
		d.rekindled(ids[0])
	}
}

// BenchmarkSearchColdTier searches 10,000 memories of which all are archived, or none.
func BenchmarkSearchColdTier(b *testing.B) {
	coldTier(b, 10_000, func(d *desk, query string) {
		if res := do(b, d.Engine, op.Search, &op.SearchRequest{Query: query, Limit: 10, Track: new(bool)}); len(res.Hits) == 0 {
			b.Fatalf("%q finds nothing", query)
		}
	})
}

// BenchmarkVerifyColdTier verifies claims among 1,000 memories of which all are archived, or none.
func BenchmarkVerifyColdTier(b *testing.B) {
	coldTier(b, 1_000, func(d *desk, claim string) {
		do(b, d.Engine, op.Verify, &op.VerifyRequest{Claim: claim, Track: new(bool)})
	})
}

// coldTier asks n memories for parts of their texts, with all archived and with none.
func coldTier(b *testing.B, n int, ask func(d *desk, text string)) {
	for _, cold := range []bool{false, true} {
		b.Run(fmt.Sprintf("archived=%t", cold), func(b *testing.B) {
			d := shelf(b, nil)
			d.Logger = slog.New(slog.DiscardHandler)
			ids := d.turns(n)
			if cold {
				for some := range slices.Chunk(ids, 500) {
					got, err := d.Engine.Lifecycle.Archive(b.Context(), d.to(memory.Archived, some...), "", keeper(), "")
					if ok(b, err); len(got.Done) != len(some) {
						b.Fatalf("skipped %+v", got.Skipped)
					}
				}
			}
			for i := 0; b.Loop(); i++ {
				ask(d, turn(i * 37 % n)[4:60])
			}
		})
	}
}
