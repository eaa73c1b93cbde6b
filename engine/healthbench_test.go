package engine_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// pebbles are texts of some twenty words, few of which are frequent. One in ten is another
// one with its first words exchanged.
func pebbles(n int) []string {
	r := rand.New(rand.NewPCG(3, 5))
	out := make([]string, 0, n)
	for range n {
		words := make([]string, 12+r.IntN(16))
		for i := range words {
			words[i] = fmt.Sprintf("w%c%d", 'a'+rune(r.IntN(26)), int(2000*r.Float64()*r.Float64()*r.Float64()))
		}
		if len(out) > 0 && r.IntN(10) == 0 {
			words = strings.Fields(out[r.IntN(len(out))])
			words[0], words[1] = words[1], words[0]
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}

// shore is an engine with so many memories that came from another system.
func shore(b *testing.B, n int, durability stm.Durability) (*engine.Engine, []memory.ID) {
	h := newHouse(b)
	h.Durability = durability
	e := h.open(b)
	req, ids := &op.ImportRequest{Foreign: true}, make([]memory.ID, 0, n)
	for i, text := range pebbles(n) {
		id, err := memory.NewID()
		ok(b, err)
		content, err := json.Marshal(text)
		ok(b, err)
		made, err := json.Marshal(h.daysAgo(float64(i%200) + 1))
		ok(b, err)
		req.Records = append(req.Records, op.Record{ID: id, Fields: map[string]json.RawMessage{"content": content, "created_at": made}})
		if ids = append(ids, id); len(req.Records) == op.MaxBatch || i == n-1 {
			do(b, e, op.Import, req)
			req.Records = nil
		}
	}
	return e, ids
}

var shores = []int{1_000, 10_000, 100_000}

// What reports on a store cost as it grows.
func BenchmarkHealth(b *testing.B) {
	for _, n := range shores {
		e, _ := shore(b, n, stm.None)
		for _, c := range []struct {
			name string
			ask  func() int // what it found
		}{
			{"stale", func() int { return do(b, e, op.HealthStale, &op.HealthStaleRequest{Collection: "all"}).Found }},
			{"low", func() int { return do(b, e, op.HealthLowAccess, &op.HealthLowAccessRequest{Collection: "all"}).Found }},
			{"duplicates", func() int { return do(b, e, op.HealthDuplicates, &op.HealthDuplicatesRequest{Collection: "all"}).Found }},
			{"sample", func() int {
				return do(b, e, op.HealthDuplicates, &op.HealthDuplicatesRequest{Collection: "all", SampleSize: 1_000}).Found
			}},
			{"fresh", func() int { return do(b, e, op.Health, &op.HealthRequest{Collection: "all", Fresh: true}).Memories }},
			{"kept", func() int { return do(b, e, op.Health, &op.HealthRequest{Collection: "all"}).Memories }},
		} {
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if c.ask() == 0 {
						b.Fatalf("%s found nothing among %d memories", c.name, n)
					}
				}
			})
		}
	}
}

// The first migration of a store; the next ones find nothing to do.
func BenchmarkMigrate(b *testing.B) {
	for _, n := range shores {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var took time.Duration
			for range b.N {
				b.StopTimer()
				e, _ := shore(b, n, stm.None)
				runtime.GC()
				began := time.Now()
				b.StartTimer()
				if res := do(b, e, op.Migrate, &op.MigrateRequest{}); res.Migrated != n {
					b.Fatalf("migrated %+v", res)
				}
				took += time.Since(began)
				b.StopTimer()
				ok(b, e.Close())
			}
			b.ReportMetric(float64(n*b.N)/took.Seconds(), "records/s")
		})
	}
}

// A hundred pairs, one after the other.
func BenchmarkKeepOneOfTwo(b *testing.B) {
	const pairs = 100
	for _, durability := range []stm.Durability{stm.None, stm.Full} {
		b.Run(string(durability), func(b *testing.B) {
			e, _ := shore(b, 1_000, durability)
			for range b.N {
				b.StopTimer()
				var two [pairs][2]memory.ID
				for i := range two {
					for j, text := range []string{sameA, sameB} {
						two[i][j] = do(b, e, op.Save, &op.SaveRequest{Content: text + strings.Repeat(" so", 1+i%7)}).Memory.ID
					}
				}
				b.StartTimer()
				for _, ids := range two {
					do(b, e, op.HealthMerge, &op.HealthMergeRequest{ID1: string(ids[0]), ID2: string(ids[1])})
				}
			}
		})
	}
}
